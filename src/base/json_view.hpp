#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure::base {

/// A value inside of a JSON text that somebody else keeps: where it stands, and nothing copied. Made
/// for large documents of which little is asked: looking for a member walks over those before it,
/// and decodes no value.
///
/// REQUIRES of everything but Parse: the text is JSON.
class JsonView {
 public:
  enum class Kind { kObject, kArray, kString, kNumber, kTrue, kFalse, kNull };

  /// Checks the whole text; however deep it nests costs no stack.
  static std::optional<JsonView> Parse(std::string_view text);
  /// Of a text that was checked before.
  static JsonView Trusted(std::string_view text);

  Kind kind() const;
  /// The value's own text, as it came: of a number its digits.
  std::string_view text() const { return text_; }

  /// The member of that name; of several the last one, which is what most readers see. Nothing when
  /// there is none, or when this is no object.
  std::optional<JsonView> Find(std::string_view name) const;
  /// All of them in their order, with their names decoded; empty when this is no object.
  std::vector<std::pair<std::string, JsonView>> Members() const;
  /// The elements of an array, or the values of an object's members, in their order.
  std::vector<JsonView> Values() const;
  /// A string without its escapes. Half a surrogate pair becomes the three bytes that UTF-8 would
  /// have for it (WTF-8), so that different strings stay different. Nothing when this is no string.
  std::optional<std::string> Text() const;

 private:
  explicit JsonView(std::string_view text) : text_(text) {}

  std::string_view text_;  // without space around it
};

}  // namespace tenure::base
