#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tenure::sim {

/// A simulation has `Execute(seed, planted)`, which is empty when nothing is wrong, and
/// `TraceOf(seed)`: the same with every step of it.

/// Returns how many held. TENURE_TEST_SEED plays one seed alone and shows what happens in it.
template <class Simulation>
std::int64_t ExpectEverySeedHolds(Simulation& simulation, std::uint64_t seeds) {
  if (const char* only = std::getenv("TENURE_TEST_SEED")) {
    const auto seed = std::strtoull(only, nullptr, 10);
    std::cout << simulation.TraceOf(seed);
    EXPECT_EQ(simulation.Execute(seed), "");
    return 1;
  }
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    if (const std::string violations = simulation.Execute(seed); !violations.empty()) {
      ADD_FAILURE() << "seed " << seed << ":\n" << violations << simulation.TraceOf(seed);
      return static_cast<std::int64_t>(seed - 1);
    }
  return static_cast<std::int64_t>(seeds);
}

/// Whether a seed says of a planted bug what it is.
template <class Simulation, class Planted>
bool FindsPlanted(Simulation& simulation, std::uint64_t seeds, Planted planted,
                  std::string_view by_name) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::string violations = simulation.Execute(seed, planted);
    if (violations.find(by_name) == std::string::npos) continue;
    std::cout << "found by seed " << seed << ":\n" << violations;
    return true;
  }
  return false;
}

}  // namespace tenure::sim
