#include "webhooks/rules/signature.hpp"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/error.hpp"
#include "webhooks/rules/hex.hpp"

namespace tenure::webhooks::rules {
namespace {

constexpr std::string_view kScheme = "sha256=";
constexpr std::size_t kDigestBytes = 32;
using Digest = std::array<unsigned char, kDigestBytes>;

Digest Hmac(std::string_view body, const std::string& secret) {
  Digest digest{};
  unsigned size = kDigestBytes;
  const bool done = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                         reinterpret_cast<const unsigned char*>(body.data()), body.size(),
                         digest.data(), &size) != nullptr;
  TENURE_CHECK(done && size == kDigestBytes, "OpenSSL cannot sign");
  return digest;
}

/// The digest that a header names; nothing when it is malformed.
std::optional<Digest> Named(std::string_view value) {
  if (!value.starts_with(kScheme)) return std::nullopt;
  value.remove_prefix(kScheme.size());
  Digest digest{};
  if (value.size() != 2 * kDigestBytes) return std::nullopt;
  for (std::size_t i = 0; i < kDigestBytes; ++i) {
    const auto high = HexDigit(value[2 * i]);
    const auto low = HexDigit(value[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    digest.at(i) = static_cast<unsigned char>(*high * 16 + *low);
  }
  return digest;
}

}  // namespace

std::string SignatureOf(std::string_view body, const std::string& secret) {
  const Digest digest = Hmac(body, secret);
  std::string text(kScheme);
  AppendHex(text, {reinterpret_cast<const char*>(digest.data()), digest.size()}, HexCase::kLower);
  return text;
}

bool IsSigned(std::string_view body, std::span<const std::string_view> given, Secrets secrets) {
  const auto named = given.size() == 1 ? Named(given.front()) : std::nullopt;
  const Digest wanted = named.value_or(Digest{});
  bool found = false;
  for (const std::string& secret : secrets) {
    const Digest digest = Hmac(body, secret);
    // No short cut: `found` last.
    found = (CRYPTO_memcmp(digest.data(), wanted.data(), kDigestBytes) == 0) || found;
  }
  return named && found;
}

}  // namespace tenure::webhooks::rules
