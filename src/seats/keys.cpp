#include "seats/keys.hpp"

#include <algorithm>
#include <array>

#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "seats/log_entry.hpp"

namespace tenure::seats {
namespace {

constexpr std::string_view kSymbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kSymbolCount = 20;
constexpr std::size_t kGroup = 4;
constexpr std::size_t kHintBytes = 4;

}  // namespace

std::string MakeKey(std::string_view prefix, std::int64_t wall_ms) {
  std::array<std::uint8_t, kSymbolCount> random{};
  base::RandomBytes(random.data(), random.size());
  std::string key(prefix);
  key += '-';
  key += base::UtcText(wall_ms).substr(0, 4);
  for (std::size_t i = 0; i < kSymbolCount; ++i) {
    if (i % kGroup == 0) key += '-';
    key += kSymbols[random[i] % kSymbols.size()];
  }
  return key;
}

bool IsKeyPrefix(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPrefixBytes && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

bool IsKeyText(std::string_view text) {
  return text.size() >= kMinKeyBytes && text.size() <= kMaxKeyBytes &&
         std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string HashOfKey(std::string_view key) {
  const LogHash hash = Sha256(key);
  return {hash.begin(), hash.end()};
}

std::string HintOfKey(std::string_view key) {
  return std::string(key.substr(key.size() - std::min(key.size(), kHintBytes)));
}

}  // namespace tenure::seats
