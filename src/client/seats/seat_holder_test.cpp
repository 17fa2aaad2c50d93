// A holder with its threads, on a virtual clock. Tests wait for what they expect to happen, never
// for time to pass.

#include "tenure/seats/seat_holder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "client/seats/seat_core.hpp"
#include "client/seats/test/scripted_seats.hpp"
#include "support/temp_dir.hpp"
#include "tenure/testing/virtual_clock.hpp"

namespace tenure::seats {
namespace {

using namespace std::chrono_literals;
using client::BeatAnswer;
using client::SeatAnswer;
using client::SeatBeat;
using client::SeatDenied;
using client::SeatGone;
using client::SeatRequest;
using client::SeatServer;
using client::SeatsInUse;
using client::SeatTicket;
using client::SeatUnheard;
using client::test::Given;
using client::test::ScriptedSeats;

/// Moves the clock in small steps until its end, for those who sleep on it.
class TimePasses {
 public:
  explicit TimePasses(testing::VirtualClock& clock)
      : thread_([this, &clock] {
          while (!over_) {
            clock.Advance(10);
            std::this_thread::yield();
          }
        }) {}
  ~TimePasses() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

class SeatHolderTest : public ::testing::Test {
 protected:
  SeatHolderTest() {
    backend = std::make_shared<ScriptedSeats>();
    server = std::make_shared<SeatServer>(backend, SeatServer::Options{.clock = &clock, .seed = 5});
    options.license_key = "KEY";
    options.machine_id = "m";
    events.acquired = [this](const Seat&) { acquired.Give(); };
    events.ok = [this](const Seat&) { ok.Give(); };
    events.at_risk = [this](const AtRisk&) { at_risk.Give(); };
    events.lost = [this](const SeatLost& each) {
      loss = each;
      lost.Give();
    };
    events.denied = [this](const NoSeat& each) {
      denial = each;
      denied.Give();
    };
    events.waiting = [this](const InLine& each) { position = each.position; };
  }

  std::unique_ptr<SeatHolder> Make() { return client::MakeSeatHolder(options, events, server); }

  /// A holder with a seat for `remaining`.
  std::unique_ptr<SeatHolder> Holding(Milliseconds remaining = 60s) {
    backend->NextGrant(1, remaining);
    auto holder = Make();
    EXPECT_TRUE(std::holds_alternative<Seat>(holder->Acquire()));
    acquired.Await();
    return holder;
  }

  template <class Answer>
  void Answers(Answer answer) {
    backend->Next([=](const SeatRequest&) -> SeatAnswer { return answer; });
  }

