#include "auth/key.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/params.h>

#include "base/error.hpp"

namespace tenure::auth {
namespace {

constexpr std::array<std::string_view, 4> kNames{"HS256", "RS256", "ES256", "EdDSA"};
constexpr std::size_t kEs256HalfBytes = 32;

bool IsP256(const EVP_PKEY* key) {
  std::array<char, 64> name{};
  std::size_t size = 0;
  return EVP_PKEY_get_group_name(key, name.data(), name.size(), &size) == 1 &&
         std::string_view(name.data(), size) == "prime256v1";
}

void RequireRsaSize(const EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  if (bits < kMinRsaBits || bits > kMaxRsaBits)
    throw base::UserError(fmt::format("an RSA key must have {} to {} bits; this one has {}",
                                      kMinRsaBits, kMaxRsaBits, bits));
}

/// A JWS has r and s as they are, 32 bytes each; OpenSSL wants them as DER. Empty when the
/// signature has another length. (That r and s are from 1 to the order - 1 is checked by OpenSSL.)
std::string DerOf(std::string_view signature) {
  if (signature.size() != 2 * kEs256HalfBytes) return {};
  const std::unique_ptr<ECDSA_SIG, Freeing<ECDSA_SIG_free>> pair(ECDSA_SIG_new());
  const auto half = [&](std::size_t at) {
    return BN_bin2bn(Bytes(signature.substr(at)), kEs256HalfBytes, nullptr);
  };
  // Takes both when it succeeds; it fails only without memory.
  TENURE_CHECK(ECDSA_SIG_set0(pair.get(), half(0), half(kEs256HalfBytes)) == 1, "no memory");
  unsigned char* bytes = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &bytes);
  TENURE_CHECK(size > 0, "no memory for a signature");
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

bool VerifyPublic(EVP_PKEY* key, const EVP_MD* method, std::string_view input,
                  std::string_view signature) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  TENURE_CHECK(context != nullptr, "no memory for a digest");
  const bool good = EVP_DigestVerifyInit(context.get(), nullptr, method, nullptr, key) == 1 &&
                    EVP_DigestVerify(context.get(), Bytes(signature), signature.size(),
                                     Bytes(input), input.size()) == 1;
  if (!good) ForgetErrors();
  return good;
}

EVP_MAC* HmacMethod() {
  static EVP_MAC* const method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  TENURE_CHECK(method != nullptr, "OpenSSL has no HMAC");
  return method;
}

}  // namespace

std::string_view ToText(Algorithm algorithm) { return kNames[static_cast<std::size_t>(algorithm)]; }

std::optional<Algorithm> ParseAlgorithm(std::string_view text) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Algorithm>(found - kNames.begin());
}

Algorithm AlgorithmOf(const EVP_PKEY* key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
      RequireRsaSize(key);
      return Algorithm::kRs256;
    case EVP_PKEY_EC:
      if (!IsP256(key)) throw base::UserError("an EC key must be on the curve P-256");
      return Algorithm::kEs256;
    case EVP_PKEY_ED25519:
      return Algorithm::kEdDsa;
    default:
      throw base::UserError("a key must be of RSA, of the curve P-256, or of Ed25519");
  }
}

Key Key::OfSecret(std::string kid, std::string_view bytes) {
  if (bytes.size() < kMinSecretBytes)
    throw base::UserError(fmt::format("a secret for HS256 must have {} bytes or more; this has {}",
                                      kMinSecretBytes, bytes.size()));
  Key key(std::move(kid), Algorithm::kHs256);
  key.mac_ =
      std::shared_ptr<const EVP_MAC_CTX>(NewHmac(bytes).release(), [](const EVP_MAC_CTX* context) {
        // NOLINTNEXTLINE: it was made as one
        EVP_MAC_CTX_free(const_cast<EVP_MAC_CTX*>(context));
      });
  return key;
}

Key Key::OfPublic(std::string kid, PkeyPtr pkey) {
  Key key(std::move(kid), AlgorithmOf(pkey.get()));
  key.public_key_ = std::move(pkey);
  return key;
}

bool Key::Verifies(std::string_view input, std::string_view signature) const {
  switch (algorithm_) {
    case Algorithm::kHs256: {
      const Digest expected = Hmac(mac_.get(), input);
      return signature.size() == expected.size() &&
             CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) == 0;
    }
    case Algorithm::kRs256:
      return VerifyPublic(public_key_.get(), Sha256Method(), input, signature);
    case Algorithm::kEs256: {
      const std::string der = DerOf(signature);
      return !der.empty() && VerifyPublic(public_key_.get(), Sha256Method(), input, der);
    }
    case Algorithm::kEdDsa:
      return VerifyPublic(public_key_.get(), nullptr, input, signature);
  }
  return false;
}

std::vector<const Key*> KeySet::Candidates(Algorithm algorithm,
                                           const std::optional<std::string>& kid) const {
  std::vector<const Key*> named;
  std::vector<const Key*> nameless;
  for (const Key& key : keys) {
    if (key.algorithm() != algorithm) continue;
    if (!kid || key.kid() == *kid)
      named.push_back(&key);
    else if (key.kid().empty())
      nameless.push_back(&key);
  }
  return named.empty() ? nameless : named;
}

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
