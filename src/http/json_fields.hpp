#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// One JSON object of a request, read strictly: each field is asked for by name and type. What is
/// wrong is collected under the field's name, and a value stands in for it that must not be used.
/// An optional field may be missing; null is no value of any type.
class JsonObject {
 public:
  ~JsonObject();
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  base::Uuid Uuid(std::string_view name);
  std::int64_t Integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::string Text(std::string_view name, std::size_t max_bytes);
  std::string NonEmptyText(std::string_view name, std::size_t max_bytes);
  /// An object of any fields, as compact JSON that can be stored and printed as it is: no U+0000,
  /// no name twice. Its numbers are written anew, with the same value.
  std::string Object(std::string_view name, std::size_t max_bytes);

  /// An array of 1 to `max_items` strings of 1 to `max_bytes`; what is wrong is named "topics[2]".
  std::vector<std::string> Texts(std::string_view name, std::size_t max_items,
                                 std::size_t max_bytes);

  /// What the types cannot say: the field's value is wrong because of `message`.
  void Refuse(std::string_view name, std::string message);

  std::optional<std::int64_t> OptionalInteger(std::string_view name, std::int64_t least,
                                              std::int64_t most);
  std::optional<std::string> OptionalText(std::string_view name, std::size_t max_bytes);
  std::optional<bool> OptionalFlag(std::string_view name);
  std::optional<std::string> OptionalObject(std::string_view name, std::size_t max_bytes);
  /// A text of the object of that name; empty when there is none.
  std::string TextInside(std::string_view object, std::string_view name) const;
  std::optional<base::Uuid> OptionalUuid(std::string_view name);
  /// At most so many UUIDs; none when it is missing.
  std::vector<base::Uuid> OptionalUuids(std::string_view name, std::size_t max_items);
  /// A time as RFC 3339 has it, with any offset; in milliseconds since 1970.
  std::optional<std::int64_t> OptionalTime(std::string_view name);
  /// Any value, null too, kept as `Object` keeps objects.
  std::optional<std::string> OptionalValue(std::string_view name, std::size_t max_bytes);
  /// The same as the text that came, byte for byte.
  std::optional<std::string> OptionalJson(std::string_view name, std::size_t max_bytes);
  /// Bytes in base64.
  std::optional<std::string> OptionalBytes(std::string_view name, std::size_t max_bytes);

  /// Whether it is there, whatever it is.
  bool Has(std::string_view name) const;
  /// Whether it is there and null, where that has a meaning.
  bool IsNull(std::string_view name);

 private:
  friend class JsonFields;
  JsonObject();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A request body that must be one JSON object. Every fault is collected with the field's name, and
/// `Finish` throws them all at once (400), with unknown and repeated fields among them.
///
///   JsonFields fields(request.body);                 // throws 400 when it is no JSON object
///   put.user = fields.Uuid("userObjectId");
///   put.kind = fields.Integer("sessionKind", 1, 3);
///   fields.Objects("leases", 1'000, [&](JsonObject& lease) {
///     renewals.push_back({lease.Text("name", 200), lease.Integer("fence", 1, kMaxFence)});
///   });                                              // what is wrong is named "leases[3].fence"
///   fields.Finish();                                 // throws 400 when anything was wrong
///
/// The parser is one per thread and is reused; a JsonFields must be gone before the next is made.
class JsonFields final : public JsonObject {
 public:
  /// REQUIRES: Request::kBodyPadding readable bytes behind `body`.
  explicit JsonFields(std::string_view body);
  ~JsonFields();

  /// An array of at most `max_items` objects: calls `read` for each, in order. Fields that it does
  /// not ask for are refused in each of them.
  void Objects(std::string_view name, std::size_t max_items,
               const std::function<void(JsonObject&)>& read);

  void Finish();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

/// What is wrong with a `cursor` that no page of the list ended with.
inline constexpr std::string_view kNoCursor = "is not one of this list";

/// The one value whose word is `text`; nothing when it is no word of them. For enumerations that
/// have a ToText.
template <class Value>
std::optional<Value> OneOf(std::string_view text, std::initializer_list<Value> values) {
  for (const Value value : values)
    if (ToText(value) == text) return value;
  return std::nullopt;
}

/// The query string of a list or a GET, read the same way: known names only, each at most once.
class QueryFields {
 public:
  explicit QueryFields(std::string_view query);

  std::optional<base::Uuid> Uuid(std::string_view name);
  std::optional<std::int64_t> Integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::optional<bool> Flag(std::string_view name);
  std::optional<std::string> Text(std::string_view name, std::size_t max_bytes);
  /// What `parse` makes of the text: nothing is a mistake, and `rule` says what would be none.
  template <class Parse>
  auto Parsed(std::string_view name, std::size_t max_bytes, std::string_view rule,
              const Parse& parse) -> decltype(parse(std::string())) {
    const auto text = Text(name, max_bytes);
    if (!text) return std::nullopt;
    auto value = parse(*text);
    if (!value) Wrong(name, std::string(rule));
    return value;
  }

  /// How many items a page of a list may have: `limit`, which has a default.
  std::int64_t PageLimit() { return Integer("limit", 1, 1'000).value_or(100); }

  void Finish();

 private:
  struct Parameter {
    std::string name;
    std::string value;
    bool asked = false;
  };
  Parameter* Take(std::string_view name);
  void Wrong(std::string_view name, std::string message);

  std::vector<Parameter> parameters_;
  std::vector<FieldError> errors_;
};

/// For requests that say everything by their path. Throw a 400 for anything more.
inline void ExpectNoQuery(const Request& request) { QueryFields(request.query).Finish(); }
inline void ExpectNoFields(const Request& request) { JsonFields(request.body).Finish(); }

}  // namespace tenure::http
