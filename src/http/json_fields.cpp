#include "http/json_fields.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMaxDepth = 32;
/// More than any request of ours has; it bounds the search for repeated names.
constexpr std::size_t kMaxFields = 128;
constexpr std::size_t kMaxShownNameBytes = 100;
constexpr std::size_t kFirstCapacityBytes = 16 * 1024;

/// A parser keeps the memory of its largest document, which the body limit bounds.
struct ThreadParser {
  ThreadParser() {
    const auto error = parser.allocate(kFirstCapacityBytes, kMaxDepth);
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
      return fmt::format("The body is nested deeper than {} levels.", kMaxDepth);
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

}  // namespace

struct JsonFields::Impl {
  struct Field {
    std::string_view name;
    dom::element value;
    bool asked = false;
    bool repeated = false;
  };

  explicit Impl(ThreadParser& thread) : thread_parser(thread) {
    TENURE_CHECK(!thread.in_use, "two JsonFields at once on one thread");
    thread.in_use = true;
    fields.reserve(8);
  }
  ~Impl() { thread_parser.in_use = false; }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Load(std::string_view body);
  Field* Find(std::string_view name);
  /// Null when it is missing or repeated. `expected` gives the words for the message; it is called
  /// only when there is one.
  template <class Expected>
  Field* Ask(std::string_view name, const Expected& expected);
  void Wrong(std::string_view name, std::string message) {
    errors.push_back({std::string(name), std::move(message)});
  }
  void WrongType(const Field& field, std::string_view expected) {
    Wrong(field.name, fmt::format("must be {}, not {}", expected, TypeName(field.value.type())));
  }

  ThreadParser& thread_parser;
  std::vector<Field> fields;  // in order of appearance
  std::vector<FieldError> errors;
};

void JsonFields::Impl::Load(std::string_view body) {
  if (Trim(body).empty()) RefuseBody("The body is empty; a JSON object is expected.");
  dom::element root;
  // The request's buffer has the padding that simdjson reads into: nothing is copied.
  const auto error = thread_parser.parser.parse(body.data(), body.size(), false).get(root);
  if (error == simdjson::NUMBER_ERROR)
    if (auto field = FieldOfUnfitNumber(body))
      throw ProblemError(
          InvalidRequest({{std::move(*field), "must be a number that fits in 64 bits"}}));
  if (error) RefuseBody(Explain(error));
  dom::object object;
  if (root.get(object))
    RefuseBody(fmt::format("A JSON object is expected, not {}.", TypeName(root.type())));
  if (object.size() > kMaxFields)
    RefuseBody(fmt::format("The object has more than {} fields.", kMaxFields));
  for (const auto& [name, value] : object) {
    if (Field* const known = Find(name))
      known->repeated = true;
    else
      fields.push_back({name, value});
  }
}

JsonFields::Impl::Field* JsonFields::Impl::Find(std::string_view name) {
  for (Field& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

template <class Expected>
JsonFields::Impl::Field* JsonFields::Impl::Ask(std::string_view name, const Expected& expected) {
  Field* const field = Find(name);
  if (!field) {
    Wrong(name, fmt::format("is missing; {} is expected", expected()));
    return nullptr;
  }
  field->asked = true;
  return field->repeated ? nullptr : field;  // Finish says that it is repeated
}

JsonFields::JsonFields(std::string_view body)
    : impl_(std::make_unique<Impl>(ParserOfThisThread())) {
  impl_->Load(body);
}

JsonFields::~JsonFields() = default;

base::Uuid JsonFields::Uuid(std::string_view name) {
  const auto expected = [] { return "a UUID"; };
  const Impl::Field* const field = impl_->Ask(name, expected);
  if (!field) return {};
  std::string_view text;
  if (field->value.get(text)) {
    impl_->WrongType(*field, expected());
    return {};
  }
  if (const auto id = base::Uuid::Parse(text)) return *id;
  impl_->Wrong(name, "must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071");
  return {};
}

std::int64_t JsonFields::Integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const auto expected = [&] { return fmt::format("a whole number from {} to {}", least, most); };
  const Impl::Field* const field = impl_->Ask(name, expected);
  if (!field) return least;
  std::int64_t value = 0;
  const simdjson::error_code error = field->value.get(value);
  if (error == simdjson::INCORRECT_TYPE)
    impl_->WrongType(*field, expected());
  else if (error || value < least || value > most)
    impl_->Wrong(name, fmt::format("must be {}", expected()));
  else
    return value;
  return least;
}

std::string JsonFields::Text(std::string_view name, std::size_t max_bytes) {
  const auto expected = [] { return "a string"; };
  const Impl::Field* const field = impl_->Ask(name, expected);
  if (!field) return {};
  std::string_view text;
  if (field->value.get(text)) {
    impl_->WrongType(*field, expected());
  } else if (!base::IsStorableText(text)) {
    // simdjson has seen to UTF-8 and surrogate pairs, but lets \u0000 through.
    impl_->Wrong(name, "must be text without U+0000");
  } else if (text.size() > max_bytes) {
    impl_->Wrong(name, fmt::format("must not be longer than {} bytes in UTF-8", max_bytes));
  } else {
    return std::string(text);
  }
  return {};
}

void JsonFields::Finish() {
  for (const Impl::Field& field : impl_->fields) {
    if (field.asked && !field.repeated) continue;
    impl_->errors.push_back({Printable(field.name, kMaxShownNameBytes),
                             field.repeated ? "stands there more than once" : "is not known here"});
  }
  if (!impl_->errors.empty()) throw ProblemError(InvalidRequest(std::move(impl_->errors)));
}

}  // namespace tenure::http
