#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Standard Webhooks: how a receiver knows that a request is ours and was not changed.
namespace tenure::push {

inline constexpr std::size_t kMinSecretBytes = 24;
inline constexpr std::size_t kMaxSecretBytes = 64;

/// The bytes of "whsec_" and base64; nothing when it is anything else than kMinSecretBytes to
/// kMaxSecretBytes of them.
std::optional<std::string> ParseSigningSecret(std::string_view text);

/// A new one, as text.
std::string NewSigningSecret();

/// What is signed, besides the secret.
struct SignedContent {
  std::string_view id;  ///< of the message: the same with each attempt
  std::int64_t timestamp_s = 0;
  std::string_view body;
};
/// The value of `webhook-signature`: "v1,…" of each secret, with a space between.
/// A secret that ParseSigningSecret does not read makes none: it comes from the store.
std::string Signatures(const SignedContent& content, std::span<const std::string> secrets);

}  // namespace tenure::push
