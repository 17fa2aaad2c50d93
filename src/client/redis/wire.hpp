#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "client/redis/address.hpp"
#include "leases/descriptor.hpp"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct ssl_st;      // OpenSSL's SSL

namespace tenure::client {

/// The connection does not work (any more): refused, broken, timed out, cancelled, or what came over
/// it makes no sense.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What TLS needs to know, for all connections of a provider. Threads: any.
class WireTls {
 public:
  /// Null without TLS. Throws std::invalid_argument for files that are not there or do not fit.
  static std::unique_ptr<WireTls> For(const RedisAddress& address);
  /// Of one connection: with the host's name, which its certificate must have.
  ssl_st* NewSession(const std::string& host) const;

 private:
  explicit WireTls(const RedisAddress& address);
  struct Deleter {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Deleter> context_;
};

/// A socket to a Redis, with or without TLS, on which every call has a deadline: `until_ms` on
/// BootClock. Any thread ends a call, and all later ones, by making `cancel_fd` readable.
///
/// OpenSSL works on memory and the socket is ours: so a deadline holds in the middle of a
/// handshake, and nothing raises SIGPIPE. How long the resolver takes for a name is not bounded.
///
/// Threads: one at a time.
class Wire {
 public:
  /// Connects. `tls` null: without. Throws WireError.
  Wire(const RedisAddress& address, const WireTls* tls, int cancel_fd, std::int64_t until_ms);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void Send(std::string_view bytes, std::int64_t until_ms);
  /// At least one byte. False: the time was over before any came; nothing is lost by that.
  bool Receive(std::string& bytes, std::int64_t until_ms);
  /// Whether the other side has hung up, or said something that nobody asked for.
  bool IsStale();
  /// Whether a byte of what is sent now may have been seen by the other side. Set by the caller.
  bool anything_sent = false;

 private:
  enum class Ready { kYes, kTimedOut };
  Ready Await(short events, std::int64_t until_ms) const;
  void Connect(const RedisAddress& address, std::int64_t until_ms);
  bool ConnectTo(int family, const void* address, std::uint32_t size, std::int64_t until_ms);
  void Handshake(std::int64_t until_ms);
  void SendRaw(std::string_view bytes, std::int64_t until_ms);
  /// What OpenSSL wants to send.
  void Flush(std::int64_t until_ms);
  /// Bytes of the socket; 0 at its end; -1 when there are none now.
  ssize_t ReceiveRaw(char* bytes, std::size_t size) const;
  /// Bytes of the socket for OpenSSL. False: there are none now. Throws at its end.
  bool Pump();

  struct Deleter {
    void operator()(ssl_st* session) const;
  };

  const int cancel_fd_;
  leases::Descriptor socket_;
  std::unique_ptr<ssl_st, Deleter> session_;  // null: no TLS
};

}  // namespace tenure::client
