// The contract of leases (L1, L2, L4) on every store.

#include <set>

#include "db/maintenance.hpp"
#include "leases/fence_check.hpp"
#include "leases/test_process.hpp"

namespace tenure::leases {
namespace {

using store::EngineKind;

class LeasesContract : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_};
};

INSTANTIATE_TEST_SUITE_P(Stores, LeasesContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(LeasesContract, AFreeNameIsGrantedWithItsDeadline) {
  const auto grant =
      Granted(a_.Acquire("job", 1, {.ttl_ms = 700, .holder = "me", .metadata = R"({"zone":"b"})"}));
  EXPECT_EQ(grant.fence, 1);
  EXPECT_EQ(grant.term, Term(1).ToString());
  EXPECT_EQ(grant.remaining, Milliseconds(700));
  EXPECT_EQ(grant.expires_at_ms, grant.now_ms + 700);
  const auto view = a_.Find("job").value();
  EXPECT_EQ(view.state, LeaseState::kHeld);
  EXPECT_EQ(view.holder, "me");
  EXPECT_EQ(view.metadata, R"({"zone":"b"})");
}

TEST_P(LeasesContract, L1_WhoComesWhileItIsHeldIsToldWhoHoldsItAndUntilWhen) {
  const auto first = Granted(a_.Acquire("job", 1, {.ttl_ms = 700, .holder = "first"}));
  clock().Advance(200);
  const auto held = Held(a_.Acquire("job", 2));
  EXPECT_EQ(held.reason, HeldReason::kHeld);
  EXPECT_EQ(held.holder, "first");
  EXPECT_EQ(held.fence, first.fence);
  EXPECT_EQ(held.expires_at_ms, first.expires_at_ms);
  EXPECT_EQ(held.retry_after, Milliseconds(500));
}

TEST_P(LeasesContract, L1_TheNextGrantComesAtTheDeadlineAndNotAMillisecondBefore) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 700}));
  clock().Advance(699);
  Held(a_.Acquire("job", 2));
  clock().Advance(1);
  EXPECT_EQ(Granted(a_.Acquire("job", 2)).fence, 2);
}

