#include "push/signature.hpp"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "base/uuid.hpp"

namespace tenure::push {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::size_t kNewSecretBytes = 32;

std::string HmacSha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned size = 0;
  const auto* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), code.data(), &size);
  TENURE_CHECK(done != nullptr, "OpenSSL cannot compute HMAC-SHA256");
  return {reinterpret_cast<const char*>(code.data()), size};
}

}  // namespace

std::optional<std::string> ParseSigningSecret(std::string_view text) {
  if (!text.starts_with(kSecretPrefix)) return std::nullopt;
  auto bytes = base::DecodeBase64(text.substr(kSecretPrefix.size()));
  if (!bytes || bytes->size() < kMinSecretBytes || bytes->size() > kMaxSecretBytes)
    return std::nullopt;
  return bytes;
}

std::string NewSigningSecret() {
  std::array<std::uint8_t, kNewSecretBytes> bytes{};
  base::RandomBytes(bytes.data(), bytes.size());
  return std::string(kSecretPrefix) +
         base::EncodeBase64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string Signatures(const SignedContent& content, std::span<const std::string> secrets) {
  std::string text = fmt::format("{}.{}.", content.id, content.timestamp_s);
  text += content.body;
  std::string signatures;
  for (const std::string& secret : secrets) {
    const auto key = ParseSigningSecret(secret);
    if (!key) continue;
    if (!signatures.empty()) signatures += ' ';
    signatures += "v1," + base::EncodeBase64(HmacSha256(*key, text));
  }
  return signatures;
}

}  // namespace tenure::push
