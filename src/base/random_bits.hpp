#pragma once

#include <cstddef>
#include <cstdint>

#include "base/uuid.hpp"

namespace tenure::base {

/// 56 of a version 7 id's random bits. What is spread by them, and not by the whole id with its instant, is spread
/// alike whenever it happens: a history that is played again at another time goes the same way.
inline std::uint64_t RandomBitsOf(const Uuid& id) {
  constexpr std::size_t kFirst = 9;
  std::uint64_t bits = 0;
  for (std::size_t i = kFirst; i < id.bytes.size(); ++i) bits = bits << 8 | id.bytes[i];
  return bits;
}

}  // namespace tenure::base
