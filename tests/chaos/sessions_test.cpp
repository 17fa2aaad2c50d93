// Sessions while everything around them breaks, under load: servers that are killed at any time or
// stand still in the middle of their work, a database that goes away and comes back, a primary
// whose synchronous standby takes over, somebody who holds a key's lock and does not let go.
// Nothing that was answered is lost, and S1 holds in the whole table.
#include <iostream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "standby.hpp"
#include "support/long_run.hpp"
#include "support/port.hpp"

namespace tenure::chaos {
namespace {

using api::Api;
using api::Contradictions;
using api::Engine;
using api::Eventually;
using api::Key;
using api::StoreUnderTest;
using support::HttpResponse;
using support::PostgresCluster;
using support::ServerProcess;
using testing::IsEmpty;

class KillUnderLoad : public testing::TestWithParam<Engine> {
 protected:
  StoreUnderTest store_{GetParam()};
};

TEST_P(KillUnderLoad, NothingThatWasAnsweredIsLost) {
  const std::uint64_t seed = ChooseSeed();
  std::mt19937_64 random(seed);
  // The embedded store has one process; of an ensemble one dies while the other goes on.
  const std::size_t count = GetParam() == Engine::kSqlite ? 1 : 2;
  Servers servers(count, [&] { return store_.Options(); });

  Witness witness;
  LoadOptions options{.ports = servers.Ports(), .seed = seed, .servers_may_die = true};
  Load load(options, witness);
  for (int round = 0; round < 5; ++round) {
    load.WaitForAnswers(static_cast<int>(50 + random() % 400));
    servers.Kill(random() % count);
    load.ServersAreBack();
  }
  load.WaitForAnswers(100);
  load.Stop();
  ExpectTruth(witness, servers[0].Port(), [&] { return store_.Rows(); });
  EXPECT_GT(witness.Sessions(), 100U);
  const auto health = api::Api(servers[0]).Get("/health").Json();
  EXPECT_EQ(health["store"]["incarnation"].Int(), 1) << "a crash is no restore";
}

INSTANTIATE_TEST_SUITE_P(Engines, KillUnderLoad, api::EachEngine(), api::EngineName);

class PausedServer : public testing::Test {
 protected:
  PausedServer() {
    for (const char* name : {"first", "second", "third"}) {
      auto options = store_.Options();
      options.store_url += std::string("?application_name=") + name;
      servers_.push_back(std::make_unique<ServerProcess>(options));
    }
  }

  /// How many connections of a server are in that state.
  int Connections(const std::string& name, const std::string& state) {
    return std::stoi(
        store_.Execute("select count(*) from pg_stat_activity where application_name = '" + name +
                       "' and state = '" + state + "'"));
  }
  /// How many connections wait for a lock that this server holds.
  int WaitingFor(const std::string& name) {
    return std::stoi(
        store_.Execute("select count(*) from pg_stat_activity waiting join pg_stat_activity holder"
                       " on holder.pid = any (pg_blocking_pids(waiting.pid))"
                       " where holder.application_name = '" +
                       name + "'"));
  }

  /// Stops a server at a moment when it has locked keys that others want.
  void PauseWhileOthersWaitForIt(ServerProcess& server, const std::string& name, Load& load) {
    for (int attempt = 0; attempt < 300; ++attempt) {
      load.WaitForAnswers(7);
      server.Pause();
      Eventually("PostgreSQL has done what it was sent",
                 [&] { return Connections(name, "active") == 0; });
      const bool holds_locks = Connections(name, "idle in transaction") > 0;
      // The others go on and may come to the same keys; a few looks are enough to see them wait.
      for (int look = 0; holds_locks && look < 20; ++look)
        if (WaitingFor(name) > 0) return;
      server.Resume();
    }
    FAIL() << "nobody ever waited for it";
  }

