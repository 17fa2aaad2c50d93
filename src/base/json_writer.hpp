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

  /// REQUIRES: `text` is UTF-8. Control characters, quotes and backslashes are escaped.
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
  /// A finished JSON value.
  JsonWriter& Raw(std::string_view json);

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

}  // namespace tenure::base
