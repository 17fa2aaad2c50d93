#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/page_flags.hpp"

namespace tenure::app {

/// A flat look at a JSON object of the server's, for printing: strings as they are, everything else
/// as the server wrote it (without spaces); null and what is missing is empty.
class JsonRow {
 public:
  /// Throws base::UserError when it is no JSON object.
  static JsonRow Parse(std::string_view json);

  std::string Text(std::string_view field) const;
  /// 0 when it is no number.
  std::int64_t Number(std::string_view field) const;
  /// The same, "-" for nothing.
  std::string Cell(std::string_view field) const;

  /// Lines "owner     host:4711" of the fields that have a value; each line is {what it is called
  /// here, its field}.
  std::string Lines(
      std::initializer_list<std::pair<std::string_view, std::string_view>> fields) const;

 private:
  std::map<std::string, std::string, std::less<>> fields_;
};

/// A page {"items": […], "next_cursor": …} (or "nextCursor") of which each item makes one row of
/// cells.
PageFlags::Page ReadPage(const Answer& answer,
                         const std::function<std::vector<std::string>(const JsonRow&)>& cells);

}  // namespace tenure::app
