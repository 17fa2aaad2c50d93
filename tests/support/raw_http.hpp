#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/json.hpp"
#include "support/tls.hpp"

namespace tenure::support {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 0;
  std::string reason;
  HttpHeaders headers;  ///< names as sent
  std::string body;     ///< without the framing

  /// The value of the first header of that name, in any case.
  std::optional<std::string> FindHeader(std::string_view name) const;
  /// The same; empty when there is none.
  std::string Header(std::string_view name) const { return FindHeader(name).value_or(""); }
  /// The body; throws when it is not JSON.
  support::Json Json() const { return support::Json::Parse(body); }
};

/// A blocking connection to a server on 127.0.0.1 that sends exactly the bytes it is told to, also
/// wrong ones, and reads answers strictly: what is not proper HTTP/1.1 throws, and so does waiting
/// longer than the time-out for anything. With TLS where it is given options. For one thread.
class HttpConnection {
 public:
  explicit HttpConnection(int port, std::chrono::milliseconds timeout = std::chrono::seconds(10),
                          const TlsClientOptions* tls = nullptr);
  ~HttpConnection();
  HttpConnection(HttpConnection&& other) noexcept;
  HttpConnection& operator=(HttpConnection&&) = delete;

  void Send(std::string_view bytes);
  /// No more will be sent; answers can still be read.
  void HalfClose();
  void Close();
  /// Ends with a reset instead of a proper end, as a crashed machine behind a router does.
  void Reset();

  /// The next answer; an interim one (100) counts as one. `to_head`: it answers a HEAD request,
  /// hence has no body whatever its headers say.
  HttpResponse ReadResponse(bool to_head = false);
  /// Everything up to the server's end of the connection. A reset counts as the end.
  std::string ReadUntilClose();
  /// Whether the server has nothing more to say: an orderly end or a reset.
  bool AtEnd() { return ReadUntilClose().empty(); }
  HttpResponse Ask(std::string_view bytes) {
    Send(bytes);
    return ReadResponse();
  }

  /// Sends a well-formed request and reads its answer. Host and Content-Length are added unless
  /// given; a body is JSON unless a Content-Type is given.
  HttpResponse Call(std::string_view method, std::string_view path, std::string_view body = {},
                    const HttpHeaders& headers = {});

  int fd() const { return fd_; }
  /// REQUIRES: it has TLS.
  TlsClient& tls() { return *tls_; }

 private:
  /// Reads at least one more byte into the buffer. False at the end of the connection.
  bool Fill();
  std::string ReadLine();
  std::string ReadExactly(std::size_t size);
  std::string ReadChunks();

  int port_;
  std::chrono::milliseconds timeout_;
  int fd_ = -1;
  std::optional<TlsClient> tls_;
  std::string buffer_;  // received, not yet consumed
};

/// A well-formed request as bytes, as `HttpConnection::Call` sends it.
std::string FormatRequest(int port, std::string_view method, std::string_view path,
                          std::string_view body = {}, const HttpHeaders& headers = {});

/// One request on a connection of its own.
HttpResponse Call(int port, std::string_view method, std::string_view path,
                  std::string_view body = {}, const HttpHeaders& headers = {});

}  // namespace tenure::support
