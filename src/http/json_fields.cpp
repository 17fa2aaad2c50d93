#include "http/json_fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"
#include "http/json_document.hpp"
#include "http/json_value.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

namespace dom = simdjson::dom;

/// More than any object of ours has; it bounds the search for repeated names.
constexpr std::size_t kMaxFields = 128;
/// Whoever sends more that is wrong than this learns of the rest when he has mended it.
constexpr std::size_t kMaxErrors = 200;

constexpr std::string_view kUuidRule =
    "must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";
constexpr std::int64_t kYear10000Ms = 253'402'300'800'000;

std::string UnknownOrRepeated(bool repeated) {
  return repeated ? "stands there more than once" : "is not known here";
}

/// What is wrong with some part of a value that is kept as it is; empty when nothing is. The
/// document's depth bounds the recursion.
std::string_view FaultInside(dom::element value);

std::string_view FaultInside(const dom::object& object) {
  std::vector<std::string_view> names;
  names.reserve(object.size());
  for (const auto& [name, value] : object) {
    if (!base::IsStorableText(name)) return "must have no name with U+0000";
    if (const auto fault = FaultInside(value); !fault.empty()) return fault;
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end())
    return "must have each name only once";
  return {};
}

std::string_view FaultInside(dom::element value) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      return FaultInside(dom::object(value));
    case dom::element_type::ARRAY:
      for (const dom::element element : dom::array(value))
        if (const auto fault = FaultInside(element); !fault.empty()) return fault;
      return {};
    case dom::element_type::STRING:
      if (!base::IsStorableText(std::string_view(value))) return "must have no text with U+0000";
      return {};
    default:
      return {};
  }
}

std::string IntegerWords(std::int64_t least, std::int64_t most) {
  return fmt::format("a whole number from {} to {}", least, most);
}

}  // namespace

/// The fields of one object and where it stands. `errors` are those of the whole body.
struct JsonObject::Impl {
  struct Field {
    std::string_view name;
    dom::element value;
    std::size_t position = 0;  // among the members, repeated ones too
    bool asked = false;
    bool repeated = false;
  };

  /// Starts over with another object. REQUIRES: it has at most kMaxFields.
  void Load(const dom::object& object) {
    fields.clear();
    member_texts.clear();
    std::size_t position = 0;
    for (const auto& [name, value] : object) {
      if (Field* const known = Find(name))
        known->repeated = true;
      else
        fields.push_back({name, value, position});
      ++position;
    }
  }
  Field* Find(std::string_view name) {
    for (Field& field : fields)
      if (field.name == name) return &field;
    return nullptr;
  }
  /// The text of a value as it came, or of this object.
  std::string_view TextOf(const Field& field) {
    if (member_texts.empty()) member_texts = ValueTexts(OwnText());
    return member_texts[field.position];
  }
  std::string_view OwnText() {
    if (!parent) return body;
    if (elements.empty()) elements = ValueTexts(parent->TextOf(*parent->Find(array)));
    return elements[index];
  }
  /// Null when it is missing or repeated.
  const Field* Take(std::string_view name) {
    Field* const field = Find(name);
    if (!field) return nullptr;
    field->asked = true;
    return field->repeated ? nullptr : field;  // RefuseWhatIsLeft says that it is repeated
  }
  /// The same, and a missing one is wrong. `expected` gives the words for the message; it is called
  /// only when there is one.
  template <class Expected>
  const Field* Ask(std::string_view name, const Expected& expected) {
    const Field* const field = Take(name);
    if (!field && !Find(name)) Wrong(name, fmt::format("is missing; {} is expected", expected()));
    return field;
  }
  void RefuseWhatIsLeft() {
    for (const Field& field : fields)
      if (!field.asked || field.repeated)
        Wrong(Printable(field.name, kMaxShownNameBytes), UnknownOrRepeated(field.repeated));
  }

