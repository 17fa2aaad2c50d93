// What the providers on a store have beyond the conformance suite.

#include <gtest/gtest.h>

#include "support/temp_dir.hpp"
#include "tenure/leases/fence.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {
namespace {

using namespace std::chrono_literals;

class SqliteLeases : public ::testing::Test {
 protected:
  std::string Url() const { return "sqlite://" + (dir_.path() / "leases.db").string(); }
  support::TempDir dir_;
};

TEST_F(SqliteLeases, WhileAFenceIsHeldNobodyTakesTheLeaseOver) {
  const auto manager = Open(Url());
  auto lease = manager->Acquire("job", 1s, {.ttl = 60s});
  const auto other = OpenProvider(Url())->Connect();
  other->Release({.name = "job", .term = NewTerm()}, 10s);  // it has its connection now
  FenceFile fences(Url());
  bool worked = false;
  fences.While("job", lease.fence(), [&] {
    worked = true;
    EXPECT_THROW(other->Break({.name = "job", .reason = "now", .force = true}, 100ms),
                 ProviderUnavailable);
  });
  EXPECT_TRUE(worked);
  const std::int64_t fence = lease.fence();
  lease.Close();
  EXPECT_THROW(fences.While("job", fence, [] { FAIL(); }), LostError);
}

TEST_F(SqliteLeases, AFenceOfAPredecessorIsStale) {
  const auto manager = Open(Url());
  auto first = manager->Acquire("job", 1s, {.ttl = 60s});
  const std::int64_t stale = first.fence();
  first.Close();
  const auto second = manager->Acquire("job", 10s, {.ttl = 60s});
  EXPECT_GT(second.fence(), stale);
  FenceFile fences(Url());
  EXPECT_THROW(fences.While("job", stale, [] { FAIL(); }), LostError);
  fences.While("job", second.fence(), [] {});
}

TEST(OpenProvider, SaysWhatItTakes) {
  EXPECT_THROW(OpenProvider("mysql://localhost"), std::invalid_argument);
  EXPECT_THROW(OpenProvider("http://token@tenure.example"), std::invalid_argument)
      << "in clear text";
  EXPECT_NO_THROW(OpenProvider("http://token@tenure.example", {.insecure = true}));
  for (const char* safe :
       {"https://token@tenure.example", "http://tenure.example", "http://token@127.0.0.1:8080",
        "http://token@[::1]:8080", "http://token@localhost"})
    EXPECT_NO_THROW(OpenProvider(safe)) << safe;
  EXPECT_THROW(OpenProvider("postgres://127.0.0.1:1/nobody"), ProviderUnavailable);
}

TEST_F(SqliteLeases, ValuesOutOfBoundsNameTheirField) {
  const auto connection = OpenProvider(Url())->Connect();
  AcquireRequest request{.name = "job", .term = NewTerm(), .holder = "me"};
  request.metadata = "[1]";
  EXPECT_THROW(connection->Acquire(request, 1s), std::invalid_argument);
  request.metadata = R"({"a": 1})";
  request.ttl = 50ms;
  EXPECT_THROW(connection->Acquire(request, 1s), std::invalid_argument);
}

}  // namespace
}  // namespace tenure::leases
