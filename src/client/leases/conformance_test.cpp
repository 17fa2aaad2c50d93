// The conformance suite on the store in memory: shows that the suite itself is sound.

#include "tenure/leases/conformance.hpp"

#include "client/leases/test/memory_store.hpp"
#include "tenure/testing/virtual_clock.hpp"

namespace tenure::leases::conformance {
namespace {

Subject MemorySubject() {
  static testing::VirtualClock clock;
  static const auto store = std::make_shared<client::test::MemoryStore>(clock);
  return {.name = "memory",
          .open = [] { return store->Open(); },
          .advance = [](Milliseconds time) { clock.Advance(time.count()); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Memory, LeaseConformance, ::testing::Values(MemorySubject()));

}  // namespace tenure::leases::conformance
