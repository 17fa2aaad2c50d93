// Heartbeats by a real Redis beside a store, as a process has them.

#include "seats/redis/redis_path.hpp"

#include <future>
#include <thread>

#include <fmt/format.h>

#include "seats/test_process.hpp"
#include "support/redis_server.hpp"

namespace tenure::seats {
namespace {

using support::RedisServer;

constexpr std::int64_t kBriefMs = 10'000;
/// The store's clock stands still while the Redis's goes on, and moves by what the test says.
constexpr RedisRules kBriefRules{
    .authority_ms = 400, .horizon_ms = 4 * kBriefMs, .margin_ms = 0, .tolerance_ms = 3'600'000};

class RedisPathTest : public testing::Test {
 protected:
  RedisPathTest() : RedisPathTest(kBriefRules) {}
  explicit RedisPathTest(const RedisRules& of)
      : rules(of), license(a.Create({.seats = 1, .ttl_ms = kBriefMs})) {
    a.seats().GoBy(path);
    path.Start();
    Uses(true);
    EndFreeze();
  }
  ~RedisPathTest() override { path.Stop(); }

  void Until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      a.Drive();
      std::this_thread::yield();
    }
  }
  void Uses(bool uses) {
    Until([&] { return path.round().standing().uses == uses; });
  }
  void EndFreeze() {
    store.clock().Advance(FreezeMs(rules, kBriefMs));
    path.round().Hasten();
    Until([&] {
      const RedisStanding standing = path.round().standing();
      return standing.uses && standing.epoch.frozen_ms <= standing.store_ms;
    });
  }
  template <class Reply>
  Reply Await(const std::function<void(base::UniqueFunction<db::Result<Reply>>)>& ask) {
    std::promise<db::Result<Reply>> promise;
    auto answer = promise.get_future();
    ask([&](db::Result<Reply> result) { promise.set_value(std::move(result)); });
    Until([&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    return answer.get().value();
  }
  Seats::Heartbeats BeatAll(const std::vector<base::Uuid>& sessions,
                            const std::string& person = "ann") {
    return Await<Seats::Heartbeats>([&](auto done) {
      a.seats().Heartbeat({"default", person, sessions}, nullptr, std::move(done));
    });
  }
  HeartbeatOutcome Beat(const base::Uuid& session) { return BeatAll({session}).outcomes.front(); }
  AcquireOutcome Acquire(const std::string& machine,
                         const TestProcess::Ask& ask = TestProcess::Ask()) {
    return std::get<AcquireOutcome>(Await<Seats::Acquired>([&](auto done) {
      a.seats().Acquire(a.RequestOf(machine, ask), nullptr, std::move(done));
    }));
  }
  /// As often as heartbeats went this way.
  int Went(std::string_view way) {
    int count = 0;
    for (const char* outcome : {"renewed", "lost", "unknown", "forgotten", "revived"}) {
      const std::string line =
          fmt::format("seat_ledger_beats_total{{path=\"{}\",outcome=\"{}\"}} ", way, outcome);
      const std::string text = store.metrics().Text();
      const std::size_t at = text.find(line);
      if (at != std::string::npos) count += std::stoi(text.substr(at + line.size()));
    }
    return count;
  }
  /// Until a heartbeat is answered by the Redis: what was adopted is put there behind the answer.
  void AwaitKept(const base::Uuid& session) {
    const int before = Went("redis");
    Until([&] {
      Renewed(Beat(session));
      return Went("redis") > before;
    });
  }
  void AwaitNoRecord() {
    Until([&] { return server.Command({"keys", "t:seat:*"}).find("t:seat") == std::string::npos; });
  }
  SeatRow RowOf(const base::Uuid& session) {
    return a.Call(a.seats(), &Seats::FindHolding, {{}, session}).holding->row;
  }

  const RedisRules rules;
  RedisServer server{{.durable = false}};
  store::TestStore store{store::EngineKind::kSqlite, sql::All()};
  TestProcess a{store, "a"};
  RedisPath path{a.seats(),
                 client::ParseRedisUrl(server.Url("prefix=t:"), {}),
                 {.round = {.rules = rules, .timeout_ms = 20'000, .process = "a"}},
                 store.clock(),
                 store.metrics()};
  const base::Uuid license;
};

TEST_F(RedisPathTest, AHeartbeatIsAdoptedOnceAndKeptByTheRedisThenAndWritesNothing) {
  const Grant grant = Granted(Acquire("m1"));
  store.clock().Advance(100);
  const auto first = Renewed(Beat(grant.session));
  EXPECT_EQ(first.expires_ms, grant.expires_ms + 100) << "the answer is the store's";
  EXPECT_EQ(Went("adopted"), 1);
  AwaitKept(grant.session);
  const SeatRow row = RowOf(grant.session);
  EXPECT_EQ(row.epoch, 1);
  EXPECT_EQ(row.horizon_ms - row.beat_ms, kBriefRules.horizon_ms);
  store.clock().Advance(100);
  const auto told = BeatAll({grant.session});
  EXPECT_GT(Renewed(told.outcomes.front()).expires_ms - told.now_ms, kBriefMs - 100);
  EXPECT_EQ(RowOf(grant.session), row) << "nothing was written";
  EXPECT_EQ(Went("sql"), 0);
}

TEST_F(RedisPathTest, AnotherPersonsHeartbeatIsUnknown) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  const auto told = BeatAll({grant.session, base::Uuid::V7(1)}, "eve");
  for (const HeartbeatOutcome& each : told.outcomes)
    EXPECT_TRUE(std::holds_alternative<NoSession>(each));
}

TEST_F(RedisPathTest, OneOfManyThatIsLostCostsTheOthersNothing) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  const int kept = Went("redis");
  const auto told = BeatAll({base::Uuid::V7(1), grant.session});
  EXPECT_TRUE(std::holds_alternative<NoSession>(told.outcomes[0]));
  EXPECT_TRUE(std::holds_alternative<seats::Beat>(told.outcomes[1]));
  EXPECT_EQ(Went("redis"), kept + 1);
}

TEST_F(RedisPathTest, WhenTheRedisDiesHeartbeatsGoToTheStoreAndAnotherOneIsTakenUp) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  server.Kill();
  const int before = Went("sql");
  Renewed(Beat(grant.session));
  EXPECT_EQ(Went("sql"), before + 1);
  EXPECT_FALSE(path.round().standing().uses);
  server.Start();
  Until([&] { return path.round().standing().epoch.epoch == 2; });
  Uses(true);
  AwaitKept(grant.session);
  EXPECT_EQ(RowOf(grant.session).epoch, 2);
}

TEST_F(RedisPathTest, ARedisThatStandsStillHoldsNobodyUpForLong) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  RedisPath hasty(a.seats(), client::ParseRedisUrl(server.Url("prefix=t:"), {}),
                  {.round = {.rules = kBriefRules, .timeout_ms = 100, .process = "b"}},
                  store.clock(), store.metrics());
  hasty.Start();
  Until([&] { return hasty.round().standing().uses; });
  server.Signal(SIGSTOP);
  const auto told = Await<Seats::Heartbeats>([&](auto done) {
    hasty.Heartbeat({"default", "ann", {grant.session}}, nullptr, std::move(done));
  });
  Renewed(told.outcomes.front());
  server.Signal(SIGCONT);
  Until([&] { return hasty.round().standing().uses; });
  hasty.Stop();
}

