#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/answer.hpp"
#include "app/cli/console.hpp"
#include "app/cli/text_table.hpp"

namespace tenure::app {

/// Prints a list page by page, so that a million things need the memory of one page: as one table,
/// or as one JSON document {"items": [...], "next_cursor": ...}.
///
/// Life: Add each page (at least one), then End once. If End is not reached, JSON on standard
/// output is cut off, and does not look complete.
class ListOutput {
 public:
  struct Shape {
    std::vector<TextTable::Column> columns;
    std::string_view nothing;       ///< "no sessions"
    std::string_view cursor_field;  ///< of the JSON document: "nextCursor"
  };
  /// A page: rows for the table, and the same things as the server wrote them.
  struct Page {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> json;
  };

  ListOutput(Form form, Shape shape, Console& console);

  void Add(const Page& page);

  /// `next_cursor`: where the list goes on, when not all of it was asked for.
  void End(const std::optional<std::string>& next_cursor);

 private:
  void AddRows(const Page& page);
  void AddJson(const Page& page);

  const Form form_;
  const Shape shape_;
  Console& console_;
  std::size_t count_ = 0;
  bool begun_ = false;  // the JSON document
};

}  // namespace tenure::app
