#include "cli/text_table.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "config/printable.hpp"

namespace tenure::cli {

TextTable::TextTable(std::vector<Column> columns) : rows_(1) {
  for (Column& column : columns) {
    widths_.push_back(std::max(column.at_least, config::DisplayWidth(column.heading)));
    rows_.front().push_back(std::move(column.heading));
  }
}

void TextTable::Add(std::vector<std::string> cells) {
  TENURE_CHECK(cells.size() == widths_.size(), "a table's row has another width");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = config::Printable(cells[i]);
    widths_[i] = std::max(widths_[i], config::DisplayWidth(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::Text(Heading heading) const {
  std::string text;
  for (std::size_t r = heading == Heading::kShow ? 0 : 1; r < rows_.size(); ++r) {
    const std::vector<std::string>& row = rows_[r];
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text.append(row[i]).append(widths_[i] - config::DisplayWidth(row[i]) + 2, ' ');
    text.append(row.back()).append("\n");  // no blanks at the end of a line
  }
  return text;
}

}  // namespace tenure::cli
