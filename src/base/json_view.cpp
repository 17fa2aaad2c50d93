#include "base/json_view.hpp"

#include <algorithm>
#include <cstdint>

#include "base/byte_set.hpp"
#include "base/json_text.hpp"

namespace tenure::base {
namespace {

constexpr ByteSet kEnd(",]} \t\r\n");
constexpr ByteSet kStringMarks("\"\\");
constexpr ByteSet kBrackets("\"{}[]");

/// Takes one thing after the other off the front of a text that is known to be JSON.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : rest_(text) {}

  /// What comes after the space, without taking it; 0 at the end.
  char Peek() {
    rest_.remove_prefix(kJsonSpace.FirstOther(rest_));
    return rest_.empty() ? '\0' : rest_.front();
  }
  void TakeMark() {
    if (Peek() != '\0') rest_.remove_prefix(1);
  }
  std::string_view TakeValue() {
    switch (Peek()) {
      case '"':
        return Take(StringEnd(0));
      case '{':
      case '[':
        return Take(NestedEnd());
      default:
        return Take(kEnd.First(rest_));
    }
  }

 private:
  std::string_view Take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// Behind the string that begins at `at`.
  std::size_t StringEnd(std::size_t at) const {
    ++at;
    while (at < rest_.size()) {
      at = kStringMarks.First(rest_, at);
      if (at == rest_.size()) break;
      if (rest_[at] == '"') return at + 1;
      at += 2;
    }
    return rest_.size();
  }
  /// Behind the bracket that closes the first one.
  std::size_t NestedEnd() const {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      at = kBrackets.First(rest_, at);
      if (at == rest_.size()) break;
      if (rest_[at] == '"')
        at = StringEnd(at) - 1;
      else if (rest_[at] == '{' || rest_[at] == '[')
        ++depth;
      else if (--depth == 0)
        return at + 1;
    }
    return rest_.size();
  }

  std::string_view rest_;
};

/// Calls `see(name as it stands, value)` for each member of an object.
template <class See>
void ForEachMember(std::string_view object, See see) {
  JsonScanner scanner(object);
  if (scanner.Peek() != '{') return;
  scanner.TakeMark();
  while (scanner.Peek() == '"') {
    const std::string_view name = scanner.TakeValue();
    scanner.TakeMark();  // :
    see(name, scanner.TakeValue());
    scanner.TakeMark();  // , or }
  }
}

std::uint32_t HexOf(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value << 4 | static_cast<std::uint32_t>(digit);
  }
  return value;
}

void AppendCodePoint(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

/// Takes "uXXXX" off the front, and the second half of a pair with it.
std::uint32_t TakeUnicode(std::string_view& rest) {
  const std::uint32_t first = HexOf(rest.substr(1, 4));
  rest.remove_prefix(5);
  if (first < 0xD800 || first > 0xDBFF || !rest.starts_with("\\u")) return first;
  const std::uint32_t second = HexOf(rest.substr(2, 4));
  if (second < 0xDC00 || second > 0xDFFF) return first;
  rest.remove_prefix(6);
  return 0x10000 + ((first & 0x3FFU) << 10) + (second & 0x3FFU);
}

/// `quoted` is a string with its quotes.
std::string Unescaped(std::string_view quoted) {
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string text;
  text.reserve(rest.size());
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find('\\'), rest.size());
    text += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    if (rest.front() == 'u') {
      AppendCodePoint(text, TakeUnicode(rest));
      continue;
    }
    constexpr std::string_view kEscapes = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    const std::size_t at = kEscapes.find(rest.front());
    text += at == std::string_view::npos ? rest.front() : kMeanings[at];
    rest.remove_prefix(1);
  }
  return text;
}

/// Whether a member's name, as it stands, is `name`.
bool IsNamed(std::string_view quoted, std::string_view name) {
  if (quoted.find('\\') == std::string_view::npos)
    return quoted.substr(1, quoted.size() - 2) == name;
  return Unescaped(quoted) == name;
}

}  // namespace

std::optional<JsonView> JsonView::Parse(std::string_view text) {
  if (!IsJson(text, SIZE_MAX)) return std::nullopt;
  return Trusted(text);
}

JsonView JsonView::Trusted(std::string_view text) {
  return JsonView(JsonScanner(text).TakeValue());
}

JsonView::Kind JsonView::kind() const {
  switch (text_.front()) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
      return Kind::kTrue;
    case 'f':
      return Kind::kFalse;
    case 'n':
      return Kind::kNull;
    default:
      return Kind::kNumber;
  }
}

std::optional<JsonView> JsonView::Find(std::string_view name) const {
  std::optional<JsonView> found;
  ForEachMember(text_, [&](std::string_view quoted, std::string_view value) {
    if (IsNamed(quoted, name)) found = JsonView(value);
  });
  return found;
}

std::vector<std::pair<std::string, JsonView>> JsonView::Members() const {
  std::vector<std::pair<std::string, JsonView>> members;
  ForEachMember(text_, [&](std::string_view quoted, std::string_view value) {
    members.emplace_back(Unescaped(quoted), JsonView(value));
  });
  return members;
}

std::vector<JsonView> JsonView::Values() const {
  std::vector<JsonView> values;
  if (kind() == Kind::kObject)
    ForEachMember(text_, [&](std::string_view, std::string_view value) {
      values.push_back(JsonView(value));
    });
  if (kind() != Kind::kArray) return values;
  JsonScanner scanner(text_);
  scanner.TakeMark();
  while (scanner.Peek() != ']') {
    values.push_back(JsonView(scanner.TakeValue()));
    if (scanner.Peek() == ',') scanner.TakeMark();
  }
  return values;
}

std::optional<std::string> JsonView::Text() const {
  if (kind() != Kind::kString) return std::nullopt;
  return Unescaped(text_);
}

}  // namespace tenure::base
