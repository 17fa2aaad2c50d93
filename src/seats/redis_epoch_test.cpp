// What a Redis may have promised, as the rows have it, on every store. The Redis itself is told here.

#include "db/maintenance.hpp"
#include "seats/test_process.hpp"
#include "store/tables.hpp"

namespace tenure::seats {
namespace {

using store::EngineKind;

constexpr std::int64_t kTtlMs = 60'000;
constexpr std::int64_t kHorizonMs = 600'000;
constexpr RedisRules kRules{
    .authority_ms = 30'000, .horizon_ms = kHorizonMs, .margin_ms = 5'000, .tolerance_ms = 1'000};
/// With which the Redis's clock differs from the store's.
constexpr std::int64_t kOffsetMs = 12'345;

class SeatPromises : public testing::TestWithParam<EngineKind> {
 protected:
  SeatPromises() : license(a.Create({.seats = 1, .ttl_ms = kTtlMs})) {}

  base::ManualClock& clock() { return test_store.clock(); }
  EpochSeen Epoch() { return a.Call(a.seats(), &Seats::ReadEpoch, {}); }
  RaiseReply Raise(std::int64_t from, std::optional<std::string> identity) {
    return a.Call(a.seats(), &Seats::RaiseRedisEpoch,
                  {from, std::move(identity), kOffsetMs, kRules});
  }
  /// A Redis keeps heartbeats, and the freeze of its beginning is over.
  void Begin() {
    ASSERT_TRUE(Raise(0, "r1").raised);
    clock().Advance(FreezeMs(kRules, kTtlMs));
  }
  BeatReply Adopt(const base::Uuid& session, std::int64_t epoch = 1) {
    return a.Call(a.seats(), &Seats::Adopt,
                  {"default", "ann", {session}, Adoption{epoch, kHorizonMs}});
  }
  CandidatesReply Candidates() { return a.Call(a.seats(), &Seats::FindRedisCandidates, {license}); }
  /// All of them are dead, and were promised until `soft_ms` by the store's clock.
  TestimonyPtr AllAreDead(std::int64_t soft_ms) {
    const CandidatesReply found = Candidates();
    auto testimony = std::make_shared<Testimony>();
    testimony->look = {found.epoch, found.now_ms, found.now_ms + kOffsetMs};
    testimony->tolerance_ms = kRules.tolerance_ms;
    for (const auto& seat : found.seats)
      testimony->dead.push_back({seat.slot, seat.promise, soft_ms + kOffsetMs});
    return testimony;
  }
  AcquireOutcome Acquire(const std::string& machine, TestimonyPtr testimony) {
    auto request = a.RequestOf(machine, {});
    request.command.testimony = std::move(testimony);
    request.command.license = license;
    return a.Settle<AcquireOutcome>(std::move(request.command));
  }
  LogEntry Expired() {
    const auto log =
        a.Call(a.seats(), &Seats::ListLog, {.license = license, .kind = "LICENSE_SEAT_EXPIRED"});
    EXPECT_EQ(log.rows.size(), 1U);
    return log.rows.empty() ? LogEntry() : log.rows.front();
  }

  store::TestStore test_store{GetParam(), sql::All()};
  TestProcess a{test_store, "a"};
  const base::Uuid license;
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatPromises,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(SeatPromises, WithoutARedisThereIsAnEpochThatPromisesNothing) {
  EXPECT_EQ(Epoch().epoch, RedisEpoch());
  EXPECT_EQ(Epoch().longest_ms, kTtlMs);
}

TEST_P(SeatPromises, AnEpochIsRaisedOnceAndAtMostOncePerFreeze) {
  const std::int64_t now_ms = Epoch().now_ms;
  const RaiseReply raised = Raise(0, "r1");
  EXPECT_TRUE(raised.raised);
  EXPECT_EQ(raised.epoch.epoch, 1);
  EXPECT_EQ(raised.epoch.identity, "r1");
  EXPECT_EQ(raised.epoch.offset_ms, kOffsetMs);
  EXPECT_EQ(raised.epoch.frozen_ms, now_ms + FreezeMs(kRules, kTtlMs));
  EXPECT_FALSE(Raise(0, "r2").raised) << "another process was first";
  EXPECT_FALSE(Raise(1, "r2").raised) << "the freeze lasts";
  clock().Advance(FreezeMs(kRules, kTtlMs) - 1);
  EXPECT_FALSE(Raise(1, "r2").raised);
  clock().Advance(1);
  EXPECT_TRUE(Raise(1, std::nullopt).raised);
  EXPECT_EQ(Epoch().epoch.epoch, 2);
  EXPECT_FALSE(Epoch().epoch.identity);
}

/// What the lost future adopted is not in the copy: horizons and epochs of rows say too little.
TEST_P(SeatPromises, K1_ARestoredStoreWaitsForWhatARedisMayHavePromisedInItsLostFuture) {
  Begin();
  a.Create({.seats = 1, .ttl_ms = kTtlMs, .key = "ACME-2026-KEY2"});
  db::NewIncarnation(a.store().engine());
  EXPECT_NE(Epoch().epoch.incarnation, Epoch().incarnation);
  clock().Advance(FreezeMs(kRules, kTtlMs) - 1);
  EXPECT_EQ(Denied(a.Acquire("m1")).reason, Full::Reason::kFrozen);
  EXPECT_TRUE(std::holds_alternative<Forgotten>(a.Heartbeat(base::Uuid::V7(5))));
  clock().Advance(2);
  Granted(a.Acquire("m1"));
  ASSERT_TRUE(Raise(1, "r1").raised);
  EXPECT_EQ(Epoch().epoch.incarnation, Epoch().incarnation);
}

TEST_P(SeatPromises, WhoUsesTheRedisIsNotedForItsEpochAlone) {
  Begin();
  clock().Advance(10);
  const std::int64_t now_ms = Epoch().now_ms;
  a.Call(a.seats(), &Seats::NoteRedisUse, {7});
  EXPECT_EQ(Epoch().epoch.used_ms, 0);
  a.Call(a.seats(), &Seats::NoteRedisUse, {1});
  EXPECT_EQ(Epoch().epoch.used_ms, now_ms);
}

TEST_P(SeatPromises, AnAdoptionRenewsAndSaysWhatGoesIntoTheRecord) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  clock().Advance(1'000);
  const BeatReply reply = Adopt(grant.session);
  EXPECT_EQ(std::get<Beat>(reply.answers.at(0)).expires_ms, grant.expires_ms + 1'000);
  ASSERT_TRUE(reply.adopted.at(0));
  EXPECT_EQ(reply.adopted[0]->license, license);
  EXPECT_EQ(reply.adopted[0]->fence, grant.fence);
  EXPECT_EQ(reply.adopted[0]->ttl_ms, kTtlMs);
  EXPECT_EQ(reply.adopted[0]->horizon_ms, kHorizonMs);
  const BeatReply unknown = Adopt(base::Uuid::V7(1));
  EXPECT_FALSE(unknown.adopted.at(0));
}

TEST_P(SeatPromises, TheHorizonIsCutToTheLicensesEnd) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  ChangeCommand change{.license = license};
  change.valid_until_ms = grant.now_ms + 2 * kTtlMs;
  a.Change(change);
  EXPECT_EQ(Adopt(grant.session).adopted.at(0)->horizon_ms, 2 * kTtlMs);
}

TEST_P(SeatPromises, K1_WhatARedisMayHavePromisedIsNotGivenOnBeforeItsHorizon) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  clock().Advance(kTtlMs);
  EXPECT_EQ(Denied(a.Acquire("m2")).reason, Full::Reason::kFull);
  clock().Advance(kHorizonMs - kTtlMs - 1);
  Denied(a.Acquire("m2"));
  clock().Advance(1);
  Granted(a.Acquire("m2"));
  const LogEntry expired = Expired();
  EXPECT_EQ(expired.at_ms, grant.now_ms + kHorizonMs) << "at the latest";
  EXPECT_NE(expired.detail.find("\"from_ms\":" + std::to_string(grant.expires_ms)),
            std::string::npos)
      << "at the earliest: " << expired.detail;
}

TEST_P(SeatPromises, AHeartbeatInTheStoreRenewsWhatARedisKeeps) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  clock().Advance(5 * kTtlMs);
  const Beat beat = Renewed(a.Heartbeat(grant.session));
  EXPECT_FALSE(beat.revived);
  EXPECT_EQ(beat.expires_ms, beat.beat_ms + kTtlMs);
  clock().Advance(kTtlMs + kHorizonMs);
  EXPECT_TRUE(Renewed(a.Heartbeat(grant.session)).revived) << "it was over";
}

TEST_P(SeatPromises, TestimonyFreesASeatWithTheTimeOfItsLastPromise) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  clock().Advance(2 * kTtlMs);
  ASSERT_EQ(Candidates().seats.size(), 1U);
  const std::int64_t soft_ms = grant.expires_ms + 100;
  Granted(Acquire("m2", AllAreDead(soft_ms)));
  EXPECT_EQ(Expired().at_ms, soft_ms);
  EXPECT_EQ(Expired().detail.find("from_ms"), std::string::npos);
}

TEST_P(SeatPromises, TheSweepGivesOnWhatWasTestified) {
  Begin();
  Adopt(Granted(a.Acquire("m1")).session);
  clock().Advance(2 * kTtlMs);
  a.Settle<SweepOutcome>(SweepCommand{license, AllAreDead(0)});
  EXPECT_TRUE(Candidates().seats.empty());
  Granted(a.Acquire("m2"));
}

TEST_P(SeatPromises, K1_TestimonyIsVoidWhenTheSeatWasTouchedSince) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  clock().Advance(2 * kTtlMs);
  const TestimonyPtr testimony = AllAreDead(0);
  a.Heartbeat(grant.session);
  clock().Advance(kTtlMs);
  Denied(Acquire("m2", testimony));
}

