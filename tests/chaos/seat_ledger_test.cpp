// Seats whose heartbeats a Redis keeps, while it and everything around it breaks: it is killed, flushed, comes back with an
// older file, is stopped; servers are stopped past their authority and killed; PostgreSQL restarts. At no instant do more
// machines believe in a seat than there are seats, and seats are had again all the time.

#include <filesystem>

#include "machines.hpp"
#include "support/long_run.hpp"
#include "support/moved_clock.hpp"
#include "support/postgres_cluster.hpp"
#include "support/redis_server.hpp"

namespace tenure::chaos {
namespace {

using support::PostgresCluster;
using support::RedisServer;
using support::ServerProcess;

std::vector<std::string> LedgerFlags(const RedisServer& redis, const std::string& authority) {
  std::vector<std::string> flags;
  for (const std::string& set :
       {std::string("rate_limits=off"), std::string("store.freeze=3s"), std::string("seats.ttl=2s"),
        "seats.redis.url=" + redis.Url(), std::string("seats.redis.horizon=20s"),
        "seats.redis.authority=" + authority, std::string("seats.redis.margin=1s"),
        std::string("seats.redis.clock_tolerance=500ms")})
    flags.insert(flags.end(), {"--set", set});
  return flags;
}

support::Json HealthOf(const ServerProcess& server) {
  return server.Call("GET", "/health").Json()["seat_ledger"];
}
void AwaitUse(const ServerProcess& server) {
  api::Eventually("the Redis is used", [&] { return HealthOf(server)["uses"].Bool(); });
}
/// As often as its heartbeats went this way.
double Went(const ServerProcess& server, const std::string& way) {
  const std::string line =
      fmt::format("seat_ledger_beats_total{{path=\"{}\",outcome=\"renewed\"}} ", way);
  const std::string text = server.Call("GET", "/metrics").body;
  const std::size_t at = text.find(line);
  return at == std::string::npos ? 0 : std::stod(text.substr(at + line.size()));
}

TEST(SeatLedgerChaos, K1_OverARedisThatDiesForgetsComesBackOldAndStandsStill) {
  PostgresCluster postgres;
  const std::string database = postgres.CreateDatabase();
  RedisServer redis({.durable = true});
  Servers servers(2, [&] {
    return support::ServerOptions{.store_url = postgres.Url(database),
                                  .flags = LedgerFlags(redis, "1s")};
  });
  AwaitUse(servers[0]);
  Machines machines(servers[0], {servers[0].Url(), servers[1].Url()});
  const auto old = redis.data() / "appendonlydir";
  const auto copy = redis.data() / "older";
  std::vector<std::function<void()>> blows{
      [&] {
        redis.Kill();
        machines.AwaitHolds(2);
        redis.Start();
      },
      [&] { redis.Command({"flushall"}); },
      [&] {
        std::filesystem::remove_all(copy);
        std::filesystem::copy(old, copy, std::filesystem::copy_options::recursive);
        machines.AwaitHolds(2);
        redis.Kill();
        std::filesystem::remove_all(old);
        std::filesystem::rename(copy, old);
        redis.Start();
      },
      [&] {
        redis.Signal(SIGSTOP);
        machines.AwaitHolds(2);
        redis.Signal(SIGCONT);
      },
      [&] {  // past its authority; the other one may have raised the epoch meanwhile
        servers[1].Pause();
        redis.Kill();
        redis.Start();
        machines.AwaitHolds(1);
        servers[1].Resume();
      },
      [&] { servers.Kill(1); },
      [&] { postgres.Restart(PostgresCluster::StopMode::kImmediate); }};
  if (!support::IsLongRun()) {
    std::mt19937_64 random(ChooseSeed());
    std::ranges::shuffle(blows, random);
    blows.resize(3);
  }
  TormentSeats(machines, blows);
  ExpectProven(machines, servers[0].Url());
  AwaitUse(servers[0]);
  double by_redis = 0;
  for (std::size_t i = 0; i < servers.size(); ++i)
    by_redis += Went(servers[i], "redis") + Went(servers[i], "adopted");
  EXPECT_GT(by_redis, 0);
}

/// A seat, and a heartbeat of it.
class OneSeat {
 public:
  explicit OneSeat(const ServerProcess& server, int ttl_s) : server_(server) {
    const auto made = server
                          .Call("POST", "/api/v1/licenses",
                                fmt::format(R"({{"seats":1,"ttl_seconds":{}}})", ttl_s))
                          .Json();
    key_ = made["license_key"].Text();
    license_ = made["id"].Text();
    session_ = Acquire("m1").Json()["session_id"].Text();
  }
  support::HttpResponse Acquire(const std::string& machine) const {
    return server_.Call("POST", "/api/v1/licenses/acquire",
                        fmt::format(R"({{"license_key":"{}","machine_id":"{}"}})", key_, machine),
                        {{"Content-Type", "application/json"}});
  }
  support::HttpResponse Beat() const {
    return server_.Call("PATCH", "/api/v1/licenses/sessions/" + session_ + "/heartbeat");
  }
  void AwaitKept() const {
    const double before = Went(server_, "redis");
    api::Eventually("the Redis keeps it", [&] {
      EXPECT_EQ(Beat().status, 200);
      return Went(server_, "redis") > before;
    });
  }
  const std::string& session() const { return session_; }
  const std::string& license() const { return license_; }

