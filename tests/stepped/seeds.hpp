#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tenure::stepped {

inline std::uint64_t Seeds() { return std::getenv("TENURE_TEST_LONG") ? 5'000 : 300; }

/// Returns how many held. `run.Run(seed)` is empty when nothing is wrong. TENURE_TEST_SEED plays
/// one seed alone.
template <class Run>
std::int64_t ExpectEverySeedHolds(Run& run) {
  const char* const only = std::getenv("TENURE_TEST_SEED");
  const std::uint64_t first = only ? std::strtoull(only, nullptr, 10) : 1;
  const std::uint64_t last = only ? first : Seeds();
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const std::string violation = run.Run(seed);
    EXPECT_EQ(violation, "");
    if (!violation.empty()) return static_cast<std::int64_t>(seed - first);
  }
  return static_cast<std::int64_t>(last - first + 1);
}

/// The first seed that finds a planted bug and says what it is; 0: none does.
template <class Run>
std::uint64_t FirstFinding(Run& run, std::string_view by_name) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    if (const std::string violation = run.Run(seed); violation.find(by_name) != std::string::npos) {
      std::cout << violation;
      return seed;
    }
  return 0;
}

}  // namespace tenure::stepped
