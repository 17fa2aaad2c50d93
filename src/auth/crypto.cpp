#include "auth/crypto.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "base/error.hpp"

namespace tenure::auth {
namespace {

EVP_MAC* HmacMethod() {
  static EVP_MAC* const method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  TENURE_CHECK(method != nullptr, "OpenSSL has no HMAC");
  return method;
}

}  // namespace

const EVP_MD* Sha256Method() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  TENURE_CHECK(method != nullptr, "OpenSSL has no SHA-256");
  return method;
}

/// Every request with a token comes by here: a context per thread, because making one costs as much
/// as hashing the token.
Digest Sha256(std::string_view bytes) {
  thread_local const DigestContextPtr context(EVP_MD_CTX_new());
  Digest digest{};
  unsigned int size = 0;
  const bool done = context && EVP_DigestInit_ex2(context.get(), Sha256Method(), nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  TENURE_CHECK(done && size == digest.size(), "SHA-256 fails");
  return digest;
}

MacContextPtr NewHmac(std::string_view secret) {
  MacContextPtr context(EVP_MAC_CTX_new(HmacMethod()));
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  const bool done =
      context && EVP_MAC_init(context.get(), Bytes(secret), secret.size(), params) == 1;
  TENURE_CHECK(done, "HMAC cannot be keyed");
  return context;
}

Digest Hmac(const EVP_MAC_CTX* keyed, std::string_view bytes) {
  Digest mac{};
  std::size_t size = 0;
  const MacContextPtr context(EVP_MAC_CTX_dup(keyed));
  const bool done = context && EVP_MAC_update(context.get(), Bytes(bytes), bytes.size()) == 1 &&
                    EVP_MAC_final(context.get(), mac.data(), &size, mac.size()) == 1;
  TENURE_CHECK(done && size == mac.size(), "HMAC fails");
  return mac;
}

void ForgetErrors() { ERR_clear_error(); }

}  // namespace tenure::auth
