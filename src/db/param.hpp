#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/uuid.hpp"

namespace tenure::db {

/// Bytes that are not text: a payload. It only views them.
struct BytesView {
  std::string_view data;
};

/// Where a row lies: PostgreSQL's ctid, SQLite's rowid. A query reads it as a number, and a later
/// query of the same transaction finds the row by it without an index.
/// REQUIRES: the transaction has locked the row, so that it cannot move in between.
struct RowPlace {
  std::int64_t value = 0;
};

/// One parameter of a query: a column with one element per item, or one value that is the same for
/// all items. PostgreSQL receives a column as an array, SQLite one element per execution. A Param
/// only views what it was made from; it is encoded before `Transaction::Queue` returns.
using Param = std::variant<
    // columns
    std::span<const base::Uuid>, std::span<const std::int64_t>, std::span<const std::string>,
    std::span<const std::string_view>, std::span<const BytesView>, std::span<const RowPlace>,
    // single values
    std::int64_t, base::Uuid, std::string_view, BytesView, std::optional<std::int64_t>,
    std::optional<base::Uuid>>;

inline Param ToParam(const std::vector<base::Uuid>& column) { return std::span(column); }
inline Param ToParam(const std::vector<std::int64_t>& column) { return std::span(column); }
inline Param ToParam(const std::vector<std::string>& column) { return std::span(column); }
inline Param ToParam(const std::vector<std::string_view>& column) { return std::span(column); }
inline Param ToParam(const std::vector<BytesView>& column) { return std::span(column); }
inline Param ToParam(const std::vector<RowPlace>& column) { return std::span(column); }
inline Param ToParam(BytesView value) { return value; }
inline Param ToParam(std::int64_t value) { return value; }
inline Param ToParam(const base::Uuid& value) { return value; }
inline Param ToParam(std::string_view value) { return value; }
inline Param ToParam(const std::optional<std::int64_t>& value) { return value; }
inline Param ToParam(const std::optional<base::Uuid>& value) { return value; }

/// The number of items: the common length of the columns; 1 when there are only single values.
/// Columns of different length are a broken program.
std::size_t ItemCount(std::span<const Param> params);

}  // namespace tenure::db
