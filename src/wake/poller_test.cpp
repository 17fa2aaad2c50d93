#include "wake/poller.hpp"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::wake {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Cause = Poller::Cause;

/// A poller whose polls end when the test says so.
class PollerTest : public testing::Test, public Poller::Work {
 public:
  void Poll(Cause cause, base::UniqueFunction<Poller::Next> done) override {
    EXPECT_FALSE(done_) << "one at a time";
    done_ = std::move(done);
    begun_.push_back(cause);
  }

 protected:
  /// The polls that have begun by now.
  std::vector<Cause> Begun() {
    while (registry_.RunDue() > 0) continue;
    return std::exchange(begun_, {});
  }
  void Advance(std::int64_t ms) { clock_.Advance(ms); }
  void End(Poller::Next next) { std::exchange(done_, {})(next); }

  base::ManualClock clock_{0};
  Registry registry_{clock_};
  std::vector<Cause> begun_;
  base::UniqueFunction<Poller::Next> done_;
  Poller poller_{registry_, clock_, "key", *this};
};

TEST_F(PollerTest, ItPollsWhenItsTimeHasComeAndWhenItsKeyIsSignalled) {
  EXPECT_THAT(Begun(), IsEmpty());
  poller_.PollWithin(100);
  Advance(99);
  EXPECT_THAT(Begun(), IsEmpty());
  Advance(1);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
  End({});
  Advance(100'000);
  EXPECT_THAT(Begun(), IsEmpty()) << "the poll named no next time";
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
}

TEST_F(PollerTest, TheSoonestTimeCounts) {
  poller_.PollWithin(100);
  poller_.PollWithin(50);
  poller_.PollWithin(70);
  Advance(50);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
  poller_.PollWithin(10);  // while it is under way
  End({.in_ms = 20});
  Advance(10);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
}

TEST_F(PollerTest, ASignalDuringAPollMakesAnotherOneFollow) {
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
  registry_.SignalAll("key");
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), IsEmpty());
  End({});
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
  End({});
  EXPECT_THAT(Begun(), IsEmpty());
}

TEST_F(PollerTest, ASignalThatWasSentBeforeThePollEndedAndNotYetHeardIsNotLost) {
  poller_.PollWithin(0);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
  registry_.SignalAll("key");  // the registry has not run its task when the poll ends
  End({.in_ms = 1'000});
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
}

TEST_F(PollerTest, ASignalTakesNothingFromThePollThatWasToCome) {
  poller_.PollWithin(100);
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
  End({});
  Advance(100);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
}

TEST_F(PollerTest, SignalsWithoutEndDoNotKeepAPollFromItsTime) {
  poller_.PollWithin(100);
  for (int i = 0; i < 4; ++i) {
    registry_.SignalAll("key");
    EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
    registry_.SignalAll("key");
    Advance(20);
    End({});
    EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
    End({});
  }
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), IsEmpty());
  Advance(20);
  End({});
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
}

TEST_F(PollerTest, ThatEverybodyIsWokenIsASignalAndNoTime) {
  poller_.PollWithin(100);
  registry_.SignalEverybody();
  EXPECT_THAT(Begun(), ElementsAre(Cause::kSignal));
  End({});
  EXPECT_THAT(Begun(), IsEmpty());
  Advance(100);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
}

TEST_F(PollerTest, WhoMeetsALockPollsAfter10And20And40UpTo500Milliseconds) {
  poller_.PollWithin(0);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
    for (const std::int64_t pause_ms : {10, 20, 40, 80, 160, 320, 500, 500}) {
      End({.in_ms = 1'000, .locked = true});
      Advance(pause_ms - 1);
      EXPECT_THAT(Begun(), IsEmpty()) << pause_ms;
      Advance(1);
      EXPECT_THAT(Begun(), ElementsAre(Cause::kTime)) << pause_ms;
    }
    End({.in_ms = 0});  // no lock any more
  }
}

TEST_F(PollerTest, AfterStopNothingBegins) {
  poller_.PollWithin(0);
  EXPECT_THAT(Begun(), ElementsAre(Cause::kTime));
  registry_.SignalAll("key");
  Begun();
  poller_.Stop();
  End({.in_ms = 0});
  poller_.PollWithin(0);
  registry_.SignalAll("key");
  EXPECT_THAT(Begun(), IsEmpty());
}

}  // namespace
}  // namespace tenure::wake
