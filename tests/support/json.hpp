#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenure::support {

/// A JSON value for tests: `response.Json()["items"][0]["sessionId"].Text()`. Whatever is not there
/// or is of another type throws with the way to it ("$.items[0].sessionId: no such field in {…}"),
/// which GoogleTest reports as the failure.
///
/// An independent copy made by simdjson's parser; copies share it.
class Json {
 public:
  /// Throws when `text` is not one JSON document.
  static Json Parse(std::string_view text);

  Json operator[](std::string_view field) const;
  Json operator[](const char* field) const { return (*this)[std::string_view(field)]; }
  Json operator[](std::size_t index) const;
  Json operator[](int index) const { return (*this)[static_cast<std::size_t>(index)]; }

  /// Whether this is an object with that field, be it null.
  bool Has(std::string_view field) const;
  bool IsNull() const;

  std::string Text() const;
  std::int64_t Int() const;
  double Number() const;  ///< of either kind
  bool Bool() const;

  /// Of an array or an object.
  std::size_t Size() const;
  std::vector<Json> Elements() const;
  std::vector<std::string> Keys() const;

  /// Compact JSON again, fields in their order: for comparing and for messages.
  std::string Dump() const;

  struct Node;

 private:
  Json(std::shared_ptr<const Node> node, std::string way)
      : node_(std::move(node)), way_(std::move(way)) {}
  Json Child(const Node& node, const std::string& step) const;
  template <class T>
  const T& As(const char* expected) const;
  [[noreturn]] void Fail(const std::string& what) const;

  std::shared_ptr<const Node> node_;  // keeps the whole document
  std::string way_;
};

}  // namespace tenure::support
