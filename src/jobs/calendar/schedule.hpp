#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jobs/calendar/cron.hpp"
#include "jobs/calendar/zone.hpp"

namespace tenure::jobs::calendar {

/// What is done with a time that the wall clock leaves out.
enum class Gap {
  kEndOfGap,  ///< it is the first instant after the gap, once
  kSkip,
};

/// What is done with a time that the wall clock shows twice.
enum class Repeat { kFirst, kSecond, kBoth };

/// Why the wall clock at an occurrence is not what the expression says alone.
enum class Flag { kNone, kGap, kRepeated };
std::string_view FlagText(Flag flag);  ///< "" for kNone

struct Occurrence {
  std::int64_t time_ms = 0;
  Flag flag = Flag::kNone;

  bool operator==(const Occurrence&) const = default;
};

/// A fixed distance. Its times are the anchor plus whole multiples.
struct Every {
  std::int64_t period_ms = 0;  ///< REQUIRES: at least 1
  std::int64_t anchor_ms = 0;

  bool operator==(const Every&) const = default;
};

inline constexpr std::int64_t kLeastEveryMs = 1'000;

/// `@every 90s` as a cron expression: the distance, or what is wrong with it. Nothing when the text
/// is another expression.
std::optional<std::variant<std::int64_t, Problem>> ParseAtEvery(std::string_view text);

/// When something is to happen: pure, a value without a clock. Times are milliseconds since 1970.
///
/// An expression that names times of the day asks `gap` and `repeat` where clocks are changed. An
/// interval expression (Cron::interval) does not: it happens at every instant whose wall clock
/// matches. A distance knows no wall clock at all.
class Schedule {
 public:
  Schedule(Cron cron, Zone zone, Gap gap, Repeat repeat)
      : when_(cron), zone_(zone), gap_(gap), repeat_(repeat) {}
  Schedule(Every every, Zone zone) : when_(every), zone_(zone) {}

  /// The first one at or after `from_ms`; none when there is none within a hundred years.
  std::optional<Occurrence> First(std::int64_t from_ms) const;

  /// The first `most` of [from, to), in order.
  std::vector<Occurrence> List(std::int64_t from_ms, std::int64_t to_ms, std::size_t most) const;

  /// How many there are in [from, to). Cheap also for years of seconds.
  std::int64_t Count(std::int64_t from_ms, std::int64_t to_ms) const;

  /// The last `most` of [from, to), in order. Costs about as much as `List` of so many.
  std::vector<Occurrence> Last(std::int64_t from_ms, std::int64_t to_ms, std::size_t most) const;

  const Zone& zone() const { return zone_; }

 private:
  class Walk;

  std::variant<Cron, Every> when_;
  Zone zone_;
  Gap gap_ = Gap::kEndOfGap;
  Repeat repeat_ = Repeat::kFirst;
};

}  // namespace tenure::jobs::calendar
