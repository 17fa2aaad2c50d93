#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY
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

}  // namespace tenure::support