  std::optional<std::int64_t> ReadInteger(const Field& field, std::int64_t least,
                                          std::int64_t most) {
    std::int64_t value = 0;
    const simdjson::error_code error = field.value.get(value);
    if (!error && value >= least && value <= most) return value;
    if (error == simdjson::INCORRECT_TYPE)
      WrongType(field, IntegerWords(least, most));
    else
      Wrong(field.name, fmt::format("must be {}", IntegerWords(least, most)));
    return std::nullopt;
  }
  std::optional<std::string> ReadText(const Field& field, std::size_t max_bytes) {
    std::string_view text;
    if (field.value.get(text)) {
      WrongType(field, "a string");
    } else if (!base::IsStorableText(text)) {
      // simdjson has seen to UTF-8 and surrogate pairs, but lets \u0000 through.
      Wrong(field.name, "must be text without U+0000");
    } else if (text.size() > max_bytes) {
      Wrong(field.name, fmt::format("must not be longer than {} bytes in UTF-8", max_bytes));
    } else {
      return std::string(text);
    }
    return std::nullopt;
  }
  std::optional<std::string> ReadObject(const Field& field, std::size_t max_bytes) {
    if (field.value.is_object()) return ReadValue(field, max_bytes);
    WrongType(field, "an object");
    return std::nullopt;
  }
  std::optional<std::string> ReadValue(const Field& field, std::size_t max_bytes) {
    if (const auto fault = FaultInside(field.value); !fault.empty()) {
      Wrong(field.name, std::string(fault));
      return std::nullopt;
    }
    std::string text = simdjson::minify(field.value);
    if (text.size() <= max_bytes) return text;
    Wrong(field.name, fmt::format("must not be longer than {} bytes as compact JSON", max_bytes));
    return std::nullopt;
  }
  std::optional<base::Uuid> ReadUuid(const Field& field) {
    std::string_view text;
    if (field.value.get(text)) {
      WrongType(field, "a UUID");
      return std::nullopt;
    }
    const auto id = base::Uuid::Parse(text);
    if (!id) Wrong(field.name, std::string(kUuidRule));
    return id;
  }
  /// Null when it is no array of at most so many. `of`: what its elements are.
  std::optional<dom::array> ReadArray(const Field& field, std::size_t max_items,
                                      std::string_view of) {
    dom::array array_value;
    if (field.value.get(array_value)) {
      WrongType(field, fmt::format("an array of {}", of));
      return std::nullopt;
    }
    // simdjson counts up to 2^24 - 1 and stays there, far above any bound of ours.
    if (array_value.size() <= max_items) return array_value;
    Wrong(field.name, fmt::format("must not have more than {} elements", max_items));
    return std::nullopt;
  }

  /// How the answer names a field of this object; an empty name stands for the object itself.
  std::string Place(std::string_view name) const {
    if (array.empty()) return std::string(name);
    return fmt::format("{}[{}]{}{}", array, index, name.empty() ? "" : ".", name);
  }
  void Wrong(std::string_view name, std::string message) {
    if (errors->size() < kMaxErrors) errors->push_back({Place(name), std::move(message)});
  }
  void WrongType(const Field& field, std::string_view expected) {
    Wrong(field.name, fmt::format("must be {}, not {}", expected, TypeName(field.value.type())));
  }

  std::vector<FieldError>* errors = nullptr;
  std::string_view array{};     // the array that it is an element of; empty: it is the body
  std::size_t index = 0;        // where in it
  std::vector<Field> fields{};  // in order of appearance

  // Texts, found when the first of them is asked for.
  std::string_view body{};                       // of the whole request, when this is the body
  Impl* parent = nullptr;                        // of an element
  std::vector<std::string_view> elements{};      // of the array that this is an element of
  std::vector<std::string_view> member_texts{};  // by position
};

JsonObject::JsonObject() : impl_(std::make_unique<Impl>()) { impl_->fields.reserve(8); }
JsonObject::~JsonObject() = default;

void JsonObject::Refuse(std::string_view name, std::string message) {
  impl_->Wrong(name, std::move(message));
}