/// What was revoked is dropped; when it is asked about, its record must not come back.
TEST_F(RedisPathTest, ARevokedSeatIsNotRenewedByTheRecordThatItsTestimonyNeeds) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  a.Revoke(grant.session);
  AwaitNoRecord();
  store.clock().Advance(kBriefMs);
  Uses(true);
  Denied(Acquire("m2"));
  Until([&] {
    return server.Command({"get", fmt::format("t:seat:{}:1", license.ToString())})
        .starts_with("0 ");
  });
  EXPECT_EQ(LostOf(Beat(grant.session)).reason, EndReason::kRevoked);
}

/// One of a few dozen milliseconds, which pass by both clocks: the store's follows the machine's.
class BriefLicense : public RedisPathTest {
 protected:
  void Pass() {
    const std::int64_t now_ms = base::SystemClock().BootMs();
    store.clock().Advance(now_ms - std::exchange(passed_ms_, now_ms));
  }
  std::int64_t passed_ms_ = base::SystemClock().BootMs();

  static constexpr std::int64_t kMomentMs = 50;
  BriefLicense() { a.Create({.seats = 1, .ttl_ms = kMomentMs, .key = "ACME-2026-KEY2"}); }
  AcquireOutcome AcquireBrief(const std::string& machine) {
    return Acquire(machine, {.key = "ACME-2026-KEY2"});
  }
  /// Adopted: the store does not promise it any more, and its horizon lies ahead.
  Grant Leave(const std::string& machine) {
    const Grant grant = Granted(AcquireBrief(machine));
    Renewed(Beat(grant.session));
    store.clock().Advance(kMomentMs);
    EXPECT_GT(RowOf(grant.session).horizon_ms, grant.now_ms + 10 * kMomentMs);
    return grant;
  }
  /// Somebody asks again and again while time passes.
  Grant AwaitSeat(const std::string& machine) {
    std::optional<AcquireOutcome> outcome;
    const std::int64_t begun_ms = store.clock().WallMs();
    Until([&] {
      Pass();
      outcome = AcquireBrief(machine);
      return std::holds_alternative<Grant>(*outcome);
    });
    EXPECT_LT(store.clock().WallMs() - begun_ms, kBriefRules.horizon_ms - 100)
        << "the Redis testified";
    return Granted(*outcome);
  }
};

