#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/uuid.hpp"

namespace tenure::db {

/// A row that is there cannot be as it is: it fails whoever asked for it, and nobody else (a lane
/// divides the batch until it stands alone).
[[noreturn]] inline void ThrowBadRow(const std::string& what) {
  throw base::Fault(base::FaultKind::kStatement,
                    "the store has a row that makes no sense: " + what);
}

/// What a query returned, the same for both engines: rows of cells, and for each row the ordinal of
/// the item that it belongs to (0 for the first item). A value type. Cells are read by position.
///
/// What stands in a cell is input like any other: somebody may have written it by hand. A cell that
/// is not of the type asked for is a fault (kStatement) of whoever asked for that row. How many
/// columns there are, on the other hand, our own query says.
class Rows {
  enum class Kind : std::uint8_t { kNull, kInt, kBytes };
  struct Cell {
    Kind kind;
    std::uint32_t size;
    std::int64_t number;  // the value, or where its bytes begin
  };

 public:
  class Row {
   public:
    std::size_t ordinal() const { return rows_->ordinals_[index_]; }
    bool IsNull(std::size_t column) const { return At(column).kind == Kind::kNull; }

    std::int64_t Int(std::size_t column) const {
      const Cell& cell = At(column);
      if (cell.kind != Kind::kInt) ThrowBadRow("a cell is not a number");
      return cell.number;
    }
    /// Text, or bytes.
    std::string_view Text(std::size_t column) const {
      const Cell& cell = At(column);
      if (cell.kind != Kind::kBytes) ThrowBadRow("a cell is neither text nor bytes");
      return std::string_view(rows_->bytes_)
          .substr(static_cast<std::size_t>(cell.number), cell.size);
    }
    base::Uuid Uuid(std::size_t column) const {
      const std::string_view raw = Text(column);
      base::Uuid id;
      if (raw.size() != id.bytes.size()) ThrowBadRow("a cell is not an id");
      std::memcpy(id.bytes.data(), raw.data(), raw.size());
      return id;
    }

   private:
    friend class Rows;
    Row(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}
    const Cell& At(std::size_t column) const {
      TENURE_CHECK(column < rows_->columns_, "a row has fewer columns");
      return rows_->cells_[index_ * rows_->columns_ + column];
    }
    const Rows* rows_;
    std::size_t index_;
  };

  class Iterator {
   public:
    Iterator(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}
    Row operator*() const { return Row(*rows_, index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Rows* rows_;
    std::size_t index_;
  };

  std::size_t size() const { return ordinals_.size(); }
  bool empty() const { return ordinals_.empty(); }
  Row operator[](std::size_t index) const {
    if (index >= size()) ThrowBadRow("a row is missing");
    return Row(*this, index);
  }
  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, size()); }

  // For engines: a row, then its cells from left to right.
  void BeginRow(std::size_t ordinal, std::size_t columns) {
    TENURE_CHECK(empty() || columns == columns_, "rows of one query differ in width");
    columns_ = columns;
    ordinals_.push_back(ordinal);
  }
  void AddNull() { cells_.push_back({Kind::kNull, 0, 0}); }
  void AddInt(std::int64_t number) { cells_.push_back({Kind::kInt, 0, number}); }
  void AddBytes(std::string_view bytes) {
    cells_.push_back({Kind::kBytes, static_cast<std::uint32_t>(bytes.size()),
                      static_cast<std::int64_t>(bytes_.size())});
    bytes_ += bytes;
  }

 private:
  std::size_t columns_ = 0;
  std::vector<std::size_t> ordinals_;
  std::vector<Cell> cells_;
  std::string bytes_;
};

}  // namespace tenure::db
