#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace tenure::client {

/// A certificate with its private key, by which an application shows who it is. Threads: any.
class ClientCertificate {
 public:
  /// A file in PEM with both, or PKCS 12. Throws std::invalid_argument that names the file and what is
  /// wrong with it.
  static ClientCertificate Load(const std::string& file, const std::string& password_file);

  /// A JWT for the endpoint, signed with PS256, good for ten minutes and with an id of its own.
  std::string Assertion(std::string_view client_id, std::string_view endpoint) const;

 private:
  ClientCertificate() = default;

  std::shared_ptr<evp_pkey_st> key_;
  std::string thumbprint_;  // SHA-256 of the certificate, in base64url
};

}  // namespace tenure::client
