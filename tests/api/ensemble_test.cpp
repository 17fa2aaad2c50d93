// Several processes on one PostgreSQL: what they must share.
#include <fstream>
#include <future>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::Json;
using support::ServerProcess;
using support::TempDir;
using testing::HasSubstr;

TEST(Ensemble, WhatOneProcessAnsweredTheOthersKnow) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto one = store.Serve();
  const auto two = store.Serve();
  const Key key = NewKey();
  const std::string id = Api(*one).Put(key, 1).Json()["sessionId"].Text();
  EXPECT_EQ(Api(*two).Put(key, 1).Json()["sessionId"].Text(), id);
  EXPECT_EQ(Api(*two).Delete(id).status, 204);
  EXPECT_FALSE(Api(*one).Session(id)["isActive"].Bool());
  EXPECT_EQ(Api(*one).Get("/health").Json()["store"]["installation"].Text(),
            Api(*two).Get("/health").Json()["store"]["installation"].Text());
}

TEST(Ensemble, AnotherSessionDurationIsRefusedUntilItIsAppliedForAll) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto first = store.Serve();
  const std::vector<std::string> serve{"serve",     "--listen", "127.0.0.1:0",         "--store",
                                       store.url(), "--set",    "sessions.duration=7d"};
  const auto refused = RunTenure(serve);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("sessions.duration: 30d in the store, 7d here"));
  EXPECT_THAT(refused.err, HasSubstr("tenure config apply"));

  const TempDir dir;
  std::ofstream(dir / "new.yaml") << "store: {url: \"" << store.url()
                                  << "\"}\nsessions: {duration: 7d}\n";
  const auto applied = RunTenure({"config", "apply", dir / "new.yaml"});
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  EXPECT_THAT(applied.out, HasSubstr("sessions.duration"));
  const auto again = RunTenure({"config", "apply", dir / "new.yaml"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("Nothing to change"));

  const ServerProcess joined(
      {.store_url = store.url(), .flags = {"--set", "sessions.duration=7d"}});
  const Json session = Api(joined).Put(NewKey(), 1).Json();
  EXPECT_EQ(TimeMs(session["sessionEndUtc"].Text()) - TimeMs(session["sessionStartUtc"].Text()),
            7LL * 24 * 3'600'000);
  const auto old = RunTenure({"serve", "--listen", "127.0.0.1:0", "--store", store.url()});
  EXPECT_EQ(old.exit_code, 1) << "now the old value is the other one";
}

TEST(Ensemble, TheSameHoldsForTheEmbeddedStoreAcrossRestarts) {
  const StoreUnderTest store(Engine::kSqlite);
  EXPECT_EQ(store.Serve()->Terminate(), 0);
  const std::vector<std::string> other{"--set", "sessions.duration=7d"};
  auto serve =
      std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--data", store.data_dir()};
  serve.insert(serve.end(), other.begin(), other.end());
  EXPECT_EQ(RunTenure(serve).exit_code, 1);
}

TEST(Ensemble, TwoProcessesStartedAtOnceOnAnEmptyDatabaseBothComeUp) {
  for (int round = 0; round < 3; ++round) {
    const StoreUnderTest store(Engine::kPostgres);
    auto start = [&] { return store.Serve(); };
    auto one = std::async(std::launch::async, start);
    auto two = std::async(std::launch::async, start);
    auto three = std::async(std::launch::async, start);
    const Key key = NewKey();
    std::set<std::string> ids;
    for (auto* started : {&one, &two, &three})
      ids.insert(Api(*started->get()).Put(key, 1).Json()["sessionId"].Text());
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_EQ(store.Execute("select count(*) from tenure.store"), "1");
  }
}

}  // namespace
}  // namespace tenure::api