TEST_P(SeatPromises, K1_TestimonyOfAnotherEpochInAFreezeOrByAClockThatJumpedIsVoid) {
  Begin();
  Adopt(Granted(a.Acquire("m1")).session);
  clock().Advance(2 * kTtlMs);
  auto jumped = std::make_shared<Testimony>(*AllAreDead(0));
  jumped->look.redis_ms += kRules.tolerance_ms + 1;
  Denied(Acquire("m2", jumped));
  const TestimonyPtr before = AllAreDead(0);
  ASSERT_TRUE(Raise(1, "r2").raised);
  Denied(Acquire("m2", before));
  clock().Advance(FreezeMs(kRules, kTtlMs) - 1);
  Denied(Acquire("m2", before));
}

TEST_P(SeatPromises, K2_AnOlderEpochIsOverWhenTheFreezeIs) {
  for (const bool another : {true, false}) {
    const std::int64_t epoch = Epoch().epoch.epoch;
    clock().Advance(FreezeMs(kRules, kTtlMs));
    ASSERT_TRUE(Raise(epoch, "r1").raised);
    clock().Advance(FreezeMs(kRules, kTtlMs));
    const Grant grant = Granted(a.Acquire("m1"));
    Adopt(grant.session, epoch + 1);
    ASSERT_TRUE(Raise(epoch + 1, another ? std::optional<std::string>("r2") : std::nullopt).raised);
    clock().Advance(FreezeMs(kRules, kTtlMs) - 1);
    Denied(a.Acquire("m2"));
    clock().Advance(1);
    a.Release(Granted(a.Acquire("m2")).session);
  }
}

