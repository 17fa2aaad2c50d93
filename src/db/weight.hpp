#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tenure::db {

template <class Value>
std::size_t BytesOf(const Value& value);
template <class Value>
std::size_t BytesOf(const std::vector<Value>& values);
template <class Value>
std::size_t BytesOf(const std::optional<Value>& value);
template <class... Values>
std::size_t BytesOf(const std::variant<Values...>& value);
template <class First, class Second>
std::size_t BytesOf(const std::pair<First, Second>& pair);
inline std::size_t BytesOf(const std::string& text) { return text.size(); }

/// What a value keeps in memory besides itself. A type that keeps something says how much with
/// `bytes()`: without it the program does not compile, so no request weighs less than it carries.
template <class Value>
std::size_t BytesOf(const Value& value) {
  if constexpr (requires { value.bytes(); }) {
    return value.bytes();
  } else {
    static_assert(std::is_trivially_copyable_v<Value>, "say what it weighs with bytes()");
    return 0;
  }
}
template <class Value>
std::size_t BytesOf(const std::vector<Value>& values) {
  std::size_t bytes = values.size() * sizeof(Value);
  if constexpr (!std::is_trivially_copyable_v<Value>)
    for (const Value& each : values) bytes += BytesOf(each);
  return bytes;
}
template <class Value>
std::size_t BytesOf(const std::optional<Value>& value) {
  return value ? BytesOf(*value) : 0;
}
template <class... Values>
std::size_t BytesOf(const std::variant<Values...>& value) {
  return std::visit([](const auto& held) { return BytesOf(held); }, value);
}
template <class First, class Second>
std::size_t BytesOf(const std::pair<First, Second>& pair) {
  return BytesOf(pair.first) + BytesOf(pair.second);
}

/// Of several members together.
template <class First, class Second, class... Others>
std::size_t BytesOf(const First& first, const Second& second, const Others&... others) {
  return BytesOf(first) + BytesOf(second) + (std::size_t{0} + ... + BytesOf(others));
}

}  // namespace tenure::db
