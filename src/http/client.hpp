#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.hpp"

namespace tenure::http {

struct ClientOptions {
  std::string base_url{};                         ///< "http://127.0.0.1:8080", without a path
  std::int64_t timeout_ms = 30'000;               ///< for one request, connecting included
  std::string token{};                            ///< sent as a bearer token when it is not empty
  std::size_t max_body_bytes = 64 * 1024 * 1024;  ///< of an answer; a longer one is none
  std::string ca_file{};  ///< whose signatures count, instead of the system's certificates
  std::string hint = "is `tenure serve` running?";  ///< for people, when nothing answers
};

struct ClientResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  /// The value of the first header of that name (any case).
  std::optional<std::string_view> FindHeader(std::string_view name) const;
};

/// An address in two parts, as the client takes them: "https://host:port" and "/path?query".
struct Url {
  std::string base{};
  std::string path{};  ///< "/" when the address has none
};
/// REQUIRES: `url` begins with http:// or https:// and a host, as the settings see to.
Url SplitUrl(std::string_view url);

/// A blocking HTTP client for the command line, the lease provider and tests. Keeps its connection
/// between requests. Follows no redirects and no proxy settings of the environment; speaks http and
/// https, whose certificates it always verifies. What a thread sends while it works for a trace
/// (telemetry::TraceScope) says so.
///
/// Any answer, whatever its status, is a response. `Send` throws base::Fault only when there is
/// none: kStoreUnavailable when the server cannot have seen the request, kOutcomeUnknown when it
/// may have.
///
/// Threads: one at a time, except `Cancel`.
class Client {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit Client(ClientOptions options);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// `path` starts with a slash and is encoded already. `timeout_ms` is for this request, instead
  /// of the client's own.
  ClientResponse Send(Method method, std::string_view path,
                      const std::optional<std::string>& json_body = std::nullopt,
                      const Headers& headers = {},
                      std::optional<std::int64_t> timeout_ms = std::nullopt);

  /// From any thread: the request under way, and every later one, ends soon with a fault. An answer
  /// that is here already is still returned. The connection is closed, so the server learns of it.
  /// (Only a name server that does not answer can hold it up.)
  /// REQUIRES: the client is neither moved nor destroyed meanwhile.
  void Cancel() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::http
