#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "db/param.hpp"
#include "db/rows.hpp"

/// Rows as columns, and back: a list of members says which column stands for which member.
///
///   inline constexpr auto kKeyColumns = db::Members(&Key::tenant, &Key::name);
///   tx.Queue(sql::kWriteLeases, db::Columns(leases, db::Inside(&Lease::key, kKeyColumns),
///                                           &Lease::fence, &Lease::holder), now_ms);
///   const auto key = db::ReadAs<Key>(row, kKeyColumns);
namespace tenure::db {

template <class Member>
constexpr auto Members(Member member) {
  return std::tuple<Member>(member);
}
template <class... Some>
constexpr auto Members(std::tuple<Some...> list) {
  return list;
}
/// A list of members, and of lists of them. A member is whatever std::invoke takes: a pointer to a
/// data member, to a function without parameters, or (for writing) a lambda.
template <class First, class Second, class... Others>
constexpr auto Members(First first, Second second, Others... others) {
  return std::tuple_cat(Members(first), Members(second), Members(others)...);
}

/// Members of a member. REQUIRES: `outer` is reached by reference or pointer.
template <class Outer, class... Inner>
constexpr auto Inside(Outer outer, Inner... inner) {
  return std::apply(
      [&](auto... each) {
        return std::make_tuple([outer, each](auto& row) -> decltype(auto) {
          using Reached = decltype(std::invoke(outer, row));
          static_assert(std::is_reference_v<Reached> || std::is_pointer_v<Reached>);
          return std::invoke(each, std::invoke(outer, row));
        }...);
      },
      Members(inner...));
}

namespace detail {

template <class Value>
inline constexpr bool kIsOptional = false;
template <class Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;

/// How a value stands in a column. Numbers, enumerations and flags are numbers. Text is viewed
/// where it lives, and kept where it was only computed. An optional without a value is the zero of
/// its type: 0, "", the nil id.
template <class Value>
auto ToCell(Value&& value) {
  using Plain = std::remove_cvref_t<Value>;
  if constexpr (kIsOptional<Plain>) {
    using Cell = decltype(ToCell(*std::forward<Value>(value)));
    return value ? ToCell(*std::forward<Value>(value)) : Cell{};
  } else if constexpr (std::is_integral_v<Plain> || std::is_enum_v<Plain>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_same_v<Plain, std::string> && std::is_lvalue_reference_v<Value>) {
    return std::string_view(value);
  } else {
    return Plain(std::forward<Value>(value));
  }
}

/// NULL takes the value of an optional, and leaves any other member as it is.
template <class Member>
void TakeCell(const Rows::Row& row, std::size_t column, Member& member) {
  if constexpr (kIsOptional<Member>) {
    member.reset();
    if (!row.IsNull(column)) TakeCell(row, column, member.emplace());
  } else if (row.IsNull(column)) {
    return;
  } else if constexpr (std::is_same_v<Member, bool>) {
    member = row.Int(column) != 0;
  } else if constexpr (std::is_integral_v<Member> || std::is_enum_v<Member>) {
    member = static_cast<Member>(row.Int(column));
  } else if constexpr (std::is_same_v<Member, base::Uuid>) {
    member = row.Uuid(column);
  } else {
    member = row.Text(column);
  }
}

}  // namespace detail

/// Several parameters of a query at once (Transaction::Queue), made by `Columns`.
template <class... Cells>
struct ColumnSet {
  std::tuple<std::vector<Cells>...> columns;
};

/// Makes a column of each member, with one element per row. `rows` may be of structs or of pointers
/// to them.
/// REQUIRES: the rows outlive the columns, which view their texts.
template <class Rows, class... Some>
requires(std::is_lvalue_reference_v<Rows> ||
         std::ranges::view<std::remove_cvref_t<Rows>>) auto Columns(Rows&& rows, Some... some) {
  return std::apply(
      [&](auto... member) {
        using Row = std::ranges::range_reference_t<Rows>;
        ColumnSet<decltype(detail::ToCell(
            std::invoke(member, std::declval<std::remove_reference_t<Row>&>())))...>
            set;
        return std::apply(
            [&](auto&... column) {
              if constexpr (std::ranges::sized_range<Rows>)
                (column.reserve(std::ranges::size(rows)), ...);
              for (auto&& row : rows)
                (column.push_back(detail::ToCell(std::invoke(member, row))), ...);
              return std::move(set);
            },
            set.columns);
      },
      Members(some...));
}

/// Reads the columns from `first` on into these members, in their order.
template <class Struct, class... Some>
void ReadInto(Struct& into, const Rows::Row& row, std::size_t first, Some... some) {
  std::apply(
      [&](auto... member) { (detail::TakeCell(row, first++, std::invoke(member, into)), ...); },
      Members(some...));
}

/// The same for a whole row.
template <class Struct, class... Some>
Struct ReadAs(const Rows::Row& row, Some... some) {
  Struct read{};
  ReadInto(read, row, 0, some...);
  return read;
}

}  // namespace tenure::db
