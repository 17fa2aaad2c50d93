#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "cli/command.hpp"

namespace tenure::cli {

/// Says on standard error how far long work is: on a terminal in one line that is written over,
/// elsewhere in a line every ten seconds, with --quiet not at all.
///
/// Life: At after each step, End once. One thread.
class Progress {
 public:
  /// `unit`: "dead letters". `total`: of how many, where that is known.
  Progress(Console& console, std::string_view unit, std::optional<std::int64_t> total = {},
           const base::Clock& clock = base::SystemClock());

  void At(std::int64_t done);
  /// Clears what was written over.
  void End();

 private:
  std::string Line(std::int64_t done, std::int64_t now_ms) const;

  Console& console_;
  const std::string unit_;
  const std::optional<std::int64_t> total_;
  const base::Clock& clock_;
  const std::int64_t began_ms_;
  std::int64_t said_ms_;
  bool is_shown_ = false;
};

}  // namespace tenure::cli