TEST_P(LeasesContract, L2_FencesRiseAcrossReleaseExpiryAndBreak) {
  std::int64_t last = 0;
  const auto rises = [&](int term) {
    const std::int64_t fence = Granted(a_.Acquire("job", term)).fence;
    EXPECT_GT(fence, last);
    last = fence;
  };
  rises(1);
  a_.Release("job", 1);
  rises(2);
  clock().Advance(1'000);
  rises(3);
  a_.Break("job", 0, true);
  rises(4);
}

TEST_P(LeasesContract, L2_ARemovedNameLeavesAFloorAboveWhichNewNamesStart) {
  for (int term = 1; term <= 3; ++term) {
    Granted(a_.Acquire("old", term));
    a_.Release("old", term);
  }
  clock().Advance(10'000);
  const TidyRequest request{.history_ms = 5'000, .retention_ms = 5'000};
  const auto reply = a_.Tidy(request);
  EXPECT_EQ(reply.rows, 4) << "three past grants and a name";
  EXPECT_FALSE(a_.Find("old"));
  EXPECT_EQ(Granted(a_.Acquire("old", 4)).fence, 4);
  EXPECT_EQ(Granted(a_.Acquire("another", 5)).fence, 4);
  EXPECT_EQ(Granted(a_.Acquire("old", 6, {.tenant = "other"})).fence, 1) << "another tenant";
}

TEST_P(LeasesContract, TidyLeavesWhatIsHeldAndWhatWasUsedLately) {
  Granted(a_.Acquire("held", 1, {.ttl_ms = 100'000}));
  Granted(a_.Acquire("fresh", 2, {.ttl_ms = 9'000}));
  clock().Advance(10'000);
  a_.Tidy({.history_ms = 5'000, .retention_ms = 5'000});
  EXPECT_TRUE(a_.Find("held"));
  EXPECT_TRUE(a_.Find("fresh"));
}

TEST_P(LeasesContract, TidyGoesOnWhileThereAreDeadTickets) {
  Granted(a_.Acquire("held", 1, {.ttl_ms = 3'600'000}));
  for (int term = 2; term <= db::kSweepRows + 2; ++term) {
    AcquireCommand command = a_.Command("held", term, {});
    command.wait = AcquireCommand::Wait::kQueue;
    a_.leases().Acquire(std::move(command), nullptr, [](const auto&) {});
  }
  store::Drive(a_.store());
  clock().Advance(700'000);
  const TidyRequest request{.history_ms = 3'600'000, .retention_ms = 3'600'000};
  const auto first = a_.Tidy(request);
  EXPECT_EQ(first.rows, db::kSweepRows);
  EXPECT_TRUE(first.has_more);
  const auto second = a_.Tidy(request);
  EXPECT_EQ(second.rows, 1);
  EXPECT_FALSE(second.has_more);
}

TEST_P(LeasesContract, L2_AfterANewIncarnationFencesStartAboveAllThatWereForgotten) {
  const auto before = Granted(a_.Acquire("held", 1, {.ttl_ms = 90'000}));
  db::NewIncarnation(a_.store().engine());
  // For as long as the longest ttl of the name a forgotten holder may believe that it holds.
  const auto frozen = Held(a_.Acquire("free", 2));
  EXPECT_EQ(frozen.reason, HeldReason::kFrozen);
  EXPECT_EQ(frozen.retry_after, Milliseconds(60'000));
  EXPECT_EQ(frozen.expires_at_ms, clock().WallMs() + 60'000);
  clock().Advance(59'999);
  EXPECT_EQ(Renewed(a_.Renew("held", before.fence, 1)).fence, before.fence) << "renewals go on";
  Held(a_.Acquire("free", 2));
  clock().Advance(1);
  EXPECT_EQ(Granted(a_.Acquire("free", 2)).fence, 2 * (std::int64_t{1} << 40) + 1);
}

TEST_P(LeasesContract, AFreezeLastsAsLongAsTheNameWasEverGrantedAndOnlyForThatName) {
  constexpr std::int64_t kDayMs = 86'400'000;
  const auto day = Granted(a_.Acquire("day", 1, {.ttl_ms = kDayMs}));
  EXPECT_EQ(Renewed(a_.Renew("day", day.fence, 1, 5'000)).ttl, Milliseconds(5'000));
  EXPECT_TRUE(a_.Release("day", 1).released);
  db::NewIncarnation(a_.store().engine(), {.freeze_ms = 1'000});
  EXPECT_EQ(Held(a_.Acquire("day", 2)).retry_after, Milliseconds(kDayMs)) << "not its last ttl";
  clock().Advance(1'000);
  Granted(a_.Acquire("other", 3));
  EXPECT_EQ(Held(a_.Acquire("day", 2)).reason, HeldReason::kFrozen);
  EXPECT_TRUE(db::Thaw(a_.store().engine()));
  EXPECT_GT(Granted(a_.Acquire("day", 2)).fence, 2 * (std::int64_t{1} << 40));
  EXPECT_FALSE(db::Thaw(a_.store().engine())) << "nothing is frozen any more";
}

TEST_P(LeasesContract, WhatWaitsForAnIdempotencyKeyStandsInNoLaneOfRenewals) {
  if (store_.is_sqlite()) GTEST_SKIP() << "one lane writes";
  Granted(a_.Acquire("job", 1));
  bool answered = false;
  a_.leases().BreakOnce({{"default", "job"}, "because", 0, false}, {"k", "h"}, nullptr,
                        [&](const auto&) { answered = true; });
  for (const std::size_t lane : {0u, 1u}) a_.store().WriteLane(lane).RunOnce();
  EXPECT_FALSE(answered);
  a_.Drive();
  EXPECT_TRUE(answered);
}

TEST_P(LeasesContract, L2_RenewalsDoNotMoveTheFence) {
  const auto grant = Granted(a_.Acquire("job", 1));
  for (int i = 0; i < 3; ++i) {
    clock().Advance(300);
    EXPECT_EQ(Renewed(a_.Renew("job", grant.fence, 1)).fence, grant.fence);
  }
}

TEST_P(LeasesContract, TheTtlStaysTheSameAfterTwentyRenewals) {
  const auto grant = Granted(a_.Acquire("job", 1, {.ttl_ms = 600}));
  for (int i = 0; i < 20; ++i) {
    clock().Advance(400);
    EXPECT_EQ(Renewed(a_.Renew("job", grant.fence, 1)).remaining, Milliseconds(600));
  }
}

TEST_P(LeasesContract, ARenewalMayAskForAnotherTtl) {
  const auto grant = Granted(a_.Acquire("job", 1, {.ttl_ms = 600}));
  EXPECT_EQ(Renewed(a_.Renew("job", grant.fence, 1, 200)).remaining, Milliseconds(200));
  EXPECT_EQ(Renewed(a_.Renew("job", grant.fence, 1)).remaining, Milliseconds(200));
}

TEST_P(LeasesContract, AcquiringAgainWithTheLiveTermIsTheSameGrantRenewed) {
  const auto grant = Granted(a_.Acquire("job", 1));
  clock().Advance(400);
  const auto again = Granted(a_.Acquire("job", 1));
  EXPECT_EQ(again.fence, grant.fence);
  EXPECT_EQ(again.remaining, Milliseconds(1'000));
  EXPECT_EQ(again.granted_at_ms, grant.granted_at_ms);
}

TEST_P(LeasesContract, ATermThatIsOverIsNeverGrantedAgain) {
  Granted(a_.Acquire("released", 1));
  a_.Release("released", 1);
  EXPECT_EQ(Ended(a_.Acquire("released", 1)), LossReason::kReleased);

  Granted(a_.Acquire("expired", 2));
  clock().Advance(1'000);
  EXPECT_EQ(Ended(a_.Acquire("expired", 2)), LossReason::kExpired);
  Granted(a_.Acquire("expired", 3));
  EXPECT_EQ(Ended(a_.Acquire("expired", 2)), LossReason::kExpired);

  Granted(a_.Acquire("broken", 4));
  a_.Break("broken");
  EXPECT_EQ(Ended(a_.Acquire("broken", 4)), LossReason::kBroken);
  clock().Advance(1'000);
  EXPECT_EQ(Ended(a_.Acquire("broken", 4)), LossReason::kBroken);
  Granted(a_.Acquire("broken", 5));
  EXPECT_EQ(Ended(a_.Acquire("broken", 4)), LossReason::kBroken);

  Granted(a_.Acquire("forced", 6));
  a_.Break("forced", 0, true);
  EXPECT_EQ(Ended(a_.Acquire("forced", 6)), LossReason::kBroken);
}

TEST_P(LeasesContract, L4_OnlyNameFenceAndTermTogetherRenew) {
  const auto grant = Granted(a_.Acquire("job", 1));
  EXPECT_EQ(Lost(a_.Renew("job", grant.fence, 2)), LossReason::kUnknown);
  EXPECT_EQ(Lost(a_.Renew("job", grant.fence + 1, 1)), LossReason::kUnknown);
  EXPECT_EQ(Lost(a_.Renew("other", grant.fence, 1)), LossReason::kUnknown);
  EXPECT_EQ(Renewed(a_.Renew("job", grant.fence, 1)).fence, grant.fence);
}

TEST_P(LeasesContract, L4_ARefusedRenewalSaysWhy) {
  const auto expired = Granted(a_.Acquire("expired", 1));
  clock().Advance(1'000);
  EXPECT_EQ(Lost(a_.Renew("expired", expired.fence, 1)), LossReason::kExpired);
  Granted(a_.Acquire("expired", 2));
  EXPECT_EQ(Lost(a_.Renew("expired", expired.fence, 1)), LossReason::kTakenOver);

  const auto released = Granted(a_.Acquire("released", 3));
  a_.Release("released", 3);
  EXPECT_EQ(Lost(a_.Renew("released", released.fence, 3)), LossReason::kReleased);

  const auto broken = Granted(a_.Acquire("broken", 4));
  a_.Break("broken");
  EXPECT_EQ(Lost(a_.Renew("broken", broken.fence, 4)), LossReason::kBroken);
}

TEST_P(LeasesContract, ARenewalOfAnUnknownNameLeavesNoTrace) {
  Lost(a_.Renew("ghost", 1, 1));
  a_.Release("ghost", 1);
  EXPECT_EQ(store_.Number("select count(*) from leases", "select count(*) from tenure.leases"), 0);
  EXPECT_FALSE(a_.Find("ghost"));
}

TEST_P(LeasesContract, L4_ASecondReleaseIsAHarmlessNoOp) {
  Granted(a_.Acquire("job", 1));
  EXPECT_TRUE(a_.Release("job", 1).released);
  Granted(a_.Acquire("job", 2));
  const auto second = a_.Release("job", 1);
  EXPECT_FALSE(second.released);
  EXPECT_EQ(second.reason, LossReason::kReleased);
  EXPECT_EQ(a_.Find("job")->state, LeaseState::kHeld);
}

TEST_P(LeasesContract, L4_AZombieCannotReleaseItsSuccessor) {
  const auto zombie = Granted(a_.Acquire("job", 1));
  clock().Advance(1'000);
  Granted(a_.Acquire("job", 2));
  const auto outcome = a_.Release("job", 1, zombie.fence);
  EXPECT_FALSE(outcome.released);
  EXPECT_EQ(outcome.reason, LossReason::kTakenOver);
  EXPECT_EQ(a_.Release("job", 9).reason, LossReason::kUnknown);
  EXPECT_EQ(a_.Find("job")->term, Term(2).ToString());
}

TEST_P(LeasesContract, TheTermAloneReleases) {
  Granted(a_.Acquire("job", 1));
  EXPECT_TRUE(a_.Release("job", 1).released);
  EXPECT_EQ(a_.Find("job")->state, LeaseState::kFree);
}

TEST_P(LeasesContract, BreakEndsRenewalsAtOnceAndGrantsAfterTheOldDeadline) {
  const auto grant = Granted(a_.Acquire("job", 1));
  clock().Advance(100);
  const auto outcome = a_.Break("job");
  EXPECT_TRUE(outcome.broken);
  EXPECT_EQ(outcome.free_at_ms, grant.expires_at_ms);
  EXPECT_EQ(a_.Find("job")->state, LeaseState::kBroken);
  EXPECT_EQ(a_.Find("job")->break_reason, "because");
  clock().Advance(899);
  Held(a_.Acquire("job", 2));
  clock().Advance(1);
  EXPECT_GT(Granted(a_.Acquire("job", 2)).fence, grant.fence);
  const auto history = a_.Find("job")->history;
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0].reason, LossReason::kBroken);
  EXPECT_EQ(history[0].detail, "because");
}

TEST_P(LeasesContract, ADrainLongerThanTheTtlHoldsOffTheNextGrant) {
  Granted(a_.Acquire("job", 1));
  a_.Break("job", 5'000);
  clock().Advance(4'999);
  Held(a_.Acquire("job", 2));
  clock().Advance(1);
  Granted(a_.Acquire("job", 2));
}

TEST_P(LeasesContract, ForceGrantsAtOnce) {
  Granted(a_.Acquire("job", 1));
  EXPECT_TRUE(a_.Break("job", 0, true).broken);
  Granted(a_.Acquire("job", 2));
}

TEST_P(LeasesContract, BreakingWhatIsFreeChangesNothing) {
  EXPECT_FALSE(a_.Break("job").broken);
  Granted(a_.Acquire("job", 1));
  a_.Release("job", 1);
  EXPECT_FALSE(a_.Break("job").broken);
  Granted(a_.Acquire("job", 2));
}

TEST_P(LeasesContract, A1_NamesOfTenantsAreTheirOwn) {
  Granted(a_.Acquire("job", 1));
  Granted(a_.Acquire("job", 1, {.tenant = "other"}));
  EXPECT_FALSE(a_.Find("job", "third"));
  EXPECT_TRUE(a_.List({}, "third").rows.empty());
}

TEST_P(LeasesContract, ManyRenewalsInOneCallAreAnsweredInTheirOrder) {
  std::vector<RenewCommand> commands;
  for (int i = 1; i <= 50; ++i) {
    const std::string name = "n" + std::to_string(i);
    const auto grant = Granted(a_.Acquire(name, i));
    commands.push_back({{"default", name}, grant.fence, Term(i), {}});
  }
  a_.Release("n7", 7);
  clock().Advance(500);
  const auto outcomes = a_.RenewAll(commands);
  ASSERT_EQ(outcomes.size(), 50u);
  for (std::size_t i = 0; i < 50; ++i) {
    if (i == 6)
      EXPECT_EQ(Lost(outcomes[i]), LossReason::kReleased);
    else
      EXPECT_EQ(Renewed(outcomes[i]).name, commands[i].key.name);
  }
}

TEST_P(LeasesContract, CommandsOnOneNameInOneBatchAreDecidedInOrder) {
  std::vector<std::optional<AcquireOutcome>> outcomes(3);
  bool released = false;
  const auto acquire = [&](std::size_t i) {
    a_.leases().Acquire(a_.Command("job", static_cast<int>(i) + 1, {}), nullptr,
                        [&, i](auto result) { outcomes[i] = result.value(); });
  };
  acquire(0);
  acquire(1);
  a_.leases().Release({{"default", "job"}, Term(1), {}}, nullptr,
                      [&](auto result) { released = result.value().released; });
  acquire(2);
  store::Drive(a_.store());
  EXPECT_EQ(Granted(*outcomes[0]).fence, 1);
  Held(*outcomes[1]);
  EXPECT_TRUE(released);
  EXPECT_EQ(Granted(*outcomes[2]).fence, 2);
  EXPECT_EQ(a_.Find("job")->history.size(), 1u);
}

TEST_P(LeasesContract, ListIsByPrefixHolderAndStateInPages) {
  for (const char* name : {"a/1", "a/2", "a/3", "b/1", "a"})
    Granted(a_.Acquire(name, 1, {.holder = name[0] == 'b' ? "bob" : "ann"}));
  a_.Release("a/2", 1);
  const auto names = [](const PageReply& page) {
    std::string text;
    for (const auto& lease : page.rows) text += lease.name + " ";
    return text;
  };
  EXPECT_EQ(names(a_.List({})), "a a/1 a/2 a/3 b/1 ");
  EXPECT_EQ(names(a_.List({.prefix = "a/"})), "a/1 a/2 a/3 ");
  EXPECT_EQ(names(a_.List({.holder = "bob"})), "b/1 ");
  EXPECT_EQ(names(a_.List({.state = LeaseState::kFree})), "a/2 ");
  EXPECT_EQ(names(a_.List({.prefix = "a", .state = LeaseState::kHeld})), "a a/1 a/3 ");
  const auto page = a_.List({.prefix = "a/", .limit = 2});
  EXPECT_EQ(names(page), "a/1 a/2 ");
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(names(a_.List({.prefix = "a/", .after = "a/2", .limit = 2})), "a/3 ");
  EXPECT_EQ(a_.CountActive(), 4);
}

TEST_P(LeasesContract, AFenceIsLiveUntilItsGrantEnds) {
  db::ForgottenEvidence evidence([this] { return a_.store().engine().incarnation(); }, clock(),
                                 store_.metrics());
  LeaseFenceCheck guard(&evidence);
  const auto is_live = [&](std::int64_t fence) {
    auto connection = a_.store().engine().NewConnection(db::Access::kWrite);
    connection->Open();
    db::Transaction tx(*connection, db::Access::kWrite);
    const base::Fence wanted{"default", "job", fence};
    return bool(guard.Check(tx, {&wanted, 1}).front());
  };
  const auto first = Granted(a_.Acquire("job", 1));
  EXPECT_TRUE(is_live(first.fence));
  EXPECT_FALSE(evidence.Last());
  EXPECT_FALSE(is_live(first.fence + 1));
  ASSERT_TRUE(evidence.Last()) << "nobody was ever given that fence";
  EXPECT_EQ(evidence.Last()->highest, first.fence);
  clock().Advance(1'000);
  EXPECT_FALSE(is_live(first.fence)) << "expired, though nobody has taken it over";
  const auto second = Granted(a_.Acquire("job", 2));
  EXPECT_FALSE(is_live(first.fence));
  EXPECT_TRUE(is_live(second.fence));
  a_.Release("job", 2);
  EXPECT_FALSE(is_live(second.fence));
}

TEST_P(LeasesContract, OnAnotherBootOfTheMachineEveryHolderIsDead) {
  if (!store_.is_sqlite()) GTEST_SKIP() << "its holders may be on other machines";
  const auto grant = Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  {
    auto connection = a_.store().engine().NewConnection(db::Access::kWrite);
    connection->Open();
    db::Transaction tx(*connection, db::Access::kWrite);
    tx.Run(sql::kEndAll, std::string_view(std::to_string(grant.now_ms)));
    tx.Commit();
  }
  EXPECT_EQ(Granted(a_.Acquire("job", 2)).fence, grant.fence + 1);
  EXPECT_EQ(Lost(a_.Renew("job", grant.fence, 1)), LossReason::kTakenOver);
}

TEST_P(LeasesContract, WaitedIsTheTimeBeforeTheTransactionBegan) {
  auto command = a_.Command("job", 1, {});
  std::optional<AcquireOutcome> outcome;
  a_.leases().Acquire(command, nullptr, [&](auto result) { outcome = result.value(); });
  clock().Advance(70);
  store::Drive(a_.store());
  EXPECT_EQ(Granted(*outcome).waited, Milliseconds(70));
  EXPECT_EQ(Granted(*outcome).remaining, Milliseconds(1'000));
}

[[maybe_unused]] const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

}  // namespace
}  // namespace tenure::leases
