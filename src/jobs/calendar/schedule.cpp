#include "jobs/calendar/schedule.hpp"

#include <algorithm>
#include <cctype>

#include "base/time_text.hpp"

namespace tenure::jobs::calendar {
namespace {

constexpr std::int64_t kSecondsOfDay = 86'400;
/// No weekday of a 29th of February is further away than forty years.
constexpr std::int64_t kHorizonS = 100 * 366 * kSecondsOfDay;
// What can be printed: the years 0 to 9999.
constexpr std::int64_t kFirstMs = -62'167'219'200'000;
constexpr std::int64_t kLastMs = 253'402'300'799'999;
/// Further than this from a change of the clock no wall time is left out or shown twice because of
/// it: the largest change was a whole day.
constexpr std::int64_t kNearS = 26 * 3'600;

std::int64_t FloorDiv(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}
std::int64_t CeilDiv(std::int64_t value, std::int64_t by) { return -FloorDiv(-value, by); }

/// The multiples of an `Every` in [from, to): their numbers are [first, end).
struct Multiples {
  Multiples(const Every& every, std::int64_t from_ms, std::int64_t to_ms)
      : first(CeilDiv(from_ms - every.anchor_ms, every.period_ms)),
        end(std::max(first, CeilDiv(to_ms - every.anchor_ms, every.period_ms))) {}
  std::int64_t first;
  std::int64_t end;
};

std::vector<Occurrence> Times(const Every& every, std::int64_t first, std::int64_t end) {
  std::vector<Occurrence> times;
  for (std::int64_t i = first; i < end; ++i)
    times.push_back({every.anchor_ms + i * every.period_ms, Flag::kNone});
  return times;
}

}  // namespace

std::string_view FlagText(Flag flag) {
  switch (flag) {
    case Flag::kGap:
      return "gap";
    case Flag::kRepeated:
      return "repeated";
    case Flag::kNone:
      break;
  }
  return "";
}

std::optional<std::variant<std::int64_t, Problem>> ParseAtEvery(std::string_view text) {
  constexpr std::string_view kWord = "@every";
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  const bool same = std::ranges::equal(text.substr(begin, kWord.size()), kWord, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
  const std::size_t after = begin + kWord.size();
  if (!same || (after < text.size() && text[after] != ' ' && text[after] != '\t'))
    return std::nullopt;
  const std::size_t at = std::min(text.find_first_not_of(" \t", after), text.size());
  const std::size_t end = text.find_last_not_of(" \t") + 1;
  const auto period_ms = base::ParseDurationMs(text.substr(at, end - at));
  if (!period_ms || *period_ms < kLeastEveryMs)
    return Problem{at, "expected a duration of at least 1s, as in 90s or 1h30m"};
  return *period_ms;
}

/// Goes through the occurrences of a cron expression, in order of time. It goes from stretch to
/// stretch: inside of one the wall clock runs like any other, so an expression is a plain search
/// there, and what is asked at the seams is asked once, when a stretch begins.
class Schedule::Walk {
 public:
  Walk(const Schedule& schedule, std::int64_t from_s, std::int64_t to_s)
      : schedule_(schedule),
        cron_(std::get<Cron>(schedule.when_)),
        at_(from_s),
        to_(std::min(to_s, from_s + kHorizonS)),
        stretch_(schedule.zone_.StretchOf(from_s)) {}

  /// Every occurrence of [from, to), one after another; then none.
  std::optional<Occurrence> Next() {
    while (at_ < to_) {
      if (at_ >= stretch_.end) stretch_ = schedule_.zone_.StretchOf(at_);
      if (at_ == stretch_.begin && FellIntoGap()) {
        ++at_;
        return Occurrence{stretch_.begin * 1'000, Flag::kGap};
      }
      const std::int64_t end = std::min(stretch_.end, to_);
      const auto wall = cron_.First(at_ + stretch_.offset, end + stretch_.offset);
      if (!wall) {
        at_ = end;
        continue;
      }
      const std::int64_t instant = *wall - stretch_.offset;
      at_ = instant + 1;
      if (const auto flag = Counts(*wall, instant)) return Occurrence{instant * 1'000, *flag};
    }
    return std::nullopt;
  }

  /// REQUIRES: nothing was asked yet. Counts what is left, whole days at once where clocks run on.
  std::int64_t Count() {
    std::int64_t count = 0;
    while (at_ < to_) {
      const Stretch stretch = schedule_.zone_.StretchOf(at_);
      const std::int64_t quiet_from =
          CeilDiv(std::max(at_, stretch.begin + kNearS) + stretch.offset, kSecondsOfDay);
      const std::int64_t quiet_to =
          FloorDiv(std::min(to_, stretch.end - kNearS) + stretch.offset, kSecondsOfDay);
      const std::int64_t end = std::min(to_, stretch.end);
      if (quiet_from >= quiet_to) {
        count += CountOneByOne(at_, end);
      } else {
        const std::int64_t quiet_begin = quiet_from * kSecondsOfDay - stretch.offset;
        const std::int64_t quiet_end = quiet_to * kSecondsOfDay - stretch.offset;
        count += CountOneByOne(at_, quiet_begin) + cron_.CountDays(quiet_from, quiet_to) +
                 CountOneByOne(quiet_end, end);
      }
      at_ = end;
    }
    return count;
  }

 private:
  std::int64_t CountOneByOne(std::int64_t from_s, std::int64_t to_s) const {
    std::int64_t count = 0;
    for (Walk walk(schedule_, from_s, to_s); walk.Next();) ++count;
    return count;
  }

  /// Whether a time of the expression lies in the gap that the stretch begins after.
  bool FellIntoGap() const {
    if (cron_.interval() || schedule_.gap_ == Gap::kSkip) return false;
    return cron_.First(stretch_.begin + stretch_.offset_before, stretch_.begin + stretch_.offset)
        .has_value();
  }

  /// Whether this instant, whose wall clock matches, is one that the policies want.
  std::optional<Flag> Counts(std::int64_t wall, std::int64_t instant) const {
    const Zone::Moments moments = schedule_.zone_.At(wall);
    if (moments.kind != Zone::Moments::Kind::kTwice) return Flag::kNone;
    if (cron_.interval() || schedule_.repeat_ == Repeat::kBoth) return Flag::kRepeated;
    const std::int64_t wanted =
        schedule_.repeat_ == Repeat::kFirst ? moments.first : moments.second;
    return instant == wanted ? std::optional(Flag::kRepeated) : std::nullopt;
  }

  const Schedule& schedule_;
  const Cron& cron_;
  std::int64_t at_;
  std::int64_t to_;
  Stretch stretch_;
};

std::optional<Occurrence> Schedule::First(std::int64_t from_ms) const {
  const auto found = List(from_ms, kLastMs, 1);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<Occurrence> Schedule::List(std::int64_t from_ms, std::int64_t to_ms,
                                       std::size_t most) const {
  from_ms = std::max(from_ms, kFirstMs);
  to_ms = std::min(to_ms, kLastMs);
  if (from_ms >= to_ms || most == 0) return {};
  if (const auto* every = std::get_if<Every>(&when_)) {
    const Multiples range(*every, from_ms, to_ms);
    const auto room = static_cast<std::int64_t>(most);
    return Times(*every, range.first,
                 range.end - range.first > room ? range.first + room : range.end);
  }
  std::vector<Occurrence> found;
  Walk walk(*this, CeilDiv(from_ms, 1'000), CeilDiv(to_ms, 1'000));
  while (found.size() < most) {
    const auto next = walk.Next();
    if (!next) break;
    found.push_back(*next);
  }
  return found;
}

std::int64_t Schedule::Count(std::int64_t from_ms, std::int64_t to_ms) const {
  from_ms = std::max(from_ms, kFirstMs);
  to_ms = std::min(to_ms, kLastMs);
  if (from_ms >= to_ms) return 0;
  if (const auto* every = std::get_if<Every>(&when_)) {
    const Multiples range(*every, from_ms, to_ms);
    return range.end - range.first;
  }
  return Walk(*this, CeilDiv(from_ms, 1'000), CeilDiv(to_ms, 1'000)).Count();
}

std::vector<Occurrence> Schedule::Last(std::int64_t from_ms, std::int64_t to_ms,
                                       std::size_t most) const {
  from_ms = std::max(from_ms, kFirstMs);
  to_ms = std::min(to_ms, kLastMs);
  if (from_ms >= to_ms || most == 0) return {};
  if (const auto* every = std::get_if<Every>(&when_)) {
    const Multiples range(*every, from_ms, to_ms);
    const auto room = static_cast<std::int64_t>(most);
    return Times(*every, range.end - range.first > room ? range.end - room : range.first,
                 range.end);
  }
  // Windows that end at `to` and double: the last one has at most about twice what is wanted,
  // unless times stand in clusters, and then a day's worth of them.
  for (std::int64_t window_ms = 1'000 * static_cast<std::int64_t>(most);; window_ms *= 2) {
    const bool all = to_ms - from_ms <= window_ms;
    const std::int64_t begin = all ? from_ms : to_ms - window_ms;
    const std::int64_t count = Count(begin, to_ms);
    if (!all && count < static_cast<std::int64_t>(most)) continue;
    std::vector<Occurrence> found = List(begin, to_ms, static_cast<std::size_t>(count));
    if (found.size() > most)
      found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(most));
    return found;
  }
}

}  // namespace tenure::jobs::calendar