TEST_F(BriefLicense, K2_TheSeatOfAMachineThatDiedIsGivenOnByTheRedisesTestimony) {
  const Grant dead = Leave("m1");
  EXPECT_GT(AwaitSeat("m2").fence, dead.fence);
  EXPECT_EQ(Went("sql"), 0);
}

TEST_F(BriefLicense, K2_AlsoWhenTheRedisHasForgottenIt) {
  Leave("m1");
  server.Command({"flushall"});
  AwaitSeat("m2");
}

/// When the licence was looked at last a Redis kept the seat, to its horizon at most. The change that freed
/// it earlier moved nothing that says when to look again: the seat was kept to its horizon.
TEST_F(RedisPathTest, K2_WhenTheRedisIsGoneForGoodTheSeatOfTheDeadIsFreeAfterTheFreeze) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  store.clock().Advance(kBriefMs);
  Uses(true);
  Denied(Acquire("m2"));
  server.Kill();
  store.clock().Advance(2 * kBriefRules.authority_ms + 1);
  Until([&] { return path.round().standing().epoch.epoch == 2; });
  EXPECT_FALSE(path.round().standing().epoch.identity);
  Denied(Acquire("m2"));
  store.clock().Advance(FreezeMs(kBriefRules, kBriefMs));
  const std::int64_t horizon_ms = RowOf(grant.session).horizon_ms;
  std::optional<AcquireOutcome> outcome;
  Until([&] {
    outcome = Acquire("m2");
    store.clock().Advance(100);  // it is asked about a licence from time to time
    return std::holds_alternative<Grant>(*outcome) || store.clock().WallMs() > horizon_ms;
  });
  EXPECT_LT(Granted(*outcome).now_ms, horizon_ms - kBriefMs);
}

TEST_F(BriefLicense, WhoWaitsInLineGetsTheSeatOfTheDead) {
  Leave("m1");
  const auto waited = a.Wait("m2", 30'000, {.key = "ACME-2026-KEY2"});
  Until([&] {
    Pass();
    return waited->answered();
  });
  EXPECT_TRUE(std::holds_alternative<Grant>(waited->outcome()));
}

TEST_F(RedisPathTest, ARevokedSeatAndASuspendedLicenseAreRefusedAtOnce) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  ChangeCommand change{.license = license};
  change.suspended = true;
  a.Change(change);
  EXPECT_EQ(LostOf(Beat(grant.session)).reason, EndReason::kLicenseSuspended);
  change.suspended = false;
  a.Change(change);
  AwaitKept(grant.session);
  a.Revoke(grant.session);
  AwaitNoRecord();
  EXPECT_EQ(LostOf(Beat(grant.session)).reason, EndReason::kRevoked);
}

TEST_F(RedisPathTest, AReleasedSeatIsFreeAtOnceAndItsRecordGoes) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  EXPECT_TRUE(a.Release(grant.session));
  Granted(Acquire("m2"));
  AwaitNoRecord();
}

