#include "sessions/rules.hpp"

#include <gtest/gtest.h>

namespace tenure::sessions {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kNow = 1'766'311'200'000;

const base::Uuid kTenant = base::Uuid::V7(1);
const base::Uuid kOtherTenant = base::Uuid::V7(2);
const Key kKey{base::Uuid::V7(3), base::Uuid::V7(4)};

Session Active(Kind kind, std::int64_t start_ms = kNow - kDayMs) {
  return {base::Uuid::V7(start_ms), kTenant, kKey, 5, kind, start_ms, start_ms + 30 * kDayMs, {}};
}

PutRequest Want(Kind kind, const base::Uuid& tenant = kTenant) { return {tenant, kKey, kind}; }

TEST(SessionRules, WithoutASessionOneIsCreated) {
  Ledger ledger({}, kNow);
  const PutReply reply = ledger.Put(Want(Kind::kStandard), 30 * kDayMs);
  EXPECT_EQ(reply.status, PutStatus::kCreated);
  EXPECT_EQ(reply.session.start_ms, kNow);
  EXPECT_EQ(reply.session.end_ms, kNow + 30 * kDayMs);
  EXPECT_EQ(reply.session.turn, 1);
  EXPECT_EQ(reply.session.id.TimestampMs(), kNow);
  EXPECT_EQ(ledger.started().size(), 1u);
  EXPECT_FALSE(ledger.ended());
}

TEST(SessionRules, EveryPairOfKindsIsExistingOrUpgraded) {
  for (int has = 1; has <= 3; ++has) {
    for (int wants = 1; wants <= 3; ++wants) {
      Ledger ledger(Active(static_cast<Kind>(has)), kNow);
      const PutReply reply = ledger.Put(Want(static_cast<Kind>(wants)), 30 * kDayMs);
      if (wants <= has) {
        EXPECT_EQ(reply.status, PutStatus::kExisting);
        EXPECT_EQ(static_cast<int>(reply.session.kind), has);
        EXPECT_TRUE(ledger.started().empty());
        EXPECT_FALSE(ledger.ended());
      } else {
        EXPECT_EQ(reply.status, PutStatus::kUpgraded);
        EXPECT_EQ(ledger.ended()->end_ms, reply.session.start_ms);
        EXPECT_EQ(ledger.ended()->end_reason, EndReason::kUpgraded);
        EXPECT_EQ(reply.previous, ledger.ended()->id);
        EXPECT_EQ(reply.session.turn, 6);
      }
    }
  }
}

TEST(SessionRules, AnActiveSessionOfAnotherTenantIsRefusedWhateverTheKind) {
  for (const Kind kind : {Kind::kBasic, Kind::kPremium}) {
    Ledger ledger(Active(Kind::kStandard), kNow);
    EXPECT_EQ(ledger.Put(Want(kind, kOtherTenant), kDayMs).status, PutStatus::kForeign);
    EXPECT_TRUE(ledger.started().empty());
    EXPECT_FALSE(ledger.ended());
  }
}

TEST(SessionRules, AtItsEndASessionIsNotActiveAndIsMarkedInTheSameStep) {
  Session old = Active(Kind::kPremium);
  old.end_ms = kNow;
  Ledger ledger(old, kNow);
  const PutReply reply = ledger.Put(Want(Kind::kBasic, kOtherTenant), kDayMs);
  EXPECT_EQ(reply.status, PutStatus::kCreated);
  EXPECT_EQ(ledger.ended()->end_reason, EndReason::kExpired);
  EXPECT_EQ(ledger.ended()->end_ms, kNow);
}

TEST(SessionRules, RequestsOfOneBatchAreDecidedOneAfterTheOther) {
  Ledger ledger({}, kNow);
  EXPECT_EQ(ledger.Put(Want(Kind::kBasic), kDayMs).status, PutStatus::kCreated);
  EXPECT_EQ(ledger.Put(Want(Kind::kBasic), kDayMs).status, PutStatus::kExisting);
  const PutReply upgraded = ledger.Put(Want(Kind::kPremium), kDayMs);
  EXPECT_EQ(upgraded.status, PutStatus::kUpgraded);
  EXPECT_EQ(ledger.Put(Want(Kind::kBasic, kOtherTenant), kDayMs).status, PutStatus::kForeign);
  ledger.End(upgraded.session.id);
  EXPECT_EQ(ledger.Put(Want(Kind::kBasic, kOtherTenant), kDayMs).status, PutStatus::kCreated);

  ASSERT_EQ(ledger.started().size(), 3u);
  EXPECT_EQ(ledger.started()[0].end_ms, kNow);  // zero length
  EXPECT_EQ(ledger.started()[0].end_reason, EndReason::kUpgraded);
  EXPECT_EQ(ledger.started()[1].end_reason, EndReason::kDeleted);
  EXPECT_FALSE(ledger.started()[2].end_reason);
  EXPECT_EQ(ledger.started()[2].turn, 3);
}

TEST(SessionRules, EndingAnythingButTheActiveSessionChangesNothing) {
  Session ended = Active(Kind::kBasic);
  ended.end_reason = EndReason::kDeleted;
  Ledger over(ended, kNow);
  over.End(ended.id);
  EXPECT_FALSE(over.ended());

  Ledger other(Active(Kind::kBasic), kNow);
  other.End(base::Uuid::V7(9));
  EXPECT_FALSE(other.ended());
}

TEST(SessionRules, AClockThatWasSetBackNeverMakesSessionsOfAKeyOverlap) {
  Session deleted = Active(Kind::kBasic, kNow - 100);
  deleted.end_ms = kNow;
  deleted.end_reason = EndReason::kDeleted;
  Ledger after_delete(deleted, kNow - 50);
  EXPECT_EQ(after_delete.Put(Want(Kind::kBasic), kDayMs).session.start_ms, kNow);

  Ledger before_start(Active(Kind::kBasic, kNow), kNow - 50);
  const PutReply upgraded = before_start.Put(Want(Kind::kPremium), kDayMs);
  EXPECT_EQ(upgraded.session.start_ms, kNow);
  EXPECT_EQ(before_start.ended()->end_ms, kNow);
  EXPECT_GE(before_start.ended()->end_ms, before_start.ended()->start_ms);
}

}  // namespace
}  // namespace tenure::sessions
