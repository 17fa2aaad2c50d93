#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ssl_st;  // OpenSSL's SSL

namespace tenure::support {

struct TlsClientOptions {
  std::string authority{};  ///< whose signatures count, in PEM; empty: nobody's certificate does
  int version = 0;          ///< the only one to speak, such as TLS1_2_VERSION; 0: any
  std::string protocols = "\x08http/1.1";  ///< for ALPN, as it goes over the wire; empty: none
};

/// The client's side of TLS over a connected, blocking socket, which stays the caller's. For one
/// thread. SIGPIPE is ignored from the first one on: OpenSSL writes also to who has hung up.
class TlsClient {
 public:
  /// Does the handshake; throws std::runtime_error with OpenSSL's words when there is none.
  TlsClient(int socket, const TlsClientOptions& options);
  ~TlsClient();
  TlsClient(TlsClient&&) noexcept;
  TlsClient& operator=(TlsClient&&) = delete;

  /// False when the server takes no more.
  bool Write(std::string_view bytes);
  /// 0 at the end of the connection, orderly or not; none when the socket's time-out was over.
  std::optional<std::size_t> Read(char* bytes, std::size_t size);
  /// Says that nothing more will be sent, in TLS's own words.
  void SayGoodbye();
  /// Sends a record that carries no data, and asks for one. REQUIRES: TLS 1.3.
  void UpdateKeys();

  std::string Version() const;   ///< "TLSv1.3"
  std::string Protocol() const;  ///< what ALPN chose
  std::int64_t PeerSerial() const;
  /// Whether the server said goodbye, in TLS's own words.
  bool EndedWell() const;

 private:
  struct Deleter {
    void operator()(ssl_st* session) const;
  };
  std::unique_ptr<ssl_st, Deleter> session_;
};

}  // namespace tenure::support
