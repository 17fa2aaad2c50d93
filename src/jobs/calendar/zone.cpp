#include "jobs/calendar/zone.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tenure::jobs::calendar {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::int64_t kForever = std::int64_t{1} << 55;

using Seconds = cctz::time_point<cctz::seconds>;

Seconds Point(std::int64_t utc_s) { return Seconds{cctz::seconds{utc_s}}; }
std::int64_t Count(Seconds point) { return point.time_since_epoch().count(); }

std::string VersionIn(const std::string& folder) {
  std::ifstream file(folder + "/tzdata.zi");
  std::string line;
  constexpr std::string_view kIntro = "# version ";
  if (!std::getline(file, line) || !line.starts_with(kIntro)) return "unknown";
  return line.substr(kIntro.size());
}

/// Another number for each version of a folder's tzdata: cctz would give us what it has read of
/// another version under the same path, and keeps what it has read for ever.
std::size_t SpellingOf(const std::string& folder, const std::string& version) {
  static base::Mutex mutex;
  static std::map<std::string, std::vector<std::string>> versions;
  const base::Lock lock(mutex);
  auto& of_folder = versions[folder];
  const auto found = std::ranges::find(of_folder, version);
  const auto number = static_cast<std::size_t>(found - of_folder.begin());
  if (found == of_folder.end()) of_folder.push_back(version);
  return number;
}

/// The names of zones ("Z NAME …") and of links to them ("L ZONE NAME").
std::vector<std::string> NamesIn(const std::string& folder) {
  std::ifstream file(folder + "/tzdata.zi");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::size_t begin = 2;
    if (line.starts_with("L "))
      begin = line.find(' ', 2) + 1;
    else if (!line.starts_with("Z "))
      continue;
    names.push_back(line.substr(begin, line.find(' ', begin) - begin));
  }
  std::ranges::sort(names);
  return names;
}

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, kLongestName))
    plain += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

std::string_view City(std::string_view name) { return name.substr(name.rfind('/') + 1); }

/// How many letters must be changed, put in or taken out.
std::size_t Distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t change = corner + (left[i - 1] == right[j - 1] ? 0 : 1);
      corner = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row.back();
}

}  // namespace

Stretch Zone::StretchOf(std::int64_t utc_s) const {
  Stretch stretch;
  stretch.offset = zone_.lookup(Point(utc_s)).offset;
  stretch.begin = -kForever;
  stretch.end = kForever;
  stretch.offset_before = stretch.offset;
  cctz::time_zone::civil_transition change;
  if (zone_.prev_transition(Point(utc_s + 1), &change)) {
    stretch.begin = Count(zone_.lookup(change.to).trans);
    stretch.offset_before = zone_.lookup(Point(stretch.begin - 1)).offset;
  }
  if (zone_.next_transition(Point(utc_s), &change))
    stretch.end = Count(zone_.lookup(change.to).trans);
  return stretch;
}

Zone::Moments Zone::At(std::int64_t wall_s) const {
  const auto found = zone_.lookup(cctz::civil_second(1970, 1, 1, 0, 0, 0) + wall_s);
  switch (found.kind) {
    case cctz::time_zone::civil_lookup::SKIPPED:
      return {Moments::Kind::kNever, Count(found.trans), Count(found.trans)};
    case cctz::time_zone::civil_lookup::REPEATED:
      return {Moments::Kind::kTwice, Count(found.pre), Count(found.post)};
    case cctz::time_zone::civil_lookup::UNIQUE:
      break;
  }
  return {Moments::Kind::kOnce, Count(found.pre), Count(found.pre)};
}

std::string Zone::LocalTime(std::int64_t utc_ms) const {
  using namespace std::chrono;
  const auto whole = floor<seconds>(sys_time<milliseconds>{milliseconds{utc_ms}});
  const cctz::civil_second at = zone_.lookup(Point(whole.time_since_epoch().count())).cs;
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", at.year(), at.month(),
                                 at.day(), at.hour(), at.minute(), at.second());
  const std::int64_t ms = utc_ms - whole.time_since_epoch().count() * 1'000;
  if (ms != 0) text += fmt::format(".{:03}", ms);
  return text;
}

std::string Zone::Offset(std::int64_t utc_ms) const {
  using namespace std::chrono;
  const auto whole = floor<seconds>(sys_time<milliseconds>{milliseconds{utc_ms}});
  const int offset = zone_.lookup(Point(whole.time_since_epoch().count())).offset;
  const int ahead = std::abs(offset);
  std::string text =
      fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', ahead / 3'600, ahead / 60 % 60);
  if (ahead % 60 != 0) text += fmt::format(":{:02}", ahead % 60);
  return text;
}

std::string Zones::SystemFolder() {
  const char* const given = std::getenv("TZDIR");
  return given && *given ? given : "/usr/share/zoneinfo";
}

Zones::Zones(std::string folder)
    : folder_(std::move(folder)), version_(VersionIn(folder_)), names_(NamesIn(folder_)) {
  path_ = folder_ + "/";
  for (std::size_t i = SpellingOf(folder_, version_); i > 0; --i) path_ += "./";
}

std::string Zones::VersionNow() const { return VersionIn(folder_); }

std::optional<Zone> Zones::Find(std::string_view name) const {
  if (name == "UTC") return Zone::Utc();
  // A name that tzdata lists is no way out of its folder.
  if (!std::ranges::binary_search(names_, name)) return std::nullopt;
  const base::Lock lock(mutex_);
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  cctz::time_zone zone;
  if (!cctz::load_time_zone(path_ + std::string(name), &zone)) return std::nullopt;
  return known_.emplace(name, Zone(zone)).first->second;
}

std::vector<std::string> Zones::Nearest(std::string_view name, std::size_t most) const {
  const std::string wanted = Plain(name);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& candidate : names_) {
    const std::string plain = Plain(candidate);
    // "Berlin" is nearer to Europe/Berlin than to any other short name.
    const std::size_t by_city = Distance(City(wanted), City(plain)) * 2 + 1;
    found.emplace_back(std::min(Distance(wanted, plain), by_city), candidate);
  }
  std::ranges::sort(found);
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i)
    nearest.push_back(std::move(found[i].second));
  return nearest;
}

}  // namespace tenure::jobs::calendar
