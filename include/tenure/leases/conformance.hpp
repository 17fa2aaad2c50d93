#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tenure/leases/provider.hpp"

/// What every provider of leases has to do, as a GoogleTest suite: include this in one source file
/// of a test program and instantiate it.
///
///   INSTANTIATE_TEST_SUITE_P(MyStore, LeaseConformance, testing::Values(Subject{
///       .name = "mine",
///       .open = [] { return OpenMyProvider(url); },
///       .advance = [](Milliseconds time) { std::this_thread::sleep_for(time); }}));
///
/// It asserts what follows what and what is refused, never how fast. What `Guarantees` says that a
/// provider lacks is skipped. Names are new in each run, so a store may be used for many runs.
namespace tenure::leases::conformance {

struct Subject {
  std::string name{};
  /// A provider of the same store in each call.
  std::function<std::unique_ptr<Provider>()> open{};
  /// Lets at least that much time pass in the store; on a real store it really waits.
  std::function<void(Milliseconds)> advance{};
  /// Of the leases that are let expire. Long enough for a few calls in a row.
  Milliseconds short_ttl{400};
  /// How much longer than its ttl a dead holder's lease may stand (`Guarantees::takeover_delay`, and
  /// what is lost in rounding). `Expire` waits for it too.
  Milliseconds expiry_slack{50};
  /// Kills the store without warning and starts it again on what it kept; with what it did not
  /// keep gone. Empty: this store is not killed here.
  std::function<void()> kill{};
  /// Makes the store forget everything, as an operator could. Empty: it is not done here.
  std::function<void()> forget{};
  /// The only tests for this store, by name; empty: all. For one that can do no more.
  std::set<std::string> only{};
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

class LeaseConformance : public ::testing::TestWithParam<Subject> {
 protected:
  static constexpr Milliseconds kTimeout{10'000};
  static constexpr Milliseconds kLong{60'000};

  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    if (!GetParam().only.empty() && !GetParam().only.contains(test.substr(0, test.find('/'))))
      GTEST_SKIP() << "not for this store";
    provider_ = GetParam().open();
    connection_ = provider_->Connect();
  }

  Guarantees guarantees() const { return provider_->guarantees(); }
  Connection& connection() { return *connection_; }
  std::unique_ptr<Connection> Another() { return provider_->Connect(); }
  Milliseconds short_ttl() const { return GetParam().short_ttl; }
  /// Lets a lease with the short ttl expire.
  void Expire() { GetParam().advance(short_ttl() + GetParam().expiry_slack); }

  AcquireOutcome Ask(const std::string& term, Milliseconds ttl = kLong) {
    return connection().Acquire({.name = name_, .term = term, .ttl = ttl, .holder = "h-" + term},
                                kTimeout);
  }
  /// The same until the store answers: it may have been killed.
  AcquireOutcome AskUntilAnswered(const std::string& term, Milliseconds ttl = kLong) {
    for (int i = 0; i < 500; ++i) {
      try {
        return Ask(term, ttl);
      } catch (const ProviderUnavailable&) {
        connection_ = provider_->Connect();
        std::this_thread::sleep_for(Milliseconds(20));
      }
    }
    throw std::logic_error("the store did not come back");
  }
  /// REQUIRES: it is granted.
  Grant Take(const std::string& term, Milliseconds ttl = kLong) {
    AcquireOutcome outcome = Ask(term, ttl);
    if (auto* grant = std::get_if<Grant>(&outcome)) return *grant;
    throw std::logic_error("the lease was not granted");
  }
  RenewOutcome Renew(const Grant& grant, std::optional<Milliseconds> ttl = std::nullopt) {
    const RenewRequest request{
        .name = grant.name, .fence = grant.fence, .term = grant.term, .ttl = ttl};
    return connection().Renew({&request, 1}, kTimeout).at(0);
  }
  ReleaseOutcome Release(const Grant& grant) {
    return connection().Release({.name = grant.name, .term = grant.term, .fence = grant.fence},
                                kTimeout);
  }
  std::optional<LeaseView> Look() { return connection().Get(name_, kTimeout); }

  static bool Granted(const AcquireOutcome& outcome) {
    return std::holds_alternative<Grant>(outcome);
  }
  static bool Refused(const AcquireOutcome& outcome) {
    return std::holds_alternative<HeldByAnother>(outcome);
  }
  static bool Ended(const AcquireOutcome& outcome) {
    return std::holds_alternative<TermEnded>(outcome);
  }
  static std::optional<LossReason> LossOf(const RenewOutcome& outcome) {
    if (const auto* loss = std::get_if<Loss>(&outcome)) return loss->reason;
    return std::nullopt;
  }

  /// Looks until somebody else has done what is expected.
  template <class Condition>
  static void Eventually(const Condition& condition) {
    for (int i = 0; i < 5'000; ++i) {
      if (condition()) return;
      std::this_thread::sleep_for(Milliseconds(2));
    }
    FAIL() << "it did not happen";
  }

  /// A thread that waits for the lease with a connection of its own.
  struct Waiter {
    std::string term;
    std::unique_ptr<Connection> connection;
    std::optional<AcquireOutcome> outcome;  // when `done`
    std::atomic<bool> done{false};
    std::thread thread;
    ~Waiter() {
      if (thread.joinable()) thread.join();
    }
  };
  std::unique_ptr<Waiter> Wait(const std::string& term, Milliseconds wait = Milliseconds(30'000)) {
    auto waiter = std::make_unique<Waiter>();
    waiter->term = term;
    waiter->connection = Another();
    waiter->thread = std::thread([self = waiter.get(), name = name_, wait] {
      try {
        self->outcome = self->connection->Acquire(
            {.name = name, .term = self->term, .ttl = kLong, .holder = self->term, .wait = wait},
            kTimeout);
      } catch (const LeaseError&) {
        self->outcome = std::nullopt;
      }
      self->done = true;
    });
    return waiter;
  }
  void AwaitWaiters(std::int64_t count) {
    Eventually([&] { return Look()->waiters >= count; });
  }

  // Reliable tasks.
  ClaimOutcome Claim(const std::string& term, Milliseconds interval, Milliseconds lock_timeout) {
    return connection().ClaimTask({.name = name_,
                                   .interval = interval,
                                   .lock_timeout = lock_timeout,
                                   .term = term,
                                   .holder = "h"},
                                  kTimeout);
  }
  /// Lets time pass until a run is due, then claims it.
  TaskRun ClaimDue(const std::string& term, Milliseconds interval, Milliseconds lock_timeout) {
    for (int i = 0; i < 100; ++i) {
      ClaimOutcome outcome = Claim(term, interval, lock_timeout);
      if (auto* run = std::get_if<TaskRun>(&outcome)) return *run;
      GetParam().advance(std::get<TaskNotDue>(outcome).retry_after + Milliseconds(1));
    }
    throw std::logic_error("the task never became due");
  }
  FinishOutcome Finish(const TaskRun& run, std::optional<std::string> error = std::nullopt) {
    return connection().FinishTask({.name = name_,
                                    .fence = run.lock.fence,
                                    .term = run.lock.term,
                                    .error = std::move(error),
                                    .nominal_ms = run.nominal_ms},
                                   kTimeout);
  }

  const std::string name_ = "conformance/" + NewTerm();
  const std::string a_ = NewTerm();
  const std::string b_ = NewTerm();
  const std::string c_ = NewTerm();

 private:
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<Connection> connection_;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LeaseConformance);

// ---- grants

TEST_P(LeaseConformance, AGrantSaysWhatWasAskedFor) {
  const auto outcome = connection().Acquire(
      {.name = name_, .term = a_, .ttl = kLong, .holder = "host:1", .metadata = R"({"zone":"b"})"},
      kTimeout);
  ASSERT_TRUE(Granted(outcome));
  const auto& grant = std::get<Grant>(outcome);
  EXPECT_EQ(grant.name, name_);
  EXPECT_EQ(grant.term, a_);
  EXPECT_EQ(grant.holder, "host:1");
  EXPECT_EQ(grant.ttl, kLong);
  EXPECT_GT(grant.fence, 0);
  EXPECT_GT(grant.remaining, Milliseconds(0));
  EXPECT_LE(grant.remaining, kLong);
  EXPECT_GE(grant.waited, Milliseconds(0));
  EXPECT_EQ(grant.expires_at_ms - grant.now_ms, grant.remaining.count());
}

TEST_P(LeaseConformance, WhatIsHeldIsNotGrantedToAnother) {  // L1
  const Grant first = Take(a_);
  const auto outcome = Ask(b_);
  ASSERT_TRUE(Refused(outcome));
  const auto& held = std::get<HeldByAnother>(outcome);
  EXPECT_EQ(held.reason, HeldReason::kHeld);
  EXPECT_EQ(held.holder, "h-" + a_);
  EXPECT_EQ(held.fence, first.fence);
  EXPECT_GT(held.retry_after, Milliseconds(0));
}

TEST_P(LeaseConformance, OfManyWhoAskAtOnceOneIsGranted) {  // L1
  constexpr int kAskers = 8;
  std::atomic<int> granted = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < kAskers; ++i)
    askers.emplace_back([&, mine = Another()] {
      if (Granted(mine->Acquire({.name = name_, .term = NewTerm(), .ttl = kLong}, kTimeout)))
        ++granted;
    });
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(granted, 1);
}

TEST_P(LeaseConformance, TwoProcessesOfOneHostAreTwoHolders) {
  const auto other = GetParam().open();
  const auto theirs = other->Connect();
  const AcquireRequest ours{.name = name_, .term = a_, .ttl = kLong, .holder = "same-host"};
  AcquireRequest second = ours;
  second.term = b_;
  const auto grant = std::get<Grant>(connection().Acquire(ours, kTimeout));
  EXPECT_TRUE(Refused(theirs->Acquire(second, kTimeout)));
  const RenewRequest stolen{.name = name_, .fence = grant.fence, .term = b_};
  EXPECT_TRUE(LossOf(theirs->Renew({&stolen, 1}, kTimeout).at(0)).has_value());
  EXPECT_FALSE(theirs->Release({.name = name_, .term = b_}, kTimeout).released);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, FencesRiseOverReleaseExpiryAndBreak) {  // L2
  const Grant released = Take(a_);
  Release(released);
  const Grant expired = Take(b_, short_ttl());
  EXPECT_GT(expired.fence, released.fence);
  Expire();
  const Grant broken = Take(c_);
  EXPECT_GT(broken.fence, expired.fence);
  connection().Break({.name = name_, .reason = "test", .force = true}, kTimeout);
  EXPECT_GT(Take(NewTerm()).fence, broken.fence);
}

TEST_P(LeaseConformance, ARenewalKeepsTheFence) {
  const Grant grant = Take(a_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(std::get<Grant>(Renew(grant)).fence, grant.fence);
}

TEST_P(LeaseConformance, AcquiringAgainWithTheLiveTermIsTheSameGrant) {  // a lost reply is repeated
  const Grant first = Take(a_);
  const Grant again = Take(a_);
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.granted_at_ms, first.granted_at_ms);
  EXPECT_TRUE(Refused(Ask(b_)));
}

TEST_P(LeaseConformance, AcquiringAgainRestartsTheDeadline) {
  Take(a_, short_ttl());
  for (int i = 0; i < 4; ++i) {
    GetParam().advance(short_ttl() / 2);
    ASSERT_TRUE(Granted(Ask(a_, short_ttl())));
  }
}

TEST_P(LeaseConformance, ATermThatWasReleasedIsNeverGrantedAgain) {
  Release(Take(a_));
  EXPECT_TRUE(Ended(Ask(a_)));
  Release(Take(b_));
  EXPECT_TRUE(Ended(Ask(a_)));
}

TEST_P(LeaseConformance, ATermThatExpiredIsNeverGrantedAgain) {
  Take(a_, short_ttl());
  Expire();
  EXPECT_TRUE(Ended(Ask(a_)));
  Take(b_);
  EXPECT_FALSE(Granted(Ask(a_)));
}

TEST_P(LeaseConformance, ATermThatWasBrokenIsNeverGrantedAgain) {
  Take(a_, short_ttl());
  connection().Break({.name = name_, .reason = "test"}, kTimeout);
  EXPECT_FALSE(Granted(Ask(a_)));
  Expire();
  EXPECT_FALSE(Granted(Ask(a_)));
}

TEST_P(LeaseConformance, WhatExpiredIsGrantedToAnother) {
  const Grant first = Take(a_, short_ttl());
  Expire();
  const Grant second = Take(b_);
  EXPECT_GT(second.fence, first.fence);
  const auto loss = LossOf(Renew(first));
  ASSERT_TRUE(loss.has_value());
  EXPECT_TRUE(*loss == LossReason::kTakenOver || *loss == LossReason::kExpired);
  EXPECT_FALSE(LossOf(Renew(second)).has_value()) << "the zombie has changed nothing";
}

// ---- renewals

TEST_P(LeaseConformance, TheTtlIsConstantAfterTwentyRenewals) {
  const Grant grant = Take(a_);
  for (int i = 0; i < 20; ++i) {
    const auto renewed = std::get<Grant>(Renew(grant));
    EXPECT_EQ(renewed.ttl, kLong);
    EXPECT_LE(renewed.remaining, kLong);
    EXPECT_LE(renewed.expires_at_ms - renewed.now_ms, kLong.count());
  }
  EXPECT_EQ(Look()->ttl, kLong);
}

TEST_P(LeaseConformance, RenewalsKeepALeaseBeyondItsTtl) {
  const Grant grant = Take(a_, short_ttl());
  for (int i = 0; i < 6; ++i) {
    GetParam().advance(short_ttl() / 2);
    ASSERT_FALSE(LossOf(Renew(grant)).has_value());
  }
  EXPECT_TRUE(Refused(Ask(b_)));
}

TEST_P(LeaseConformance, AnExpiredLeaseCannotBeRenewed) {
  const Grant grant = Take(a_, short_ttl());
  Expire();
  EXPECT_EQ(LossOf(Renew(grant)), LossReason::kExpired);
}

TEST_P(LeaseConformance, OnlyNameFenceAndTermTogetherRenew) {  // L4
  const Grant grant = Take(a_);
  Grant wrong = grant;
  wrong.fence += 1;
  EXPECT_TRUE(LossOf(Renew(wrong)).has_value());
  wrong = grant;
  wrong.term = b_;
  EXPECT_TRUE(LossOf(Renew(wrong)).has_value());
  wrong = grant;
  wrong.name = name_ + "/other";
  EXPECT_EQ(LossOf(Renew(wrong)), LossReason::kUnknown);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, BulkRenewalAnswersEachInItsOrder) {
  const std::string names[] = {name_ + "/3", name_ + "/1", name_ + "/2"};
  std::vector<RenewRequest> requests;
  for (const std::string& name : names) {
    const auto grant = std::get<Grant>(
        connection().Acquire({.name = name, .term = NewTerm(), .ttl = kLong}, kTimeout));
    requests.push_back({.name = name, .fence = grant.fence, .term = grant.term});
  }
  requests[1].term = NewTerm();
  const auto outcomes = connection().Renew(requests, kTimeout);
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(std::get<Grant>(outcomes[0]).name, names[0]);
  EXPECT_TRUE(LossOf(outcomes[1]).has_value());
  EXPECT_EQ(std::get<Grant>(outcomes[2]).name, names[2]);
  EXPECT_TRUE(connection().Renew({}, kTimeout).empty());
}

TEST_P(LeaseConformance, ALostReplyOfARenewalIsNoLoss) {
  const Grant grant = Take(a_);
  const RenewRequest request{.name = name_, .fence = grant.fence, .term = a_};
  // A renewal over another connection is to this one what a reply is that never came: the store
  // has moved on by our own doing. Whoever compares versions has to see whose write it was.
  const auto other = Another();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(LossOf(other->Renew({&request, 1}, kTimeout).at(0)).has_value());
    EXPECT_FALSE(LossOf(Renew(grant)).has_value());
  }
  EXPECT_EQ(Look()->fence, grant.fence);
}

TEST_P(LeaseConformance, ADelayedRenewalGivesNobodyTwo) {  // L1
  const Grant late = Take(a_, short_ttl());
  Expire();
  // A renewal that arrives after the deadline is refused, or it is granted while nobody else is.
  const bool renewed = !LossOf(Renew(late)).has_value();
  const AcquireOutcome next = Ask(b_);
  EXPECT_NE(renewed, Granted(next));
  if (!Granted(next)) return;
  EXPECT_GT(std::get<Grant>(next).fence, late.fence);
  EXPECT_TRUE(LossOf(Renew(late)).has_value()) << "and never after a takeover";
  EXPECT_FALSE(LossOf(Renew(std::get<Grant>(next))).has_value());
}

// ---- crashes of the store

TEST_P(LeaseConformance, AGrantSurvivesAKilledStore) {  // L1
  if (!GetParam().kill) GTEST_SKIP() << "it is not killed here";
  if (!guarantees().durable_grant) GTEST_SKIP() << "it may forget";
  const Grant grant = Take(a_);
  GetParam().kill();
  EXPECT_TRUE(Refused(AskUntilAnswered(b_)));
  const auto renewed = Renew(grant);
  ASSERT_FALSE(LossOf(renewed).has_value());
  EXPECT_EQ(std::get<Grant>(renewed).fence, grant.fence);
}

TEST_P(LeaseConformance, NothingIsGrantedUntilWhatWasForgottenHasExpired) {  // L1
  if (!GetParam().kill) GTEST_SKIP() << "it is not killed here";
  if (guarantees().durable_grant) GTEST_SKIP() << "it forgets nothing";
  Take(a_, short_ttl());
  GetParam().kill();
  // Its holder, of whom the store knows nothing any more, still believes in it.
  const AcquireOutcome outcome = AskUntilAnswered(b_, short_ttl());
  ASSERT_TRUE(Refused(outcome));
  EXPECT_GT(std::get<HeldByAnother>(outcome).retry_after, Milliseconds(0));
}

TEST_P(LeaseConformance, FencesRiseAlsoWhenTheStoreForgotEverything) {  // L2
  if (!GetParam().forget) GTEST_SKIP() << "it forgets nothing here";
  const Grant before = Take(a_);
  GetParam().forget();
  const AcquireOutcome after = AskUntilAnswered(b_, short_ttl());
  ASSERT_TRUE(Granted(after));
  EXPECT_GT(std::get<Grant>(after).fence, before.fence);
}

// ---- releases

TEST_P(LeaseConformance, AReleaseFreesTheNameAndKeepsTheFence) {
  const Grant grant = Take(a_);
  EXPECT_TRUE(Release(grant).released);
  const auto view = Look();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->state, LeaseState::kFree);
  EXPECT_EQ(view->fence, grant.fence);
  EXPECT_EQ(LossOf(Renew(grant)), LossReason::kReleased);
  EXPECT_GT(Take(b_).fence, grant.fence);
}

TEST_P(LeaseConformance, ASecondReleaseIsAHarmlessNoOp) {  // L4
  const Grant grant = Take(a_);
  EXPECT_TRUE(Release(grant).released);
  const auto again = Release(grant);
  EXPECT_FALSE(again.released);
  EXPECT_EQ(again.reason, LossReason::kReleased);
  const Grant next = Take(b_);
  EXPECT_FALSE(Release(grant).released);
  EXPECT_FALSE(LossOf(Renew(next)).has_value());
}

TEST_P(LeaseConformance, AReleaseByAStrangerChangesNothingAndSaysSo) {  // L4
  const Grant grant = Take(a_);
  const auto outcome = connection().Release({.name = name_, .term = b_}, kTimeout);
  EXPECT_FALSE(outcome.released);
  EXPECT_EQ(outcome.reason, LossReason::kUnknown);
  EXPECT_FALSE(connection()
                   .Release({.name = name_, .term = a_, .fence = grant.fence + 1}, kTimeout)
                   .released);
  EXPECT_FALSE(connection().Release({.name = name_ + "/no", .term = a_}, kTimeout).released);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, TheTermAloneReleases) {  // the reply with the fence was lost
  Take(a_);
  EXPECT_TRUE(connection().Release({.name = name_, .term = a_}, kTimeout).released);
  EXPECT_TRUE(Granted(Ask(b_)));
}

// ---- breaks

TEST_P(LeaseConformance, ABreakRefusesRenewalsAtOnceAndGrantsAfterTheDeadline) {
  const Grant grant = Take(a_, short_ttl());
  const auto outcome = connection().Break({.name = name_, .reason = "stuck"}, kTimeout);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->broken);
  EXPECT_EQ(outcome->fence, grant.fence);
  EXPECT_EQ(outcome->holder, "h-" + a_);
  EXPECT_EQ(LossOf(Renew(grant)), LossReason::kBroken);
  Expire();
  EXPECT_GT(Take(b_).fence, grant.fence);
}

