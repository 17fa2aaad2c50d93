// The rules of leases by themselves; contract_test.cpp has them on every store.

#include "leases/ledger.hpp"

#include <gtest/gtest.h>

namespace tenure::leases {
namespace {

constexpr std::int64_t kNow = 1'000'000;

base::Uuid TermOf(std::uint8_t n) {
  base::Uuid term;
  term.bytes[15] = n;
  return term;
}

Ledger Open(Ledger::Loaded loaded, const Limits& limits = {}) {
  return {{"default", "job"}, std::move(loaded), limits, kNow, "p"};
}

Ledger::Loaded HeldBy(std::uint8_t term, std::int64_t expires_ms) {
  Ledger::Loaded loaded;
  loaded.row.fence = 7;
  loaded.row.term = TermOf(term);
  loaded.row.holder = "somebody";
  loaded.row.ttl_ms = 1'000;
  loaded.row.granted_ms = kNow - 500;
  loaded.row.renewed_ms = kNow - 500;
  loaded.row.expires_ms = expires_ms;
  return loaded;
}

AcquireCommand Ask(std::uint8_t term, AcquireCommand::Wait wait = AcquireCommand::Wait::kNo) {
  AcquireCommand command;
  command.key = {"default", "job"};
  command.term = TermOf(term);
  command.ttl_ms = 1'000;
  command.wait = wait;
  return command;
}

HeldReason ReasonOf(const AcquireOutcome& outcome) {
  return std::get<HeldByAnother>(outcome).reason;
}

TEST(Ledger, L2_ANewFenceIsAboveTheRowTheFloorAndEarlierIncarnations) {
  struct Case {
    std::int64_t row, floor, incarnation, granted;
  };
  constexpr std::int64_t kEpoch = std::int64_t{1} << 40;
  for (const Case& one :
       {Case{0, 0, 1, 1}, Case{7, 0, 1, 8}, Case{7, 9, 1, 10}, Case{7, 9, 3, 3 * kEpoch + 1},
        Case{3 * kEpoch + 5, 9, 3, 3 * kEpoch + 6}}) {
    Ledger::Loaded loaded;
    loaded.row.fence = one.row;
    loaded.floor = one.floor;
    Ledger ledger = Open(loaded, {.incarnation = one.incarnation});
    EXPECT_EQ(std::get<Grant>(ledger.Acquire(Ask(1))).fence, one.granted);
  }
}

TEST(Ledger, L1_WhatKeepsANameFromBeingGrantedIsTold) {
  Ledger held = Open(HeldBy(1, kNow + 1));
  EXPECT_EQ(ReasonOf(held.Acquire(Ask(2))), HeldReason::kHeld);

  Ledger frozen = Open({}, {.frozen_ms = kNow - 9, .freeze_ms = 10});
  EXPECT_EQ(ReasonOf(frozen.Acquire(Ask(2))), HeldReason::kFrozen);

  Ledger::Loaded line;
  line.tickets = {{1, TermOf(9), "q", kNow + 1}};
  Ledger queued = Open(line);
  EXPECT_EQ(ReasonOf(queued.Acquire(Ask(2))), HeldReason::kQueued);
  EXPECT_TRUE(std::holds_alternative<Grant>(queued.Acquire(Ask(9)))) << "it is its turn";

  Ledger::Loaded guard = HeldBy(1, kNow);
  guard.guarded = true;
  Ledger guarded = Open(guard);
  EXPECT_EQ(ReasonOf(guarded.Acquire(Ask(2))), HeldReason::kGuarded);
}

TEST(Ledger, ANameIsFrozenForItsOwnLongestTtlAndNoOther) {
  const Limits limits{.frozen_ms = 1'000, .freeze_ms = 60};
  EXPECT_EQ(limits.FrozenUntilMs("t", 0), 1'060) << "nothing is known of it";
  EXPECT_EQ(limits.FrozenUntilMs("t", 30), 1'060);
  EXPECT_EQ(limits.FrozenUntilMs("t", 500), 1'500);
  EXPECT_EQ(limits.FrozenUntilMs("", 30), 1'030) << "Tenure's own task";
  EXPECT_EQ(Limits{}.FrozenUntilMs("t", 500), 0) << "never restored, or thawed";
}

TEST(Ledger, ADeadTicketIsPassedOverAndRemovedByTheGrant) {
  Ledger::Loaded line;
  line.tickets = {{1, TermOf(9), "q", kNow}};
  Ledger ledger = Open(line);
  EXPECT_TRUE(std::holds_alternative<Grant>(ledger.Acquire(Ask(2))));
  EXPECT_EQ(ledger.removed_tickets(), std::vector<base::Uuid>{TermOf(9)});
}

TEST(Ledger, ANewTicketStandsBehindAllThatAreThereAlsoOfARowThatWasMadeAnew) {
  Ledger::Loaded line = HeldBy(1, kNow + 1);
  line.row.next_ticket = 1;
  line.tickets = {{5, TermOf(9), "q", kNow + 1}};
  Ledger ledger = Open(line);
  ledger.Acquire(Ask(2, AcquireCommand::Wait::kQueue));
  ledger.Acquire(Ask(3, AcquireCommand::Wait::kQueue));
  ASSERT_EQ(ledger.placed_tickets().size(), 2u);
  EXPECT_EQ(ledger.placed_tickets()[0].number, 6);
  EXPECT_EQ(ledger.placed_tickets()[1].number, 7);
}

TEST(Ledger, WhoseTurnItIsIsToldOnlyWhenTheLineMoved) {
  Ledger::Loaded line = HeldBy(1, kNow + 1);
  line.tickets = {{1, TermOf(9), "q", kNow + 1}};
  Ledger ledger = Open(line);
  EXPECT_EQ(ledger.NextProcess(), std::nullopt);
  EXPECT_TRUE(ledger.Release({{"default", "job"}, TermOf(1), {}}).released);
  EXPECT_EQ(ledger.NextProcess(), "q");
}

TEST(Ledger, AnOverdueGrantIsNeitherRenewedNorReleased) {
  Ledger ledger = Open(HeldBy(1, kNow));
  const RenewCommand renew{{"default", "job"}, 7, TermOf(1), {}};
  EXPECT_EQ(std::get<Loss>(ledger.Renew(renew)).reason, LossReason::kExpired);
  EXPECT_FALSE(ledger.Release({{"default", "job"}, TermOf(1), {}}).released);
  EXPECT_FALSE(ledger.changed());
}

}  // namespace
}  // namespace tenure::leases
