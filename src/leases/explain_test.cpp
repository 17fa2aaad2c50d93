#include "leases/explain.hpp"

#include <gmock/gmock.h>

#include "base/time_text.hpp"

namespace tenure::leases {
namespace {

using testing::HasSubstr;

std::int64_t At(std::string_view text) { return base::ParseUtcMs(text).value(); }

LeaseView FreeLease() {
  LeaseView lease;
  lease.name = "nightly";
  lease.fence = 7;
  lease.now_ms = At("2026-01-01T11:00:00.000Z");
  return lease;
}
LeaseView HeldLease() {
  LeaseView lease = FreeLease();
  lease.state = LeaseState::kHeld;
  lease.holder = "host:12";
  lease.ttl = Milliseconds(30'000);
  lease.granted_at_ms = At("2026-01-01T10:00:00.000Z");
  lease.renewed_at_ms = lease.now_ms - 10'000;
  lease.expires_at_ms = lease.now_ms + 20'000;
  return lease;
}
LeaseGuard Guard() { return {4711, "app", At("2026-01-01T10:59:48.000Z")}; }

std::vector<std::string_view> ActsOf(const explain::Explanation& explanation) {
  std::vector<std::string_view> commands;
  for (const explain::Action& each : explanation.actions) commands.push_back(each.command);
  return commands;
}

TEST(WhyLease, SaysWhoHoldsItAndWhatComesNext) {
  LeaseView lease = HeldLease();
  lease.waiters = 2;
  const explain::Explanation why = Explain(lease);
  EXPECT_EQ(why.state, "held");
  EXPECT_EQ(why.Sentence(),
            "nightly is held by host:12 since 2026-01-01T10:00:00.000Z (1h 0m ago), with fence 7, "
            "and was renewed 10s ago. 2 wait for it.");
  EXPECT_EQ(why.next.text,
            "Without a renewal it is free in 20s, and whoever waits longest gets it.");
  EXPECT_EQ(why.next.at_ms, lease.expires_at_ms);
  EXPECT_THAT(ActsOf(why), testing::ElementsAre("tenure lease break nightly --reason …",
                                                "tenure lease break nightly --force --reason …"));
  EXPECT_EQ(why.actions[1].body, R"({"fence":7,"force":true})");
  EXPECT_TRUE(why.actions[1].danger);
}

TEST(WhyLease, SaysThatAnOperatorBrokeItAndWhoHadItBefore) {
  LeaseView lease = HeldLease();
  lease.state = LeaseState::kBroken;
  lease.break_reason = "host is\ngone";
  lease.waiters = 1;
  EXPECT_EQ(Explain(lease).Sentence(),
            "An operator broke the grant of nightly to host:12 (\"host is gone\"): it is not "
            "renewed any more. One waits for it.");
  EXPECT_EQ(Explain(lease).next.text,
            "It can be granted again in 20s, at 2026-01-01T11:00:20.000Z, or as soon as its holder "
            "releases it.");
  lease = FreeLease();
  PastGrant past;
  past.holder = "host:12";
  past.granted_at_ms = At("2026-01-01T10:00:00.000Z");
  past.ended_at_ms = At("2026-01-01T10:30:00.000Z");
  past.reason = LossReason::kBroken;
  past.detail = "host is gone";
  lease.history = {past};
  EXPECT_EQ(Explain(lease).Sentence(),
            "nightly is free. Before, host:12 had it for 30m 0s and lost it to an operator (\"host "
            "is gone\") 30m 0s ago.");
  lease.history.front().reason = LossReason::kExpired;
  EXPECT_THAT(Explain(lease).Sentence(), HasSubstr("and did not renew it in time 30m 0s ago."));
  lease.history.front().reason = LossReason::kReleased;
  EXPECT_THAT(Explain(lease).Sentence(), HasSubstr("and released it 30m 0s ago."));
}

/// The reasons that an acquire is refused for, in the same order.
TEST(WhyLease, KnowsWhyANameThatNobodyHoldsIsNotGranted) {
  LeaseView lease = FreeLease();
  EXPECT_EQ(Explain(lease).state, "free");
  EXPECT_EQ(Explain(lease).next.text, "Whoever asks next gets it.");
  lease.guard = Guard();
  EXPECT_EQ(Explain(lease).state, "guarded");
  EXPECT_EQ(Explain(lease).Sentence(),
            "Nobody holds nightly, but a database transaction that checked its last fence is open: "
            "process 4711 of user app, begun 12s ago. Nobody waits for it.");
  lease.waiters = 1;
  EXPECT_EQ(Explain(lease).state, "queued");
  lease.frozen_until_ms = lease.now_ms + 30'000;
  EXPECT_EQ(Explain(lease).state, "frozen");
  EXPECT_EQ(
      Explain(lease).Sentence(),
      "Nobody holds nightly, but the store was restored or promoted, and somebody whom it has "
      "forgotten may still hold it. One waits for it.");
  EXPECT_EQ(
      Explain(lease).next.text,
      "It is not granted before 2026-01-01T11:00:30.000Z (in 30s). Where you know that nobody "
      "holds it, `tenure admin thaw` ends that.");
  lease = FreeLease();
  lease.waiters = 2;
  EXPECT_EQ(Explain(lease).state, "queued");
  EXPECT_EQ(Explain(lease).Sentence(), "nightly is free. 2 wait for it.");
  lease.guard = LeaseGuard{0, "app", 0};
  EXPECT_THAT(Explain(lease).Sentence(),
              HasSubstr("is open: without a process (see pg_prepared_xacts) of user app."));
}

TEST(WhyLease, SaysWhatKeepsAnOperatorFromBreakingIt) {
  LeaseView lease = HeldLease();
  lease.guard = Guard();
  EXPECT_THAT(
      Explain(lease).Sentence(),
      HasSubstr("is open (process 4711 of user app, begun 12s ago): until its end it cannot "
                "be broken."));
  EXPECT_THAT(Explain(lease).actions, testing::IsEmpty());
}

TEST(WhyLease, SaysWhatFreesAHoldThatIsOlderThanTheStoresClock) {
  LeaseView lease = HeldLease();
  lease.expires_at_ms = lease.now_ms + 3'620'000;
  EXPECT_THAT(Explain(lease).Sentence(),
              HasSubstr("Its deadline is further ahead than its ttl of 30s: it was granted or "
                        "renewed before the store's clock went back. Once its holder has stopped, "
                        "`tenure lease break nightly --force --reason \"the clock went back\"` "
                        "frees it."));
}

}  // namespace
}  // namespace tenure::leases