TEST_F(RedisPathTest, WhoeverIsResumedElsewhereHearsOfItFromTheRedis) {
  const Grant first = Granted(Acquire("m1"));
  AwaitKept(first.session);
  const Grant second = Granted(Acquire("m1"));
  EXPECT_TRUE(second.resumed);
  AwaitKept(second.session);
  EXPECT_EQ(LostOf(Beat(first.session)).reason, EndReason::kResumedElsewhere);
}

TEST_F(RedisPathTest, WhoNamesItsFormerSessionReleasesAtOnce) {
  const Grant first = Granted(Acquire("m1"));
  AwaitKept(first.session);
  const Grant second = Granted(Acquire("m1", {.former = first.session}));
  EXPECT_TRUE(second.former_vouched);
  AwaitKept(second.session);
  EXPECT_TRUE(a.Release(second.session));
  Granted(Acquire("m2"));
}

TEST_F(RedisPathTest, K1_WhoDoesNotNameItWaitsForWhatItMayBelieve) {
  const Grant first = Granted(Acquire("m1"));
  AwaitKept(first.session);
  const Grant second = Granted(Acquire("m1", {.person = "ann"}));
  EXPECT_FALSE(second.former_vouched);
  AwaitKept(second.session);
  EXPECT_TRUE(a.Release(second.session));
  Denied(Acquire("m2"));
}

TEST_F(RedisPathTest, ALongTtlStaysWithTheStore) {
  a.Create({.seats = 1, .ttl_ms = kBriefMs + 1, .key = "ACME-2026-KEY2"});
  const Grant grant = Granted(Acquire("m1", {.key = "ACME-2026-KEY2"}));
  Renewed(Beat(grant.session));
  EXPECT_EQ(RowOf(grant.session).horizon_ms, 0);
}

TEST_F(RedisPathTest, MetricsTellWhichRedisKeepsHeartbeats) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  const std::string text = store.metrics().Text(telemetry::Audience::kOperators);
  for (const std::string line :
       {"seat_ledger_epoch 1\n", "seat_ledger_frozen_seconds 0\n",
        "seat_ledger_authority_seconds 0\n", "seat_ledger_info{identity=\"",
        "seat_ledger_bumps_total{reason=\"identity\"} 1\n", "seat_ledger_request_seconds_count "})
    EXPECT_NE(text.find(line), std::string::npos) << line;
}

TEST_F(RedisPathTest, WithoutAuthorityNothingIsPromisedByTheRedis) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  const int before = Went("sql");
  // The process slept for longer: nobody may be told what it hears now before it has asked the store.
  store.clock().Advance(kBriefRules.authority_ms + 1);
  BeatAll({grant.session});
  EXPECT_EQ(Went("sql"), before + 1);
}

/// With the authority that servers have.
class StoreAway : public RedisPathTest, public db::StepHook {
 protected:
  StoreAway()
      : RedisPathTest({.authority_ms = 120'000,
                       .horizon_ms = 3'600'000,
                       .margin_ms = 0,
                       .tolerance_ms = 3'600'000}) {
    for (db::Lane* lane : a.store().AllLanes()) lane->connection().SetHook(this);
  }
  ~StoreAway() override {
    for (db::Lane* lane : a.store().AllLanes()) lane->connection().SetHook(nullptr);
  }
  void Before(std::string_view) override {
    if (is_away) throw base::Fault(base::FaultKind::kStoreUnavailable, "it is away");
  }
  void After(std::string_view) override {}

  bool is_away = false;
};

TEST_F(StoreAway, HeartbeatsGoOnForAMinuteAndEndWithTheAuthority) {
  const Grant grant = Granted(Acquire("m1"));
  AwaitKept(grant.session);
  is_away = true;
  const int before = Went("redis");
  constexpr int kMinute = 60;
  for (int second = 0; second < kMinute; ++second) {
    store.clock().Advance(1'000);
    Renewed(Beat(grant.session));
  }
  EXPECT_EQ(Went("redis"), before + kMinute);
  store.clock().Advance(rules.authority_ms);
  EXPECT_ANY_THROW(Beat(grant.session)) << "the store is asked, which is away";
  is_away = false;
  path.round().Hasten();
  Uses(true);
  AwaitKept(grant.session);
}

}  // namespace
}  // namespace tenure::seats
