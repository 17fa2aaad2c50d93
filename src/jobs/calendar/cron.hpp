#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tenure::jobs::calendar {

/// What is wrong with an expression: the character, from 0, where the mistake begins, and what was
/// expected there.
struct Problem {
  std::size_t position = 0;
  std::string message;

  bool operator==(const Problem&) const = default;
};

/// Which days of a month a cron expression names: its fields of days and of weekdays.
struct CronDays {
  std::uint32_t days = 0;             ///< bit n: the n-th
  std::uint32_t before_last = 0;      ///< bit n: n days before the last; `L` is bit 0
  std::uint32_t nearest = 0;          ///< bit n: the weekday that is nearest to the n-th (`15W`)
  bool last_weekday = false;          ///< `LW`
  bool every_day = false;             ///< the field of days is just `*` or `?`
  std::uint8_t weekdays = 0;          ///< bit 0 is Sunday
  std::array<std::uint8_t, 5> nth{};  ///< `MON#2`: of [1], bit 1
  std::uint8_t last_of = 0;           ///< `FRIL`
  bool every_weekday = false;         ///< the field of weekdays is just `*` or `?`
};

/// A cron expression with its seconds. It knows wall clocks and nothing of zones: a wall time is
/// the seconds since 1970-01-01T00:00:00 as a clock on the wall counts them.
///
/// The fields are seconds (they may be left out: 0), minutes, hours, days, months and weekdays.
/// When days and weekdays are both restricted, a day that matches either of them counts.
class Cron {
 public:
  /// Reads five or six fields, or one of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`,
  /// `@midnight`, `@hourly`. (`@every` is no expression: see Schedule.)
  static std::variant<Cron, Problem> Parse(std::string_view text);

  /// The first wall time that matches in [from, to); none when there is none.
  std::optional<std::int64_t> First(std::int64_t from, std::int64_t to) const;

  /// How many wall times match in the days [from_day, to_day), counted from 1970-01-01.
  std::int64_t CountDays(std::int64_t from_day, std::int64_t to_day) const;

  /// Whether the field of minutes or of hours has a `*` or a step: it means a distance ("every five
  /// minutes") and not a time of the day.
  bool interval() const { return interval_; }

  /// Which days of the month match, bit n for the n-th. `month` is 1 to 12.
  std::uint32_t DaysOf(int year, unsigned month) const;

 private:
  friend class CronReader;

  bool CanHappen() const;

  std::uint64_t seconds_ = 1;
  std::uint64_t minutes_ = 0;
  std::uint32_t hours_ = 0;
  std::uint16_t months_ = 0;  ///< bit 1 is January
  CronDays days_;
  bool interval_ = false;
};

}  // namespace tenure::jobs::calendar
