#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bn.h>
#include <openssl/evp.h>

namespace tenure::auth {

// OpenSSL's handles as values that end by themselves, and the algorithms that this folder uses.
// Each algorithm is looked up once: a look-up takes a lock that all threads share.

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

/// Of a key's name, in a key set and in a token's header.
inline constexpr std::size_t kMaxKidBytes = 200;

/// How tokens are signed, by the names of RFC 7518 and RFC 8037.
enum class Algorithm { kHs256, kRs256, kEs256, kEdDsa };

std::string_view ToText(Algorithm algorithm);
std::optional<Algorithm> ParseAlgorithm(std::string_view text);

inline constexpr std::size_t kMinSecretBytes = 32;  ///< as RFC 7518 asks for HS256
inline constexpr int kMinRsaBits = 2'048;
inline constexpr int kMaxRsaBits = 8'192;  ///< a larger one is slow enough to be an attack

/// One key that tokens are verified with. It knows its algorithm: the type of a public key leaves
/// exactly one (RSA RS256, P-256 ES256, Ed25519 EdDSA), and a secret is HS256. What a token says
/// about its algorithm can therefore never turn one kind of key into another.
///
/// A value that is shared, not copied; constant, any thread.
class Key {
 public:
  /// Throws base::UserError when the secret is too short to be one.
  static Key OfSecret(std::string kid, std::string_view bytes);
  /// Throws base::UserError when the key is of a type, a curve or a size that is not taken.
  static Key OfPublic(std::string kid, PkeyPtr key);

  /// Empty: it has no name, and may have signed any token of its algorithm.
  const std::string& kid() const { return kid_; }
  Algorithm algorithm() const { return algorithm_; }

  /// Whether `signature` (bytes, as a JWS has them) is this key's under `input`. A secret is
  /// compared in constant time.
  bool Verifies(std::string_view input, std::string_view signature) const;

 private:
  Key(std::string kid, Algorithm algorithm) : kid_(std::move(kid)), algorithm_(algorithm) {}

  std::string kid_;
  Algorithm algorithm_;
  std::shared_ptr<EVP_PKEY> public_key_;    // null: it is a secret
  std::shared_ptr<const EVP_MAC_CTX> mac_;  // null: it is a public key
};

/// The algorithm of an asymmetric key. Throws base::UserError when it is none that is taken.
Algorithm AlgorithmOf(const EVP_PKEY* key);

/// All keys that count at one moment; constant.
struct KeySet {
  std::vector<Key> keys{};
  /// Rises with every change: what was verified by an older set is verified again.
  std::uint64_t generation = 0;

  /// Those that may have signed a token with this header: of its algorithm, with its key id, else
  /// without any. Untrusted text selects here, and decides nothing.
  std::vector<const Key*> Candidates(Algorithm algorithm,
                                     const std::optional<std::string>& kid) const;
};

}  // namespace tenure::auth
