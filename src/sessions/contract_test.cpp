// The contract of sessions (S1, S2), on every store.

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "sessions/sessions.hpp"
#include "sessions/usage_seal.hpp"
#include "sessions_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::sessions {
namespace {

using store::EngineKind;

constexpr std::int64_t kDay = 86'400'000;
constexpr std::int64_t kDuration = 30 * kDay;

/// Stands in for usage, which fixes the seal.
class SealHandler final : public db::TypedHandler<UsageSeal, UsageSeal> {
 public:
  std::string_view name() const override { return "test.seal"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      LockSeal(tx);
      if (item->request.sealed_ms > 0) RaiseSeal(tx, item->request.sealed_ms);
      LockUsageSeal(tx);
      SetSettled(tx, item->request.settled_ms);
      item->reply = ReadUsageSeal(tx);
    }
  }
};

class SessionContract : public testing::TestWithParam<EngineKind> {
 protected:
  SessionContract()
      : store_(GetParam(), sql::All()),
        process_(store_),
        sessions_(process_.store(), {kDuration, 400 * kDay}, store_.metrics()) {}

  base::ManualClock& clock() { return store_.clock(); }

  PutReply Put(const Key& key, Kind kind, const base::Uuid& tenant) {
    return process_.Call(sessions_, &Sessions::Put, {tenant, key, kind});
  }
  PutReply Put(Kind kind) { return Put(key_, kind, tenant_); }
  base::IdempotentReply<PutReply> PutOnce(const base::IdempotencyKey& key,
                                          const base::Uuid& tenant) {
    return process_.Call(sessions_, &Sessions::PutOnce, {{tenant, key_, Kind::kBasic}, key});
  }
  base::IdempotentReply<PutReply> PutOnce(const base::IdempotencyKey& key) {
    return PutOnce(key, tenant_);
  }
  FindReply Find(const base::Uuid& id) { return process_.Call(sessions_, &Sessions::Find, {id}); }
  bool End(const Session& session) {
    return process_.Call(sessions_, &Sessions::End, {session.id, session.key}).ended_now;
  }
  ListReply List(const ListRequest& request) {
    return process_.Call(sessions_, &Sessions::List, request);
  }
  db::Swept Expire() { return process_.Call(sessions_, &Sessions::ExpireSome); }
  db::Swept Remove() {
    return process_.Await<db::Swept>([&](auto done) { sessions_.RemoveSome({}, std::move(done)); });
  }
  UsageSeal SetSeal(const UsageSeal& seal) {
    return process_.Await<UsageSeal>(
        [&](auto done) { process_.store().Submit(seal_, nullptr, seal, std::move(done)); });
  }
  std::int64_t CountActive() { return process_.Call(sessions_, &Sessions::CountActive); }

  Key NewKey() { return {base::Uuid::V7(clock().WallMs()), base::Uuid::V7(clock().WallMs())}; }

  /// Rows of the key that no end has been set for.
  std::int64_t OpenRows() {
    return store_.Number("select count(*) from sessions where end_reason is null",
                         "select count(*) from tenure.sessions where end_reason is null");
  }

  store::TestStore store_;
  store::Process process_;
  SealHandler seal_;
  Sessions sessions_;
  const base::Uuid tenant_ = base::Uuid::V7(1);
  const Key key_ = {base::Uuid::V7(2), base::Uuid::V7(3)};
};

TEST_P(SessionContract, WhoFindsUnderTheLockWhatALookHadNotSeenIsCountedAsContention) {
  const auto counted = [&] {
    return store_.metrics().GetCounter("sessions_contention_total", "").value();
  };
  int existing = 0;
  for (int i = 0; i < 3; ++i)  // all look before the first one writes
    sessions_.Put({tenant_, key_, Kind::kBasic}, nullptr, [&](const db::Result<PutReply>& result) {
      existing += result.value().status == PutStatus::kExisting ? 1 : 0;
    });
  store::Drive(process_.store());
  EXPECT_EQ(existing, 2);
  EXPECT_EQ(counted(), 2u);
  EXPECT_EQ(Put(Kind::kBasic).status, PutStatus::kExisting);
  EXPECT_EQ(counted(), 2u) << "the look had seen it";
}

