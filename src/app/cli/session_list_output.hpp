#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/answer.hpp"
#include "app/cli/console.hpp"
#include "app/cli/session_view.hpp"

namespace tenure::app {

/// Columns that have one value in all rows, because a flag asked for it.
struct SessionColumns {
  bool user = false;
  bool tenant = false;
  bool capacity = false;
};

/// Prints a list page by page, so that a million sessions need the memory of one page: as one
/// table, or as one JSON document {"items": [...], "nextCursor": ...}.
///
/// Life: Add each page, then End once. If End is not reached, JSON on standard output is cut off,
/// and does not look complete.
class SessionListOutput {
 public:
  SessionListOutput(Form form, SessionColumns fixed, Console& console);

  void Add(const SessionPage& page, std::optional<std::int64_t> now_ms);

  /// `next_cursor`: where the list goes on, when not all of it was asked for.
  void End(const std::optional<std::string>& next_cursor);

 private:
  void AddRows(const SessionPage& page, std::optional<std::int64_t> now_ms);
  void AddJson(const SessionPage& page);

  const Form form_;
  const SessionColumns fixed_;
  Console& console_;
  std::size_t count_ = 0;
};

}  // namespace tenure::app
