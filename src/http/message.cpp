#include "http/message.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

/// In the order of the enumeration. libcurl is given them as they are: they end with NUL.
constexpr std::array<std::string_view, 7> kMethodNames{"GET",   "HEAD",   "PUT",  "POST",
                                                       "PATCH", "DELETE", "other"};
static_assert(kMethodNames.size() == static_cast<std::size_t>(Method::kOther) + 1);

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

struct Kind {
  std::string_view label;
  int status;
  std::string_view type;
  std::string_view title;
};

/// In the order of the enumeration.
constexpr std::array<Kind, kRejectionCount> kKinds{{
    {"malformed", 400, "malformed-request", "This is not a request that can be read safely"},
    {"version", 505, "version-not-supported", "This version of HTTP is not spoken here"},
    {"header_limit", 431, "header-too-large", "The request's header is too large"},
    {"body_limit", 413, "body-too-large", "The request's body is too large"},
    {"expectation", 417, "expectation-failed", "This expectation cannot be met"},
    {"header_timeout", 408, "request-timeout", "The request's header did not arrive in time"},
    {"body_timeout", 408, "request-timeout", "The request's body did not arrive in time"},
    {"connections", 503, "too-many-connections", "The server has too many connections"},
    {"not_tls", 400, "tls-required", "This port speaks TLS"},
    {"body_memory", 503, "too-many-bodies", "The server has no memory for this body now"},
}};

const Kind& KindOf(Rejection rejection) { return kKinds[static_cast<std::size_t>(rejection)]; }

constexpr std::size_t kHeaderEstimateBytes = 384;

constexpr std::array<std::pair<int, std::string_view>, 24> kReasons{{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

std::string_view ReasonOf(int status) {
  const auto* const known =
      std::ranges::find(kReasons, status, &decltype(kReasons)::value_type::first);
  return known == kReasons.end() ? "Status" : known->second;
}

template <class Integer>
void AppendNumber(std::string& out, Integer value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// A value cannot end its line: whatever a handler put there, control characters become spaces.
void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value)
    out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c);
  out.append("\r\n");
}

bool Has(const Response& response, std::string_view name) {
  for (const auto& header : response.headers)
    if (EqualsNoCase(header.first, name)) return true;
  return false;
}

}  // namespace

std::string_view ToText(Method method) { return kMethodNames[static_cast<std::size_t>(method)]; }

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

void RefuseField(std::string field, std::string message) {
  throw ProblemError(InvalidRequest({{std::move(field), std::move(message)}}));
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
    case base::FaultKind::kDenied:
      base::LogError("http.denied", "the store refuses the server's role",
                     {{"fault", fault.what()}});
      return Unavailable("store-unavailable", "The store cannot be used",
                         "Nothing happened. The server's role lacks a right in the store; the "
                         "server's log says which.");
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

std::string_view ToText(Rejection rejection) { return KindOf(rejection).label; }

Problem ToProblem(Rejection rejection, std::string_view detail) {
  const Kind& kind = KindOf(rejection);
  Problem problem{
      .status = kind.status, .type = kind.type, .title = kind.title, .detail = std::string(detail)};
  if (kind.status == 503) problem.retry_after_s = 1;
  return problem;
}

void AppendResponse(std::string& out, const Response& response, const ResponseFrame& frame) {
  const bool may_have_body = response.status != 204 && response.status != 304;
  out.reserve(out.size() + kHeaderEstimateBytes + response.body.size());
  out.append("HTTP/1.1 ");
  AppendNumber(out, response.status);
  out.append(" ").append(ReasonOf(response.status)).append("\r\n");
  if (may_have_body) {
    out.append("Content-Type: ").append(response.content_type).append("\r\nContent-Length: ");
    AppendNumber(out, response.body.size());
    out.append("\r\n");
  }
  out.append("Date: ").append(frame.date);
  out.append("\r\nX-Request-Id: ").append(frame.request_id);
  out.append("\r\nX-Content-Type-Options: nosniff\r\n");
  if (!Has(response, "Cache-Control")) out.append("Cache-Control: no-store\r\n");
  for (const auto& [name, value] : response.headers) AppendHeader(out, name, value);
  if (frame.close) out.append("Connection: close\r\n");
  out.append("\r\n");
  if (may_have_body && !frame.head) out.append(response.body);
}

std::string HttpDate(std::int64_t wall_ms) {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds instant{
      std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds(wall_ms))};
  const auto midnight = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(midnight);
  const std::chrono::hh_mm_ss time(instant - midnight);
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
      kDays[std::chrono::weekday(midnight).c_encoding()], static_cast<unsigned>(date.day()),
      kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
      time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace tenure::http
