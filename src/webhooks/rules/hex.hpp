#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::webhooks::rules {

enum class HexCase { kLower, kUpper };

/// Two digits for each byte.
inline void AppendHex(std::string& out, std::string_view bytes, HexCase letters) {
  const std::string_view digits =
      letters == HexCase::kUpper ? "0123456789ABCDEF" : "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 0xFU];
  }
}

/// 0 to 15.
inline std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace tenure::webhooks::rules