TEST_P(LeaseConformance, ABrokenLeaseIsNotGrantedBeforeItsDeadline) {
  Take(a_);
  connection().Break({.name = name_, .reason = "stuck"}, kTimeout);
  EXPECT_TRUE(Refused(Ask(b_)));
  EXPECT_EQ(Look()->state, LeaseState::kBroken);
  EXPECT_EQ(Look()->break_reason, "stuck");
}

TEST_P(LeaseConformance, ADrainTimeDelaysTheNextGrant) {
  Take(a_, short_ttl());
  connection().Break({.name = name_, .reason = "stuck", .drain = kLong}, kTimeout);
  Expire();
  EXPECT_TRUE(Refused(Ask(b_)));
}

TEST_P(LeaseConformance, AForcedBreakGrantsAtOnce) {
  const Grant grant = Take(a_);
  ASSERT_TRUE(
      connection().Break({.name = name_, .reason = "dead", .force = true}, kTimeout)->broken);
  EXPECT_GT(Take(b_).fence, grant.fence);
  EXPECT_TRUE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, ABreakOfAnotherFenceBreaksNothing) {
  const Grant grant = Take(a_);
  const auto outcome = connection().Break(
      {.name = name_, .reason = "late", .force = true, .fence = grant.fence + 1}, kTimeout);
  EXPECT_FALSE(outcome && outcome->broken);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, BreakingWhatNobodyHoldsBreaksNothing) {
  EXPECT_FALSE(connection().Break({.name = name_, .reason = "?"}, kTimeout).has_value());
  Release(Take(a_));
  const auto outcome = connection().Break({.name = name_, .reason = "?"}, kTimeout);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->broken);
  EXPECT_TRUE(Granted(Ask(b_)));
}

