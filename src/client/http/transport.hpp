#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.hpp"
#include "base/mutex.hpp"
#include "client/address.hpp"
#include "http/client.hpp"

namespace tenure::client {

using Milliseconds = std::chrono::milliseconds;

/// The way to a Tenure server: its address, its token, and the connections that are not in use. A
/// request takes one of them, or makes one; what must not wait behind others' requests has a
/// transport of its own.
///
/// Threads: any, at once.
class Transport {
 public:
  explicit Transport(const ServerAddress& address)
      : Transport(http::ClientOptions{
            .base_url = address.base_url, .token = address.token, .ca_file = address.ca_file}) {}
  /// To another server than Tenure's.
  explicit Transport(http::ClientOptions options) : options_(std::move(options)) {}

  /// Whatever the server answers. Throws base::Fault when nothing did; soon after `stop` was
  /// requested, too.
  http::ClientResponse Send(http::Method method, std::string_view path,
                            const std::optional<std::string>& body, Milliseconds timeout,
                            const std::stop_token& stop = {},
                            const http::Client::Headers& headers = {});
  http::ClientResponse Post(std::string_view path, const std::string& body, Milliseconds timeout,
                            const std::stop_token& stop = {}) {
    return Send(http::Method::kPost, path, body, timeout, stop);
  }

 private:
  static constexpr std::size_t kMaxIdle = 8;

  std::unique_ptr<http::Client> Take();
  void Return(std::unique_ptr<http::Client> client);

  const http::ClientOptions options_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<http::Client>> idle_ TENURE_GUARDED_BY(mutex_);
};

/// How long the answer asks to be left alone; 0 where it does not.
Milliseconds RetryAfterOf(const http::ClientResponse& response);

/// The text of a JSON object whose fields `write(json)` writes.
template <class Write>
std::string JsonBody(const Write& write) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject();
  write(json);
  json.EndObject();
  return body;
}

/// As a segment of a path, or a value of a query.
std::string Encoded(std::string_view text);

}  // namespace tenure::client