TEST_P(SeatPromises, ABumpThatOvertakesAnAdoptionDoesNotLowerTheRowsEpoch) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  ASSERT_TRUE(Raise(1, "r2").raised);
  Adopt(grant.session, 2);
  Adopt(grant.session, 1);
  clock().Advance(FreezeMs(kRules, kTtlMs));
  Denied(a.Acquire("m2"));
}

TEST_P(SeatPromises, AReleaseFreesAtOnceWhatOneProcessHad) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  clock().Advance(2 * kTtlMs);
  EXPECT_TRUE(a.Release(grant.session));
  Granted(a.Acquire("m2"));
}

TEST_P(SeatPromises, K1_AReleaseAfterAResumeWaitsForWhatTheFormerProcessMayHaveBeenPromised) {
  Begin();
  const Grant first = Granted(a.Acquire("m1"));
  Adopt(first.session);
  clock().Advance(2 * kTtlMs);
  const Grant second = Granted(a.Acquire("m1", {.former = first.session}));
  EXPECT_TRUE(second.resumed);
  EXPECT_TRUE(a.Release(second.session));
  Denied(a.Acquire("m2"));
  clock().Advance(kTtlMs);
  Denied(a.Acquire("m2"));
  Granted(Acquire("m2", AllAreDead(0)));
}

