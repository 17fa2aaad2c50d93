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

ListOutput::Shape SessionListShape(SessionColumns fixed);
ListOutput::Page SessionRows(const SessionPage& page, SessionColumns fixed,
                             std::optional<std::int64_t> now_ms);

}  // namespace tenure::app
