#include "base/utf8.hpp"

#include <cstdint>

namespace tenure::base {

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

}  // namespace tenure::base
