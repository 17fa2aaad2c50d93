// The calendar against a slow second computation that shares nothing with it: it goes through a
// stretch of time minute by minute, asks the C library what the clocks in a zone show, compares the
// text of the expression field by field, and applies the policies by their definitions.

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jobs/calendar/schedule.hpp"
#include "jobs/calendar/test_schedule.hpp"

namespace tenure::jobs::calendar {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kDayS = 86'400;

const std::vector<std::string> kZones{
    "UTC",           "America/New_York",    "Europe/London",     "Europe/Berlin",
    "Europe/Dublin", "Australia/Lord_Howe", "America/Santiago",  "Africa/Cairo",
    "Pacific/Apia",  "Africa/Casablanca",   "America/St_Johns",  "Asia/Gaza",
    "Asia/Tehran",   "Antarctica/Troll",    "Pacific/Kwajalein", "America/Sao_Paulo"};

struct Wall {
  int year, month, day, hour, minute, weekday, length;
  bool operator<(const Wall& other) const { return Key() < other.Key(); }
  std::int64_t Key() const {
    return (((std::int64_t{year} * 12 + month) * 31 + day) * 24 + hour) * 60 + minute;
  }
};

int LengthOf(int year, int month) {
  static constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kLengths[month - 1] + (month == 2 && leap ? 1 : 0);
}

Wall WallOf(const std::tm& tm) {
  return {tm.tm_year + 1900,
          tm.tm_mon + 1,
          tm.tm_mday,
          tm.tm_hour,
          tm.tm_min,
          tm.tm_wday,
          LengthOf(tm.tm_year + 1900, tm.tm_mon + 1)};
}

/// An expression as a list of alternatives per field, each a small structure: made at random, and
/// printed for the calendar to read.
struct Item {
  enum Kind {
    kAll,
    kValue,
    kRange,
    kStep,
    kRangeStep,
    kLast,
    kBeforeLast,
    kNearest,
    kLastWeekday,
    kLastOf,
    kNth
  } kind = kAll;
  int a = 0, b = 0, step = 1;

  std::string Text() const {
    switch (kind) {
      case kAll:
        return "*";
      case kValue:
        return std::to_string(a);
      case kRange:
        return fmt::format("{}-{}", a, b);
      case kStep:
        return fmt::format("*/{}", step);
      case kRangeStep:
        return fmt::format("{}-{}/{}", a, b, step);
      case kLast:
        return "L";
      case kBeforeLast:
        return fmt::format("L-{}", a);
      case kNearest:
        return fmt::format("{}W", a);
      case kLastWeekday:
        return "LW";
      case kLastOf:
        return fmt::format("{}L", a);
      case kNth:
        return fmt::format("{}#{}", a, b);
    }
    return "";
  }

  /// Whether a value of a field from `least` to `most` is named by counting up from the start.
  bool Counts(int value, int least, int most) const {
    int from = a, to = b, by = 1;
    if (kind == kAll || kind == kStep) from = least, to = most;
    if (kind == kValue) to = from;
    if (kind == kStep || kind == kRangeStep) by = step;
    for (int at = from, steps = 0; steps <= 2 * (most - least + 1); ++steps) {
      if (steps % by == 0 && at == value) return true;
      if (at == to) return false;
      at = at == most ? least : at + 1;
    }
    return false;
  }
};

bool IsWeekend(int weekday) { return weekday == 0 || weekday == 6; }

bool DayMatches(const Item& item, const Wall& wall) {
  const auto weekday = [&](int day) { return ((wall.weekday + day - wall.day) % 7 + 35) % 7; };
  switch (item.kind) {
    case Item::kLast:
      return wall.day == wall.length;
    case Item::kBeforeLast:
      return wall.day == wall.length - item.a;
    case Item::kLastWeekday:
      for (int day = wall.length;; --day)
        if (!IsWeekend(weekday(day))) return day == wall.day;
    case Item::kNearest:
      if (item.a > wall.length) return false;
      for (const int away : {0, -1, 1, -2, 2}) {
        const int day = item.a + away;
        if (day >= 1 && day <= wall.length && !IsWeekend(weekday(day))) return day == wall.day;
      }
      return false;
    default:
      return item.Counts(wall.day, 1, 31);
  }
}

bool WeekdayMatches(const Item& item, const Wall& wall) {
  switch (item.kind) {
    case Item::kLastOf:
      return wall.weekday == item.a && wall.day + 7 > wall.length;
    case Item::kNth:
      return wall.weekday == item.a && (wall.day + 6) / 7 == item.b;
    default:
      return item.Counts(wall.weekday, 0, 6);
  }
}

using Field = std::vector<Item>;

struct Expression {
  Field minute, hour, day, month, weekday;

