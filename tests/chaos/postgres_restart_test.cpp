// The database goes away and comes back while two servers are busy.
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/store_under_test.hpp"
#include "load.hpp"

namespace tenure::chaos {
namespace {

using api::Api;
using api::Contradictions;
using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using support::PostgresCluster;
using testing::IsEmpty;

class PostgresBreaks : public testing::Test {
 protected:
  PostgresBreaks() {
    for (int i = 0; i < 2; ++i) servers_.push_back(store_.Serve());
  }
  LoadOptions ToAll() {
    LoadOptions options{.seed = ChooseSeed()};
    for (const auto& server : servers_) options.ports.push_back(server->Port());
    return options;
  }
  bool AllAnswer(const std::string& probe, int status) {
    for (const auto& server : servers_)
      if (Api(*server).Get(probe).status != status) return false;
    return true;
  }
  /// The load has been stopped: what it was told must be so, and the servers are still the same.
  void ExpectTruth(Witness& witness) {
    std::cout << witness.Summary() << std::endl;
    for (const auto& server : servers_) EXPECT_TRUE(server->IsRunning());
    RepeatUnknown(witness, servers_.front()->Port());
    const auto rows = store_.Rows();
    EXPECT_THAT(witness.Lies(rows), IsEmpty());
    EXPECT_THAT(Contradictions(rows), IsEmpty());
    EXPECT_GT(witness.Sessions(), 100U);
  }

  PostgresCluster cluster_;
  StoreUnderTest store_{Engine::kPostgres, &cluster_};
  std::vector<std::unique_ptr<support::ServerProcess>> servers_;
  Witness witness_;
};

TEST_F(PostgresBreaks, ARestartUnderLoadIsSurvivedWithoutHelp) {
  Load load(ToAll(), witness_);
  using enum PostgresCluster::StopMode;
  for (const auto mode : {kFast, kImmediate, kImmediate, kFast}) {
    load.WaitForAnswers(200);
    cluster_.Stop(mode);
    Eventually("no server says that it is ready", [&] { return AllAnswer("/readyz", 503); });
    EXPECT_TRUE(AllAnswer("/livez", 200));
    EXPECT_TRUE(AllAnswer("/health", 503));
    cluster_.Start();
    Eventually("all servers are ready again", [&] { return AllAnswer("/readyz", 200); });
  }
  load.WaitForAnswers(200);
  load.Stop();
  ExpectTruth(witness_);
}

TEST_F(PostgresBreaks, CutConnectionsAreMadeAgainAtOnce) {
  Load load(ToAll(), witness_);
  for (int round = 0; round < 30; ++round) {
    load.WaitForAnswers(40);
    EXPECT_GT(cluster_.KillAllBackends(), 0);
  }
  load.WaitForAnswers(200);
  load.Stop();
  ExpectTruth(witness_);
  EXPECT_TRUE(AllAnswer("/readyz", 200));
}

TEST_F(PostgresBreaks, AServerWithoutRequestsNoticesTooThatTheDatabaseIsGone) {
  EXPECT_TRUE(AllAnswer("/readyz", 200));
  cluster_.Stop(PostgresCluster::StopMode::kFast);
  Eventually("no server says that it is ready", [&] { return AllAnswer("/readyz", 503); });
  cluster_.Start();
  Eventually("all servers are ready again", [&] { return AllAnswer("/readyz", 200); });
}

/// Of a server that has nothing to do: one with work in the background may be waiting to connect
/// again, and says so with a 503.
TEST_F(PostgresBreaks, TheFirstRequestAfterADatabaseRestartIsServed) {
  const auto idle = store_.Serve({"--workers", "off"});
  Api(*idle).Put(api::NewKey(), 1);
  cluster_.Restart(PostgresCluster::StopMode::kFast);
  EXPECT_EQ(Api(*idle).Put(api::NewKey(), 1).status, 201) << "its connections died while idle";
  EXPECT_EQ(Api(*idle).Get("/sessions?limit=1").status, 200);
}

}  // namespace
}  // namespace tenure::chaos
