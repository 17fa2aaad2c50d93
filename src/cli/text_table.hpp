#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenure::cli {

/// Rows in aligned columns under a heading, for people. Cells are made printable: whatever a file
/// or a server put into them, the terminal gets text.
class TextTable {
 public:
  struct Column {
    std::string heading;
    std::size_t at_least = 0;  ///< its width, so that the pages of a long list look alike
  };
  enum class Heading { kShow, kLeaveOut };

  explicit TextTable(std::vector<Column> columns);

  /// REQUIRES: as many cells as columns.
  void Add(std::vector<std::string> cells);

  std::string Text(Heading heading = Heading::kShow) const;

 private:
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;  // the first is the heading
};

}  // namespace tenure::cli
