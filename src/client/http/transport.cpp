#include "client/http/transport.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "http/retry_after.hpp"

namespace tenure::client {

http::ClientResponse Transport::Send(http::Method method, std::string_view path,
                                     const std::optional<std::string>& body, Milliseconds timeout,
                                     const std::stop_token& stop,
                                     const http::Client::Headers& headers) {
  auto client = Take();
  http::ClientResponse response;
  {
    const std::stop_callback cancel(stop, [&] { client->Cancel(); });
    response = client->Send(method, path, body, headers, timeout.count());
  }
  // One that was cancelled is of no use any more.
  if (!stop.stop_requested()) Return(std::move(client));
  return response;
}

Milliseconds RetryAfterOf(const http::ClientResponse& response) {
  const auto header = response.FindHeader("Retry-After");
  if (!header) return Milliseconds(0);
  return Milliseconds(http::ParseRetryAfterMs(*header, base::SystemClock().WallMs()).value_or(0));
}

std::unique_ptr<http::Client> Transport::Take() {
  const base::Lock lock(mutex_);
  if (idle_.empty()) return std::make_unique<http::Client>(options_);
  auto client = std::move(idle_.back());
  idle_.pop_back();
  return client;
}

void Transport::Return(std::unique_ptr<http::Client> client) {
  const base::Lock lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(client));
}

std::string Encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace tenure::client
