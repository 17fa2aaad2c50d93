#include "http/json_text.hpp"

#include <algorithm>

namespace tenure::http {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// Takes one thing after the other off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  /// What comes after the space, without taking it.
  char Peek() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
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
        return Take(rest_.find_first_of(",]} \t\r\n"));
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
    for (++at; at < rest_.size() && rest_[at] != '"'; ++at)
      if (rest_[at] == '\\') ++at;
    return at + 1;
  }
  /// Behind the bracket that closes the first one.
  std::size_t NestedEnd() const {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      at = rest_.find_first_of("\"{}[]", at);
      if (at == std::string_view::npos) break;
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

}  // namespace

std::vector<std::string_view> MemberTexts(std::string_view object) {
  std::vector<std::string_view> texts;
  Scanner scanner(object);
  scanner.TakeMark();  // {
  while (scanner.Peek() == '"') {
    scanner.TakeValue();  // its name
    scanner.TakeMark();   // :
    texts.push_back(scanner.TakeValue());
    scanner.TakeMark();  // , or }
  }
  return texts;
}

std::vector<std::string_view> ElementTexts(std::string_view array) {
  std::vector<std::string_view> texts;
  Scanner scanner(array);
  scanner.TakeMark();  // [
  while (scanner.Peek() != ']' && scanner.Peek() != '\0') {
    texts.push_back(scanner.TakeValue());
    if (scanner.Peek() == ',') scanner.TakeMark();
  }
  return texts;
}

}  // namespace tenure::http
