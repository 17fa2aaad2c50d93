#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/list_output.hpp"
#include "app/cli/session_view.hpp"

namespace tenure::app {

/// Columns that have one value in all rows, because a flag asked for it.
struct SessionColumns {
  bool user = false;
  bool tenant = false;
  bool capacity = false;
};

/// Prints a list of sessions page by page (ListOutput has the rules).
class SessionListOutput {
 public:
  SessionListOutput(Form form, SessionColumns fixed, Console& console);

  void Add(const SessionPage& page, std::optional<std::int64_t> now_ms);
  void End(const std::optional<std::string>& next_cursor) { output_.End(next_cursor); }

 private:
  const SessionColumns fixed_;
  ListOutput output_;
};

}  // namespace tenure::app