// ---- waiting

TEST_P(LeaseConformance, AReleaseHandsOverToTheWaiter) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_);
  const auto waiter = Wait(b_);
  AwaitWaiters(1);
  EXPECT_TRUE(Release(first).released);
  waiter->thread.join();
  ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
  EXPECT_GT(std::get<Grant>(*waiter->outcome).fence, first.fence);
}

TEST_P(LeaseConformance, WhoWaitsIsToldOfARelease) {
  if (!guarantees().push) GTEST_SKIP() << "who waits asks again from time to time";
  // Two hand one lease to and fro. Without being told, each turn would take a pause of polling.
  Grant holder = Take(a_);
  for (int i = 0; i < 20; ++i) {
    const auto waiter = Wait(NewTerm());
    AwaitWaiters(1);
    EXPECT_TRUE(Release(holder).released);
    waiter->thread.join();
    ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
    holder = std::get<Grant>(*waiter->outcome);
  }
}

TEST_P(LeaseConformance, WaitersAreServedInTheirOrder) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  Grant holder = Take(a_);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.push_back(Wait(NewTerm()));
    AwaitWaiters(i + 1);
  }
  for (const auto& waiter : waiters) {
    EXPECT_TRUE(Release(holder).released);
    waiter->thread.join();
    ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
    holder = std::get<Grant>(*waiter->outcome);
  }
}