TEST_P(SeatPromises, AKeptSeatGoesBackToItsMachineWithWhatWasPromised) {
  Begin();
  const Grant first = Granted(a.Acquire("m1"));
  Adopt(first.session);
  const Grant second = Granted(a.Acquire("m1"));
  EXPECT_TRUE(a.Release(second.session));
  const Grant third = Granted(a.Acquire("m1"));
  EXPECT_EQ(third.expires_ms, third.now_ms + kTtlMs) << "no longer than its ttl is told";
  clock().Advance(2 * kTtlMs);
  Denied(a.Acquire("m2"));
}

TEST_P(SeatPromises, CandidatesComePageByPageAndTellWhenThereAreMore) {
  Begin();
  EXPECT_EQ(Candidates().soon_ms, 0);
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  EXPECT_EQ(Candidates().soon_ms, grant.expires_ms);
  EXPECT_EQ(Candidates().ttl_ms, kTtlMs);
  clock().Advance(kTtlMs);
  EXPECT_EQ(Candidates().soon_ms, 0);
  const CandidatesReply page = Candidates();
  ASSERT_EQ(page.seats.size(), 1U);
  EXPECT_FALSE(page.seats[0].revoked);
  EXPECT_EQ(page.next, 0);
  EXPECT_TRUE(
      a.Call(a.seats(), &Seats::FindRedisCandidates, {license, page.seats[0].slot}).seats.empty());
  a.Revoke(grant.session);
  EXPECT_TRUE(Candidates().seats.at(0).revoked);
}

TEST_P(SeatPromises, LicensesWithSeatsThatOnlyARedisKeepsAreFound) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  const auto found = [&](const base::Uuid& after) {
    return a.Call(a.seats(), &Seats::FindKeptLicenses, {after}).licenses;
  };
  EXPECT_TRUE(found({}).empty()) << "the store promises it";
  clock().Advance(kTtlMs);
  EXPECT_EQ(found({}), std::vector<base::Uuid>{license});
  EXPECT_TRUE(found(license).empty());
  clock().Advance(kHorizonMs);
  EXPECT_TRUE(found({}).empty()) << "its horizon has passed";
}

TEST_P(SeatPromises, FactsAreThoseOfLiveHoldingsOnActiveLicenses) {
  const Grant grant = Granted(a.Acquire("m1"));
  const auto facts = [&](const base::Uuid& session) {
    return a.Call(a.seats(), &Seats::FindHoldingFacts, {{session}}).facts.at(0);
  };
  const auto revision = [&] {
    return a.Call(a.seats(), &Seats::ReadRevisionsOf, {{license}}).revisions.at(0);
  };
  ASSERT_TRUE(facts(grant.session));
  EXPECT_EQ(facts(grant.session)->fence, grant.fence);
  EXPECT_EQ(facts(grant.session)->person, "ann");
  EXPECT_EQ(facts(grant.session)->ttl_ms, kTtlMs);
  EXPECT_EQ(facts(grant.session)->revision, revision());
  EXPECT_FALSE(facts(base::Uuid::V7(1)));
  const std::int64_t before = revision();
  ChangeCommand change{.license = license};
  change.suspended = true;
  a.Change(change);
  EXPECT_GT(revision(), before);
  EXPECT_FALSE(facts(grant.session));
  change.suspended = false;
  a.Change(change);
  EXPECT_TRUE(facts(grant.session));
  a.Revoke(grant.session);
  EXPECT_FALSE(facts(grant.session));
}

