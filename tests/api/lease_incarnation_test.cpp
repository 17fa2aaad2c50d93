// Leases after commits may have been forgotten (spec 05, Incarnation): fences jump, what is held is
// renewed, nothing is granted for a while.
#include <filesystem>

#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSecondIncarnation = std::int64_t{2} << 40;

class LeaseIncarnation : public testing::TestWithParam<Engine> {
 protected:
  static std::string ReasonOf(const support::HttpResponse& response) {
    return response.status == 409 ? response.Json()["reason"].Text() : "";
  }
  /// As if the freeze had passed. REQUIRES: no server runs on SQLite.
  void EndFreeze() const {
    store_.Execute(GetParam() == Engine::kSqlite ? "update store set incarnation_ms = 1"
                                                 : "update tenure.store set incarnation_ms = 1");
  }
  void RaiseByHand() const {
    auto command = store_.Flags();
    command.insert(command.begin(), {"admin", "new-incarnation"});
    const auto result = RunTenure(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  StoreUnderTest store_{GetParam()};
};

TEST_P(LeaseIncarnation, WhatIsHeldIsRenewedAndNothingIsGrantedForAWhile) {
  auto server = store_.Serve();
  Lease held{Api(*server)};
  Lease free{Api(*server)};
  held.Acquire();
  free.Acquire();
  free.Release();
  server->Terminate();
  RaiseByHand();

  server = store_.Serve();
  const Api api(*server);
  const auto renewed = held.SeenBy(api).Post("renew", held.FenceAndTerm());
  EXPECT_EQ(renewed.status, 200) << renewed.body;
  EXPECT_EQ(renewed.Json()["fence"].Int(), held.fence()) << "a renewal never changes the fence";
  const auto frozen = free.SeenBy(api).Acquire();
  EXPECT_EQ(ReasonOf(frozen), "frozen");
  EXPECT_GT(frozen.Json()["retry_after_ms"].Int(), 0);
  EXPECT_EQ(ReasonOf(Lease(api).Acquire()), "frozen") << "also a name that was never used";
  EXPECT_EQ(ReasonOf(held.SeenBy(api).Acquire()), "held");
}

TEST_P(LeaseIncarnation, L2_NewFencesStartFarAboveAllThatMayHaveBeenForgotten) {
  auto server = store_.Serve();
  Lease old{Api(*server)};
  old.Acquire();
  EXPECT_LT(old.fence(), kSecondIncarnation);
  old.Release();
  server->Terminate();
  RaiseByHand();
  EndFreeze();

  server = store_.Serve();
  for (Lease lease : {old.SeenBy(Api(*server)), Lease(Api(*server))}) {
    EXPECT_EQ(lease.Acquire().status, 200);
    EXPECT_GT(lease.fence(), kSecondIncarnation);
    EXPECT_LT(lease.fence(), kSecondIncarnation + 1'000);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, LeaseIncarnation,
                         testing::Values(Engine::kSqlite, Engine::kPostgres), EngineName);

TEST(LeaseRestore, AnOlderCopyPutBackForgetsAGrantAndDoesNotRepeatItsFence) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto copy = [](const fs::path& from, const fs::path& to) {
    for (const char* name : {"tenure.db", "tenure.db-wal", "tenure.db-shm"}) {
      fs::remove(to / name);
      if (fs::exists(from / name)) fs::copy_file(from / name, to / name);
    }
  };
  auto server = store.Serve();
  Lease lease{Api(*server)};
  lease.Acquire();
  lease.Release();
  server->Terminate();
  const support::TempDir backup;
  copy(store.data_dir(), backup.path());

  server = store.Serve();
  Lease forgotten = lease.SeenBy(Api(*server));
  EXPECT_EQ(forgotten.Acquire().status, 200);
  EXPECT_GT(forgotten.fence(), lease.fence());
  server->Terminate();
  copy(backup.path(), store.data_dir());

  server = store.Serve();
  Lease after = lease.SeenBy(Api(*server));
  const auto frozen = after.Acquire();
  EXPECT_EQ(frozen.status, 409) << "the holder that the copy does not know has time to find out";
  EXPECT_EQ(frozen.Json()["reason"].Text(), "frozen");
  EXPECT_EQ(after.Post("renew", forgotten.FenceAndTerm()).Json()["reason"].Text(), "unknown");
  server->Terminate();
  store.Execute("update store set incarnation_ms = 1");
  server = store.Serve();
  after = lease.SeenBy(Api(*server));
  EXPECT_EQ(after.Acquire().status, 200);
  EXPECT_GT(after.fence(), forgotten.fence());
}

}  // namespace
}  // namespace tenure::api
