#include "http/json_value.hpp"

#include <algorithm>

#include <simdjson.h>

#include "base/json_view.hpp"
#include "base/utf8.hpp"
#include "http/json_document.hpp"

namespace tenure::http {

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

std::vector<std::string_view> ValueTexts(std::string_view array_or_object) {
  std::vector<std::string_view> texts;
  for (const base::JsonView& value : base::JsonView::Trusted(array_or_object).Values())
    texts.push_back(value.text());
  return texts;
}

}  // namespace tenure::http
