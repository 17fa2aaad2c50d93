#include "base/utf8.hpp"

#include <cstdint>

namespace tenure::base {
namespace {

std::size_t LengthByLead(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return 4;
}

struct Range {
  char32_t first, last;
};
/// What is not shown, in ascending order.
constexpr Range kHidden[] = {
    {0x0000, 0x001F},    // C0 controls
    {0x007F, 0x009F},    // DEL and C1 controls
    {0x061C, 0x061C},    // Arabic letter mark
    {0x200B, 0x200F},    // zero width, direction marks
    {0x2028, 0x202E},    // line and paragraph separators, embeddings and overrides of direction
    {0x2060, 0x206F},    // word joiner, isolates of direction
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // annotations
    {0xE0000, 0xE007F},  // tags
};

/// REQUIRES: `character` is one well-formed UTF-8 sequence.
char32_t CodePoint(std::string_view character) {
  const auto lead = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return lead;
  char32_t code = lead & (0xFFU >> (character.size() + 1));
  for (const char byte : character.substr(1))
    code = code << 6 | (static_cast<std::uint8_t>(byte) & 0x3FU);
  return code;
}

}  // namespace

bool IsStorableText(std::string_view text) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    const std::uint8_t lead = *at++;
    if (lead == 0) return false;
    if (lead < 0x80) continue;
    // The continuation bytes that must follow, and the range of the first of them: the range is
    // what excludes overlong forms (E0, F0), surrogates (ED) and values above U+10FFFF (F4).
    int more = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    for (; more > 0; --more) {
      if (at == end || *at < low || *at > high) return false;
      ++at;
      low = 0x80;
      high = 0xBF;
    }
  }
  return true;
}

std::string_view CutText(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

std::string_view FrontCharacter(std::string_view text) {
  const std::string_view front = text.substr(0, LengthByLead(static_cast<std::uint8_t>(text[0])));
  return IsStorableText(front) ? front : std::string_view{};
}

bool IsHarmless(std::string_view character) {
  const char32_t code = CodePoint(character);
  for (const Range& hidden : kHidden)
    if (code <= hidden.last) return code < hidden.first;
  return true;
}

bool HasControls(std::string_view text) {
  if (!IsStorableText(text)) return true;
  while (!text.empty()) {
    const std::string_view front = FrontCharacter(text);
    const char32_t code = CodePoint(front);
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return true;
    text.remove_prefix(front.size());
  }
  return false;
}

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

}  // namespace tenure::base
