#include "base/time_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::base {
namespace {

constexpr std::int64_t kFirstPrintedMs = -62'167'219'200'000;
constexpr std::int64_t kLastPrintedMs = 253'402'300'799'999;
constexpr std::int64_t kMaxDurationMs = std::int64_t{100} * 366 * 86'400'000;

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// From long to short: DurationText peels them off in this order.
constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

/// Adds one "number unit" pair from the front of `text` to `total_ms`; false when there is none.
/// `units` are tried longest name first.
bool TakePair(std::string_view& text, std::span<const Unit> units, std::int64_t& total_ms) {
  std::int64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + (text[digits] - '0');
    if (++digits > 15) return false;
  }
  if (digits == 0) return false;
  text.remove_prefix(digits);
  const Unit* match = nullptr;
  for (const Unit& unit : units)
    if (text.starts_with(unit.name) && (!match || unit.name.size() > match->name.size()))
      match = &unit;
  if (!match) return false;
  text.remove_prefix(match->name.size());
  if (number > kMaxDurationMs / match->ms) return false;
  total_ms += number * match->ms;
  return total_ms <= kMaxDurationMs;
}

std::optional<std::int64_t> ParseIso(std::string_view text) {
  static constexpr std::array<Unit, 2> kDates{{{"W", 7 * 86'400'000LL}, {"D", 86'400'000}}};
  static constexpr std::array<Unit, 3> kTimes{{{"H", 3'600'000}, {"M", 60'000}, {"S", 1'000}}};
  text.remove_prefix(1);
  std::int64_t total_ms = 0;
  bool any = false;
  while (!text.empty() && text.front() != 'T') {
    if (!TakePair(text, kDates, total_ms)) return std::nullopt;
    any = true;
  }
  if (!text.empty()) {
    text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
      if (!TakePair(text, kTimes, total_ms)) return std::nullopt;
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return total_ms;
}

/// The last `width` decimal digits of `value`, with zeros in front.
void WriteDigits(char* to, int width, unsigned value) {
  for (int i = width; i-- > 0; value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

/// The decimal number in `count` characters from `at`; empty when they are not all digits.
std::optional<int> Digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

struct Parts {
  std::optional<int> year, month, day, hour, minute, second;
};

std::optional<std::int64_t> Instant(const Parts& parts) {
  using namespace std::chrono;
  if (!parts.year || !parts.month || !parts.day || !parts.hour || !parts.minute || !parts.second)
    return std::nullopt;
  const year_month_day date{year{*parts.year}, month{static_cast<unsigned>(*parts.month)},
                            day{static_cast<unsigned>(*parts.day)}};
  if (!date.ok() || *parts.hour > 23 || *parts.minute > 59 || *parts.second > 60)
    return std::nullopt;
  const auto at =
      sys_days{date} + hours{*parts.hour} + minutes{*parts.minute} + seconds{*parts.second};
  return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

constexpr std::string_view kShape = "____-__-__T__:__:__";

/// What all spellings begin with; between the date and the time stands one of `between`.
std::optional<std::int64_t> WholeSeconds(std::string_view text, std::string_view between) {
  if (text.size() < kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '_') continue;
    if (kShape[i] == 'T' ? between.find(text[i]) == std::string_view::npos : kShape[i] != text[i])
      return std::nullopt;
  }
  return Instant({Digits(text, 0, 4), Digits(text, 5, 2), Digits(text, 8, 2), Digits(text, 11, 2),
                  Digits(text, 14, 2), Digits(text, 17, 2)});
}

}  // namespace

void AppendUtc(std::string& out, std::int64_t ms) {
  // A store may have any number: what lies outside of the years 0 to 9999 is printed as their end.
  ms = std::clamp(ms, kFirstPrintedMs, kLastPrintedMs);
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds{ms}};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  // By hand: it stands in every answer, and a format string costs a third of a request.
  char text[] = "0000-00-00T00:00:00.000Z";
  const auto ms_of_day = static_cast<unsigned>((at - day).count());
  WriteDigits(text + 0, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  WriteDigits(text + 5, 2, static_cast<unsigned>(date.month()));
  WriteDigits(text + 8, 2, static_cast<unsigned>(date.day()));
  WriteDigits(text + 11, 2, ms_of_day / 3'600'000);
  WriteDigits(text + 14, 2, ms_of_day / 60'000 % 60);
  WriteDigits(text + 17, 2, ms_of_day / 1'000 % 60);
  WriteDigits(text + 20, 3, ms_of_day % 1'000);
  out.append(text, sizeof text - 1);
}

std::string UtcText(std::int64_t ms) {
  std::string out;
  AppendUtc(out, ms);
  return out;
}

std::optional<std::int64_t> ParseDurationMs(std::string_view text) {
  if (text.starts_with('P')) return ParseIso(text);
  std::int64_t total_ms = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty())
    if (!TakePair(text, kUnits, total_ms)) return std::nullopt;
  return total_ms;
}

std::string DurationText(std::int64_t ms) {
  if (ms == 0) return "0s";
  std::string out;
  for (const Unit& unit : kUnits) {
    const std::int64_t count = ms / unit.ms;
    if (count == 0) continue;
    out += fmt::format("{}{}", count, unit.name);
    ms -= count * unit.ms;
  }
  return out;
}

std::optional<std::int64_t> ParseUtcMs(std::string_view text) {
  const auto whole = WholeSeconds(text, "T");
  if (!whole || !text.ends_with('Z')) return std::nullopt;
  if (text.size() == kShape.size() + 1) return whole;
  const auto fraction = Digits(text, kShape.size() + 1, 3);
  if (text.size() != kShape.size() + 5 || text[kShape.size()] != '.' || !fraction)
    return std::nullopt;
  return *whole + *fraction;
}

std::optional<std::int64_t> ParseRfc3339Ms(std::string_view text) {
  auto ms = WholeSeconds(text, "Tt");
  if (!ms) return std::nullopt;
  text.remove_prefix(kShape.size());
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return std::nullopt;
    for (std::size_t i = 0, unit = 100; i < std::min<std::size_t>(digits, 3); ++i, unit /= 10)
      *ms += static_cast<std::int64_t>(unit) * (text[i] - '0');
    text.remove_prefix(digits);
  }
  if (text == "Z" || text == "z") return ms;
  const auto hours = Digits(text, 1, 2);
  const auto minutes = Digits(text, 4, 2);
  const bool offset = text.size() == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':';
  if (!offset || !hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t ahead_ms = (*hours * 60 + *minutes) * 60'000LL;
  return text[0] == '+' ? *ms - ahead_ms : *ms + ahead_ms;
}

std::optional<std::int64_t> ParseHttpDateMs(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto* name = std::ranges::find(kMonths, text.substr(8, 3));
  if (name == kMonths.end()) return std::nullopt;
  return Instant({Digits(text, 12, 4), static_cast<int>(name - kMonths.begin()) + 1,
                  Digits(text, 5, 2), Digits(text, 17, 2), Digits(text, 20, 2),
                  Digits(text, 23, 2)});
}

std::string SpanText(std::int64_t ms) {
  for (std::size_t i = 0; kUnits[i].ms > 1'000; ++i) {
    const Unit& unit = kUnits[i];
    const Unit& next = kUnits[i + 1];
    if (ms >= unit.ms)
      return fmt::format("{}{} {}{}", ms / unit.ms, unit.name, ms % unit.ms / next.ms, next.name);
  }
  return fmt::format("{}s", std::max<std::int64_t>(ms, 0) / 1'000);
}

}  // namespace tenure::base
