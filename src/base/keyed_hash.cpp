#include "base/keyed_hash.hpp"

#include <bit>
#include <cstring>

#include "base/uuid.hpp"

namespace tenure::base {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they stand");

/// The state of SipHash, as its paper has it.
struct Sip {
  std::uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Take(std::uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
  std::uint64_t Finish() {
    v2 ^= 0xff;
    for (int i = 0; i < 4; ++i) Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

KeyedHash::KeyedHash() {
  RandomBytes(reinterpret_cast<std::uint8_t*>(&key_.low), sizeof key_.low);
  RandomBytes(reinterpret_cast<std::uint8_t*>(&key_.high), sizeof key_.high);
}

std::uint64_t KeyedHash::operator()(std::string_view text) const {
  Sip sip{key_.low ^ 0x736f6d6570736575, key_.high ^ 0x646f72616e646f6d,
          key_.low ^ 0x6c7967656e657261, key_.high ^ 0x7465646279746573};
  // The last word has what is left of the text, and the text's length in its highest byte.
  const std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    sip.Take(word);
  }
  std::uint64_t rest = 0;
  if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
  sip.Take(last | rest);
  return sip.Finish();
}

}  // namespace tenure::base