base::Uuid JsonObject::Uuid(std::string_view name) {
  const Impl::Field* const field = impl_->Ask(name, [] { return "a UUID"; });
  return field ? impl_->ReadUuid(*field).value_or(base::Uuid()) : base::Uuid();
}

std::int64_t JsonObject::Integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const auto* const field = impl_->Ask(name, [&] { return IntegerWords(least, most); });
  return field ? impl_->ReadInteger(*field, least, most).value_or(least) : least;
}

std::string JsonObject::Text(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Ask(name, [] { return "a string"; });
  return field ? impl_->ReadText(*field, max_bytes).value_or("") : "";
}

std::string JsonObject::NonEmptyText(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Ask(name, [] { return "a string"; });
  const auto text = field ? impl_->ReadText(*field, max_bytes) : std::nullopt;
  if (text && text->empty()) impl_->Wrong(name, "must not be empty");
  return text.value_or("");
}

std::string JsonObject::Object(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Ask(name, [] { return "an object"; });
  return field ? impl_->ReadObject(*field, max_bytes).value_or("{}") : "{}";
}

std::optional<std::int64_t> JsonObject::OptionalInteger(std::string_view name, std::int64_t least,
                                                        std::int64_t most) {
  const auto* const field = impl_->Take(name);
  return field ? impl_->ReadInteger(*field, least, most) : std::nullopt;
}

std::optional<std::string> JsonObject::OptionalText(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Take(name);
  return field ? impl_->ReadText(*field, max_bytes) : std::nullopt;
}

std::optional<bool> JsonObject::OptionalFlag(std::string_view name) {
  const auto* const field = impl_->Take(name);
  if (!field) return std::nullopt;
  bool value = false;
  if (!field->value.get(value)) return value;
  impl_->WrongType(*field, "true or false");
  return std::nullopt;
}

std::optional<std::string> JsonObject::OptionalObject(std::string_view name,
                                                      std::size_t max_bytes) {
  const auto* const field = impl_->Take(name);
  return field ? impl_->ReadObject(*field, max_bytes) : std::nullopt;
}

std::string JsonObject::TextInside(std::string_view object, std::string_view name) const {
  const auto* const field = impl_->Find(object);
  std::string_view text;
  dom::object inner;
  if (!field || field->value.get(inner) || inner[name].get(text)) return "";
  return std::string(text);
}

std::optional<base::Uuid> JsonObject::OptionalUuid(std::string_view name) {
  const auto* const field = impl_->Take(name);
  return field ? impl_->ReadUuid(*field) : std::nullopt;
}

std::vector<std::string> JsonObject::Texts(std::string_view name, std::size_t max_items,
                                           std::size_t max_bytes) {
  const auto* const field = impl_->Ask(name, [] { return "an array of strings"; });
  const auto array = field ? impl_->ReadArray(*field, max_items, "strings") : std::nullopt;
  std::vector<std::string> texts;
  if (!array) return texts;
  for (const dom::element element : *array) {
    std::string_view text;
    if (element.get(text) || text.empty() || text.size() > max_bytes || !base::IsStorableText(text))
      Refuse(fmt::format("{}[{}]", name, texts.size()),
             fmt::format("must be text of 1 to {} bytes in UTF-8", max_bytes));
    texts.emplace_back(text);
  }
  if (texts.empty()) Refuse(name, "must not be empty");
  return texts;
}

std::vector<base::Uuid> JsonObject::OptionalUuids(std::string_view name, std::size_t max_items) {
  const auto* const field = impl_->Take(name);
  const auto array = field ? impl_->ReadArray(*field, max_items, "UUIDs") : std::nullopt;
  std::vector<base::Uuid> ids;
  if (!array) return ids;
  for (const dom::element element : *array) {
    std::string_view text;
    const auto id = element.get(text) ? std::nullopt : base::Uuid::Parse(text);
    if (!id) Refuse(fmt::format("{}[{}]", name, ids.size()), std::string(kUuidRule));
    ids.push_back(id.value_or(base::Uuid()));
  }
  return ids;
}