TEST_P(LeaseConformance, NobodyBargesPastAWaiter) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_);
  const auto waiter = Wait(b_);
  AwaitWaiters(1);
  std::atomic<bool> over = false;
  std::thread barger([&, mine = Another()] {
    while (!over)
      EXPECT_FALSE(
          Granted(mine->Acquire({.name = name_, .term = NewTerm(), .ttl = kLong}, kTimeout)));
  });
  Release(first);
  waiter->thread.join();
  over = true;
  barger.join();
  EXPECT_TRUE(waiter->outcome && Granted(*waiter->outcome));
}

TEST_P(LeaseConformance, AnExpiryHandsOverToTheWaiter) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_, short_ttl());
  const auto waiter = Wait(b_);
  for (int i = 0; i < 100 && !waiter->done; ++i) {
    GetParam().advance(short_ttl() / 4);
    std::this_thread::sleep_for(Milliseconds(5));  // where time is not real, the waiter has to run
  }
  waiter->thread.join();
  ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
  EXPECT_GT(std::get<Grant>(*waiter->outcome).fence, first.fence);
}

TEST_P(LeaseConformance, AWaitThatWasCancelledLeavesTheQueue) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_);
  const auto waiter = Wait(b_);
  AwaitWaiters(1);
  waiter->connection->Cancel();
  waiter->thread.join();
  EXPECT_FALSE(waiter->outcome && Granted(*waiter->outcome));
  Release(first);
  // A dead waiter costs at most its ticket's time.
  for (int i = 0; i < 200; ++i) {
    if (Granted(Ask(c_))) return;
    GetParam().advance(Milliseconds(50));
  }
  FAIL() << "the queue stands still";
}

