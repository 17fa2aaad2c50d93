#include "http/outgoing_transfer.hpp"

#include <algorithm>
#include <charconv>

#include "base/operator_url.hpp"
#include "base/time_parse.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kMaxRetryAfterMs = 24LL * 60 * 60 * 1'000;
constexpr std::size_t kMaxHeaderBytes = 64 << 10;
constexpr std::size_t kMaxTroubleBytes = 200;

bool IsToken(std::string_view name) {
  const auto is_token = [](char c) {
    return c > ' ' && c < '\x7f' &&
           std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
  };
  return !name.empty() && std::ranges::all_of(name, is_token);
}

bool IsFieldValue(std::string_view value) {
  const auto is_plain = [](unsigned char c) { return (c >= ' ' && c != 0x7f) || c == '\t'; };
  return std::ranges::all_of(value, is_plain);
}

/// An empty body of a POST is a body too: "Content-Length: 0".
bool HasBody(const OutgoingRequest& request) {
  return !request.body.empty() || request.method == Method::kPost;
}

bool Names(const OutgoingRequest& request, std::string_view name) {
  return std::ranges::any_of(request.headers,
                             [&](const auto& header) { return EqualsNoCase(header.first, name); });
}

}  // namespace

std::optional<std::string> OutgoingProblem(const OutgoingRequest& request) {
  if (const auto problem = base::OperatorUrlProblem(request.url))
    return "the address is not allowed: " + *problem;
  for (const auto& [name, value] : request.headers)
    if (!IsToken(name) || !IsFieldValue(value))
      return "a header has a character that none may have";
  return std::nullopt;
}

std::optional<std::int64_t> ParseRetryAfterMs(std::string_view text, std::int64_t now_ms) {
  if (const auto date_ms = base::ParseHttpDateMs(text))
    return std::clamp<std::int64_t>(*date_ms - now_ms, 0, kMaxRetryAfterMs);
  const bool digits =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits) return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{}) return kMaxRetryAfterMs;  // more digits than a number holds
  return std::min(seconds, kMaxRetryAfterMs / 1'000) * 1'000;
}

OutgoingTransfer::OutgoingTransfer(OutgoingRequest request, Outgoing::Done done,
                                   const std::string& ca_file, std::int64_t left_ms)
    : request_(std::move(request)),
      done_(std::move(done)),
      headers_(HeaderLines()),
      easy_(curl::NewEasy(ca_file)) {
  using curl::Set;
  Set(easy_, CURLOPT_URL, request_.url.c_str());
  Set(easy_, CURLOPT_USERAGENT, "tenure/" TENURE_VERSION);
  Set(easy_, CURLOPT_HTTPHEADER, headers_.get());
  Set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(left_ms));
  Set(easy_, CURLOPT_ERRORBUFFER, trouble_.data());
  Set(easy_, CURLOPT_WRITEFUNCTION, &OnBody);
  Set(easy_, CURLOPT_WRITEDATA, this);
  Set(easy_, CURLOPT_HEADERFUNCTION, &OnHeader);
  Set(easy_, CURLOPT_HEADERDATA, this);
  SetMethod(easy_, request_.method, HasBody(request_) ? &request_.body : nullptr);
}

curl::HeaderList OutgoingTransfer::HeaderLines() const {
  curl::HeaderList list;
  Append(list, "Expect:");  // libcurl would wait for "100 Continue" with large bodies
  if (HasBody(request_) && !Names(request_, "Content-Type"))
    Append(list, "Content-Type: application/json");
  for (const auto& [name, value] : request_.headers)
    // A name alone would take a header out; the semicolon is libcurl's word for an empty one.
    Append(list, value.empty() ? name + ";" : name + ": " + value);
  return list;
}

/// Returning less than it was given makes libcurl give up.
std::size_t OutgoingTransfer::OnBody(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<OutgoingTransfer*>(self);
  std::string& body = transfer.reply_.body;
  const std::size_t room = transfer.request_.answer_max - body.size();
  body.append(data, std::min(size, room));
  transfer.reply_.truncated = size > room;
  return transfer.reply_.truncated ? 0 : size;
}

std::size_t OutgoingTransfer::OnHeader(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<OutgoingTransfer*>(self);
  transfer.header_bytes_ += size;
  if (transfer.header_bytes_ > kMaxHeaderBytes) return 0;
  transfer.TakeHeader({data, size});
  return size;
}

void OutgoingTransfer::TakeHeader(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // "100 Continue" may have come before
    head_ended_ = false;
    retry_after_.clear();
    date_ms_.reset();
  }
  if (line == "\r\n" || line == "\n") head_ended_ = true;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !line.ends_with("\r\n")) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1, line.size() - colon - 3));
  if (EqualsNoCase(name, "Retry-After")) retry_after_ = value;
  if (EqualsNoCase(name, "Date")) date_ms_ = base::ParseHttpDateMs(value);
}

OutgoingReply OutgoingTransfer::Finish(CURLcode result, std::int64_t wall_ms) {
  if (result != CURLE_OK && !reply_.truncated) return GiveUp(Trouble(result));
  // To libcurl a header that ends with the connection is a whole answer.
  if (!head_ended_) return GiveUp("the answer broke off");
  reply_.status = curl::StatusOf(easy_);
  reply_.retry_after_ms = ParseRetryAfterMs(retry_after_, date_ms_.value_or(wall_ms));
  return std::move(reply_);
}

OutgoingReply OutgoingTransfer::GiveUp(std::string why) const {
  return {.error = std::move(why), .maybe_received = curl::WasSent(easy_)};
}

std::string OutgoingTransfer::Trouble(CURLcode result) const {
  if (header_bytes_ > kMaxHeaderBytes) return "the header of the answer is too long";
  const std::string_view detail(trouble_.data());
  return Printable(detail.empty() ? curl_easy_strerror(result) : detail, kMaxTroubleBytes);
}

}  // namespace tenure::http