std::optional<std::int64_t> JsonObject::OptionalTime(std::string_view name) {
  const auto* const field = impl_->Take(name);
  if (!field) return std::nullopt;
  std::string_view text;
  if (field->value.get(text)) {
    impl_->WrongType(*field, "a time");
    return std::nullopt;
  }
  const auto ms = base::ParseRfc3339Ms(text);
  if (ms && *ms >= 0 && *ms < kYear10000Ms) return ms;
  impl_->Wrong(name, "must be a time from 1970 to 9999, such as 2026-01-31T12:34:56.789Z");
  return std::nullopt;
}

std::optional<std::string> JsonObject::OptionalValue(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Take(name);
  return field ? impl_->ReadValue(*field, max_bytes) : std::nullopt;
}

std::optional<std::string> JsonObject::OptionalJson(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Take(name);
  if (!field) return std::nullopt;
  const std::string_view text = impl_->TextOf(*field);
  if (text.size() <= max_bytes) return std::string(text);
  impl_->Wrong(name, fmt::format("must not be longer than {} bytes as JSON", max_bytes));
  return std::nullopt;
}

std::optional<std::string> JsonObject::OptionalBytes(std::string_view name, std::size_t max_bytes) {
  const auto* const field = impl_->Take(name);
  if (!field) return std::nullopt;
  std::string_view text;
  if (field->value.get(text)) {
    impl_->WrongType(*field, "bytes in base64");
    return std::nullopt;
  }
  auto bytes = base::DecodeBase64(text);
  if (!bytes)
    impl_->Wrong(name, "must be base64 as RFC 4648 has it, with its padding");
  else if (bytes->size() > max_bytes)
    impl_->Wrong(name, fmt::format("must not be longer than {} bytes", max_bytes));
  else
    return bytes;
  return std::nullopt;
}

bool JsonObject::Has(std::string_view name) const { return impl_->Find(name) != nullptr; }

bool JsonObject::IsNull(std::string_view name) {
  const auto* const field = impl_->Find(name);
  if (!field || !field->value.is_null()) return false;
  impl_->Take(name);
  return true;
}

struct JsonFields::Body {
  explicit Body(std::string_view text) : document(text) {}

  JsonDocument document;
  std::vector<FieldError> errors;
};

JsonFields::JsonFields(std::string_view body) : body_(std::make_unique<Body>(body)) {
  if (body_->document.root().size() > kMaxFields)
    throw ProblemError({.status = 400,
                        .type = "invalid-json",
                        .title = "The body is not the JSON that is expected",
                        .detail = fmt::format("The object has more than {} fields.", kMaxFields)});
  impl_->errors = &body_->errors;
  impl_->body = body;
  impl_->Load(body_->document.root());
}

JsonFields::~JsonFields() = default;

void JsonFields::Objects(std::string_view name, std::size_t max_items,
                         const std::function<void(JsonObject&)>& read) {
  const auto* const field = impl_->Ask(name, [] { return "an array of objects"; });
  const auto elements = field ? impl_->ReadArray(*field, max_items, "objects") : std::nullopt;
  if (!elements) return;
  JsonObject element;  // one for all, so that its memory is reused
  Impl& state = *element.impl_;
  state.errors = &body_->errors;
  state.array = name;
  state.parent = impl_.get();
  for (const dom::element value : *elements) {
    dom::object object;
    if (value.get(object)) {
      state.Wrong("", fmt::format("must be an object, not {}", TypeName(value.type())));
    } else if (object.size() > kMaxFields) {
      state.Wrong("", fmt::format("must not have more than {} fields", kMaxFields));
    } else {
      state.Load(object);
      read(element);
      state.RefuseWhatIsLeft();
    }
    ++state.index;
  }
}

void JsonFields::Finish() {
  impl_->RefuseWhatIsLeft();
  if (!body_->errors.empty()) throw ProblemError(InvalidRequest(std::move(body_->errors)));
}

}  // namespace tenure::http
