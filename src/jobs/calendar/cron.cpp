#include "jobs/calendar/cron.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

namespace tenure::jobs::calendar {
namespace {

constexpr std::int64_t kDayS = 86'400;

/// What decides which of a month's days match: how long it is and what its first day is.
struct MonthShape {
  unsigned length;
  unsigned first_weekday;  ///< 0 is Sunday

  unsigned Weekday(unsigned day) const { return (first_weekday + day - 1) % 7; }
};

MonthShape ShapeOf(int year, unsigned month) {
  using namespace std::chrono;
  const year_month_day first{std::chrono::year{year}, std::chrono::month{month}, day{1}};
  const year_month_day_last last{first.year(), month_day_last{first.month()}};
  return {static_cast<unsigned>(last.day()), weekday{sys_days{first}}.c_encoding()};
}

/// The weekday that is nearest to the n-th, without leaving the month. REQUIRES: 1 <= n <= length.
unsigned NearestWeekday(const MonthShape& shape, unsigned n) {
  switch (shape.Weekday(n)) {
    case 6:
      return n == 1 ? 3 : n - 1;
    case 0:
      return n == shape.length ? n - 2 : n + 1;
    default:
      return n;
  }
}

std::uint32_t MatchesByDay(const CronDays& days, const MonthShape& shape) {
  std::uint32_t matches = days.days;
  for (unsigned n = 0; n < shape.length; ++n)
    if (days.before_last >> n & 1) matches |= 1u << (shape.length - n);
  for (unsigned n = 1; n <= shape.length; ++n)
    if (days.nearest >> n & 1) matches |= 1u << NearestWeekday(shape, n);
  if (days.last_weekday) {
    unsigned last = shape.length;
    while (shape.Weekday(last) == 0 || shape.Weekday(last) == 6) --last;
    matches |= 1u << last;
  }
  return matches;
}

std::uint32_t MatchesByWeekday(const CronDays& days, const MonthShape& shape) {
  std::uint32_t matches = 0;
  for (unsigned n = 1; n <= shape.length; ++n) {
    const unsigned weekday = shape.Weekday(n);
    const bool last = n + 7 > shape.length;
    if ((days.weekdays >> weekday & 1) || (days.nth[(n - 1) / 7] >> weekday & 1) ||
        (last && (days.last_of >> weekday & 1)))
      matches |= 1u << n;
  }
  return matches;
}

std::uint32_t Matches(const CronDays& days, const MonthShape& shape) {
  const std::uint32_t all = static_cast<std::uint32_t>((std::uint64_t{2} << shape.length) - 2);
  if (days.every_day && days.every_weekday) return all;
  std::uint32_t matches = 0;
  if (!days.every_day) matches |= MatchesByDay(days, shape);
  if (!days.every_weekday) matches |= MatchesByWeekday(days, shape);
  return matches & all;
}

/// The lowest bit of `bits` that is not below `from`; 64 when there is none.
int NextBit(std::uint64_t bits, int from) {
  return from > 63 ? 64 : std::countr_zero(bits >> from << from);
}

}  // namespace

std::uint32_t Cron::DaysOf(int year, unsigned month) const {
  return months_ >> month & 1 ? Matches(days_, ShapeOf(year, month)) : 0;
}

bool Cron::CanHappen() const {
  // Every month has every first weekday in the 400 years after which the calendar begins again.
  for (unsigned month = 1; month <= 12; ++month) {
    if (!(months_ >> month & 1)) continue;
    const unsigned length = month == 2 ? 29 : ShapeOf(2001, month).length;
    for (unsigned weekday = 0; weekday < 7; ++weekday)
      if (Matches(days_, {length, weekday}) ||
          (month == 2 && Matches(days_, {length - 1, weekday})))
        return true;
  }
  return false;
}

std::optional<std::int64_t> Cron::First(std::int64_t from, std::int64_t to) const {
  using namespace std::chrono;
  if (from >= to) return std::nullopt;
  const sys_days first_day = floor<days>(sys_seconds{seconds{from}});
  year_month_day date{first_day};
  int time = static_cast<int>(from - first_day.time_since_epoch().count() * kDayS);
  const auto month_starts = [&date] {
    return sys_days{date.year() / date.month() / day{1}}.time_since_epoch().count() * kDayS;
  };
  for (; month_starts() < to;
       date = year_month_day{(date.year() / date.month() + months{1}) / day{1}}, time = 0) {
    const std::uint32_t matching =
        DaysOf(static_cast<int>(date.year()), static_cast<unsigned>(date.month()));
    for (int day = NextBit(matching, static_cast<int>(static_cast<unsigned>(date.day()))); day < 32;
         day = NextBit(matching, day + 1)) {
      if (day != static_cast<int>(static_cast<unsigned>(date.day()))) time = 0;
      // The first hour, minute and second that are not before `time`; a larger field that had to
      // move sets the smaller ones free.
      int hour = NextBit(hours_, time / 3'600);
      if (hour > 23) continue;
      int minute = hour == time / 3'600 ? NextBit(minutes_, time / 60 % 60) : NextBit(minutes_, 0);
      const bool same_minute = hour == time / 3'600 && minute == time / 60 % 60;
      int second = same_minute ? NextBit(seconds_, time % 60) : NextBit(seconds_, 0);
      if (second > 59) {
        second = NextBit(seconds_, 0);
        minute = NextBit(minutes_, minute + 1);
      }
      if (minute > 59) {
        minute = NextBit(minutes_, 0);
        second = NextBit(seconds_, 0);
        hour = NextBit(hours_, hour + 1);
      }
      if (hour > 23) continue;
      const std::int64_t wall =
          month_starts() + (day - 1) * kDayS + hour * 3'600 + minute * 60 + second;
      if (wall >= to) return std::nullopt;
      return wall;
    }
  }
  return std::nullopt;
}

std::int64_t Cron::CountDays(std::int64_t from_day, std::int64_t to_day) const {
  using namespace std::chrono;
  std::int64_t matching = 0;
  for (std::int64_t day = from_day; day < to_day;) {
    const year_month_day date{sys_days{days{day}}};
    const auto first = static_cast<unsigned>(date.day());
    const std::uint32_t of_month =
        DaysOf(static_cast<int>(date.year()), static_cast<unsigned>(date.month()));
    const std::int64_t next_month =
        sys_days{(date.year() / date.month() + months{1}) / std::chrono::day{1}}
            .time_since_epoch()
            .count();
    const auto end = static_cast<unsigned>(first + (std::min(next_month, to_day) - day));
    const std::uint64_t wanted = (std::uint64_t{1} << end) - (std::uint64_t{1} << first);
    matching += std::popcount(of_month & wanted);
    day = std::min(next_month, to_day);
  }
  return matching * std::popcount(hours_) * std::popcount(minutes_) * std::popcount(seconds_);
}

}  // namespace tenure::jobs::calendar