// ---- looks

TEST_P(LeaseConformance, ALookShowsTheGrant) {
  EXPECT_FALSE(Look().has_value());
  connection().Acquire(
      {.name = name_, .term = a_, .ttl = kLong, .holder = "h", .metadata = R"({"k":1})"}, kTimeout);
  const auto view = Look();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->name, name_);
  EXPECT_EQ(view->state, LeaseState::kHeld);
  EXPECT_EQ(view->term, a_);
  EXPECT_EQ(view->holder, "h");
  EXPECT_EQ(view->metadata, R"({"k":1})");
  EXPECT_EQ(view->ttl, kLong);
  EXPECT_GT(view->expires_at_ms, view->now_ms);
}

TEST_P(LeaseConformance, AnExpiredLeaseIsShownAsFree) {
  Take(a_, short_ttl());
  Expire();
  EXPECT_EQ(Look()->state, LeaseState::kFree);
  EXPECT_EQ(Look()->holder, "");
}

TEST_P(LeaseConformance, HistoryTellsHowGrantsEndedNewestFirst) {
  Release(Take(a_));
  Take(b_);
  connection().Break({.name = name_, .reason = "stuck", .force = true}, kTimeout);
  Take(c_);
  const auto view = Look();
  ASSERT_GE(view->history.size(), 2U);
  EXPECT_EQ(view->history[0].term, b_);
  EXPECT_EQ(view->history[0].reason, LossReason::kBroken);
  EXPECT_EQ(view->history[0].detail, "stuck");
  EXPECT_EQ(view->history[1].term, a_);
  EXPECT_EQ(view->history[1].reason, LossReason::kReleased);
  EXPECT_GT(view->history[0].fence, view->history[1].fence);
}