TEST_P(SessionContract, S1_ThePutTableRowByRow) {
  const PutReply created = Put(Kind::kStandard);
  EXPECT_EQ(created.status, PutStatus::kCreated);
  EXPECT_EQ(created.session.start_ms, clock().WallMs());
  EXPECT_EQ(created.session.end_ms, clock().WallMs() + kDuration);

  clock().Advance(1'000);
  for (const Kind kind : {Kind::kStandard, Kind::kBasic}) {
    const PutReply existing = Put(kind);
    EXPECT_EQ(existing.status, PutStatus::kExisting);
    EXPECT_EQ(existing.session.id, created.session.id);
    EXPECT_EQ(existing.session.kind, Kind::kStandard);
  }

  const PutReply upgraded = Put(Kind::kPremium);
  EXPECT_EQ(upgraded.status, PutStatus::kUpgraded);
  EXPECT_EQ(upgraded.previous, created.session.id);
  const Session old = *Find(created.session.id).session;
  EXPECT_EQ(old.end_ms, upgraded.session.start_ms);
  EXPECT_EQ(old.end_reason, EndReason::kUpgraded);
  EXPECT_EQ(OpenRows(), 1);

  EXPECT_EQ(Put(key_, Kind::kPremium, base::Uuid::V7(9)).status, PutStatus::kForeign);
  EXPECT_EQ(OpenRows(), 1);
}

TEST_P(SessionContract, S1_EveryKeyHasItsOwnSession) {
  const Key other_capacity{key_.user, base::Uuid::V7(5)};
  const Key other_user{base::Uuid::V7(6), key_.capacity};
  Put(Kind::kBasic);
  EXPECT_EQ(Put(other_capacity, Kind::kBasic, tenant_).status, PutStatus::kCreated);
  EXPECT_EQ(Put(other_user, Kind::kBasic, tenant_).status, PutStatus::kCreated);
  EXPECT_EQ(OpenRows(), 3);
}

TEST_P(SessionContract, S1_OneBatchWithTheSameKeyManyTimes) {
  std::map<PutStatus, int> seen;
  std::set<base::Uuid> ids;
  for (int i = 0; i < 64; ++i)
    sessions_.Put({tenant_, key_, Kind::kBasic}, nullptr, [&](db::Result<PutReply> result) {
      ++seen[result.value().status];
      ids.insert(result.value().session.id);
    });
  process_.Drive();
  EXPECT_EQ(seen[PutStatus::kCreated], 1);
  EXPECT_EQ(seen[PutStatus::kExisting], 63);
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_EQ(OpenRows(), 1);
}

TEST_P(SessionContract, S1_OneBatchWithRisingKindsLeavesZeroLengthSessionsAndOneActive) {
  std::vector<PutStatus> seen;
  for (const Kind kind : {Kind::kBasic, Kind::kPremium, Kind::kStandard})
    sessions_.Put({tenant_, key_, kind}, nullptr,
                  [&](db::Result<PutReply> result) { seen.push_back(result.value().status); });
  process_.Drive();
  EXPECT_EQ(seen, (std::vector{PutStatus::kCreated, PutStatus::kUpgraded, PutStatus::kExisting}));
  const auto all = List({.user = key_.user}).rows;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(OpenRows(), 1);
  EXPECT_EQ(CountActive(), 1);
}

TEST_P(SessionContract, S2_PastItsEndASessionIsNotActiveWithoutAnyJob) {
  const Session session = Put(Kind::kPremium).session;
  clock().Advance(kDuration - 1);
  EXPECT_TRUE(Find(session.id).session->IsActive(clock().WallMs()));
  EXPECT_EQ(Put(Kind::kBasic).status, PutStatus::kExisting);
  EXPECT_EQ(CountActive(), 1);

  clock().Advance(1);
  const FindReply found = Find(session.id);
  EXPECT_FALSE(found.session->IsActive(found.now_ms));
  EXPECT_EQ(found.session->ReasonAt(found.now_ms), EndReason::kExpired);
  EXPECT_TRUE(List({.user = key_.user, .active = true}).rows.empty());
  EXPECT_EQ(List({.user = key_.user, .active = false}).rows.size(), 1u);
  EXPECT_EQ(CountActive(), 0);
}

TEST_P(SessionContract, S2_PutOverAnOverdueSessionCreatesAndMarksTheOldInOneStep) {
  const Session old = Put(Kind::kPremium).session;
  clock().Advance(kDuration + 5'000);
  const PutReply reply = Put(key_, Kind::kBasic, base::Uuid::V7(77));
  EXPECT_EQ(reply.status, PutStatus::kCreated);
  const Session marked = *Find(old.id).session;
  EXPECT_EQ(marked.end_reason, EndReason::kExpired);
  EXPECT_EQ(marked.end_ms, old.end_ms);
  EXPECT_EQ(OpenRows(), 1);
}

TEST_P(SessionContract, ExpiryOnlyMarksAndASecondRunFindsNothing) {
  const Session session = Put(Kind::kBasic).session;
  EXPECT_EQ(Expire().rows, 0);
  clock().Advance(kDuration);
  EXPECT_EQ(Expire().rows, 1);
  EXPECT_EQ(Expire().rows, 0);
  const Session marked = *Find(session.id).session;
  EXPECT_EQ(marked.end_reason, EndReason::kExpired);
  EXPECT_EQ(marked.end_ms, session.end_ms);
}

TEST_P(SessionContract, ExpiryWorksInBoundedBatches) {
  for (int i = 0; i < db::kSweepRows + 20; ++i)
    sessions_.Put({tenant_, NewKey(), Kind::kBasic}, nullptr, [](db::Result<PutReply> result) {
      ASSERT_TRUE(result.ok()) << result.fault().what();
    });
  process_.Drive();
  clock().Advance(kDuration);
  const db::Swept first = Expire();
  EXPECT_EQ(first.rows, db::kSweepRows);
  EXPECT_TRUE(first.has_more);
  const db::Swept second = Expire();
  EXPECT_EQ(second.rows, 20);
  EXPECT_FALSE(second.has_more);
}

TEST_P(SessionContract, EndingIsNowAndOnlyOnce) {
  const Session session = Put(Kind::kBasic).session;
  clock().Advance(500);
  EXPECT_TRUE(End(session));
  const Session ended = *Find(session.id).session;
  EXPECT_EQ(ended.end_ms, session.start_ms + 500);
  EXPECT_EQ(ended.end_reason, EndReason::kDeleted);

  clock().Advance(500);
  EXPECT_FALSE(End(session));
  EXPECT_EQ(Find(session.id).session->end_ms, session.start_ms + 500);

  const PutReply next = Put(Kind::kBasic);
  EXPECT_EQ(next.status, PutStatus::kCreated);
  EXPECT_FALSE(End(session)) << "an old id must not end the new session";
  EXPECT_EQ(Put(Kind::kBasic).session.id, next.session.id);
}

TEST_P(SessionContract, EndingAnOverdueSessionKeepsItsPlannedEnd) {
  const Session session = Put(Kind::kBasic).session;
  clock().Advance(kDuration + 10);
  EXPECT_FALSE(End(session));
  const Session ended = *Find(session.id).session;
  EXPECT_EQ(ended.end_ms, session.end_ms);
  EXPECT_EQ(ended.end_reason, EndReason::kExpired);
}

TEST_P(SessionContract, RepeatingAPutWritesNothing) {
  Put(Kind::kStandard);
  const auto commits = store_.Executions("db.commit");
  const auto begins = store_.Executions("db.begin");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Put(Kind::kBasic).status, PutStatus::kExisting);
  EXPECT_EQ(store_.Executions("db.begin"), begins);
  EXPECT_EQ(store_.Executions("db.commit"), commits);
}

TEST_P(SessionContract, TheListIsInOrderOfStartThenIdAndPagesHaveNoGap) {
  std::vector<std::pair<std::int64_t, base::Uuid>> expected;
  for (int i = 0; i < 25; ++i) {
    if (i % 3 == 0) clock().Advance(7);
    const Session session = Put(NewKey(), Kind::kBasic, tenant_).session;
    expected.emplace_back(session.start_ms, session.id);
  }
  Put(NewKey(), Kind::kBasic, base::Uuid::V7(99));  // of another tenant
  std::sort(expected.begin(), expected.end());

  std::vector<std::pair<std::int64_t, base::Uuid>> listed;
  ListRequest request{.tenant = tenant_, .limit = 10};
  for (int page = 0; page < 3; ++page) {
    const ListReply reply = List(request);
    for (const Session& session : reply.rows) listed.emplace_back(session.start_ms, session.id);
    EXPECT_EQ(reply.has_more, page < 2);
    request.after = reply.rows.back().id;
  }
  EXPECT_EQ(listed, expected);
  EXPECT_EQ(List({}).rows.size(), 26u);
  std::vector<base::Uuid> newest;
  request = {.tenant = tenant_, .newest_first = true, .limit = 10};
  do {
    const ListReply reply = List(request);
    for (const Session& each : reply.rows) newest.push_back(each.id);
    request.after = reply.has_more ? std::optional(reply.rows.back().id) : std::nullopt;
  } while (request.after);
  std::ranges::reverse(newest);
  EXPECT_EQ(newest.size(), 25u);
  EXPECT_TRUE(std::ranges::is_sorted(newest));
  EXPECT_EQ(List({.newest_first = true, .limit = 1}).rows.at(0).id, List({}).rows.back().id);
  EXPECT_EQ(List({.user = key_.user, .newest_first = true}).rows.size(),
            List({.user = key_.user}).rows.size());
}

TEST_P(SessionContract, TheListFiltersByUserTenantCapacityAndActivity) {
  const Session first = Put(Kind::kBasic).session;
  const Session second = Put(Kind::kPremium).session;  // upgrades the first
  const Key other{key_.user, base::Uuid::V7(8)};
  const Session third = Put(other, Kind::kBasic, tenant_).session;
  const auto ids = [](const ListReply& reply) {
    std::set<base::Uuid> set;
    for (const Session& session : reply.rows) set.insert(session.id);
    return set;
  };
  using Ids = std::set<base::Uuid>;
  EXPECT_EQ(ids(List({.user = key_.user})), (Ids{first.id, second.id, third.id}));
  EXPECT_EQ(ids(List({.user = key_.user, .active = true})), (Ids{second.id, third.id}));
  EXPECT_EQ(ids(List({.user = key_.user, .active = false})), (Ids{first.id}));
  EXPECT_EQ(ids(List({.capacity = other.capacity})), (Ids{third.id}));
  EXPECT_EQ(ids(List({.tenant = tenant_, .capacity = key_.capacity, .active = true})),
            (Ids{second.id}));
  EXPECT_TRUE(List({.user = key_.user, .tenant = base::Uuid::V7(123)}).rows.empty());
}

TEST_P(SessionContract, AClockSetBackNeverMakesSessionsOverlap) {
  const Session first = Put(Kind::kBasic).session;
  clock().Advance(10'000);
  End(first);
  clock().StepWall(-5'000);
  const Session second = Put(Kind::kBasic).session;
  EXPECT_GE(second.start_ms, Find(first.id).session->end_ms);
  clock().StepWall(-60'000);
  const PutReply third = Put(Kind::kPremium);
  EXPECT_EQ(third.status, PutStatus::kUpgraded);
  const Session ended = *Find(second.id).session;
  EXPECT_GE(ended.end_ms, ended.start_ms);
  EXPECT_EQ(ended.end_ms, third.session.start_ms);
}

TEST_P(SessionContract, EndedSessionsAreRemovedAfterTheirRetentionAndTheKeyCanBeUsedAgain) {
  const Session session = Put(Kind::kBasic).session;
  End(session);
  clock().Advance(400 * kDay);
  SetSeal({.settled_ms = session.start_ms + 1});
  EXPECT_EQ(Remove().rows, 0) << "a millisecond to go";
  clock().Advance(1);
  SetSeal({.settled_ms = session.start_ms});
  EXPECT_EQ(Remove().rows, 0) << "its usage is not settled";
  SetSeal({.settled_ms = session.start_ms + 1});
  EXPECT_EQ(Remove().rows, 1);
  EXPECT_FALSE(Find(session.id).session);
  if (!store_.is_sqlite()) {
    EXPECT_EQ(store_.Number("", "select count(*) from tenure.session_keys"), 0);
  }
  EXPECT_EQ(Put(Kind::kBasic).status, PutStatus::kCreated);
  EXPECT_EQ(Remove().rows, 0) << "an open session is never removed";
}

TEST_P(SessionContract, U1NoStartOrEndLiesBeforeTheSeal) {
  const Session first = Put(Kind::kBasic).session;
  const std::int64_t sealed_ms = clock().WallMs() + 5'000;
  SetSeal({.sealed_ms = sealed_ms});
  const PutReply upgraded = Put(Kind::kPremium);
  EXPECT_EQ(upgraded.session.start_ms, sealed_ms);
  EXPECT_EQ(Find(first.id).session->end_ms, sealed_ms);
  clock().Advance(6'000);
  End(upgraded.session);
  EXPECT_EQ(Find(upgraded.session.id).session->end_ms, sealed_ms + 1'000);
}

TEST_P(SessionContract, AnUnknownIdIsNotFound) { EXPECT_FALSE(Find(base::Uuid::V7(42)).session); }

TEST_P(SessionContract, UnderAnIdempotencyKeyTheFirstAnswerIsGivenAgain) {
  const auto first = std::get<PutReply>(PutOnce({"k", "h1"}));
  EXPECT_EQ(first.status, PutStatus::kCreated);
  Put(Kind::kPremium);  // the world moves on

  const auto again = std::get<base::StoredAnswer>(PutOnce({"k", "h1"}));
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, PutAnswer(first)->body);
  EXPECT_EQ(again.location, PutAnswer(first)->location);
  EXPECT_TRUE(std::holds_alternative<base::KeyOfAnotherRequest>(PutOnce({"k", "h2"})));
  EXPECT_EQ(std::get<PutReply>(PutOnce({"other", "h1"})).status, PutStatus::kExisting);
  EXPECT_EQ(OpenRows(), 1);
}

TEST_P(SessionContract, ThatAnotherTenantHoldsTheKeyIsNotKeptUnderAnIdempotencyKey) {
  const Session foreign = Put(Kind::kBasic).session;
  const base::Uuid other = base::Uuid::V7(4);
  EXPECT_EQ(std::get<PutReply>(PutOnce({"k", "h"}, other)).status, PutStatus::kForeign);
  End(foreign);
  EXPECT_EQ(std::get<PutReply>(PutOnce({"k", "h"}, other)).status, PutStatus::kCreated);
}

TEST_P(SessionContract, TheSameIdempotencyKeyTwiceInOneBatchIsCarriedOutOnce) {
  std::vector<bool> under_way;
  for (int i = 0; i < 2; ++i)
    sessions_.PutOnce({{tenant_, key_, Kind::kBasic}, {"k", "h"}}, nullptr, [&](auto result) {
      under_way.push_back(std::holds_alternative<base::KeyUnderWay>(result.value()));
    });
  process_.Drive();
  EXPECT_EQ(under_way, (std::vector{false, true}));
}

TEST_P(SessionContract, WhatWaitsForAnIdempotencyKeyStandsInNoLaneOfOthers) {
  if (store_.is_sqlite()) GTEST_SKIP() << "one lane writes";
  bool answered = false;
  sessions_.PutOnce({{tenant_, key_, Kind::kBasic}, {"k", "h"}}, nullptr,
                    [&](const auto&) { answered = true; });
  for (const std::size_t lane : {0u, 1u}) process_.store().WriteLane(lane).RunOnce();
  EXPECT_FALSE(answered);
  process_.Drive();
  EXPECT_TRUE(answered);
}

/// Knows one live fence.
class OneFence final : public db::FenceCheck {
 public:
  std::vector<bool> Check(db::Transaction&, std::span<const base::Fence> fences) override {
    std::vector<bool> live;
    for (const base::Fence& fence : fences) live.push_back(fence == kLive);
    return live;
  }
  static inline const base::Fence kLive{"default", "worker", 5};
};

TEST_P(SessionContract, UnderAStaleFenceNothingChangesAndNothingIsAnsweredFromALook) {
  OneFence guard;
  process_.store().SetFenceCheck(guard);
  const base::Caller holder(nullptr, {OneFence::kLive});
  const base::Caller zombie(nullptr, {{"default", "worker", 4}});
  std::vector<std::string> outcomes;
  const auto note = [&](const auto& result) {
    outcomes.emplace_back(result.ok() ? "done" : base::ToText(result.fault().kind()));
  };
  const auto put_all = [&](const base::Caller& caller) {
    sessions_.Put({tenant_, key_, Kind::kBasic}, caller, note);
    sessions_.PutOnce({{tenant_, NewKey(), Kind::kBasic}, {"k", "h"}}, caller, note);
    process_.Drive();
  };
  put_all(zombie);
  EXPECT_EQ(OpenRows(), 0);
  put_all(holder);
  EXPECT_EQ(OpenRows(), 2) << "the zombie's idempotency key was not used up";
  put_all(zombie);
  const Session session = Put(Kind::kBasic).session;
  sessions_.End({session.id, session.key}, zombie, note);
  process_.Drive();
  EXPECT_EQ(OpenRows(), 2);
  EXPECT_EQ(outcomes, (std::vector<std::string>{"fence-stale", "fence-stale", "done", "done",
                                                "fence-stale", "fence-stale", "fence-stale"}));
}

TEST_P(SessionContract, KeptAnswersAreForgottenAfterADay) {
  db::ForgetAnswersHandler forget;
  const auto is_carried_out = [&] { return std::holds_alternative<PutReply>(PutOnce({"k", "h"})); };
  const auto forget_old = [&] {
    process_.Await<db::Swept>(
        [&](auto done) { process_.store().Submit(forget, nullptr, {}, std::move(done)); });
  };
  EXPECT_TRUE(is_carried_out());
  clock().Advance(db::kAnswerRetentionMs);
  forget_old();
  EXPECT_FALSE(is_carried_out());
  clock().Advance(1);
  forget_old();
  EXPECT_TRUE(is_carried_out());
}

INSTANTIATE_TEST_SUITE_P(Stores, SessionContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

[[maybe_unused]] const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

}  // namespace
}  // namespace tenure::sessions
