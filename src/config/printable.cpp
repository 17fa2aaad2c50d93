#include "config/printable.hpp"

#include <cstdint>

#include "base/utf8.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kQuotedBytes = 60;

std::size_t LengthByLead(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return 4;
}

/// The character at the front of `text`, or empty when there is no well-formed one. U+0000 counts
/// as none.
std::string_view FrontCharacter(std::string_view text) {
  const std::string_view front = text.substr(0, LengthByLead(static_cast<std::uint8_t>(text[0])));
  return base::IsStorableText(front) ? front : std::string_view{};
}

bool IsContinuation(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; }

// REQUIRES: `character` is one well-formed UTF-8 sequence.
bool IsHarmless(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(character[i]); };
  if (character.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7F;
  if (character.size() == 2) return byte(0) != 0xC2 || byte(1) >= 0xA0;  // C1 controls
  if (byte(0) == 0xE2 && byte(1) == 0x80)  // U+200B..200F, U+2028..202E: zero width, direction
    return byte(2) < 0x8B || (byte(2) > 0x8F && byte(2) < 0xA8) || byte(2) > 0xAE;
  if (byte(0) == 0xE2 && byte(1) == 0x81)  // U+2060..206F
    return byte(2) < 0xA0 || byte(2) > 0xAF;
  return character != "\xEF\xBB\xBF";  // U+FEFF
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view front = FrontCharacter(text);
    if (!front.empty() && IsHarmless(front))
      out += front;
    else
      out += '?';
    text.remove_prefix(front.empty() ? 1 : front.size());
  }
  return out;
}

std::string Quoted(std::string_view text) {
  const bool cut = text.size() > kQuotedBytes;
  if (cut) {
    std::size_t end = kQuotedBytes;
    while (end > 0 && IsContinuation(text[end])) --end;
    text = text.substr(0, end);
  }
  return '"' + Printable(text) + (cut ? "…\"" : "\"");
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t columns = 0;
  for (const char byte : text)
    if (!IsContinuation(byte)) ++columns;
  return columns;
}

}  // namespace tenure::config
