#pragma once

#include <cstdint>
#include <random>

namespace tenure::base {

/// For simulations: while it lives, random bytes of this thread follow from a seed, so that a history can be
/// played again.
class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed);
  ~SeededRandom();
  SeededRandom(const SeededRandom&) = delete;
  SeededRandom& operator=(const SeededRandom&) = delete;

 private:
  std::mt19937_64 random_;
};

}  // namespace tenure::base
