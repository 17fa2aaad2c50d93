#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/http_receiver.hpp"
#include "support/tls.hpp"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace tenure::support {

/// An endpoint that speaks HTTPS on a free port of 127.0.0.1, with a thread per connection, so that one
/// that hangs holds up no other. Any thread.
class TlsReceiver {
 public:
  /// Makes the bytes of the answer. `kHang`: none until the receiver goes; `kReset`: the connection is
  /// closed.
  using Answer = std::function<std::string(const ReceivedRequest&)>;
  static constexpr const char* kHang = "hang";
  static constexpr const char* kReset = "reset";
  /// A whole answer; `headers` are lines that end with CRLF.
  static std::string Http(int status, std::string_view headers = "", std::string_view body = "");

  TlsReceiver(Authority& authority, Answer answer, const CertificateOptions& certificate = {});
  ~TlsReceiver();
  TlsReceiver(const TlsReceiver&) = delete;
  TlsReceiver& operator=(const TlsReceiver&) = delete;

  int port() const { return port_; }
  std::string Url(std::string_view path = "/") const;
  /// What came so far, oldest first.
  std::vector<ReceivedRequest> Received() const;
  /// Waits until so many have come; throws when that takes longer than half a minute.
  std::vector<ReceivedRequest> WaitFor(std::size_t count) const;
  /// The most requests that were without an answer at a time.
  std::size_t most_at_once() const;
  std::size_t connections() const;

 private:
  void Accept();
  void Serve(int socket);

  const Answer answer_;
  ssl_ctx_st* context_ = nullptr;
  int listener_ = -1;
  int port_ = 0;

  mutable std::mutex mutex_;  // guards all that follows
  mutable std::condition_variable changed_;
  std::vector<ReceivedRequest> received_;
  std::set<int> sockets_;
  std::vector<std::thread> threads_;
  std::size_t at_once_ = 0;
  std::size_t most_at_once_ = 0;
  std::size_t connections_ = 0;
  bool stopping_ = false;
  std::thread acceptor_;
};

}  // namespace tenure::support