/// A Redis that has forgotten a seat says nothing of it: a ttl later it can.
TEST_P(SeatPromises, K1_AnAbsentSeatIsAdoptedOnNobodysBehalfWhileItIsAsItWasRead) {
  Begin();
  const Grant grant = Granted(a.Acquire("m1"));
  Adopt(grant.session);
  clock().Advance(kTtlMs);
  const CandidatesReply read = Candidates();
  const AbsentReply adopted = a.Call(a.seats(), &Seats::AdoptAbsentSeats, {license, 1, read.seats});
  ASSERT_EQ(adopted.adopted.size(), 1U);
  EXPECT_EQ(adopted.adopted[0].fence, grant.fence);
  EXPECT_EQ(adopted.adopted[0].horizon_ms, 2 * kTtlMs);
  EXPECT_TRUE(Candidates().seats.empty()) << "a ttl more";
  Denied(Acquire("m2", AllAreDead(0)));
  EXPECT_TRUE(a.Call(a.seats(), &Seats::AdoptAbsentSeats, {license, 1, read.seats}).adopted.empty())
      << "it has been touched since";
  clock().Advance(kTtlMs);
  a.Revoke(grant.session);
  EXPECT_EQ(a.Call(a.seats(), &Seats::AdoptAbsentSeats, {license, 1, Candidates().seats})
                .adopted.at(0)
                .fence,
            0)
      << "nobody renews a seat that was revoked";
  clock().Advance(kTtlMs);
  Granted(Acquire("m2", AllAreDead(0)));
}

/// The rule stands in SQL, too, where rows are found: both say the same of every row.
TEST_P(SeatPromises, TheStatementsAndTheRuleAgree) {
  const Grant grant = Granted(a.Acquire("m1"));
  const std::int64_t now_ms = grant.now_ms;
  const auto tables = test_store.is_sqlite() ? store::OpenSqliteTables(test_store.file())
                                             : store::OpenPostgresTables(test_store.url());
  int over = 0;
  for (const std::int64_t expires : {-1, 0, 1})
    for (const std::int64_t horizon : {-2, 0, 1})
      for (const std::int64_t frozen : {0, 1})
        for (const std::int64_t epoch : {4, 5, 6})
          for (const bool redis : {false, true}) {
            const Promise promise{grant.fence, now_ms + expires, now_ms + horizon, epoch};
            const RedisEpoch of{.epoch = 5,
                                .identity = redis ? std::optional<std::string>("r") : std::nullopt,
                                .frozen_ms = now_ms + frozen};
            const auto write = [&] {
              tables->Ask("update " + tables->Table("seat_ledger") +
                          " set epoch = 5, frozen_ms = " + std::to_string(of.frozen_ms) +
                          ", identity = " + (redis ? "'r'" : "null"));
              tables->Ask("update " + tables->Table("licenses") +
                          " set look_ms = 0, held = 1, holders = 1");
              tables->Ask("update " + tables->Table("seats") +
                          " set open = 0, lapsed_ms = 0, expires_ms = " +
                          std::to_string(promise.expires_ms) +
                          ", horizon_ms = " + std::to_string(promise.horizon_ms) +
                          ", epoch = " + std::to_string(epoch));
            };
            write();
            a.Settle<SweepOutcome>(SweepCommand{license, nullptr});
            const bool is_open = tables->Number("select open from " + tables->Table("seats")) == 1;
            EXPECT_EQ(is_open, IsOver(promise, of, now_ms, false))
                << expires << ' ' << horizon << ' ' << frozen << ' ' << epoch << ' ' << redis;
            EXPECT_EQ(is_open, OverAt(promise, of) <= now_ms);
            if (!is_open) {
              EXPECT_EQ(tables->Number("select look_ms from " + tables->Table("licenses")),
                        OverAt(promise, of));
            }
            write();
            EXPECT_EQ(Renewed(a.Heartbeat(grant.session)).revived, is_open);
            over += is_open ? 1 : 0;
          }
  EXPECT_GT(over, 20);
}

}  // namespace
}  // namespace tenure::seats