 private:
  const ServerProcess& server_;
  std::string license_;
  std::string key_;
  std::string session_;
};

/// A minute of it, with the authority of two that servers have, where there is time.
TEST(SeatLedgerChaos, HeartbeatsGoOnWhilePostgresIsAwayAndEndWithTheAuthority) {
  PostgresCluster postgres;
  const std::string url = postgres.Url(postgres.CreateDatabase());
  RedisServer redis({.durable = false});
  const ServerProcess server(
      {.store_url = url, .flags = LedgerFlags(redis, support::IsLongRun() ? "120s" : "4s")});
  AwaitUse(server);
  const OneSeat seat(server, 4);
  seat.AwaitKept();
  const auto last_heartbeat = [&] {
    return server.Call("GET", "/api/v1/licenses/" + seat.license() + "/sessions")
        .Json()["items"][0]["last_heartbeat_at"]
        .Text();
  };
  const std::string before = last_heartbeat();
  EXPECT_EQ(seat.Beat().status, 200);
  EXPECT_GT(last_heartbeat(), before) << "of the Redis, where the store was not asked";
  postgres.Stop(PostgresCluster::StopMode::kFast);
  api::Eventually("the server knows", [&] { return server.Call("GET", "/readyz").status == 503; });
  EXPECT_EQ(seat.Beat().status, 200) << "the Redis keeps it";
  EXPECT_EQ(seat.Acquire("m2").status, 503);
  if (support::IsLongRun()) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    int beats = 0;
    for (; std::chrono::steady_clock::now() < end; ++beats) ASSERT_EQ(seat.Beat().status, 200);
    EXPECT_GT(beats, 60);
  } else {
    EXPECT_EQ(seat.Beat().status, 200);
    api::Eventually("the authority is over", [&] { return seat.Beat().status == 503; });
    EXPECT_FALSE(HealthOf(server)["uses"].Bool());
  }
  postgres.Start();
  api::Eventually("heartbeats are answered by the store, too", [&] {
    EXPECT_NE(seat.Beat().status, 410);
    return seat.Acquire("m1").status != 503;
  });
  AwaitUse(server);
}

TEST(SeatLedgerChaos, APromotedReplicaIsAnotherRedisAndTheSeatGoesOn) {
  if (!support::IsLongRun()) GTEST_SKIP() << "in --long";
  PostgresCluster postgres;
  const std::string url = postgres.Url(postgres.CreateDatabase());
  RedisServer redis({.durable = false});
  const ServerProcess server({.store_url = url, .flags = LedgerFlags(redis, "1s")});
  AwaitUse(server);
  const OneSeat seat(server, 2);
  seat.AwaitKept();
  const auto epoch = HealthOf(server)["epoch"].Int();
  // It follows somebody who is not there, and is told to stand alone again: the same process with another history.
  redis.Command({"replicaof", "127.0.0.1", "1"});
  EXPECT_EQ(seat.Beat().status, 200);
  redis.Command({"replicaof", "no", "one"});
  api::Eventually("it counts as another one", [&] {
    EXPECT_EQ(seat.Beat().status, 200);
    return HealthOf(server)["epoch"].Int() > epoch;
  });
  AwaitUse(server);
  seat.AwaitKept();
}

TEST(SeatLedgerChaos, ARedisWhoseClockJumpsIsNotBelievedAndCountsAsAnother) {
  if (!support::IsLongRun()) GTEST_SKIP() << "in --long";
  PostgresCluster postgres;
  const std::string url = postgres.Url(postgres.CreateDatabase());
  const support::MovedClock clock;
  RedisServer redis({.durable = false, .environment = clock.Environment()});
  const ServerProcess server({.store_url = url, .flags = LedgerFlags(redis, "1s")});
  AwaitUse(server);
  const OneSeat seat(server, 2);
  seat.AwaitKept();
  for (const std::int64_t ms : {60'000, 59'100}) {  // far ahead; back by less than half a ttl
    const auto epoch = HealthOf(server)["epoch"].Int();
    clock.Move(ms);
    api::Eventually("it counts as another one", [&] {
      EXPECT_EQ(seat.Beat().status, 200);
      EXPECT_EQ(seat.Acquire("m2").status, 403) << "somebody has it";
      return HealthOf(server)["epoch"].Int() > epoch;
    });
    AwaitUse(server);
    seat.AwaitKept();
  }
  EXPECT_NE(server.Call("GET", "/metrics").body.find("seat_ledger_bumps_total{reason=\"clock\"} 2"),
            std::string::npos);
}

/// What an operator sees and does.
TEST(SeatLedgerChaos, OperatorsSeeWhoKeepsHeartbeatsAndRetireTheRedis) {
  PostgresCluster postgres;
  const std::string url = postgres.Url(postgres.CreateDatabase());
  RedisServer redis({.durable = false});
  const ServerProcess server({.store_url = url, .flags = LedgerFlags(redis, "1s")});
  AwaitUse(server);
  const OneSeat seat(server, 2);
  seat.AwaitKept();
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--server", server.Url()});
    return api::RunTenure(words).out;
  };
  EXPECT_NE(run({"seat", "ledger"}).find("A Redis ("), std::string::npos);
  EXPECT_NE(run({"seat", "ledger"}).find("This process uses the Redis"), std::string::npos);
  const std::string why = run({"why", "seat", seat.session()});
  EXPECT_NE(why.find("A Redis keeps its heartbeats"), std::string::npos) << why;
  api::Eventually("the freeze of the beginning is over",
                  [&] { return HealthOf(server)["frozen_until"].IsNull(); });
  EXPECT_NE(run({"seat", "ledger", "retire"}).find("The store keeps heartbeats"),
            std::string::npos);
  EXPECT_EQ(seat.Beat().status, 200);
  EXPECT_FALSE(HealthOf(server)["uses"].Bool());
  const auto audit = server.Call("GET", "/api/v1/audit").body;
  EXPECT_NE(audit.find("seat_ledger.retire"), std::string::npos);
  EXPECT_NE(audit.find("seat_ledger.change"), std::string::npos);
  if (!support::IsLongRun()) return;
  api::Eventually("it is taken up again after the freeze", [&] {
    EXPECT_EQ(seat.Beat().status, 200);
    return HealthOf(server)["uses"].Bool();
  });
}

}  // namespace
}  // namespace tenure::chaos
