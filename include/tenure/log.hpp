#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure {

/// One line of the library's log: a loss, a store that cannot be reached, a task that failed.
struct LogLine {
  std::string_view level;    ///< "debug", "info", "warn" or "error"
  std::string_view event;    ///< a stable dotted name: "leases.lost"
  std::string_view message;  ///< a sentence for people
  std::vector<std::pair<std::string_view, std::string>> fields;
};

/// Where the library's lines go from now on, of everything in this process; empty: to standard
/// error, as before the first call. It is called on any thread, several at once: return soon. What
/// it throws is dropped.
void SetLogHook(std::function<void(const LogLine&)> hook);

}  // namespace tenure