  StoreUnderTest store_{Engine::kPostgres};
  std::vector<std::unique_ptr<ServerProcess>> servers_;
};

TEST_F(PausedServer, TheHistoriesAgreeWhenItGoesOn) {
  LoadOptions options{.clients = 9, .seed = ChooseSeed(), .patience = std::chrono::seconds(30)};
  for (const auto& server : servers_) options.ports.push_back(server->Port());
  Witness witness;
  Load load(options, witness);
  for (const std::size_t victim : {0U, 2U}) {
    PauseWhileOthersWaitForIt(*servers_[victim], victim == 0 ? "first" : "third", load);
    // The pause is the fault itself: longer than the 2 s that others wait for its locks.
    const std::int64_t until = api::WallMs() + 3'000;
    Eventually("it has stood still for 3 s", [&] { return api::WallMs() >= until; });
    servers_[victim]->Resume();
    load.WaitForAnswers(100);
  }
  load.Stop();
  ExpectTruth(witness, servers_.front()->Port(), [&] { return store_.Rows(); });
  for (const auto& server : servers_) EXPECT_EQ(api::Api(*server).Get("/readyz").status, 200);
}

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
  void ExpectAllIsWell() {
    for (const auto& server : servers_) EXPECT_TRUE(server->IsRunning());
    ExpectTruth(witness_, servers_.front()->Port(), [&] { return store_.Rows(); });
    EXPECT_GT(witness_.Sessions(), 100U);
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
  ExpectAllIsWell();
}

TEST_F(PostgresBreaks, CutConnectionsAreMadeAgainAtOnce) {
  Load load(ToAll(), witness_);
  for (int round = 0; round < (support::IsLongRun() ? 30 : 10); ++round) {
    load.WaitForAnswers(40);
    EXPECT_GT(cluster_.KillAllBackends(), 0);
  }
  load.WaitForAnswers(200);
  load.Stop();
  ExpectAllIsWell();
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
/// again, and says so with a 503. Its look at the store may be, too, until it says that it is ready;
/// the connection of the request is another one.
TEST_F(PostgresBreaks, TheFirstRequestAfterADatabaseRestartIsServed) {
  const auto idle = store_.Serve({"--workers", "off"});
  Api(*idle).Put(api::NewKey(), 1);
  cluster_.Restart(PostgresCluster::StopMode::kFast);
  Eventually("it is ready", [&] { return Api(*idle).Get("/readyz").status == 200; });
  EXPECT_EQ(Api(*idle).Put(api::NewKey(), 1).status, 201) << "its connections died while idle";
  EXPECT_EQ(Api(*idle).Get("/sessions?limit=1").status, 200);
}

class Failover : public testing::Test {
 protected:
  /// Both hosts, as an operator would give them.
  std::string BothUrl() const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(primary_.port()) +
           ",127.0.0.1:" + std::to_string(standby_.port()) + "/" + database_;
  }
  void LoseThePrimary() {
    primary_.Stop(PostgresCluster::StopMode::kImmediate);
    standby_.Promote();
  }
  static std::int64_t IncarnationOf(const ServerProcess& server) {
    return Api(server).Get("/health").Json()["store"]["incarnation"].Int();
  }

  PostgresCluster primary_;
  const std::string database_ = primary_.CreateDatabase();
  SynchronousStandby standby_{primary_};
};

TEST_F(Failover, NothingThatWasAnsweredIsLostAndTheIncarnationRisesOnce) {
  const ServerProcess one({.store_url = BothUrl()});
  const ServerProcess two({.store_url = BothUrl()});
  EXPECT_EQ(IncarnationOf(one), 1);
  Witness witness;
  Load load({.ports = {one.Port(), two.Port()}, .seed = ChooseSeed()}, witness);
  load.WaitForAnswers(500);
  LoseThePrimary();
  load.WaitForAnswers(500);
  load.Stop();
  api::SqlSession database(standby_.Url(database_));
  ExpectTruth(witness, one.Port(), [&] { return api::RowsOf(database); });
  EXPECT_EQ(database.Execute("select incarnation from tenure.store"), "2");
  const ServerProcess later({.store_url = standby_.Url(database_)});
  EXPECT_EQ(IncarnationOf(later), 2);
}

TEST_F(Failover, AServerThatLivedThroughItShowsTheNewIncarnation) {
  const ServerProcess server({.store_url = BothUrl()});
  EXPECT_EQ(IncarnationOf(server), 1);
  EXPECT_EQ(Api(server).Get("/readyz").body, R"({"status":"ok"})") << "there is a standby";
  LoseThePrimary();
  Eventually("the server serves again",
             [&] { return Api(server).Put(api::NewKey(), 1).status == 201; });
  EXPECT_EQ(IncarnationOf(server), 2);
}

class HeldKey : public testing::Test {
 protected:
  HeldKey() {
    holder_.Execute("begin");
    holder_.Execute("insert into tenure.session_keys values ('" + key_.user + "', '" +
                    key_.capacity + "')");
  }

  const api::StoreUnderTest store_{Engine::kPostgres};
  const std::unique_ptr<support::ServerProcess> server_ = store_.Serve();
  const Key key_ = api::NewKey();
  api::SqlSession holder_{store_.url()};
};

TEST_F(HeldKey, IsAnswered503ContendedAndWorksOnceItIsLetGo) {
  const Api api(*server_);
  const HttpResponse contended = api.Put(key_, 1);
  EXPECT_EQ(contended.status, 503);
  EXPECT_EQ(api::ProblemType(contended), "contended");
  EXPECT_EQ(api.Put(api::NewKey(), 1).status, 201) << "other keys are free";
  holder_.Execute("rollback");
  EXPECT_EQ(api.Put(key_, 1).status, 201);
}

TEST_F(HeldKey, ManyWhoAskForItAreAllAnsweredBeforeTheirPatienceEnds) {
  // Ten seconds each, the patience of an ordinary client; the lock's time-out is two.
  std::vector<std::jthread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&] {
      try {
        const HttpResponse answer = Api(*server_).Put(key_, 1);
        EXPECT_EQ(answer.status, 503);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  clients.clear();
}

TEST_F(HeldKey, DoesNotHoldUpOtherKeysForLong) {
  // No request may give up its turn: whoever does not get in is held up.
  const auto server = store_.Serve({"--set", "lanes.max_wait=1m"});
  std::vector<std::jthread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&, i] {
      try {
        const HttpResponse answer = Api(*server).Put(i % 4 == 0 ? key_ : api::NewKey(), 1);
        EXPECT_EQ(answer.status, i % 4 == 0 ? 503 : 201) << answer.body;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  clients.clear();
}

}  // namespace
}  // namespace tenure::chaos
