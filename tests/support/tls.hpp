#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY
struct ssl_st;       // OpenSSL's SSL
struct x509_st;      // OpenSSL's X509

namespace tenure::support {

/// A certificate and its key, both in PEM.
struct Certificate {
  std::string certificate{};
  std::string key{};
};

struct CertificateOptions {
  std::string names = "IP:127.0.0.1,DNS:localhost";
  std::int64_t begins_in_s = -60;
  std::int64_t ends_in_s = 3'600;
  int rsa_bits = 0;  ///< 0: an EC key, which is made in no time
};

/// An authority of the test's own, which signs certificates for servers. Each has a serial number
/// of its own, from 2 up. For one thread.
class Authority {
 public:
  Authority();
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  /// What clients must trust, in PEM.
  const std::string& pem() const { return pem_; }
  Certificate Issue(const CertificateOptions& options = {});
  /// The serial number of the last one.
  std::int64_t last_serial() const { return serial_; }

 private:
  struct Deleter {
    void operator()(evp_pkey_st* key) const;
    void operator()(x509_st* certificate) const;
  };

  std::int64_t serial_ = 1;
  std::unique_ptr<evp_pkey_st, Deleter> key_;
  std::unique_ptr<x509_st, Deleter> own_;
  std::string pem_;
};

/// Writes a file in one step: a reader sees the old text or the new one.
void ReplaceFile(const std::filesystem::path& path, const std::string& text);

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
