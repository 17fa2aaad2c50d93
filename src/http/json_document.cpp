#include "http/json_document.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "http/json_value.hpp"
#include "http/message.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kFirstCapacityBytes = 16 * 1024;

struct ThreadParser {
  ThreadParser() {
    const auto error = parser.allocate(kFirstCapacityBytes, kMaxJsonDepth);
    TENURE_CHECK(error == simdjson::SUCCESS, "no memory for a JSON parser");
  }
  dom::parser parser;
  bool in_use = false;
};

ThreadParser& ParserOfThisThread() {
  thread_local ThreadParser parser;
  return parser;
}

[[noreturn]] void RefuseBody(std::string detail) {
  throw ProblemError({.status = 400,
                      .type = "invalid-json",
                      .title = "The body is not the JSON that is expected",
                      .detail = std::move(detail)});
}

std::string Explain(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "The body is not UTF-8.";
    case simdjson::DEPTH_ERROR:
      return fmt::format("The body is nested deeper than {} levels.", kMaxJsonDepth);
    case simdjson::STRING_ERROR:
      return "A string has an escape that does not exist, or half a surrogate pair.";
    case simdjson::UNESCAPED_CHARS:
      return "A string has a control character that is not escaped.";
    case simdjson::UNCLOSED_STRING:
      return "A string does not end.";
    case simdjson::NUMBER_ERROR:
      return "A number is not written as JSON has it, or is too large.";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "A word is none of true, false and null.";
    default:
      return "The body is not one JSON value: a bracket, comma, colon or quote is wrong, or "
             "something follows its end.";
  }
}

/// Whether the token is a number as JSON writes them, however large.
bool IsJsonNumber(std::string_view token) {
  const auto digits = [&] {
    const auto count = std::min(token.find_first_not_of("0123456789"), token.size());
    token.remove_prefix(count);
    return count > 0;
  };
  const auto take = [&](std::string_view any_of) {
    const bool found = !token.empty() && any_of.find(token.front()) != std::string_view::npos;
    if (found) token.remove_prefix(1);
    return found;
  };
  take("-");
  if (!take("0") && !digits()) return false;
  if (take(".") && !digits()) return false;
  if (take("eE")) {
    take("+-");
    if (!digits()) return false;
  }
  return token.empty();
}

/// simdjson refuses a whole document for one number that fits none of its types. This says which
/// field has it, so that the answer can name it; empty when it is none of the top level.
std::optional<std::string> FieldOfUnfitNumber(std::string_view body) {
  const simdjson::padded_string copy(body);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser.iterate(copy).get(document) || document.get_object().get(object)) return std::nullopt;
  for (auto field : object) {
    std::string_view name;
    simdjson::ondemand::value value;
    simdjson::ondemand::json_type type{};
    if (field.unescaped_key().get(name) || field.value().get(value) || value.type().get(type))
      return std::nullopt;
    if (type == simdjson::ondemand::json_type::number &&
        IsJsonNumber(Trim(value.raw_json_token())) && value.get_number().error())
      return Printable(name, kMaxShownNameBytes);
  }
  return std::nullopt;
}

dom::object Parse(dom::parser& parser, std::string_view body) {
  if (Trim(body).empty()) RefuseBody("The body is empty; a JSON object is expected.");
  if (HasByteOrderMark(body)) RefuseBody("The body begins with a byte order mark.");
  dom::element root;
  // The request's buffer has the padding that simdjson reads into: nothing is copied.
  const auto error = parser.parse(body.data(), body.size(), false).get(root);
  if (error == simdjson::NUMBER_ERROR)
    if (auto field = FieldOfUnfitNumber(body))
      throw ProblemError(
          InvalidRequest({{std::move(*field), "must be a number that fits in 64 bits"}}));
  if (error) RefuseBody(Explain(error));
  dom::object object;
  if (root.get(object))
    RefuseBody(fmt::format("A JSON object is expected, not {}.", TypeName(root.type())));
  return object;
}

}  // namespace

JsonDocument::JsonDocument(std::string_view body) {
  ThreadParser& thread = ParserOfThisThread();
  TENURE_CHECK(!thread.in_use, "two JSON documents at once on one thread");
  root_ = Parse(thread.parser, body);
  thread.in_use = true;
}

JsonDocument::~JsonDocument() { ParserOfThisThread().in_use = false; }

std::string_view TypeName(dom::element_type type) {
  switch (type) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
      return "a number";
    case dom::element_type::DOUBLE:
      return "a number with a fraction or an exponent";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
  }
  return "something else";
}

}  // namespace tenure::http