TEST_P(LeaseConformance, AListIsInOrderOfNameAndComesInPages) {
  std::vector<std::string> names;
  for (const char* end : {"/a", "/b", "/c", "/d"}) {
    names.push_back(name_ + end);
    connection().Acquire({.name = names.back(), .term = NewTerm(), .ttl = kLong, .holder = end},
                         kTimeout);
  }
  const auto list = [&](ListRequest request) {
    request.prefix = name_ + "/";
    std::vector<std::string> found;
    for (const LeaseView& view : connection().List(request, kTimeout)) found.push_back(view.name);
    return found;
  };
  EXPECT_EQ(list({}), names);
  EXPECT_EQ(list({.limit = 2}), std::vector<std::string>(names.begin(), names.begin() + 2));
  EXPECT_EQ(list({.after = names[1]}), std::vector<std::string>(names.begin() + 2, names.end()));
  EXPECT_EQ(list({.holder = "/c"}), std::vector<std::string>{names[2]});
  connection().Break({.name = names[3], .reason = "x"}, kTimeout);
  EXPECT_EQ(list({.state = LeaseState::kBroken}), std::vector<std::string>{names[3]});
}

// ---- bounds

TEST_P(LeaseConformance, BadNamesAndNumbersAreRefused) {
  const AcquireRequest good{.name = name_, .term = a_, .ttl = kLong};
  const auto refused = [&](const std::function<void(AcquireRequest&)>& spoil) {
    AcquireRequest bad = good;
    spoil(bad);
    EXPECT_THROW(connection().Acquire(bad, kTimeout), std::invalid_argument);
  };
  refused([](AcquireRequest& r) { r.name = ""; });
  refused([](AcquireRequest& r) { r.name = "with space"; });
  refused([](AcquireRequest& r) { r.name = "naïve"; });
  refused([](AcquireRequest& r) { r.name = std::string(kMaxNameBytes + 1, 'x'); });
  refused([](AcquireRequest& r) { r.term = ""; });
  refused([](AcquireRequest& r) { r.ttl = kMinTtl - Milliseconds(1); });
  refused([](AcquireRequest& r) { r.ttl = kMaxTtl + Milliseconds(1); });
  refused([](AcquireRequest& r) { r.wait = kMaxWait + Milliseconds(1); });
  refused([](AcquireRequest& r) { r.holder = std::string(kMaxHolderBytes + 1, 'x'); });
  refused([](AcquireRequest& r) { r.metadata = std::string(kMaxMetadataBytes + 1, ' '); });
  EXPECT_TRUE(Granted(connection().Acquire(good, kTimeout)));
}

