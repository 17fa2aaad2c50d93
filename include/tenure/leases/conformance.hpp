#pragma once

#include "tenure/leases/conformance/endings.hpp"
#include "tenure/leases/conformance/grants.hpp"
#include "tenure/leases/conformance/looks.hpp"
#include "tenure/leases/conformance/renewals.hpp"
#include "tenure/leases/conformance/tasks.hpp"
#include "tenure/leases/conformance/waiting.hpp"

/// What every provider of leases has to do, as a GoogleTest suite: include this in one source file
/// of a test program and instantiate it.
///
///   INSTANTIATE_TEST_SUITE_P(MyStore, LeaseConformance, testing::Values(Subject{
///       .name = "mine",
///       .open = [] { return OpenMyProvider(url); },
///       .advance = [](Milliseconds time) { std::this_thread::sleep_for(time); }}));
///
/// It asserts what follows what and what is refused, never how fast. What `Guarantees` says that a
/// provider lacks is skipped. Names are new in each run, so a store may be used for many runs.
namespace tenure::leases::conformance {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeaseConformance);

}  // namespace tenure::leases::conformance
