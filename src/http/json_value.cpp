#include "http/json_value.hpp"

#include <algorithm>

#include <simdjson.h>

#include "base/utf8.hpp"
#include "http/json_document.hpp"

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

namespace dom = simdjson::dom;

/// Copies a parsed document; says false when it is one that two readers may see differently. The
/// parser's depth bounds the recursion.
struct JsonValueReader {
  static bool Read(dom::element from, JsonValue& to) {
    switch (from.type()) {
      case dom::element_type::OBJECT:
        return ReadObject(from, to);
      case dom::element_type::ARRAY:
        return ReadArray(from, to);
      case dom::element_type::STRING:
        to.value_ = std::string(std::string_view(from));
        return base::IsStorableText(std::string_view(from));
      case dom::element_type::INT64:
      case dom::element_type::UINT64:
      case dom::element_type::DOUBLE:
        to.value_ = double(from);
        return true;
      default:
        return true;
    }
  }

 private:
  static bool ReadObject(dom::element from, JsonValue& to) {
    JsonValue::Members members;
    for (const auto& [name, value] : dom::object(from)) {
      members.emplace_back(name, JsonValue());
      if (!base::IsStorableText(name) || !Read(value, members.back().second)) return false;
    }
    std::vector<std::string_view> names;
    for (const auto& member : members) names.emplace_back(member.first);
    std::sort(names.begin(), names.end());
    to.value_ = std::move(members);
    return std::adjacent_find(names.begin(), names.end()) == names.end();
  }

  static bool ReadArray(dom::element from, JsonValue& to) {
    std::vector<JsonValue> elements;
    for (const dom::element element : dom::array(from))
      if (!Read(element, elements.emplace_back())) return false;
    to.value_ = std::move(elements);
    return true;
  }
};

std::optional<JsonValue> JsonValue::Parse(std::string_view text) {
  if (HasByteOrderMark(text)) return std::nullopt;
  dom::parser parser;
  if (parser.allocate(std::max<std::size_t>(text.size(), 64), kMaxJsonDepth)) return std::nullopt;
  dom::element root;
  JsonValue value;
  if (parser.parse(text.data(), text.size()).get(root) || !JsonValueReader::Read(root, value))
    return std::nullopt;
  return value;
}

const JsonValue* JsonValue::Find(std::string_view name) const {
  const auto* const members = std::get_if<Members>(&value_);
  if (!members) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const auto& member) { return member.first == name; });
  return found == members->end() ? nullptr : &found->second;
}

std::optional<std::string_view> JsonValue::Text() const {
  const auto* const text = std::get_if<std::string>(&value_);
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

std::optional<double> JsonValue::Number() const {
  const auto* const number = std::get_if<double>(&value_);
  return number ? std::optional(*number) : std::nullopt;
}

const std::vector<JsonValue>* JsonValue::Elements() const {
  return std::get_if<std::vector<JsonValue>>(&value_);
}

std::optional<std::vector<std::pair<std::string, std::string>>> JsonValue::TextMembers() const {
  const auto* const members = std::get_if<Members>(&value_);
  if (!members) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, value] : *members) {
    const auto text = value.Text();
    if (!text) return std::nullopt;
    texts.emplace_back(name, *text);
  }
  return texts;
}

std::optional<std::string_view> JsonValue::TextOf(std::string_view name) const {
  const JsonValue* const member = Find(name);
  return member ? member->Text() : std::nullopt;
}

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
