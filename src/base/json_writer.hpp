#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/uuid.hpp"

namespace tenure::base {

/// Appends JSON to a string: the one way Tenure writes JSON. Commas are its business; nesting is
/// the caller's (each Begin has its End).
///
///   JsonWriter json(out);
///   json.BeginObject().Field("id", id).Field("count", 3).EndObject();
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  /// REQUIRES: nothing in `key` needs escaping; keys are the program's own words.
  JsonWriter& Key(std::string_view key);

  /// Control characters, quotes and backslashes are escaped; a byte that is not UTF-8 becomes U+FFFD.
  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const Uuid& id);
  template <std::same_as<bool> B>
  JsonWriter& Value(B value) {
    return Raw(value ? "true" : "false");
  }
  template <std::integral I>
  requires(!std::same_as<I, bool>) JsonWriter& Value(I value) {
    return Integer(static_cast<std::int64_t>(value));
  }
  JsonWriter& Null() { return Raw("null"); }
  /// RFC 3339 with milliseconds.
  JsonWriter& Time(std::int64_t ms);
  /// Where 0 stands for "never".
  JsonWriter& TimeOrNull(std::int64_t ms) { return ms > 0 ? Time(ms) : Null(); }
  /// A finished JSON value.
  /// REQUIRES: it is one; of a text from a store nobody knows (Stored).
  JsonWriter& Raw(std::string_view json);
  /// What is JSON in a store, as far as it is: a text that is none becomes a string, so that the
  /// answer around it stays JSON.
  JsonWriter& Stored(std::string_view json);

  template <class T>
  JsonWriter& Field(std::string_view key, const T& value) {
    return Key(key).Value(value);
  }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  JsonWriter& Integer(std::int64_t value);
  void Separate();

  std::string& out_;
  bool needs_comma_ = false;
};

/// A page of a list: {"items":[…],"next_cursor":…}. `write` writes one item; `cursor_of` makes the
/// cursor of the last one, where the list goes on behind it.
template <class Items, class Write, class CursorOf>
std::string PageJson(const Items& items, bool has_more, const Write& write,
                     const CursorOf& cursor_of, std::string_view cursor_field = "next_cursor") {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const auto& item : items) write(json, item);
  json.EndArray().Key(cursor_field);
  has_more ? json.Value(cursor_of(items.back())) : json.Null();
  json.EndObject();
  return out;
}

}  // namespace tenure::base
