#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json_writer.hpp"

namespace tenure::overview {

/// A few figures of this process's last hour and day, without anybody who keeps them. At most kMostNames
/// names: 691 KB.
///
/// Threads: one at a time.
class Series {
 public:
  static constexpr std::size_t kMostNames = 48;
  static constexpr std::int64_t kStepMs = 10'000;
  static constexpr std::int64_t kLongStepMs = 60'000;

  enum class Range { kHour, kDay };
  using Values = std::map<std::string, std::int64_t, std::less<>>;

  /// The values of now, which replace those of the same 10 seconds. What is not among them has a gap
  /// there, as has everything in steps at which nobody noted anything. More names than kMostNames are
  /// left out.
  void Note(std::int64_t now_ms, const Values& values);

  /// {"step_ms":…,"since":…,"until":…,"values":{name:[…]}}: oldest first, null for a gap.
  void Write(base::JsonWriter& json, Range range) const;

 private:
  static constexpr std::int64_t kGap = INT64_MIN;

  /// Values of steps; that of step n stands at n modulo the size.
  template <std::size_t kSize>
  struct Ring {
    std::array<std::int64_t, kSize> values;
    Ring() { values.fill(kGap); }
    std::int64_t& At(std::int64_t step) {
      return values[static_cast<std::size_t>(step % static_cast<std::int64_t>(kSize))];
    }
    std::int64_t At(std::int64_t step) const {
      return values[static_cast<std::size_t>(step % static_cast<std::int64_t>(kSize))];
    }
  };
  struct Line {
    Ring<360> hour;
    Ring<1'440> day;
  };

  /// Empties what lies between the last step and this one.
  template <class RingOf>
  void Clear(std::int64_t last, std::int64_t step, std::int64_t size, RingOf ring_of);

  std::map<std::string, Line, std::less<>> lines_;
  std::int64_t since_ms_ = 0;
  std::int64_t last_ms_ = 0;
};

}  // namespace tenure::overview
