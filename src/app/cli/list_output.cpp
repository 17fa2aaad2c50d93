#include "app/cli/list_output.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "config/printable.hpp"

namespace tenure::app {

ListOutput::ListOutput(Form form, Shape shape, Console& console)
    : form_(form), shape_(std::move(shape)), console_(console) {}

void ListOutput::Add(const Page& page) {
  form_ == Form::kJson ? AddJson(page) : AddRows(page);
  count_ += form_ == Form::kJson ? page.json.size() : page.rows.size();
}

void ListOutput::AddRows(const Page& page) {
  if (page.rows.empty()) return;
  TextTable table(shape_.columns);
  for (const auto& cells : page.rows) table.Add(cells);
  console_.out << table.Text(count_ == 0 ? TextTable::Heading::kShow
                                         : TextTable::Heading::kLeaveOut);
}

void ListOutput::AddJson(const Page& page) {
  if (!std::exchange(begun_, true)) console_.out << "{\"items\":[";
  bool first = count_ == 0;
  for (const std::string& item : page.json) {
    if (!std::exchange(first, false)) console_.out << ",";
    console_.out << (console_.out_is_terminal ? config::Printable(item) : item);
  }
}

void ListOutput::End(const std::optional<std::string>& next_cursor) {
  if (form_ == Form::kJson) {
    std::string cursor;
    base::JsonWriter json(cursor);
    next_cursor ? json.Value(*next_cursor) : json.Null();
    console_.out << fmt::format("],\"{}\":{}}}\n", shape_.cursor_field, cursor);
  } else if (count_ == 0) {
    console_.err << shape_.nothing << "\n";
  } else if (next_cursor) {
    console_.err << fmt::format("There are more: add --all, or --cursor {}\n",
                                config::Printable(*next_cursor));
  }
}

}  // namespace tenure::app