  testing::VirtualClock clock;
  std::shared_ptr<ScriptedSeats> backend;
  std::shared_ptr<SeatServer> server;
  SeatOptions options;
  SeatEvents events;
  Given acquired, ok, at_risk, lost, denied;
  SeatLost loss;  // after `lost`
  NoSeat denial;  // after `denied`
  std::atomic<std::int64_t> position{0};
};

TEST_F(SeatHolderTest, NothingIsHeldBeforeItIsAcquired) {
  const auto holder = Make();
  EXPECT_FALSE(holder->IsHeld());
  EXPECT_EQ(holder->state(), SeatState::kNone);
  EXPECT_EQ(holder->Remaining(), 0ms);
  EXPECT_FALSE(holder->Close().released);
}

TEST_F(SeatHolderTest, ASeatIsHeldUntilATenthBeforeItsDeadline) {
  const auto holder = Holding(60s);
  EXPECT_TRUE(holder->IsHeld());
  EXPECT_EQ(holder->state(), SeatState::kOk);
  EXPECT_EQ(holder->Remaining(), 54s);
  EXPECT_EQ(holder->seat()->session_id, "session-1");
  const std::stop_token token = holder->token();
  EXPECT_FALSE(token.stop_requested());
  clock.Advance(53'999);
  EXPECT_TRUE(holder->IsHeld());
  clock.Advance(1);
  EXPECT_FALSE(holder->IsHeld());
  lost.Await();
  EXPECT_TRUE(token.stop_requested());
}

/// The answer took ten seconds: the deadline counts from before the question was sent.
TEST_F(SeatHolderTest, ASlowAnswerIsWorthLess) {
  backend->Next([&](const SeatRequest&) {
    clock.Advance(10'000);
    return ScriptedSeats::GrantOf(1, 60s);
  });
  const auto holder = Make();
  holder->Acquire();
  EXPECT_EQ(holder->Remaining(), 44s);
}

TEST_F(SeatHolderTest, WhatWaitedInsideOfTheServerIsCountedButForATenth) {
  options.wait = 1min;
  backend->Next([&](const SeatRequest&) {
    clock.Advance(20'000);
    auto grant = ScriptedSeats::GrantOf(1, 60s);
    grant.waited = 20s;
    return grant;
  });
  const auto holder = Make();
  holder->Acquire();
  EXPECT_EQ(holder->Remaining(), 52s);
}

TEST_F(SeatHolderTest, HeartbeatsKeepIt) {
  backend->WhenBeaten([](const std::string&) -> BeatAnswer { return SeatBeat{60s}; });
  const auto holder = Holding();
  for (int i = 0; i < 10; ++i) {
    clock.Advance(20'000);
    while (holder->Remaining() < 50s) std::this_thread::yield();
  }
  EXPECT_EQ(holder->state(), SeatState::kOk);
}

TEST_F(SeatHolderTest, AServerThatIsAwayMakesItAtRiskAndItIsHeldUntilTheDeadline) {
  std::atomic<bool> is_away{true};
  backend->WhenBeaten([&](const std::string&) -> BeatAnswer {
    if (is_away) throw ScriptedSeats::Away();
    return SeatBeat{60s};
  });
  const auto holder = Holding();
  clock.Advance(20'000);
  at_risk.Await();
  EXPECT_EQ(holder->state(), SeatState::kAtRisk);
  EXPECT_TRUE(holder->IsHeld());
  is_away = false;
  clock.Advance(5'000);
  ok.Await();
  EXPECT_EQ(holder->state(), SeatState::kOk);
}

TEST_F(SeatHolderTest, AStoreThatWasRestoredAndDoesNotKnowItEndsNothingByItself) {
  backend->WhenBeaten([](const std::string&) -> BeatAnswer { return SeatUnheard{}; });
  const auto holder = Holding();
  clock.Advance(20'000);
  at_risk.Await();
  EXPECT_TRUE(holder->IsHeld());
  EXPECT_EQ(holder->Remaining(), 34s);
}

TEST_F(SeatHolderTest, WhatTheServerEndedIsLostAtOnceWithItsReason) {
  options.acquire_again = false;
  backend->WhenBeaten([](const std::string&) -> BeatAnswer {
    return SeatGone{LossReason::kLicenseSuspended, "The licence is suspended."};
  });
  const auto holder = Holding();
  clock.Advance(20'000);
  lost.Await();
  EXPECT_FALSE(holder->IsHeld());
  EXPECT_EQ(holder->state(), SeatState::kLost);
  EXPECT_EQ(loss.verdict, LossReason::kLicenseSuspended);
  EXPECT_EQ(loss.detail, "The licence is suspended.");
  EXPECT_EQ(loss.since_last_success, 20s);
  EXPECT_FALSE(loss.is_acquired_again);
  EXPECT_EQ(holder->Close().reason, LossReason::kLicenseSuspended);
  EXPECT_TRUE(backend->released().empty());
}

TEST_F(SeatHolderTest, WhatWasLostIsAcquiredAnewAndNamesTheFormerOne) {
  backend->WhenBeaten([](const std::string& session) -> BeatAnswer {
    if (session == "session-1") return SeatGone{LossReason::kExpired, {}};
    return SeatBeat{60s};
  });
  const auto holder = Holding();
  backend->NextGrant(2, 60s);
  clock.Advance(20'000);
  lost.Await();
  EXPECT_TRUE(loss.is_acquired_again);
  acquired.Await();
  EXPECT_TRUE(holder->IsHeld());
  EXPECT_EQ(holder->seat()->session_id, "session-2");
  EXPECT_EQ(backend->requests().back().former_session, "session-1");
  EXPECT_FALSE(holder->token().stop_requested());
}

TEST_F(SeatHolderTest, WhatACloneHasAndWhatWasRevokedIsNotAcquiredAnew) {
  for (const LossReason reason : {LossReason::kResumedElsewhere, LossReason::kRevoked}) {
    backend->WhenBeaten([=](const std::string&) -> BeatAnswer { return SeatGone{reason, {}}; });
    const auto holder = Holding();
    const std::size_t asked = backend->requests().size();
    clock.Advance(20'000);
    lost.Await();
    EXPECT_FALSE(loss.is_acquired_again);
    EXPECT_EQ(holder->state(), SeatState::kLost);
    EXPECT_EQ(holder->Close().reason, reason);  // no thread of its own is left
    EXPECT_EQ(backend->requests().size(), asked);
  }
}

TEST_F(SeatHolderTest, AMachineThatWasOfflineGetsASeatWhenItIsBack) {
  const auto holder = Holding(60s);
  const TimePasses time(clock);
  lost.Await();
  EXPECT_EQ(loss.verdict, std::nullopt);
  for (int i = 0; i < 5; ++i)
    backend->Next([](const SeatRequest&) -> SeatAnswer { throw ScriptedSeats::Away(); });
  backend->NextGrant(2, 24h);
  acquired.Await();
  EXPECT_EQ(holder->seat()->session_id, "session-2");
}

TEST_F(SeatHolderTest, WhatIsNotToBeHadAgainIsSaid) {
  const auto holder = Holding(60s);
  Answers(SeatDenied{{.reason = NoSeat::Reason::kExpired, .detail = "over"}});
  clock.Advance(60'000);
  denied.Await();
  EXPECT_EQ(denial.reason, NoSeat::Reason::kExpired);
  EXPECT_EQ(holder->state(), SeatState::kLost);
}

TEST_F(SeatHolderTest, AllHoldersOfAServerBeatInOneCall) {
  Given both;
  backend->WhenBeaten([&](const std::string& session) -> BeatAnswer {
    if (session == "session-2") both.Give();
    return SeatBeat{60s};
  });
  backend->NextGrant(1, 60s);
  backend->NextGrant(2, 60s);
  const auto one = Make();
  const auto another = Make();
  one->Acquire();
  another->Acquire();
  clock.Advance(20'000);
  both.Await();
  EXPECT_EQ(backend->rounds().front(), 2u);
}

TEST_F(SeatHolderTest, OneThatIsLostCostsTheOthersNothing) {
  options.acquire_again = false;
  backend->WhenBeaten([&](const std::string& session) -> BeatAnswer {
    if (session == "session-1") return SeatGone{LossReason::kRevoked, {}};
    return SeatBeat{60s};
  });
  backend->NextGrant(1, 60s);
  backend->NextGrant(2, 60s);
  const auto one = Make();
  const auto another = Make();
  one->Acquire();
  another->Acquire();
  clock.Advance(20'000);
  lost.Await();
  EXPECT_EQ(loss.session_id, "session-1");
  EXPECT_EQ(another->Remaining(), 54s);
}

// ---- waiting and refusals

TEST_F(SeatHolderTest, WhoWaitsAsksAgainWithItsTicketUntilItGetsASeat) {
  options.wait = 10min;
  backend->Next([this](const SeatRequest& request) -> SeatAnswer {
    EXPECT_EQ(request.wait_seconds, 30);
    clock.Advance(30'000);
    return SeatTicket{"ticket", 2};
  });
  backend->NextGrant(1, 60s);
  const auto holder = Make();
  EXPECT_TRUE(std::holds_alternative<Seat>(holder->Acquire()));
  acquired.Await();
  EXPECT_EQ(position, 2);
  EXPECT_TRUE(backend->left().empty());
}

TEST_F(SeatHolderTest, WhoWaitedLongEnoughLeavesTheLine) {
  options.wait = 40s;
  for (int i = 0; i < 2; ++i)
    backend->Next([this](const SeatRequest& request) -> SeatAnswer {
      clock.Advance(request.wait_seconds * 1'000);
      return SeatTicket{"ticket", 1};
    });
  const auto holder = Make();
  const auto outcome = holder->Acquire();
  EXPECT_EQ(std::get<NoSeat>(outcome).reason, NoSeat::Reason::kInUse);
  EXPECT_EQ(std::get<NoSeat>(outcome).position, 1);
  EXPECT_EQ(backend->left(), std::vector<std::string>{"ticket"});
}

TEST_F(SeatHolderTest, WithoutWaitingItAsksThreeTimesMore) {
  const SeatsInUse full{{.reason = NoSeat::Reason::kInUse, .seats_total = 3, .retry_after = 5s},
                        {}};
  for (int i = 0; i < 4; ++i) Answers(full);
  const auto holder = Make();
  const TimePasses time(clock);
  const auto outcome = holder->Acquire();
  EXPECT_EQ(std::get<NoSeat>(outcome).seats_total, 3);
  EXPECT_EQ(backend->requests().size(), 4u);
}

TEST_F(SeatHolderTest, AnotherRefusalIsFinal) {
  for (const auto reason : {NoSeat::Reason::kExpired, NoSeat::Reason::kNotFound,
                            NoSeat::Reason::kMachineHeld, NoSeat::Reason::kRefused}) {
    Answers(SeatDenied{{.reason = reason}});
    const auto outcome = Make()->Acquire();
    EXPECT_EQ(std::get<NoSeat>(outcome).reason, reason);
  }
  EXPECT_EQ(backend->requests().size(), 4u);
}

TEST_F(SeatHolderTest, AServerThatIsAwayIsAnErrorWithoutTimeToWait) {
  const auto holder = Make();
  EXPECT_THROW(holder->Acquire(), Unavailable);
  EXPECT_EQ(backend->requests().size(), 1u);
}

TEST_F(SeatHolderTest, AServerThatComesBackWithinTheWaitGivesASeat) {
  options.wait = 720h;
  for (int i = 0; i < 3; ++i)
    backend->Next([](const SeatRequest&) -> SeatAnswer { throw ScriptedSeats::Away(); });
  backend->NextGrant(1, 24h);
  const auto holder = Make();
  const TimePasses time(clock);
  EXPECT_TRUE(std::holds_alternative<Seat>(holder->Acquire()));
}

/// The same question has the same key, and its validity counts from the first time it was sent.
TEST_F(SeatHolderTest, AnAnswerThatWasLostIsAskedForUnderTheSameKey) {
  backend->Next([this](const SeatRequest&) -> SeatAnswer {
    clock.Advance(5'000);
    throw ScriptedSeats::Away(true);
  });
  backend->NextGrant(1, 60s);
  const auto holder = Make();
  holder->Acquire();
  EXPECT_EQ(holder->Remaining(), 49s);
  const auto requests = backend->requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].once, requests[1].once);
  EXPECT_FALSE(requests[0].once.empty());
}

TEST_F(SeatHolderTest, AGrantThatIsOverWhenItArrivesIsAskedForAnewWithItsSessionAsTheFormer) {
  backend->Next([this](const SeatRequest&) {
    clock.Advance(60'000);
    return ScriptedSeats::GrantOf(1, 60s);
  });
  backend->NextGrant(2, 60s);
  const auto holder = Make();
  holder->Acquire();
  EXPECT_TRUE(holder->IsHeld());
  const auto requests = backend->requests();
  EXPECT_EQ(requests[1].former_session, "session-1");
  EXPECT_NE(requests[0].once, requests[1].once);
}

TEST_F(SeatHolderTest, ATokenThatDoesNotAllowItIsSaid) {
  backend->Next([](const SeatRequest&) -> SeatAnswer {
    throw client::SeatCallFailed({client::CallFailed::Kind::kDenied, "seats:use is missing"}, {});
  });
  EXPECT_THROW(Make()->Acquire(), AccessDenied);
}

TEST_F(SeatHolderTest, WhoIsToldToStopStops) {
  options.wait = 1h;
  std::stop_source stop;
  backend->Next([&](const SeatRequest&) -> SeatAnswer {
    stop.request_stop();
    return SeatTicket{"ticket", 1};
  });
  const auto outcome = Make()->Acquire(stop.get_token());
  EXPECT_EQ(std::get<NoSeat>(outcome).reason, NoSeat::Reason::kStopped);
  EXPECT_EQ(backend->left(), std::vector<std::string>{"ticket"});
}

TEST_F(SeatHolderTest, WhatIsHeldIsNotAskedForAgain) {
  const auto holder = Holding();
  EXPECT_EQ(std::get<Seat>(holder->Acquire()).session_id, "session-1");
  EXPECT_EQ(backend->requests().size(), 1u);
}

// ---- the end

TEST_F(SeatHolderTest, CloseReleasesAndItCanBeAcquiredAgain) {
  const auto holder = Holding();
  const std::stop_token token = holder->token();
  EXPECT_TRUE(holder->Close().released);
  EXPECT_TRUE(token.stop_requested());
  EXPECT_FALSE(holder->IsHeld());
  EXPECT_EQ(holder->state(), SeatState::kReleased);
  EXPECT_EQ(backend->released(), std::vector<std::string>{"session-1"});
  backend->NextGrant(2, 60s);
  EXPECT_TRUE(std::holds_alternative<Seat>(holder->Acquire()));
  EXPECT_TRUE(holder->IsHeld());
}

TEST_F(SeatHolderTest, TheDestructorReleases) {
  Holding().reset();
  server.reset();  // the last one waits for it
  EXPECT_EQ(backend->released(), std::vector<std::string>{"session-1"});
}

TEST_F(SeatHolderTest, CloseEndsAHolderThatWaitsForItsSeat) {
  const auto holder = Holding(60s);
  clock.Advance(60'000);
  lost.Await();
  EXPECT_EQ(holder->Close().reason, std::nullopt);  // its thread tried, and has ended
  const std::size_t asked = backend->requests().size();
  clock.Advance(3'600'000);
  EXPECT_EQ(backend->requests().size(), asked);
}

TEST_F(SeatHolderTest, ARestartNamesTheSessionOfItsStateFile) {
  const support::TempDir dir;
  options.state_file = dir / "seat";
  const auto killed = Holding();
  EXPECT_THROW(Make(), StateFileError) << "it is locked while a holder lives";
  // What stands in the file of one that is killed.
  std::filesystem::copy_file(dir / "seat", dir / "left");
  options.state_file = dir / "left";
  backend->NextGrant(2, 60s);
  const auto next = Make();
  next->Acquire();
  EXPECT_EQ(backend->requests().back().former_session, "session-1");
  options.machine_id = "another";
  options.state_file = dir / "seat-2";
  backend->NextGrant(3, 60s);
  Make()->Acquire();
  EXPECT_EQ(backend->requests().back().former_session, "");
}

/// A store that was restored may have forgotten the release, and believes who names the session.
TEST_F(SeatHolderTest, WhatWasReleasedIsNotNamedAgainEvenIfTheReleaseDidNotArrive) {
  const support::TempDir dir;
  options.state_file = dir / "seat";
  backend->WhenReleased([](const std::string&) -> bool { throw ScriptedSeats::Away(); });
  Holding().reset();
  backend->NextGrant(2, 60s);
  const auto next = Make();
  next->Acquire();
  EXPECT_EQ(backend->requests().back().former_session, "") << "after the destructor";
  EXPECT_THROW(next->Close(), Unavailable);
  backend->NextGrant(3, 60s);
  next->Acquire();
  EXPECT_EQ(backend->requests().back().former_session, "") << "after Close";
}

TEST_F(SeatHolderTest, AStateFileOfAnotherMachineIsNotVouchedFor) {
  const support::TempDir dir;
  options.state_file = dir / "seat";
  Holding().reset();
  options.machine_id = "another";
  backend->NextGrant(2, 60s);
  Make()->Acquire();
  EXPECT_EQ(backend->requests().back().former_session, "");
}

TEST_F(SeatHolderTest, AfterAForkTheChildHoldsNothingAndReleasesNothing) {
  auto holder = Holding();
  const pid_t child = fork();
  if (child == 0) {
    const bool inert = !holder->IsHeld() && holder->state() == SeatState::kNone &&
                       !holder->Close().released && holder->Remaining() == 0ms;
    bool refuses = false;
    try {
      holder->Acquire();
    } catch (const SeatError&) {
      refuses = true;
    }
    holder.reset();
    _exit(inert && refuses && backend->released().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(holder->IsHeld());
}

TEST_F(SeatHolderTest, OptionsThatNoServerWouldTakeAreRefused) {
  const auto refused = [this](const auto& change) {
    const SeatOptions before = options;
    change(options);
    EXPECT_THROW(Make(), std::invalid_argument);
    options = before;
  };
  refused([](SeatOptions& each) { each.license_key = ""; });
  refused([](SeatOptions& each) { each.license_key = "a\nb"; });
  refused([](SeatOptions& each) { each.metadata = "[]"; });
  refused([](SeatOptions& each) { each.metadata = "{"; });
  refused([](SeatOptions& each) { each.machine_id = std::string(300, 'm'); });
  refused([](SeatOptions& each) { each.wait = -1s; });
  options.server = "postgres://localhost";
  EXPECT_THROW(SeatHolder{options}, std::invalid_argument);
  options.server = "http://token@tenure.example";
  EXPECT_THROW(SeatHolder{options}, std::invalid_argument) << "in clear text";
  options.insecure = true;
  EXPECT_NO_THROW(SeatHolder{options});
}

/// What the server would do is done here for two machines and one seat: never do both believe.
TEST_F(SeatHolderTest, BeliefsOfTwoMachinesNeverOverlap) {
  options.acquire_again = false;
  for (int round = 0; round < 50; ++round) {
    const auto one = Holding(1s);
    const std::int64_t granted_ms = clock.NowMs();
    backend->WhenBeaten(nullptr);
    clock.AdvanceTo(granted_ms + 1'000);  // the server may give it on from here
    EXPECT_FALSE(one->IsHeld());
    lost.Await();
  }
}

}  // namespace
}  // namespace tenure::seats
