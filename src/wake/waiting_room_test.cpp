// The waiting machine on a virtual clock: what each of its invariants says.

#include "wake/waiting_room.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wake/test_bakery.hpp"

namespace tenure::wake {
namespace {

using testing::ElementsAre;
using Kind = Waiter::Answer::Kind;

class WaitingRoomTest : public testing::Test, public Bakery {};

TEST_F(WaitingRoomTest, WhoWaitsIsServedAtTheSignalWithoutTimePassing) {
  const auto one = Enter();
  Settle();
  EXPECT_TRUE(one->waits());
  Bake("rye");
  Settle();
  EXPECT_EQ(one->outcome_, "rye");
  EXPECT_EQ(waiting_, 0);
}

TEST_F(WaitingRoomTest, OnlyTheFirstOfALineAsksAndTheNextWhenThereMayBeMore) {
  const auto one = Enter();
  const auto two = Enter();
  const auto three = Enter();
  Settle();
  Bake("rye");
  RunDue();
  EXPECT_TRUE(one->answered_);
  EXPECT_FALSE(two->answered_ || three->answered_);
  Decide(*one);
  Answer(*one);
  EXPECT_TRUE(two->answered_);
  EXPECT_FALSE(three->answered_);
  Settle();
  EXPECT_TRUE(two->waits() && three->waits());
}

TEST_F(WaitingRoomTest, ASignalWhileAQuestionIsUnderWayMakesItAskAgain) {
  const auto one = Enter();
  Decide(*one);  // there is nothing
  Bake("rye");
  RunDue();
  Answer(*one);
  EXPECT_TRUE(one->answered_);
  Settle();
  EXPECT_EQ(one->outcome_, "rye");
}

TEST_F(WaitingRoomTest, WhoeverGoesWithItsQuestionUnderWayGivesBackAndTheNextOneAsks) {
  const auto gone = Enter();
  const auto next = Enter();
  Settle();
  Bake("rye");
  RunDue();
  Decide(*gone);
  Leave(*gone);
  EXPECT_EQ(gone->left_, 1);
  Settle();
  EXPECT_EQ(next->outcome_, "rye");
}

TEST_F(WaitingRoomTest, WhoeverGoesAtTheHeadOfItsLineLeavesTheNextOneItsTime) {
  struct Exact final : Waiter {
    explicit Exact(int& questions) : Waiter({{"rye"}}), asked(questions) {}
    void Ask(bool, base::UniqueFunction<Answer> answered) override {
      ++asked;
      answered({.ask_in_ms = 700});
    }
    void Finish(const base::Fault*) override {}
    void GiveBack() override {}
    int& asked;
  };
  int questions[2] = {};
  const auto first = room_.Add(std::make_shared<Exact>(questions[0]), kWaitMs);
  room_.Add(std::make_shared<Exact>(questions[1]), kWaitMs);
  room_.Abandon(first);
  clock_.Advance(699);
  RunDue();
  EXPECT_THAT(questions, ElementsAre(1, 1));
  clock_.Advance(1);
  RunDue();
  EXPECT_THAT(questions, ElementsAre(1, 2)) << "to the millisecond";
}

TEST_F(WaitingRoomTest, WhoseTimeIsOverIsAnsweredWithWhatWasSaidLast) {
  const auto one = Enter({.wait_ms = 500});
  Settle();
  Pass(499);
  EXPECT_TRUE(one->waits());
  Pass(1);
  EXPECT_EQ(one->outcome_, "empty");
  EXPECT_EQ(one->questions_, 1);
}

TEST_F(WaitingRoomTest, OneThatAsksLastAsksOnceMoreWhenItsTimeIsOver) {
  const auto one = Enter({.wait_ms = 500, .asks_last = true});
  Settle();
  clock_.Advance(500);
  RunDue();
  EXPECT_TRUE(one->answered_ && one->last_);
  Bake("rye");
  Settle();
  EXPECT_EQ(one->outcome_, "rye");
}

TEST_F(WaitingRoomTest, AQuestionThatIsUnderWayWhenTheTimeIsOverDecides) {
  const auto one = Enter({.wait_ms = 500});
  clock_.Advance(500);
  RunDue();
  EXPECT_TRUE(one->waits());
  Bake("rye");
  Settle();
  EXPECT_EQ(one->outcome_, "rye");
}

TEST_F(WaitingRoomTest, NobodyIsSentAwayBecauseEverybodyIsWoken) {
  const auto one = Enter({.kinds = {"rye", "oat"}, .wait_ms = 500});
  Settle();
  registry_.SignalEverybody();
  Settle();
  EXPECT_TRUE(one->waits());
  Pass(499);
  EXPECT_TRUE(one->waits());
  Pass(1);
  EXPECT_EQ(one->outcome_, "empty");
}

TEST_F(WaitingRoomTest, WhatIsLockedIsAskedForAfter10And20And40UpTo500Milliseconds) {
  const auto one = Enter({.wait_ms = 100'000});
  const auto behind = Enter({.wait_ms = 100'000});
  Settle();
  Lock("rye", true);
  for (int round = 0; round < 2; ++round) {  // a signal is a reason to begin again at 10 ms
    Bake("rye");
    Settle();
    const int before = behind->questions_;
    for (const std::int64_t pause_ms : {10, 20, 40, 80, 160, 320, 500, 500}) {
      const int asked = one->questions_;
      Pass(pause_ms - 1);
      EXPECT_LE(one->questions_, asked + 1) << "no oftener, but for a look";
      Pass(1);
      EXPECT_GT(one->questions_, asked) << pause_ms;
    }
    EXPECT_EQ(behind->questions_, before) << "the first of the line asks for all";
  }
  Lock("rye", false);
  Pass(Backoff::kMaxMs);
  EXPECT_EQ(one->outcome_, "rye");
  EXPECT_EQ(behind->outcome_, "rye");
}

TEST_F(WaitingRoomTest, ASignalThatWasLostIsMadeGoodByTheNextLook) {
  const auto one = Enter();
  Settle();
  Bake("rye", false);
  Pass(kLookMs - 1);
  EXPECT_TRUE(one->waits());
  Pass(1);
  EXPECT_EQ(one->outcome_, "rye");
}

TEST_F(WaitingRoomTest, ALookFollowsTheSignalForOneAndEndsWhenNobodyWaits) {
  const auto one = Enter();
  Settle();
  Bake("rye", false);
  registry_.SignalAll("look");
  Settle();
  EXPECT_EQ(one->outcome_, "rye");
  Pass(kLookMs);
  const int looks = looks_;
  Pass(100 * kLookMs);
  EXPECT_EQ(looks_, looks);
}

TEST_F(WaitingRoomTest, ALookMakesOneWhoIsTheFirstOfManyLinesAskOnce) {
  const auto one = Enter({.kinds = {"rye", "oat", "spelt"}});
  Settle();
  Lock("rye", true);
  Lock("oat", true);
  Bake("rye", false);
  Bake("oat", false);
  clock_.Advance(kLookMs);
  RunDue();
  EXPECT_EQ(one->questions_, 2);
  Decide(*one);
  Answer(*one);
  EXPECT_EQ(one->questions_, 2);
}

TEST_F(WaitingRoomTest, AfterAFaultTheNextOneAsksInItsPlace) {
  const auto one = Enter();
  const auto two = Enter();
  Settle();
  one->fail_next_ = true;
  Bake("rye");
  Settle();
  EXPECT_EQ(one->outcome_, "failed");
  EXPECT_EQ(two->outcome_, "rye");
}

TEST_F(WaitingRoomTest, FaultsOfALongLineDoNotGrowTheStack) {
  struct Failing final : Waiter {
    Failing() : Waiter({{"oat"}}) {}
    void Ask(bool, base::UniqueFunction<Answer> answered) override {
      if (fails) return answered({.kind = Kind::kEnd, .ask_in_ms = 0});
      answered({});
    }
    void Finish(const base::Fault*) override {}
    void GiveBack() override {}
    bool fails = false;
  };
  std::vector<std::shared_ptr<Failing>> line;
  for (int i = 0; i < 20'000; ++i)
    room_.Add(line.emplace_back(std::make_shared<Failing>()), kWaitMs);
  for (const auto& each : line) each->fails = true;
  registry_.SignalAll("oat");
  RunDue();
  EXPECT_EQ(waiting_, 0);
}

TEST_F(WaitingRoomTest, ARepeatedRequestSharesItsTicketAndTheLastOneLeavesTheLine) {
  const auto first = Enter({.ticket = "7"});
  const auto again = Enter({.kinds = {"oat"}, .ticket = "7"});
  const auto third = Enter({.kinds = {"oat"}, .ticket = "7"});
  Settle();
  Leave(*third);
  EXPECT_EQ(third->left_, 0);
  Bake("rye");
  RunDue();
  Decide(*first);
  Answer(*first);
  EXPECT_TRUE(again->answered_) << "what the first one was given is for both";
  Settle();
  Leave(*again);
  EXPECT_EQ(again->left_, 1);
}

TEST_F(WaitingRoomTest, StopAnswersEverybodyAndWhoeverComesLater) {
  const auto one = Enter();
  const auto two = Enter({.kinds = {"oat"}, .ticket = "7"});
  Settle();
  Bake("rye");
  RunDue();
  Decide(*one);
  room_.Stop();
  EXPECT_EQ(one->outcome_, "stopping");
  EXPECT_EQ(two->outcome_, "stopping");
  EXPECT_EQ(one->left_ + two->left_, 2);
  EXPECT_EQ(Enter()->outcome_, "stopping");
  Settle();
  EXPECT_EQ(stock_["rye"], 1) << "it was given back";
}

TEST_F(WaitingRoomTest, AnswersRunAtHome) {
  struct Home final : base::Executor {
    void Post(base::Task task) override { posted.push_back(std::move(task)); }
    std::vector<base::Task> posted;
  } home;
  Bake("rye");
  const auto one = Enter({.home = &home});
  Settle();
  EXPECT_FALSE(one->outcome_);
  ASSERT_EQ(home.posted.size(), 1u);
  home.posted.front()();
  EXPECT_EQ(one->outcome_, "rye");
}

TEST(WaitingRoomBound, WhoWouldWaitForTooMuchIsToldSoAndTheOthersWaitOn) {
  Bakery bakery(3);
  const auto one = bakery.Enter({.kinds = {"rye", "oat"}});
  EXPECT_EQ(bakery.Enter({.kinds = {"rye", "spelt", "wheat"}})->outcome_, "overloaded");
  const auto two = bakery.Enter({.kinds = {"rye", "oat", "spelt"}});
  bakery.Settle();
  EXPECT_TRUE(one->waits() && two->waits());
  bakery.Leave(*two);
  EXPECT_FALSE(bakery.Enter({.kinds = {"wheat"}})->outcome_);
  bakery.CheckEnd();
}

TEST_F(WaitingRoomTest, FiftyThousandOfOneLineHangUpTogether) {
  // A search through the line for each of them would take minutes.
  std::vector<std::shared_ptr<Customer>> line;
  for (int i = 0; i < 50'000; ++i) {
    auto& customer = line.emplace_back(std::make_shared<Customer>(*this, Likes()));
    customer->id_ = room_.Add(customer, kWaitMs);
  }
  std::shuffle(line.begin(), line.end(), std::minstd_rand(1));
  for (const auto& customer : line) Leave(*customer);
  EXPECT_EQ(waiting_, 0);
  for (const auto& customer : line) customer->answered_ = {};  // which owns the customer
}

TEST_F(WaitingRoomTest, ThousandsWhoGoTogetherLeaveAFewAtATime) {
  constexpr std::size_t kMany = 9'000;
  std::vector<std::shared_ptr<Customer>> customers;
  for (std::size_t i = 0; i < kMany; ++i) customers.push_back(Enter({.ticket = std::to_string(i)}));
  Settle();
  door_is_stuck_ = true;
  for (const auto& each : customers) Leave(*each);
  EXPECT_EQ(waiting_, 0) << "nobody waits for them";
  EXPECT_EQ(leaving_.size(), WaitingRoom::kMaxLeaving);
  for (std::size_t left = 0; left < kMany; ++left) {
    ASSERT_FALSE(leaving_.empty()) << left;
    EXPECT_LE(leaving_.size(), WaitingRoom::kMaxLeaving);
    base::Task done = std::move(leaving_.back());
    leaving_.pop_back();
    done();
  }
  for (const auto& each : customers) EXPECT_EQ(each->left_, 1);
}

TEST_F(WaitingRoomTest, WhoComesBackBeforeItHasBegunToLeaveKeepsItsPlace) {
  std::vector<std::shared_ptr<Customer>> customers;
  for (std::size_t i = 0; i <= WaitingRoom::kMaxLeaving; ++i)
    customers.push_back(Enter({.ticket = std::to_string(i)}));
  Settle();
  door_is_stuck_ = true;
  for (const auto& each : customers) Leave(*each);
  const auto again = Enter({.ticket = customers.back()->place().ticket});
  for (base::Task& left : std::exchange(leaving_, {})) left();
  EXPECT_EQ(customers.front()->left_, 1);
  EXPECT_EQ(customers.back()->left_, 0);
  Settle();
  EXPECT_TRUE(again->waits());
}

TEST_F(WaitingRoomTest, ALeaveThatEndsAtOnceMakesRoomForTheNextWithoutADeepStack) {
  std::vector<std::shared_ptr<Customer>> customers;
  for (int i = 0; i < 50'000; ++i) customers.push_back(Enter({.ticket = std::to_string(i)}));
  Settle();
  door_is_stuck_ = true;
  for (const auto& each : customers) Leave(*each);
  door_is_stuck_ = false;  // from here on each ends at once
  for (base::Task& left : std::exchange(leaving_, {})) left();
  for (const auto& each : customers) EXPECT_EQ(each->left_, 1);
}

}  // namespace
}  // namespace tenure::wake
