// The rules of the inbox by themselves: ledger.hpp without a store.
#include "inbox/ledger.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tenure::inbox {
namespace {

using Begun = BeginOutcome::Kind;
using Ended = FinishOutcome::Kind;

constexpr std::int64_t kNow = 1'000'000;
const MessageKey kKey{"default", "github", "42"};

base::Uuid Term(std::uint8_t n) {
  base::Uuid term;
  term.bytes[15] = n;
  return term;
}

MessageRow Claimed(std::int64_t fence, std::int64_t until_ms) {
  MessageRow row;
  row.state = State::kClaimed;
  row.fence = fence;
  row.lease_until_ms = until_ms;
  row.received_ms = row.updated_ms = kNow - 100;
  return row;
}

Ledger Of(MessageRow row, bool locked = true, std::int64_t floor = 0, const Limits& limits = {}) {
  return {kKey, {std::move(row), floor, locked}, limits, kNow};
}

BeginCommand Delivery(std::string hash = "", std::optional<base::Uuid> term = {}) {
  return {kKey, std::move(hash), 1'000, term};
}

TEST(InboxEntry, WhatADeliveryIsToldByWhatIsThere) {
  MessageRow live = Claimed(7, kNow + 1);
  MessageRow lapsed = Claimed(7, kNow);
  MessageRow waiting = Claimed(7, 0);
  waiting.state = State::kRetrying;
  waiting.not_before_ms = kNow + 1;
  MessageRow due = waiting;
  due.not_before_ms = kNow;
  MessageRow done = Claimed(7, kNow + 1);
  done.state = State::kDone;
  MessageRow dead = done;
  dead.state = State::kDead;
  const struct {
    const char* name;
    MessageRow row;
    Begun locked;
    Begun skipped;  // somebody else's transaction has the row
    bool changes;
  } kTable[] = {
      {"new", {}, Begun::kProcess, Begun::kInProgress, true},
      {"live claim", live, Begun::kInProgress, Begun::kInProgress, false},
      {"lapsed claim", lapsed, Begun::kProcess, Begun::kInProgress, true},
      {"in its back-off", waiting, Begun::kInProgress, Begun::kInProgress, false},
      {"back-off over", due, Begun::kProcess, Begun::kInProgress, true},
      {"done", done, Begun::kDone, Begun::kDone, false},
      {"dead", dead, Begun::kDead, Begun::kDead, false},
  };
  for (const auto& line : kTable) {
    SCOPED_TRACE(line.name);
    Ledger locked = Of(line.row);
    EXPECT_EQ(locked.Answer(Delivery()).has_value(), !line.changes);
    EXPECT_EQ(locked.Begin(Delivery()).kind, line.locked);
    EXPECT_EQ(locked.changed(), line.changes);
    Ledger skipped = Of(line.row, false);
    EXPECT_EQ(skipped.Begin(Delivery()).kind, line.skipped);
    EXPECT_FALSE(skipped.changed()) << "what is not locked is never changed";
  }
}

TEST(InboxEntry, WhatTheEndOfAClaimIsToldByWhatIsThere) {
  MessageRow retrying = Claimed(7, 0);
  retrying.state = State::kRetrying;
  MessageRow done = retrying;
  done.state = State::kDone;
  MessageRow dead = retrying;
  dead.state = State::kDead;
  const struct {
    const char* name;
    MessageRow row;
    std::int64_t fence;
    Ended complete;
    Ended fail;
  } kTable[] = {
      {"new", {}, 7, Ended::kUnknown, Ended::kUnknown},
      {"claimed", Claimed(7, kNow + 1), 7, Ended::kAccepted, Ended::kAccepted},
      {"lapsed, not taken over", Claimed(7, kNow), 7, Ended::kAccepted, Ended::kAccepted},
      {"taken over", Claimed(8, kNow + 1), 7, Ended::kStale, Ended::kStale},
      {"a fence that never was", Claimed(7, kNow + 1), 9, Ended::kStale, Ended::kStale},
      {"failed by it", retrying, 7, Ended::kStale, Ended::kAccepted},
      {"done by it", done, 7, Ended::kAccepted, Ended::kStale},
      {"done by another", done, 6, Ended::kStale, Ended::kStale},
      {"dead by it", dead, 7, Ended::kStale, Ended::kAccepted},
      {"dead by another", dead, 6, Ended::kStale, Ended::kStale},
  };
  for (const auto& line : kTable) {
    SCOPED_TRACE(line.name);
    EXPECT_EQ(Of(line.row).Complete({kKey, line.fence, "1"}).kind, line.complete);
    EXPECT_EQ(Of(line.row).Fail({kKey, line.fence, "no"}).kind, line.fail);
    const bool held = line.row.state == State::kClaimed && line.row.fence == line.fence;
    Ledger skipped = Of(line.row, false);
    EXPECT_EQ(skipped.Complete({kKey, line.fence, "1"}).kind, held ? Ended::kBusy : line.complete);
    EXPECT_EQ(skipped.Fail({kKey, line.fence, "no"}).kind, held ? Ended::kBusy : line.fail);
    EXPECT_FALSE(skipped.changed());
  }
}

TEST(InboxEntry, AStaleEndLeavesTheEntryAsItIs) {
  Ledger ledger = Of(Claimed(8, kNow + 1));
  ledger.Complete({kKey, 7, "1"});
  ledger.Fail({kKey, 7, "no"});
  EXPECT_FALSE(ledger.changed());
}

TEST(InboxEntry, ANewFenceIsAboveTheRowsTheFloorAndEarlierIncarnations) {
  EXPECT_EQ(Of({}).Begin(Delivery()).fence, 1);
  EXPECT_EQ(Of(Claimed(7, kNow)).Begin(Delivery()).fence, 8);
  EXPECT_EQ(Of({}, true, 20).Begin(Delivery()).fence, 21);
  const std::int64_t third = std::int64_t{3} << 40;
  EXPECT_EQ(Of(Claimed(7, kNow), true, 20, {.incarnation = 3}).Begin(Delivery()).fence, third + 1);
  EXPECT_EQ(Of(Claimed(third + 5, kNow), true, 0, {.incarnation = 3}).Begin(Delivery()).fence,
            third + 6);
}

TEST(InboxEntry, TheSameTermIsToldTheSameWhileItsClaimLasts) {
  Ledger ledger = Of({});
  const auto first = ledger.Begin(Delivery("", Term(1)));
  const auto again = ledger.Begin(Delivery("", Term(1)));
  EXPECT_EQ(again.kind, Begun::kProcess);
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.until_ms, first.until_ms);
  EXPECT_EQ(ledger.Begin(Delivery("", Term(2))).kind, Begun::kInProgress);
  EXPECT_EQ(ledger.Begin(Delivery()).kind, Begun::kInProgress);

  MessageRow without_term = Claimed(7, kNow + 1);
  EXPECT_EQ(Of(without_term).Begin(Delivery()).kind, Begun::kInProgress)
      << "two deliveries without a term are two";
  MessageRow lapsed = Claimed(7, kNow);
  lapsed.term = Term(1);
  EXPECT_EQ(Of(lapsed).Begin(Delivery("", Term(1))).fence, 8) << "a new claim";
}

TEST(InboxEntry, HashesConflictOnlyWhenBothAreKnown) {
  for (const State state : {State::kClaimed, State::kRetrying, State::kDone, State::kDead}) {
    MessageRow row = Claimed(7, kNow + 1);
    row.state = state;
    row.not_before_ms = kNow + 1;
    row.hash = "a";
    EXPECT_EQ(Of(row).Begin(Delivery("b")).kind, Begun::kConflict);
    EXPECT_NE(Of(row).Begin(Delivery("a")).kind, Begun::kConflict);
    EXPECT_NE(Of(row).Begin(Delivery()).kind, Begun::kConflict);
    row.hash = "";
    Ledger ledger = Of(row);
    const auto told = ledger.Begin(Delivery("b")).kind;
    EXPECT_EQ(told, Of(row).Begin(Delivery()).kind);
    EXPECT_EQ(ledger.row().hash, "b") << "the first that comes is stored";
    EXPECT_TRUE(ledger.changed());
    EXPECT_EQ(ledger.Begin(Delivery("c")).kind, Begun::kConflict);
  }
}

TEST(InboxEntry, FailuresSpendTheirBudget) {
  Ledger ledger = Of(Claimed(1, kNow + 1), true, 0, {.budget = {.max_attempts = 1}});
  const auto failed = ledger.Fail({kKey, 1, "no"});
  EXPECT_EQ(failed.state, State::kDead);
  EXPECT_TRUE(failed.died);
  const auto again = ledger.Fail({kKey, 1, "no"});
  EXPECT_EQ(again.kind, Ended::kAccepted);
  EXPECT_FALSE(again.died) << "it died once";
  EXPECT_EQ(again.attempts, 1);
  EXPECT_EQ(ledger.Begin(Delivery()).error, "no");
}

TEST(InboxEntry, CrashesHaveABudgetOfTheirOwnThreeTimesThatOfFailures) {
  MessageRow row = Claimed(8, kNow);
  row.crashes = 7;
  Ledger eighth = Of(row);
  EXPECT_EQ(eighth.Begin(Delivery()).kind, Begun::kProcess);
  EXPECT_EQ(eighth.row().crashes, 8);
  EXPECT_EQ(eighth.row().attempts, 0) << "nobody reported a failure";
  row.crashes = 8;
  Ledger ninth = Of(row);
  const auto told = ninth.Begin(Delivery());
  EXPECT_EQ(told.kind, Begun::kDead);
  EXPECT_TRUE(told.died);
  EXPECT_EQ(told.error, "9 claims ended without a word");
  EXPECT_EQ(ninth.row().fence, 8) << "nobody got a new one";
  EXPECT_FALSE(ninth.Begin(Delivery()).died);
}

TEST(InboxEntry, TheBackOffDoublesUpToAMinuteWithJitterThatIsAlwaysTheSame) {
  std::set<std::int64_t> first;
  for (int n = 0; n < 100; ++n) {
    const MessageKey key{"default", "github", std::to_string(n)};
    std::int64_t usual_ms = 1'000;
    for (std::int64_t attempt = 1; attempt <= 20; ++attempt) {
      const std::int64_t ms = BackOffMs(key, attempt);
      EXPECT_EQ(ms, BackOffMs(key, attempt));
      EXPECT_GE(ms, usual_ms * 3 / 4);
      EXPECT_LE(ms, std::min<std::int64_t>(60'000, usual_ms * 5 / 4));
      usual_ms = std::min<std::int64_t>(60'000, usual_ms * 2);
    }
    first.insert(BackOffMs(key, 1));
  }
  EXPECT_GT(first.size(), 50u) << "they do not come back together";
}

}  // namespace
}  // namespace tenure::inbox
