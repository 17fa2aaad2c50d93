// Leases while everything around them breaks: holders that are stopped for longer than their ttl or
// killed, PostgreSQL that restarts or cuts connections, servers that stand still. Afterwards: no
// two processes ever believed at the same instant that they held the lease (L3), fences rose with
// every holder (L2), and the fenced writes lie in the order of their fences.

#include <algorithm>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "standby.hpp"
#include "support/azure_stores.hpp"
#include "support/long_run.hpp"
#include "support/postgres_cluster.hpp"
#include "support/redis_server.hpp"
#include "support/server_process.hpp"

namespace tenure::chaos {
namespace {

using support::PostgresCluster;
using support::Process;
using support::ServerProcess;

/// Longer than anything that may rightly come together: a lane's pause between two tries to connect (2 s),
/// a client's between two requests (1 s), a ticket of one that was killed (3 s), a term (400 writes, 10 s on a
/// machine with 20 other things to do). And shorter than a freeze (60 s): a lease that is frozen for nothing
/// is a failure. It was, until 2026-11: a busy PostgreSQL was taken for a restored one.
constexpr std::chrono::seconds kHeldAgain{45};

/// For how long a process believed that it held the lease.
struct Held {
  std::int64_t fence = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::string who{};  ///< number of the process, and its term
};

/// A few holders of one lease, and what becomes of them.
class Holders {
 public:
  Holders(std::vector<std::string> provider_urls, std::string database_url, std::size_t count = 4)
      : urls_(std::move(provider_urls)), database_url_(std::move(database_url)) {
    for (std::size_t i = 0; i < count; ++i) {
      outputs_[i] = "";
      Start(i);
    }
  }

