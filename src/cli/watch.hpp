#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/flags.hpp"

namespace tenure::cli {

/// `--watch[=2s]`, of commands that look at something. A command that has it among its flags is
/// watched by the frame (run.cpp) and needs to do nothing for it.
Flag WatchFlag();

/// What is new in an output that is asked for again and again. Ages and countdowns pass by
/// themselves: that is nothing new.
///
/// Life: Of each output, in their order.
class Changes {
 public:
  /// The lines that were not there before, and, behind "- ", those that are gone. All of the first
  /// output. A line that has another one's first word is that one, changed.
  std::string Of(std::string_view output);

 private:
  struct Line {
    std::string text;
    std::string lasting;  // what stays the same while nothing happens
    std::string subject;  // the first word
  };
  static std::vector<Line> LinesOf(std::string_view output);

  std::vector<Line> before_;
};

/// `line` with its spans ("4m 10s", "3 s") and the width of its gaps left out.
std::string Lasting(std::string_view line);

/// A JSON document without what passes by itself: `now`, `counted_at` and ages.
std::string LastingJson(std::string_view json);

/// The first lines of `text` as far as they fit a screen, each cut to its width. One line is left
/// for the cursor.
std::string CutToFit(std::string_view text, const Screen& screen);

/// Looks with `once` every `every_ms`, until the first failure, the reader's end or a signal. On a
/// terminal each look is drawn over the one before; elsewhere its changes are printed, and of
/// documents (`json`) each that differs. A server that does not answer in between is waited for.
/// Returns the exit code.
int Watch(std::int64_t every_ms, bool json, Console& console,
          const std::function<int(Console&)>& once);

}  // namespace tenure::cli
