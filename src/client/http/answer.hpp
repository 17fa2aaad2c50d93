#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "http/client.hpp"
#include "http/json_value.hpp"

/// What a server answered, read. It may not be Tenure that answers: whatever cannot be read is a
/// CallFailed with an unknown outcome. For this folder's *.cpp only.
namespace tenure::client {

namespace json = simdjson::ondemand;

/// Throws what the answer, which is none of the outcomes of its request, means.
[[noreturn]] void Refuse(const http::ClientResponse& response);
/// Throws that the answer cannot be read.
[[noreturn]] void RefuseUnreadable(const http::ClientResponse& response, std::string_view why);

/// Runs `read` on the answer, which is a JSON object.
template <class Read>
auto Reading(const http::ClientResponse& response, const Read& read) {
  if (http::HasByteOrderMark(response.body))
    RefuseUnreadable(response, "it begins with a byte order mark");
  try {
    json::parser parser;
    const simdjson::padded_string body(response.body);
    json::document document = parser.iterate(body);
    return read(json::object(document.get_object()));
  } catch (const simdjson::simdjson_error& error) {
    RefuseUnreadable(response, error.what());
  }
}

/// The same for one of these statuses; any other is refused.
template <class Read>
auto Reading(const http::ClientResponse& response, std::initializer_list<int> statuses,
             const Read& read) {
  for (const int status : statuses)
    if (response.status == status) return Reading(response, read);
  Refuse(response);
}

// A field that is missing, or of another type, throws simdjson's error; an optional one is empty
// then.
std::string Text(json::object& object, std::string_view field);
std::string OptionalText(json::object& object, std::string_view field);
std::int64_t Integer(json::object& object, std::string_view field);
std::int64_t OptionalInteger(json::object& object, std::string_view field);
bool Flag(json::object& object, std::string_view field);
/// A value as the text that came: whatever number is in it keeps all of its digits.
std::string OptionalRaw(json::object& object, std::string_view field);
/// 0 when it is not there, or null.
std::int64_t Time(json::object& object, std::string_view field);
/// The slug of a problem; empty when it is none of Tenure's.
std::string ProblemOf(json::object& object);

}  // namespace tenure::client