  /// Stops one for longer than its ttl and lets it go on.
  void Pause(std::size_t i) {
    processes_[i]->Kill(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(1'000));
    processes_[i]->Kill(SIGCONT);
  }
  void KillAndRestart(std::size_t i) {
    processes_[i]->Kill(SIGKILL);
    processes_[i]->Wait();
    outputs_[i] += processes_[i]->Output();
    Start(i);
  }
  std::size_t size() const { return processes_.size(); }

  /// Waits until some process has held the lease `count` more times.
  void AwaitHolds(std::size_t count) {
    const std::size_t wanted = Periods().size() + count;
    try {
      api::Eventually(
          "the lease is held again", [&] { return Periods().size() >= wanted; }, kHeldAgain);
    } catch (const std::exception&) {
      for (const auto& [i, process] : processes_)
        std::cout << "holder " << i << ":\n" << outputs_.at(i) << process->Output();
      throw;
    }
  }

  std::vector<Held> Periods() const {
    static const std::regex kLine("held (\\d+) (\\d+) (\\d+) (\\S+)\n");
    std::vector<Held> periods;
    for (const auto& [i, process] : processes_) {
      const std::string all = outputs_.at(i) + process->Output();
      for (std::sregex_iterator at(all.begin(), all.end(), kLine), end; at != end; ++at)
        periods.push_back({std::stoll((*at)[1]), std::stoll((*at)[2]), std::stoll((*at)[3]),
                           fmt::format("{} ({})", i, (*at)[4].str())});
    }
    std::sort(periods.begin(), periods.end(), [](const Held& a, const Held& b) {
      return std::pair(a.fence, a.from_ms) < std::pair(b.fence, b.from_ms);
    });
    return periods;
  }

  /// What contradicts L2 or L3; empty when nothing does.
  std::string Contradictions() const {
    std::string found;
    const auto periods = Periods();
    for (std::size_t i = 1; i < periods.size(); ++i) {
      const Held& before = periods[i - 1];
      const Held& after = periods[i];
      if (after.fence == before.fence)
        found += fmt::format("fence {} was held by {} from {} to {}, and by {} from {} to {}\n",
                             after.fence, before.who, before.from_ms, before.until_ms, after.who,
                             after.from_ms, after.until_ms);
      if (after.from_ms < before.until_ms)
        found += fmt::format("fence {} was held until {} and fence {} from {}\n", before.fence,
                             before.until_ms, after.fence, after.from_ms);
    }
    return found;
  }

 private:
  void Start(std::size_t i) {
    std::vector<std::string> argv{LeaseHolderBinary(), urls_[i % urls_.size()], "chaos"};
    if (!database_url_.empty()) argv.push_back(database_url_);
    processes_[i] = std::make_unique<Process>(support::ProcessOptions{.argv = std::move(argv)});
  }
  static std::string LeaseHolderBinary() { return std::getenv("LEASE_HOLDER_BINARY"); }

  const std::vector<std::string> urls_;
  const std::string database_url_;
  std::map<std::size_t, std::unique_ptr<Process>> processes_;
  std::map<std::size_t, std::string> outputs_;  // of those that were killed
};

/// Holders and something else to break, in an order that the seed decides.
void Torment(Holders& holders, const std::vector<std::function<void()>>& others, int blows = 8) {
  std::mt19937_64 random(ChooseSeed());
  holders.AwaitHolds(2);
  for (int blow = 0; blow < blows; ++blow) {
    const std::size_t choice = random() % (2 + others.size());
    const std::size_t victim = random() % holders.size();
    if (choice == 0)
      holders.Pause(victim);
    else if (choice == 1)
      holders.KillAndRestart(victim);
    else
      others[choice - 2]();
    holders.AwaitHolds(1);
  }
}

class LeaseChaos : public testing::Test {
 protected:
  void MakeTable() {
    postgres_.Execute(database_,
                      "create table writes (id bigserial primary key, fence bigint, term text)");
  }
  /// Writes in another order than their fences, or of one fence by two holders.
  std::string StrayWrites() {
    return postgres_.Execute(database_,
                             "select count(*) from (select fence < max(fence) over (order by id) "
                             "as stray from writes) w "
                             "where stray") +
           postgres_.Execute(database_,
                             "select '/' || count(*) from (select fence from writes group "
                             "by fence having count(distinct term) > 1) twice");
  }
  std::string Url() const { return postgres_.Url(database_); }

  PostgresCluster postgres_;
  const std::string database_ = postgres_.CreateDatabase();
};

TEST_F(LeaseChaos, L3_OnPostgresThatRestartsAndCutsConnections) {
  MakeTable();
  Holders holders({Url()}, Url());
  Torment(holders, {[&] { postgres_.Restart(PostgresCluster::StopMode::kImmediate); },
                    [&] { postgres_.Restart(PostgresCluster::StopMode::kFast); },
                    [&] { postgres_.KillAllBackends(); }});
  EXPECT_EQ(holders.Contradictions(), "");
  EXPECT_EQ(postgres_.Execute(database_, "select incarnation from tenure.store"), "1")
      << "a server that crashed has forgotten nothing";
  EXPECT_EQ(StrayWrites(), "0/0");
}

TEST_F(LeaseChaos, L3_OverServersThatAreKilledAndPaused) {
  MakeTable();
  Servers servers(2, [&] { return support::ServerOptions{.store_url = Url()}; });
  Holders holders({servers[0].Url(), servers[1].Url()}, Url());
  Torment(holders, {[&] { servers.Kill(1); },
                    [&] {
                      servers[0].Pause();
                      holders.AwaitHolds(1);
                      servers[0].Resume();
                    }});
  EXPECT_EQ(holders.Contradictions(), "");
  EXPECT_EQ(StrayWrites(), "0/0");
}

TEST(LeaseChaosOnAFile, L3_WithHoldersThatAreKilledAndPaused) {
  const support::TempDir dir;
  Holders holders({"sqlite://" + (dir.path() / "leases.db").string()}, "");
  Torment(holders, {});
  EXPECT_EQ(holders.Contradictions(), "");
}

TEST(LeaseChaosOnRedis, L3_OnOneThatKeepsEveryWriteAndIsKilledStoppedAndCutOff) {
  support::RedisServer redis({.durable = true, .tls = true});
  Holders holders({redis.TlsUrl()}, "", 8);
  Torment(holders, {[&] {
                      redis.Kill();
                      redis.Start();
                    },
                    [&] {
                      redis.Signal(SIGSTOP);
                      std::this_thread::sleep_for(std::chrono::milliseconds(900));
                      redis.Signal(SIGCONT);
                    },
                    [&] {
                      redis.Command({"client", "kill", "type", "normal"});
                    },
                    [&] {
                      redis.Command({"client", "kill", "type", "pubsub"});
                    },
                    [&] {
                      redis.Command({"script", "flush"});
                    }});
  EXPECT_EQ(holders.Contradictions(), "");
}

TEST(LeaseChaosOnRedis, L3_OnOneThatForgetsEverythingEachTimeItIsKilled) {
  support::RedisServer redis({.durable = false});
  Holders holders({redis.Url("max_ttl=1s")}, "", 8);
  const auto kill = [&] {
    redis.Kill();
    redis.Start();
  };
  Torment(holders, {kill, kill, kill});
  EXPECT_EQ(holders.Contradictions(), "");
}

/// A network and a service in trouble: some replies are lost, some requests wait for longer than a ttl,
/// are put off, or fail.
support::StoreGateway::Interference InTrouble() {
  struct Draw {
    std::mutex mutex;
    std::mt19937_64 random{ChooseSeed()};
  };
  return [draw = std::make_shared<Draw>()](const support::ReceivedRequest&,
                                           const support::StoreGateway::Forward& forward) {
    std::uint64_t chance = 0;
    {
      const std::lock_guard lock(draw->mutex);
      chance = draw->random() % 100;
    }
    if (chance < 3) return support::TlsReceiver::Http(503, "x-ms-error-code: ServerBusy\r\n");
    if (chance < 5) return support::TlsReceiver::Http(429, "x-ms-retry-after-ms: 50\r\n");
    if (chance < 8) std::this_thread::sleep_for(std::chrono::milliseconds(100 * (chance * 3)));
    const std::string answer = support::StoreGateway::Bytes(forward());
    return chance >= 8 && chance < 14 ? std::string(support::TlsReceiver::kReset) : answer;
  };
}

/// How often something breaks: a takeover takes seconds there.
int BlowsInAzure() { return support::IsLongRun() ? 60 : 2; }
constexpr const char* kAzureParameters = "create=1&clock_skew=0s&min_ttl=100ms&poll=100ms";

TEST(LeaseChaosInAzure, L3_OnBlobsOverANetworkInTrouble) {
  if (!support::HasAzureStoresAndTime()) GTEST_SKIP() << "only in ./test --long";
  support::Azurite blobs;
  support::StoreGateway gateway(blobs.port(), blobs.tls().authority().pem(),
                                blobs.tls().authority(), nullptr);
  gateway.Interfere(InTrouble());
  ::setenv("TENURE_AZURE_CONNECTION_STRING", blobs.ConnectionString().c_str(), 1);
  Holders holders(
      {fmt::format("azblob://{0}/chaos?endpoint=https://127.0.0.1:{1}/{0}&ca_file={2}&{3}",
                   support::Azurite::kAccount, gateway.port(), blobs.tls().ca_file().string(),
                   kAzureParameters)},
      "", 8);
  Torment(holders, {}, BlowsInAzure());
  EXPECT_EQ(holders.Contradictions(), "");
  ::unsetenv("TENURE_AZURE_CONNECTION_STRING");
}

TEST(LeaseChaosInAzure, L3_OnDocumentsOverANetworkInTrouble) {
  if (!support::HasAzureStoresAndTime()) GTEST_SKIP() << "only in ./test --long";
  support::CosmosServer documents;
  documents.gateway().Interfere(InTrouble());
  ::setenv("TENURE_AZURE_CONNECTION_STRING", documents.ConnectionString().c_str(), 1);
  Holders holders({documents.Url("chaos", kAzureParameters)}, "", 8);
  Torment(holders, {}, BlowsInAzure());
  EXPECT_EQ(holders.Contradictions(), "");
  EXPECT_TRUE(documents.gateway().refused().empty()) << "all were signed right";
  ::unsetenv("TENURE_AZURE_CONNECTION_STRING");
}

TEST(LeaseFailover, AfterAPromotionWhatIsHeldIsRenewedAndNothingIsGrantedForAWhile) {
  PostgresCluster primary;
  const std::string database = primary.CreateDatabase();
  SynchronousStandby standby(primary);
  const std::string url = fmt::format("postgresql://postgres@127.0.0.1:{},127.0.0.1:{}/{}",
                                      primary.port(), standby.port(), database);
  const ServerProcess server({.store_url = url});
  const api::Api api(server);
  api::Lease kept(api);
  ASSERT_EQ(kept.Acquire({.ttl_ms = 120'000}).status, 200);
  primary.Stop(PostgresCluster::StopMode::kImmediate);
  standby.Promote();
  api::Eventually("the server serves again", [&] { return kept.Renew().status == 200; });
  const auto frozen = api::Lease(api).Acquire();
  EXPECT_EQ(frozen.status, 409);
  EXPECT_EQ(frozen.Json()["reason"].Text(), "frozen");
  EXPECT_GT(frozen.Json()["retry_after_ms"].Int(), 0);
}

TEST(LeaseFailover, APromotedStandbyThatHasAllThatWasAnsweredFreezesNothingThoughItsLogIsShorter) {
  PostgresCluster primary;
  const std::string database = primary.CreateDatabase();
  SynchronousStandby standby(primary);
  const std::string url = fmt::format("postgresql://postgres@127.0.0.1:{},127.0.0.1:{}/{}",
                                      primary.port(), standby.port(), database);
  Servers servers(2, [&] {
    return support::ServerOptions{.store_url = url,
                                  .flags = {"--set", "store.failover=synchronous"}};
  });
  const api::Api api(servers[0]);
  api::Lease before(api);
  ASSERT_EQ(before.Acquire().status, 200);
  before.Release();

  // The standby receives nothing more. What the primary's own log gets now nobody is told of, but
  // both servers see how long that log is, with the clock that a look reads.
  const pid_t receiver = std::stoi(
      api::SqlSession(standby.Url("postgres")).Execute("select pid from pg_stat_wal_receiver"));
  kill(receiver, SIGSTOP);
  api::SqlSession local(primary.Url("postgres"));
  local.Execute("set synchronous_commit = local");
  local.Execute("create table filler as select md5(i::text) from generate_series(1, 400000) i");
  for (std::size_t i = 0; i < 2; ++i) before.SeenBy(api::Api(servers[i])).Look();
  primary.Stop(PostgresCluster::StopMode::kImmediate);
  kill(receiver, SIGCONT);
  standby.Promote();

  api::Lease after(api);
  api::Eventually("the server serves again", [&] { return after.Acquire().status != 503; });
  EXPECT_GT(after.fence(), 0) << "granted at once";
  api::Eventually("all lanes are up", [&] {
    for (std::size_t i = 0; i < 2; ++i)
      if (api::Api(servers[i]).Get("/readyz").status != 200) return false;
    return true;
  });
  EXPECT_EQ(api::SqlSession(standby.Url(database)).Execute("select incarnation from tenure.store"),
            "2")
      << "raised once";
}

}  // namespace
}  // namespace tenure::chaos
