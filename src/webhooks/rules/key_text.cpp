#include "webhooks/rules/key_text.hpp"

#include <algorithm>
#include <array>

#include <openssl/sha.h>

#include "webhooks/rules/hex.hpp"

namespace tenure::webhooks::rules {
namespace {

constexpr std::size_t kKeptBytes = 150;
constexpr std::size_t kHashBytes = 16;
constexpr char kShortened = '~';

bool IsPlain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '~' || c == '-';
}

bool LooksShortened(std::string_view text) {
  if (text.size() != kKeptBytes + 1 + 2 * kHashBytes || text[kKeptBytes] != kShortened)
    return false;
  const std::string_view hash = text.substr(kKeptBytes + 1);
  return std::all_of(hash.begin(), hash.end(), [](char c) { return HexDigit(c).has_value(); });
}

}  // namespace

std::string EncodePart(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsPlain(c)) {
      encoded += c;
      continue;
    }
    encoded += '%';
    AppendHex(encoded, {&c, 1}, HexCase::kUpper);
  }
  return encoded;
}

std::string KeyOf(std::string text) {
  if (text.size() <= kMaxKeyBytes && !LooksShortened(text)) return text;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  text.resize(kKeptBytes);
  text += kShortened;
  AppendHex(text, {reinterpret_cast<const char*>(hash.data()), kHashBytes}, HexCase::kLower);
  return text;
}

}  // namespace tenure::webhooks::rules