  static std::string Text(const Field& field) {
    std::string text;
    for (const Item& item : field) text += (text.empty() ? "" : ",") + item.Text();
    return text;
  }
  std::string Text() const {
    return fmt::format("{} {} {} {} {}", Text(minute), Text(hour), Text(day), Text(month),
                       Text(weekday));
  }

  static bool Any(const Field& field, int value, int least, int most) {
    return std::ranges::any_of(field,
                               [&](const Item& item) { return item.Counts(value, least, most); });
  }
  bool Matches(const Wall& wall) const {
    if (!Any(minute, wall.minute, 0, 59) || !Any(hour, wall.hour, 0, 23) ||
        !Any(month, wall.month, 1, 12))
      return false;
    const bool any_day = Text(day) == "*";
    const bool any_weekday = Text(weekday) == "*";
    const bool by_day =
        std::ranges::any_of(day, [&](const Item& item) { return DayMatches(item, wall); });
    const bool by_weekday =
        std::ranges::any_of(weekday, [&](const Item& item) { return WeekdayMatches(item, wall); });
    if (any_day || any_weekday) return by_day && by_weekday;
    return by_day || by_weekday;
  }
  bool Interval() const {
    const std::string both = Text(minute) + Text(hour);
    return both.find_first_of("*/") != std::string::npos;
  }
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int Roll(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  std::int64_t Instant(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool One(int of) { return Roll(1, of) == 1; }

  Item Plain(int least, int most) {
    Item item{Item::kValue, Roll(least, most), Roll(least, most), Roll(1, 7)};
    const int kind = Roll(1, 10);
    if (kind == 7) item.kind = Item::kRange;
    if (kind == 8) item.kind = Item::kStep;
    if (kind == 9) item.kind = Item::kRangeStep;
    return item;
  }
  Field List(int least, int most) {
    if (One(6)) return {Item{}};
    Field field;
    for (int i = Roll(1, 3); i > 0; --i) field.push_back(Plain(least, most));
    return field;
  }
  Expression Draw() {
    Expression drawn;
    drawn.minute = List(0, 59);
    drawn.hour = One(2) ? Field{{Item::kValue, Roll(0, 3)}} : List(0, 23);
    drawn.day = One(2) ? Field{Item{}} : List(1, 31);
    if (One(5)) {
      static constexpr Item::Kind kKinds[] = {Item::kLast, Item::kBeforeLast, Item::kNearest,
                                              Item::kLastWeekday};
      drawn.day = {Item{kKinds[Roll(0, 3)], Roll(1, 27)}};
    }
    drawn.month = One(4) ? List(1, 12) : Field{Item{}};
    drawn.weekday = One(2) ? Field{Item{}} : List(0, 6);
    if (One(6)) drawn.weekday = {Item{One(2) ? Item::kLastOf : Item::kNth, Roll(0, 6), Roll(1, 5)}};
    return drawn;
  }

 private:
  std::mt19937_64 random_;
};

/// What the clocks of one zone show in [from, to), minute by minute, with a margin of two days on
/// both sides in which repetitions and gaps are looked for.
class Minutes {
 public:
  Minutes(const std::string& zone, std::int64_t from, std::int64_t to) : from_(from), to_(to) {
    ::setenv("TZ", zone.c_str(), 1);
    ::tzset();
    for (std::int64_t at = from - 2 * kDayS; at < to + 2 * kDayS; at += kMinute) {
      const std::time_t instant = at;
      std::tm tm{};
      ::localtime_r(&instant, &tm);
      instants_.push_back({at, tm.tm_gmtoff, WallOf(tm)});
      seen_[instants_.back().wall.Key()].push_back(at);
    }
  }

  std::vector<Occurrence> Slowly(const Expression& expression, Gap gap, Repeat repeat) const {
    std::vector<Occurrence> found;
    const bool interval = expression.Interval();
    for (std::size_t i = 1; i < instants_.size(); ++i) {
      const Instant& now = instants_[i];
      if (now.at < from_ || now.at >= to_) continue;
      if (!interval && gap == Gap::kEndOfGap && GapHas(expression, instants_[i - 1], now)) {
        found.push_back({now.at * 1'000, Flag::kGap});
        continue;
      }
      if (!expression.Matches(now.wall)) continue;
      const std::vector<std::int64_t>& shown = seen_.at(now.wall.Key());
      const bool repeated = shown.size() > 1;
      const std::int64_t wanted = repeat == Repeat::kSecond ? shown.back() : shown.front();
      if (repeated && !interval && repeat != Repeat::kBoth && now.at != wanted) continue;
      found.push_back({now.at * 1'000, repeated ? Flag::kRepeated : Flag::kNone});
    }
    return found;
  }

  bool changed() const { return instants_.front().offset != instants_.back().offset; }

 private:
  struct Instant {
    std::int64_t at;
    long offset;
    Wall wall;
  };

  /// Whether the clock jumped over a minute that the expression names.
  static bool GapHas(const Expression& expression, const Instant& before, const Instant& after) {
    for (long left = after.offset - before.offset; left > 0; left -= kMinute) {
      const std::time_t wall = after.at + after.offset - left;
      std::tm tm{};
      ::gmtime_r(&wall, &tm);
      if (expression.Matches(WallOf(tm))) return true;
    }
    return false;
  }

  std::int64_t from_;
  std::int64_t to_;
  std::vector<Instant> instants_;
  std::map<std::int64_t, std::vector<std::int64_t>> seen_;
};

std::vector<std::string> Print(const std::vector<Occurrence>& occurrences) {
  std::vector<std::string> texts;
  for (const Occurrence& at : occurrences)
    texts.push_back(base::UtcText(at.time_ms) + std::string(FlagText(at.flag)));
  return texts;
}

/// The changes of a zone's clock between 1970 and 2099, by asking hour by hour.
std::vector<std::int64_t> ChangesOf(const std::string& zone) {
  ::setenv("TZ", zone.c_str(), 1);
  ::tzset();
  std::vector<std::int64_t> changes;
  long before = 0;
  const std::int64_t end = Ms("2099-12-31T00:00:00Z") / 1'000;
  for (std::int64_t at = 0; at < end; at += 6 * 3'600) {
    const std::time_t instant = at;
    std::tm tm{};
    ::localtime_r(&instant, &tm);
    if (at != 0 && tm.tm_gmtoff != before) changes.push_back(at);
    before = tm.tm_gmtoff;
  }
  return changes;
}

void Compare(const std::string& zone, const Minutes& minutes, std::int64_t from, std::int64_t to,
             Dice& dice) {
  const Expression expression = dice.Draw();
  auto read = Cron::Parse(expression.Text());
  if (std::holds_alternative<Problem>(read)) return;  // drawn a day that no month has
  for (const Gap gap : {Gap::kEndOfGap, Gap::kSkip})
    for (const Repeat repeat : {Repeat::kFirst, Repeat::kSecond, Repeat::kBoth}) {
      const Schedule schedule(std::get<Cron>(read), SystemZones().Find(zone).value(), gap, repeat);
      const auto slow = minutes.Slowly(expression, gap, repeat);
      const auto quick = schedule.List(from * 1'000, to * 1'000, 1'000'000);
      ASSERT_EQ(Print(quick), Print(slow)) << zone << " " << expression.Text();
      ASSERT_EQ(schedule.Count(from * 1'000, to * 1'000), std::ssize(slow)) << expression.Text();
      const auto last = schedule.Last(from * 1'000, to * 1'000, 3);
      ASSERT_TRUE(std::ranges::equal(
          last, std::vector<Occurrence>(slow.end() - std::min<std::ptrdiff_t>(3, std::ssize(slow)),
                                        slow.end())))
          << zone << " " << expression.Text();
      // The first one is also found by itself.
      if (!slow.empty()) {
        ASSERT_EQ(schedule.First(from * 1'000), slow.front());
      }
    }
}

TEST(CalendarProperty, IsWhatGoingMinuteByMinuteGives) {
  const char* const zone_of_process = std::getenv("TZ");
  const std::string before = zone_of_process ? zone_of_process : "";
  const bool all = std::getenv("TENURE_TEST_LONG") != nullptr;
  Dice dice(20'260'329);
  std::size_t windows = 0;
  for (const std::string& zone : kZones) {
    const std::vector<std::int64_t> changes = ChangesOf(zone);
    const int rounds = all ? static_cast<int>(changes.size()) + 200 : 8;
    for (int round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) {
      // Two of three windows are around a change of the clock.
      std::int64_t middle = dice.Instant(7 * kDayS, Ms("2099-12-20T00:00:00Z") / 1'000);
      if (!changes.empty() && all && round < std::ssize(changes))
        middle = changes[static_cast<std::size_t>(round)];
      else if (!changes.empty() && round % 3 != 0)
        middle =
            changes[static_cast<std::size_t>(dice.Roll(0, static_cast<int>(changes.size()) - 1))];
      const std::int64_t from = (middle / kDayS - 2) * kDayS;
      const std::int64_t to = from + 5 * kDayS;
      const Minutes minutes(zone, from, to);
      for (int i = 0; i < (all ? 40 : 3); ++i) Compare(zone, minutes, from, to, dice);
      ++windows;
    }
  }
  EXPECT_GE(windows, kZones.size() * 8);
  before.empty() ? ::unsetenv("TZ") : ::setenv("TZ", before.c_str(), 1);
  ::tzset();
}

}  // namespace
}  // namespace tenure::jobs::calendar