TEST_P(LeaseConformance, TheLongestNameAndEveryCharacterOfNamesWork) {
  std::string name = name_ + "/A-Za-z0-9._:@-/";
  name += std::string(kMaxNameBytes - name.size(), 'x');
  EXPECT_TRUE(Granted(connection().Acquire({.name = name, .term = a_, .ttl = kMaxTtl}, kTimeout)));
  EXPECT_EQ(connection().Get(name, kTimeout)->name, name);
}

TEST_P(LeaseConformance, MetadataCannotResurrectALease) {
  const std::string metadata = R"({"k":"v"})";
  connection().Acquire({.name = name_, .term = a_, .ttl = short_ttl(), .metadata = metadata},
                       kTimeout);
  Expire();
  EXPECT_FALSE(Granted(connection().Acquire(
      {.name = name_, .term = a_, .ttl = kLong, .metadata = metadata}, kTimeout)));
  EXPECT_EQ(Look()->state, LeaseState::kFree);
  EXPECT_TRUE(Granted(Ask(b_)));
  EXPECT_EQ(Look()->metadata, "");
}

TEST_P(LeaseConformance, ANameThatIsAPathStepWorks) {
  for (const std::string& name :
       {std::string("."), std::string(".."), name_ + "/../x", name_ + "/./y", name_ + "//z"}) {
    const std::string term = NewTerm();
    const auto grant =
        std::get<Grant>(connection().Acquire({.name = name, .term = term, .ttl = kLong}, kTimeout));
    EXPECT_EQ(grant.name, name);
    const RenewRequest renewal{.name = name, .fence = grant.fence, .term = term};
    EXPECT_FALSE(LossOf(connection().Renew({&renewal, 1}, kTimeout).at(0)).has_value()) << name;
    EXPECT_EQ(connection().Get(name, kTimeout).value().term, term);
    EXPECT_TRUE(connection().Release({.name = name, .term = term}, kTimeout).released) << name;
  }
  EXPECT_FALSE(connection().Get("x", kTimeout).has_value()) << "it is another name";
}

TEST_P(LeaseConformance, ACancelledSessionAnswersNoMore) {
  const auto other = Another();
  other->Cancel();
  EXPECT_THROW(other->Get(name_, kTimeout), ProviderUnavailable);
}

// ---- reliable tasks

TEST_P(LeaseConformance, OfManyWhoOfferOneRunsTheTask) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  Finish(ClaimDue(NewTerm(), Milliseconds(500), kLong));
  GetParam().advance(Milliseconds(501));
  std::atomic<int> claimed = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 6; ++i)
    workers.emplace_back([&, mine = Another()] {
      const auto outcome = mine->ClaimTask({.name = name_,
                                            .interval = Milliseconds(500),
                                            .lock_timeout = kLong,
                                            .term = NewTerm(),
                                            .holder = "h"},
                                           kTimeout);
      if (std::holds_alternative<TaskRun>(outcome)) ++claimed;
    });
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(claimed, 1);
}

