#include "support/json.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <simdjson.h>

namespace tenure::support {

struct Json::Node {
  using Array = std::vector<Node>;
  using Object = std::vector<std::pair<std::string, Node>>;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value;
};

namespace {

using Node = Json::Node;

Node Copy(simdjson::dom::element element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::NULL_VALUE:
      return {nullptr};
    case element_type::BOOL:
      return {bool(element)};
    case element_type::INT64:
      return {std::int64_t(element)};
    case element_type::UINT64:  // above 2^63: no number of ours
    case element_type::DOUBLE:
      return {double(element)};
    case element_type::STRING:
      return {std::string(std::string_view(element))};
    case element_type::ARRAY: {
      Node::Array array;
      for (const auto child : simdjson::dom::array(element)) array.push_back(Copy(child));
      return {std::move(array)};
    }
    case element_type::OBJECT: {
      Node::Object object;
      for (const auto field : simdjson::dom::object(element))
        object.emplace_back(field.key, Copy(field.value));
      return {std::move(object)};
    }
  }
  throw std::logic_error("a JSON type that simdjson does not have");
}

const Node* Find(const Node::Object& object, std::string_view name) {
  const auto found = std::find_if(object.begin(), object.end(),
                                  [name](const auto& field) { return field.first == name; });
  return found == object.end() ? nullptr : &found->second;
}

void DumpText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  out += '"';
}

void DumpNode(std::string& out, const Node& node) {
  struct Visitor {
    std::string& out;
    void operator()(std::nullptr_t) const { out += "null"; }
    void operator()(bool value) const { out += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { out += std::to_string(value); }
    void operator()(double value) const { out += fmt::format("{}", value); }
    void operator()(const std::string& text) const { DumpText(out, text); }
    void operator()(const Node::Array& array) const {
      out += '[';
      for (std::size_t i = 0; i < array.size(); ++i) {
        if (i > 0) out += ',';
        DumpNode(out, array[i]);
      }
      out += ']';
    }
    void operator()(const Node::Object& object) const {
      out += '{';
      for (std::size_t i = 0; i < object.size(); ++i) {
        if (i > 0) out += ',';
        DumpText(out, object[i].first);
        out += ':';
        DumpNode(out, object[i].second);
      }
      out += '}';
    }
  };
  std::visit(Visitor{out}, node.value);
}

}  // namespace

Json Json::Parse(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(simdjson::padded_string(text)).get(root); error) {
    throw std::runtime_error(std::string("not JSON (") + simdjson::error_message(error) +
                             "): " + std::string(text.substr(0, 500)));
  }
  return {std::make_shared<const Node>(Copy(root)), "$"};
}

void Json::Fail(const std::string& what) const {
  throw std::runtime_error(way_ + ": " + what + " in " + Dump().substr(0, 500));
}

template <class T>
const T& Json::As(const char* expected) const {
  if (const auto* value = std::get_if<T>(&node_->value)) return *value;
  Fail(std::string("not ") + expected);
}

Json Json::Child(const Node& node, const std::string& step) const {
  return {std::shared_ptr<const Node>(node_, &node), way_ + step};
}

Json Json::operator[](std::string_view field) const {
  const auto* found = Find(As<Node::Object>("an object"), field);
  if (found == nullptr) Fail("no field '" + std::string(field) + "'");
  return Child(*found, "." + std::string(field));
}

Json Json::operator[](std::size_t index) const {
  const auto& array = As<Node::Array>("an array");
  if (index >= array.size()) Fail("no element " + std::to_string(index));
  return Child(array[index], "[" + std::to_string(index) + "]");
}

bool Json::Has(std::string_view field) const {
  const auto* object = std::get_if<Node::Object>(&node_->value);
  return object != nullptr && Find(*object, field) != nullptr;
}

bool Json::IsNull() const { return std::holds_alternative<std::nullptr_t>(node_->value); }

std::string Json::Text() const { return As<std::string>("a text"); }
std::int64_t Json::Int() const { return As<std::int64_t>("an integer"); }
bool Json::Bool() const { return As<bool>("true or false"); }

double Json::Number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&node_->value))
    return static_cast<double>(*integer);
  return As<double>("a number");
}

std::size_t Json::Size() const {
  if (const auto* object = std::get_if<Node::Object>(&node_->value)) return object->size();
  return As<Node::Array>("an array or an object").size();
}

std::vector<Json> Json::Elements() const {
  std::vector<Json> elements;
  for (std::size_t i = 0; i < As<Node::Array>("an array").size(); ++i)
    elements.push_back((*this)[i]);
  return elements;
}

std::vector<std::string> Json::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : As<Node::Object>("an object")) keys.push_back(key);
  return keys;
}

std::string Json::Dump() const {
  std::string out;
  DumpNode(out, *node_);
  return out;
}

}  // namespace tenure::support
