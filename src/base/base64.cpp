#include "base/base64.hpp"

#include <array>
#include <cstdint>

namespace tenure::base {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 0xff;

using Values = std::array<std::uint8_t, 256>;

constexpr Values ValuesOf(std::string_view alphabet) {
  Values values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr Values kValues = ValuesOf(kAlphabet);
constexpr Values kUrlValues = ValuesOf(kUrlAlphabet);

std::uint32_t Byte(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

/// In groups of four, so with up to two characters too many at its end.
std::string Encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = Byte(bytes, i) << 16 | Byte(bytes, i + 1) << 8 | Byte(bytes, i + 2);
    for (const std::uint32_t shift : {18U, 12U, 6U, 0U}) text += alphabet[group >> shift & 63U];
  }
  return text;
}

/// REQUIRES: the length of `text` is not 1 more than a multiple of four.
std::optional<std::string> Decode(std::string_view text, const Values& values) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  std::uint32_t held = 0;
  for (const char c : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(c)];
    if (value == kNone) return std::nullopt;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xffU);
    bits &= (1U << held) - 1;
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

std::size_t Surplus(std::string_view bytes) { return (3 - bytes.size() % 3) % 3; }

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text = Encode(bytes, kAlphabet);
  const std::size_t padding = Surplus(bytes);
  text.replace(text.size() - padding, padding, padding, '=');
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  return Decode(text, kValues);
}

std::string EncodeBase64Url(std::string_view bytes) {
  std::string text = Encode(bytes, kUrlAlphabet);
  text.resize(text.size() - Surplus(bytes));
  return text;
}

std::optional<std::string> DecodeBase64Url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  return Decode(text, kUrlValues);
}

}  // namespace tenure::base
