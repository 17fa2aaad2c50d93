#include "base/json_text.hpp"

#include <cstddef>
#include <cstdint>

#include "base/utf8.hpp"

namespace tenure::base {
namespace {

/// Walks over a text from left to right. What takes something says whether it was there.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : rest_(text) {}

  bool IsOneValue() { return Value() && (Space(), rest_.empty()); }

 private:
  void Space() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  bool Take(char c) {
    const bool there = !rest_.empty() && rest_.front() == c;
    if (there) rest_.remove_prefix(1);
    return there;
  }
  bool TakeAny(std::string_view any_of) {
    const bool there = !rest_.empty() && any_of.find(rest_.front()) != std::string_view::npos;
    if (there) rest_.remove_prefix(1);
    return there;
  }
  bool Word(std::string_view word) {
    const bool there = rest_.starts_with(word);
    if (there) rest_.remove_prefix(word.size());
    return there;
  }

  bool Value() {
    Space();
    if (rest_.empty()) return false;
    switch (rest_.front()) {
      case '{':
        return Nested('}', [this] { return Member(); });
      case '[':
        return Nested(']', [this] { return Value(); });
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool Member() {
    Space();
    return String() && (Space(), Take(':')) && Value();
  }

  template <class Element>
  bool Nested(char close, Element element) {
    if (++depth_ > kMaxStoredJsonDepth) return false;
    rest_.remove_prefix(1);
    Space();
    if (!Take(close)) {
      do {
        if (!element()) return false;
        Space();
      } while (Take(','));
      if (!Take(close)) return false;
    }
    --depth_;
    return true;
  }

  bool String() {
    if (!Take('"')) return false;
    while (!rest_.empty()) {
      const auto c = static_cast<std::uint8_t>(rest_.front());
      if (c < 0x20) return false;
      if (c >= 0x80) {
        const std::string_view character = FrontCharacter(rest_);
        if (character.empty()) return false;
        rest_.remove_prefix(character.size());
        continue;
      }
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c == '\\' && !Escape()) return false;
    }
    return false;
  }
  bool Escape() {
    if (!Take('u')) return TakeAny("\"\\/bfnrt");
    for (int i = 0; i < 4; ++i)
      if (!TakeAny("0123456789abcdefABCDEF")) return false;
    return true;
  }

  bool Digits() {
    const std::size_t end = rest_.find_first_not_of("0123456789");
    const std::size_t count = end == std::string_view::npos ? rest_.size() : end;
    rest_.remove_prefix(count);
    return count > 0;
  }
  bool Number() {
    Take('-');
    if (!Take('0') && !Digits()) return false;
    if (Take('.') && !Digits()) return false;
    if (!TakeAny("eE")) return true;
    TakeAny("+-");
    return Digits();
  }

  std::string_view rest_;
  int depth_ = 0;
};

}  // namespace

bool IsJson(std::string_view text) { return JsonWalk(text).IsOneValue(); }

std::string_view ObjectOrEmpty(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_object = first != std::string_view::npos && text[first] == '{' && IsJson(text);
  return is_object ? text : std::string_view("{}");
}

}  // namespace tenure::base
