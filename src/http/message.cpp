#include "http/message.hpp"

#include <array>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::size_t kMaxDetailBytes = 2'000;
constexpr int kRetryAfterFaultSeconds = 1;

/// Whatever a detail was made of, the client gets JSON that is UTF-8.
void WriteText(base::JsonWriter& json, std::string_view key, std::string_view text) {
  if (base::IsStorableText(text))
    json.Field(key, text);
  else
    json.Field(key, Printable(text, kMaxDetailBytes));
}

std::string ToJson(const Problem& problem, std::string_view request_id) {
  std::string body;
  body.reserve(256);
  base::JsonWriter json(body);
  json.BeginObject()
      .Field("type", fmt::format("urn:tenure:problem:{}", problem.type))
      .Field("title", problem.title)
      .Field("status", problem.status);
  if (!problem.detail.empty()) WriteText(json, "detail", problem.detail);
  if (!problem.errors.empty()) {
    json.Key("errors").BeginArray();
    for (const FieldError& error : problem.errors) {
      json.BeginObject();
      WriteText(json, "field", error.field);
      WriteText(json, "message", error.message);
      json.EndObject();
    }
    json.EndArray();
  }
  if (problem.retry_after_s) json.Field("retry_after_seconds", *problem.retry_after_s);
  for (const auto& [name, value] : problem.extensions) json.Key(name).Raw(value);
  json.Field("request_id", request_id).EndObject();
  return body;
}

Problem Unavailable(std::string_view type, std::string_view title, std::string_view detail) {
  Problem problem{.status = 503, .type = type, .title = title, .detail = std::string(detail)};
  problem.retry_after_s = kRetryAfterFaultSeconds;
  return problem;
}

}  // namespace

std::string_view ToText(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPut:
      return "PUT";
    case Method::kPost:
      return "POST";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
    case Method::kOther:
      return "other";
  }
  return "other";
}

const PrincipalPtr& Nobody() {
  static const PrincipalPtr nobody = std::make_shared<const Principal>();
  return nobody;
}

PrincipalPtr Known(Principal principal) {
  return std::make_shared<const Principal>(std::move(principal));
}

std::optional<std::string_view> Request::FindHeader(std::string_view name) const {
  for (const Header& header : headers)
    if (EqualsNoCase(header.name, name)) return header.value;
  return std::nullopt;
}

Problem InvalidRequest(std::vector<FieldError> errors) {
  Problem problem{.status = 400, .type = "invalid-request", .title = "The request is not valid"};
  problem.detail = errors.size() == 1
                       ? fmt::format("{}: {}", errors.front().field, errors.front().message)
                       : fmt::format("{} things are wrong; see errors.", errors.size());
  problem.errors = std::move(errors);
  return problem;
}

Problem NotFound(std::string detail) {
  return {.status = 404,
          .type = "not-found",
          .title = "There is no such thing",
          .detail = std::move(detail)};
}

Problem FromFault(const base::Fault& fault) {
  switch (fault.kind()) {
    case base::FaultKind::kStoreUnavailable:
      return Unavailable("store-unavailable", "The store cannot be reached",
                         "Nothing happened. Send the request again.");
    case base::FaultKind::kOutcomeUnknown:
      return Unavailable("outcome-unknown", "The outcome is not known",
                         "The connection to the store was lost while it committed: the change may "
                         "or may not have happened. Repeat the same request.");
    case base::FaultKind::kContended:
    case base::FaultKind::kSerialization:
      return Unavailable("contended", "Others are changing the same thing",
                         "Nothing happened. Send the request again.");
    case base::FaultKind::kOverloaded:
      return Unavailable("overloaded", "The server has more work than it can bear",
                         "Nothing happened. Send the request again later.");
    case base::FaultKind::kTimeout:
      return Unavailable("timeout", "The request waited too long for its turn",
                         "Nothing happened. Send the request again.");
    case base::FaultKind::kStopping:
      return Unavailable("stopping", "The server is shutting down",
                         "Nothing happened. Send the request again.");
    case base::FaultKind::kFenceStale:
      return {.status = 412,
              .type = "fence-stale",
              .title = "A fence is not of a live grant",
              .detail = fmt::format("This request changed nothing: {}.", fault.what())};
    case base::FaultKind::kStatement:
      break;
  }
  // What the store said may quote values and table names: it is for the operator only.
  base::LogError("http.fault", "the store refused a statement", {{"fault", fault.what()}});
  return {.status = 500,
          .type = "internal",
          .title = "Something went wrong in the server",
          .detail = "The server's log says more; look for the request_id."};
}

Response ToResponse(const Problem& problem, std::string_view request_id) {
  Response response{.status = problem.status,
                    .body = ToJson(problem, request_id),
                    .content_type = "application/problem+json",
                    .headers = problem.headers};
  if (problem.retry_after_s)
    response.headers.emplace_back("Retry-After", std::to_string(*problem.retry_after_s));
  return response;
}

}  // namespace tenure::http
