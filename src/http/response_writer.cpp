#include "http/response_writer.hpp"

#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::size_t kHeaderEstimateBytes = 384;

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
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