TEST_P(LeaseConformance, NominalTimesStayOnTheirGridAndNoneIsLostSilently) {  // T1
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  constexpr Milliseconds kInterval{200};
  TaskRun last = ClaimDue(NewTerm(), kInterval, kLong);
  EXPECT_TRUE(Finish(last).accepted);
  for (int i = 0; i < 4; ++i) {
    const bool pause = i == 2;
    if (pause) GetParam().advance(6 * kInterval);  // nobody offers for a while
    const TaskRun run = ClaimDue(NewTerm(), kInterval, kLong);
    EXPECT_GT(run.nominal_ms, last.nominal_ms);
    EXPECT_EQ((run.nominal_ms - last.nominal_ms) % kInterval.count(), 0);
    if (pause) {
      EXPECT_GE(run.skipped, 4) << "one run for all of them, and they are counted";
    }
    GetParam().advance(kInterval / 7);
    const FinishOutcome end = Finish(run);
    EXPECT_TRUE(end.accepted);
    EXPECT_GT(end.next_ms, run.nominal_ms);
    last = run;
  }
}

TEST_P(LeaseConformance, AFinishedRunIsNotDueAgain) {  // T1
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  const TaskRun run = ClaimDue(NewTerm(), Milliseconds(3'600'000), kLong);
  EXPECT_TRUE(std::holds_alternative<TaskNotDue>(Claim(NewTerm(), Milliseconds(3'600'000), kLong)));
  EXPECT_TRUE(Finish(run).accepted);
  const auto outcome = Claim(NewTerm(), Milliseconds(3'600'000), kLong);
  ASSERT_TRUE(std::holds_alternative<TaskNotDue>(outcome));
  EXPECT_GT(std::get<TaskNotDue>(outcome).retry_after, Milliseconds(0));
}

TEST_P(LeaseConformance, AClaimWithTheLiveTermIsTheSameRun) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  const TaskRun run = ClaimDue(a_, Milliseconds(3'600'000), kLong);
  const auto again = Claim(a_, Milliseconds(3'600'000), kLong);
  ASSERT_TRUE(std::holds_alternative<TaskRun>(again));
  EXPECT_EQ(std::get<TaskRun>(again).lock.fence, run.lock.fence);
  EXPECT_EQ(std::get<TaskRun>(again).nominal_ms, run.nominal_ms);
}

TEST_P(LeaseConformance, AFailedRunIsTriedAgainSoon) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  constexpr Milliseconds kInterval{3'600'000};
  const TaskRun run = ClaimDue(NewTerm(), kInterval, kLong);
  EXPECT_TRUE(Finish(run, "it failed").accepted);
  const auto outcome = Claim(NewTerm(), kInterval, kLong);
  const auto* later = std::get_if<TaskNotDue>(&outcome);
  EXPECT_TRUE(!later || later->retry_after < kInterval / 10);
  const TaskRun again = later ? ClaimDue(NewTerm(), kInterval, kLong) : std::get<TaskRun>(outcome);
  EXPECT_EQ(again.nominal_ms, run.nominal_ms);
  EXPECT_GT(again.lock.fence, run.lock.fence);
}

TEST_P(LeaseConformance, ACrashIsTakenOverForTheSameTimeAndTheZombieIsRefused) {  // T1
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  constexpr Milliseconds kInterval{3'600'000};
  const TaskRun dead = ClaimDue(a_, kInterval, short_ttl());
  Expire();
  const TaskRun next = ClaimDue(b_, kInterval, kLong);
  EXPECT_EQ(next.nominal_ms, dead.nominal_ms);
  EXPECT_TRUE(next.reclaimed);
  EXPECT_GT(next.lock.fence, dead.lock.fence);
  EXPECT_FALSE(Finish(dead).accepted);
  EXPECT_FALSE(Finish(dead, "late").accepted);
  EXPECT_FALSE(LossOf(Renew(next.lock)).has_value());
  EXPECT_TRUE(Finish(next).accepted);
}

TEST_P(LeaseConformance, ATasksLockIsALeaseThatCanBeRenewed) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  const TaskRun run = ClaimDue(a_, Milliseconds(3'600'000), short_ttl());
  EXPECT_EQ(run.lock.name, "task/" + name_);
  for (int i = 0; i < 8; ++i) {
    GetParam().advance(short_ttl() / 4);
    ASSERT_FALSE(LossOf(Renew(run.lock)).has_value());
  }
  EXPECT_TRUE(Finish(run).accepted);
}

}  // namespace tenure::leases::conformance
