#include "client/http/answer.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "client/failure.hpp"

namespace tenure::client {
namespace {

constexpr std::string_view kProblemPrefix = "urn:tenure:problem:";

}  // namespace

void RefuseUnreadable(const http::ClientResponse& response, std::string_view why) {
  throw CallFailed(CallFailed::Kind::kUnavailable,
                   fmt::format("the server's answer cannot be read ({}): {}", response.status, why),
                   true);
}

/// The one table from a problem to an error. A refusal of the request counts only in Tenure's own
/// words: a proxy that says 400 knows nothing of leases and messages, and may be better tomorrow.
void Refuse(const http::ClientResponse& response) {
  using Failed = CallFailed::Kind;
  const auto [type, detail] = Reading(response, [](json::object problem) {
    return std::pair(ProblemOf(problem), OptionalText(problem, "detail"));
  });
  switch (response.status) {
    case 400:
    case 413:
    case 431:
      if (!type.empty()) throw CallFailed(Failed::kInvalid, detail);
      break;
    case 401:
    case 403:
      throw CallFailed(Failed::kDenied,
                       fmt::format("access denied ({}): {}", response.status, detail));
    default:
      break;
  }
  // A 503 other than outcome-unknown says that nothing happened.
  const bool unknown =
      type == "outcome-unknown" || (response.status >= 500 && response.status != 503);
  throw CallFailed(Failed::kUnavailable, fmt::format("{}: {}", response.status, detail), unknown);
}

std::string Text(json::object& object, std::string_view field) {
  return std::string(std::string_view(object[field].get_string()));
}
std::string OptionalText(json::object& object, std::string_view field) {
  std::string_view text;
  return object[field].get_string().get(text) ? std::string() : std::string(text);
}
std::int64_t Integer(json::object& object, std::string_view field) {
  return object[field].get_int64();
}
std::int64_t OptionalInteger(json::object& object, std::string_view field) {
  std::int64_t value = 0;
  return object[field].get_int64().get(value) ? 0 : value;
}
bool Flag(json::object& object, std::string_view field) { return object[field].get_bool(); }
std::string OptionalRaw(json::object& object, std::string_view field) {
  json::value value;
  if (object[field].get(value)) return {};
  return std::string(std::string_view(simdjson::to_json_string(value)));
}
std::int64_t Time(json::object& object, std::string_view field) {
  return base::ParseUtcMs(OptionalText(object, field)).value_or(0);
}
std::string ProblemOf(json::object& object) {
  const std::string type = OptionalText(object, "type");
  return type.starts_with(kProblemPrefix) ? type.substr(kProblemPrefix.size()) : std::string();
}

}  // namespace tenure::client
