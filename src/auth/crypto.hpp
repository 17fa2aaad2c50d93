#pragma once

// OpenSSL's handles as values that end by themselves, and the algorithms that this folder uses.
// Each algorithm is looked up once: a look-up takes a lock that all threads share.

#include <array>
#include <memory>
#include <string_view>

#include <openssl/bn.h>
#include <openssl/evp.h>

namespace tenure::auth {

template <auto Free>
struct Freeing {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

using PkeyPtr = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using PkeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, Freeing<EVP_PKEY_CTX_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, Freeing<EVP_MD_CTX_free>>;
using MacContextPtr = std::unique_ptr<EVP_MAC_CTX, Freeing<EVP_MAC_CTX_free>>;
using BignumPtr = std::unique_ptr<BIGNUM, Freeing<BN_free>>;

inline const unsigned char* Bytes(std::string_view text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's idea of bytes
  return reinterpret_cast<const unsigned char*>(text.data());
}

const EVP_MD* Sha256Method();

using Digest = std::array<unsigned char, 32>;
Digest Sha256(std::string_view bytes);

/// A context that is keyed for HMAC with SHA-256; copies of it do the work.
MacContextPtr NewHmac(std::string_view secret);
Digest Hmac(const EVP_MAC_CTX* keyed, std::string_view bytes);

/// Forgets what OpenSSL noted about a failure that is dealt with.
void ForgetErrors();

}  // namespace tenure::auth
