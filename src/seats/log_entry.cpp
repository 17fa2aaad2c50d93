#include "seats/log_entry.hpp"

#include <algorithm>
#include <memory>

#include <openssl/evp.h>

#include "base/error.hpp"
#include "base/json_writer.hpp"

namespace tenure::seats {
namespace {

struct KindText {
  LogKind kind;
  std::string_view text;
};
constexpr KindText kKindTexts[] = {
    {LogKind::kSeatAcquired, "LICENSE_SEAT_ACQUIRED"},
    {LogKind::kSeatReleased, "LICENSE_SEAT_RELEASED"},
    {LogKind::kSeatExpired, "LICENSE_SEAT_EXPIRED"},
    {LogKind::kSeatDenied, "LICENSE_SEAT_DENIED"},
    {LogKind::kSeatRevived, "LICENSE_SEAT_REVIVED"},
    {LogKind::kSeatResumed, "LICENSE_SEAT_RESUMED"},
    {LogKind::kSeatRevoked, "LICENSE_SEAT_REVOKED"},
    {LogKind::kLicenseCreated, "LICENSE_CREATED"},
    {LogKind::kLicenseChanged, "LICENSE_CHANGED"},
    {LogKind::kLicenseRevoked, "LICENSE_REVOKED"},
    {LogKind::kLicenseKeyRotated, "LICENSE_KEY_ROTATED"},
    {LogKind::kStoreRestored, "LICENSE_STORE_RESTORED"},
    {LogKind::kLogCheckpoint, "LICENSE_LOG_CHECKPOINT"},
};

/// Looked up once: a look-up takes a lock that all threads share.
const EVP_MD* HashMethod() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  TENURE_CHECK(method != nullptr, "OpenSSL has no SHA-256");
  return method;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

/// Of two texts, one behind the other. A context per thread: making one costs as much as hashing.
LogHash HashOfBoth(std::string_view first, std::string_view second) {
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  LogHash hash{};
  unsigned int size = 0;
  const bool done = context && EVP_DigestInit_ex2(context.get(), HashMethod(), nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), first.data(), first.size()) == 1 &&
                    EVP_DigestUpdate(context.get(), second.data(), second.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), hash.data(), &size) == 1;
  TENURE_CHECK(done && size == hash.size(), "SHA-256 fails");
  return hash;
}

std::optional<std::uint8_t> DigitOf(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

}  // namespace

std::string_view ToText(LogKind kind) {
  const auto* const found = std::ranges::find(kKindTexts, kind, &KindText::kind);
  TENURE_CHECK(found != std::end(kKindTexts), "a kind of entry without a text");
  return found->text;
}

std::optional<LogKind> ParseLogKind(std::string_view text) {
  const auto* const found = std::ranges::find(kKindTexts, text, &KindText::text);
  if (found == std::end(kKindTexts)) return std::nullopt;
  return found->kind;
}

std::string HexOf(const LogHash& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(hash.size() * 2);
  for (const std::uint8_t byte : hash) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<LogHash> ParseLogHash(std::string_view hex) {
  LogHash hash{};
  if (hex.size() != hash.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto high = DigitOf(hex[2 * i]);
    const auto low = DigitOf(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    hash[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return hash;
}

std::string CanonicalText(const LogEntry& entry) {
  std::string text;
  text.reserve(160 + entry.detail.size());
  base::JsonWriter json(text);
  json.BeginArray()
      .Value(entry.license)
      .Value(entry.seq)
      .Value(entry.at_ms)
      .Value(std::string_view(entry.kind));
  entry.session ? json.Value(*entry.session) : json.Null();
  entry.slot ? json.Value(*entry.slot) : json.Null();
  entry.fence ? json.Value(*entry.fence) : json.Null();
  json.Raw(entry.detail).EndArray();
  return text;
}

LogHash HashOf(const LogHash& previous, const LogEntry& entry) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  return HashOfBoth({reinterpret_cast<const char*>(previous.data()), previous.size()},
                    CanonicalText(entry));
}

LogHash Sha256(std::string_view bytes) { return HashOfBoth(bytes, {}); }

}  // namespace tenure::seats
