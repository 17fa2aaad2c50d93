#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tenure::support {

/// How seeds are played, by simulations and by stepped tests. A run has `Run(seed)`: what is wrong,
/// together with the trace, or nothing; and `trace()`: every step of the last seed.

struct Seeds {
  std::uint64_t usual = 0;
  std::uint64_t with_test_long = 0;  ///< when TENURE_TEST_LONG is set
};

/// Returns how many held. TENURE_TEST_SEED plays one seed alone and shows what happens in it.
template <class Run>
std::int64_t ExpectEverySeedHolds(Run& run, Seeds seeds) {
  const char* const only = std::getenv("TENURE_TEST_SEED");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only                              ? first
                             : std::getenv("TENURE_TEST_LONG") ? seeds.with_test_long
                                                               : seeds.usual;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string wrong = run.Run(seed);
    if (only) std::cout << run.trace();
    EXPECT_EQ(wrong, "");
    if (!wrong.empty()) return static_cast<std::int64_t>(seed - first);
  }
  return static_cast<std::int64_t>(last - first + 1);
}

/// Fails unless one of the seeds finds the planted bug and says what it is. Returns that seed. `known`: one
/// that has found it before is tried first, which saves all those before it; what a seed does changes with
/// the code, so it need not find it any more.
template <class Run>
std::uint64_t ExpectFound(Run&& run, std::uint64_t seeds, std::string_view by_name,
                          std::uint64_t known = 0) {
  const auto finds = [&](std::uint64_t seed) {
    const std::string wrong = run.Run(seed);
    const bool found = wrong.find(by_name) != std::string::npos;
    if (found) std::cout << wrong;
    return found;
  };
  if (known > 0 && finds(known)) return known;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    if (finds(seed)) {
      if (known > 0) std::cout << "seed " << seed << " finds it now, " << known << " does not\n";
      return seed;
    }
  ADD_FAILURE() << "no seed finds: " << by_name;
  return 0;
}

/// Fails unless a seed gives two runs the same trace, and what is wrong in the same words.
template <class Run>
void ExpectTheSame(Run& one, Run& another, std::uint64_t seed) {
  const std::string wrong = one.Run(seed);
  EXPECT_EQ(wrong, another.Run(seed)) << "seed " << seed;
  EXPECT_NE(one.trace(), "") << "seed " << seed;
  EXPECT_EQ(one.trace(), another.trace()) << "seed " << seed;
}

}  // namespace tenure::support
