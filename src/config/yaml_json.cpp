#include "config/yaml_json.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/json_writer.hpp"

namespace tenure::config {
namespace {

std::size_t Digits(std::string_view text) {
  const auto end =
      std::ranges::find_if_not(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return static_cast<std::size_t>(end - text.begin());
}

/// By JSON's own grammar.
bool IsNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = Digits(text);
  if (whole == 0 || (whole > 1 && text.front() == '0')) return false;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    const std::size_t fraction = Digits(text.substr(1));
    if (fraction == 0) return false;
    text.remove_prefix(1 + fraction);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    const std::size_t exponent = Digits(text);
    if (exponent == 0) return false;
    text.remove_prefix(exponent);
  }
  return text.empty();
}

void Write(base::JsonWriter& json, const YamlNode& node) {
  switch (node.shape) {
    case YamlNode::Shape::kScalar:
      if (!node.quoted && (IsNumber(node.scalar) || node.scalar == "true" ||
                           node.scalar == "false" || node.scalar == "null"))
        json.Raw(node.scalar);
      else
        json.Value(std::string_view(node.scalar));
      return;
    case YamlNode::Shape::kList:
      json.BeginArray();
      for (const YamlNode::Entry& each : node.entries) Write(json, each.value);
      json.EndArray();
      return;
    case YamlNode::Shape::kMapping:
      json.BeginObject();
      for (const YamlNode::Entry& each : node.entries) {
        json.Key(each.key);
        Write(json, each.value);
      }
      json.EndObject();
      return;
    case YamlNode::Shape::kNothing:
    case YamlNode::Shape::kRefused:
      json.Null();
      return;
  }
}

}  // namespace

std::string JsonOf(const YamlNode& node) {
  std::string out;
  base::JsonWriter json(out);
  Write(json, node);
  return out;
}

}  // namespace tenure::config
