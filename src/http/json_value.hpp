#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenure::http {

/// Whether a text begins with a byte order mark, which JSON must not (RFC 8259). It is refused before
/// anything is parsed: some versions of simdjson skip it, and what is read beside them would be off
/// by its three bytes.
inline bool HasByteOrderMark(std::string_view text) { return text.starts_with("\xEF\xBB\xBF"); }

/// A small JSON document in a format of others: the claims of a token, a set of keys. A copy, and
/// nothing but values. What a request of ours must look like is JsonFields' business; here unknown
/// fields are somebody else's, and each reader takes what it understands.
///
/// Every accessor says "nothing" for what is missing and for what is of another type.
class JsonValue {
 public:
  /// Empty when `text` is not one JSON document of at most kMaxJsonDepth levels, or when any of
  /// its objects has a name twice, or any text U+0000: of such documents two readers may see
  /// different things.
  static std::optional<JsonValue> Parse(std::string_view text);

  bool IsObject() const { return std::holds_alternative<Members>(value_); }

  /// Null when this is no object, or has no such member.
  const JsonValue* Find(std::string_view name) const;
  std::optional<std::string_view> Text() const;
  /// Whole or not.
  std::optional<double> Number() const;
  /// Null when this is no array.
  const std::vector<JsonValue>* Elements() const;

  /// Names and texts of an object; nothing when any of its values is no text, or this is no object.
  std::optional<std::vector<std::pair<std::string, std::string>>> TextMembers() const;
  /// The text that stands under `name`.
  std::optional<std::string_view> TextOf(std::string_view name) const;

 private:
  friend struct JsonValueReader;
  using Members = std::vector<std::pair<std::string, JsonValue>>;

  /// Null, true and false are `monostate`: nobody asks for them.
  std::variant<std::monostate, double, std::string, std::vector<JsonValue>, Members> value_;
};

// Where the parts of a JSON value stand in its text, for values that are kept as they came. The
// parser's own form has lost that: it knows 1.0 and 1e0 only as the same number.
//
// REQUIRES: the text is valid JSON, which the parser has seen to; nothing is checked again.

/// The texts of an array's elements, or of an object's values in their order (those of repeated
/// names among them).
std::vector<std::string_view> ValueTexts(std::string_view array_or_object);

}  // namespace tenure::http
