#include "audit/refusals.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::audit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// What was written, in a store that may be away.
class RefusalsTest : public testing::Test {
 protected:
  void Refuse(const std::string& person, const std::string& object = "u") {
    refusals_.Note({.act = "session.foreign", .tenant = "acme", .person = person},
                   {object, R"({"user":")" + object + "\"}"}, [this] { ++answered_; });
  }
  std::vector<std::string> Written() {
    std::vector<std::string> written;
    written.swap(written_);
    return written;
  }

  base::ManualClock clock_{1'766'311'200'000};
  telemetry::Registry metrics_;
  Probe probe_{metrics_};
  bool is_away_ = false;
  std::mutex mutex_;  // of a test with threads
  std::vector<std::string> written_;
  int answered_ = 0;
  Refusals refusals_{
      [this](const base::Actor& actor, const db::AuditEvent& event,
             base::UniqueFunction<bool> done) {
        if (!is_away_) {
          const std::lock_guard lock(mutex_);
          written_.push_back(actor.person + ": " + event.object + " " + event.detail);
        }
        done(!is_away_);
      },
      clock_,
      probe_,
      {.askers = 3, .window_ms = 60'000}};
};

TEST_F(RefusalsTest, TheFirstIsWrittenAndTheOthersOfItsMinuteAreOneSum) {
  Refuse("eve", "a");
  EXPECT_THAT(Written(), ElementsAre(R"(eve: a {"user":"a"})"));
  for (int i = 0; i < 9'999; ++i) Refuse("eve", "b");
  EXPECT_EQ(answered_, 10'000);
  EXPECT_EQ(metrics_.GetCounter("tenure_audit_refusals_total", "").value(), 10'000u);
  EXPECT_THAT(Written(), IsEmpty());
  refusals_.Flush();
  EXPECT_THAT(Written(), IsEmpty()) << "its minute is not over";
  clock_.Advance(60'000);
  refusals_.Flush();
  EXPECT_THAT(Written(), ElementsAre(R"(eve: b {"times":9999,"last":{"user":"b"}})"));
  refusals_.Flush();
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(RefusalsTest, WhoComesBackAfterTheMinuteIsTheFirstAgain) {
  Refuse("eve", "a");
  Refuse("eve", "b");
  clock_.Advance(60'000);
  Refuse("eve", "c");
  EXPECT_THAT(Written(),
              ElementsAre(R"(eve: a {"user":"a"})", R"(eve: b {"times":1,"last":{"user":"b"}})",
                          R"(eve: c {"user":"c"})"));
}

TEST_F(RefusalsTest, TooManyAskersShareOneSumWithoutNames) {
  for (int i = 0; i < 1'000; ++i) Refuse("p" + std::to_string(i));
  EXPECT_THAT(Written(), SizeIs(4)) << "three, and the first without a name";
  clock_.Advance(60'000);
  refusals_.Flush();
  EXPECT_THAT(Written(), ElementsAre(R"(: u {"times":996,"last":{"user":"u"}})"));
  Refuse("late");
  EXPECT_THAT(Written(), ElementsAre(R"(late: u {"user":"u"})")) << "there is room again";
}

TEST_F(RefusalsTest, WhatCouldNotBeWrittenIsInTheNextSum) {
  is_away_ = true;
  Refuse("eve");
  Refuse("eve");
  EXPECT_EQ(answered_, 2);
  clock_.Advance(60'000);
  refusals_.Flush();
  is_away_ = false;
  EXPECT_THAT(Written(), IsEmpty());
  clock_.Advance(60'000);
  refusals_.Flush();
  EXPECT_THAT(Written(), ElementsAre(R"(eve: u {"times":2,"last":{"user":"u"}})"));
}

TEST_F(RefusalsTest, StoppingWritesAllSums) {
  Refuse("eve");
  Refuse("eve");
  Refuse("mallory");
  Written();
  refusals_.Stop();
  EXPECT_THAT(Written(), ElementsAre(R"(eve: u {"times":1,"last":{"user":"u"}})"));
}

TEST_F(RefusalsTest, FromManyThreadsNoneIsLost) {
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i)
        refusals_.Note({.act = "session.foreign", .person = "eve"}, {"u", "{}"},
                       [&] { ++answered; });
    });
  for (int i = 0; i < 100; ++i) refusals_.Flush();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 4'000);
  Written();
  refusals_.Stop();
  EXPECT_THAT(Written(), ElementsAre(R"(eve: u {"times":3999,"last":{}})"));
}

TEST_F(RefusalsTest, OfChangesTheFirstIsTheirOwnAndTheOthersOfItsMinuteAreOneSum) {
  const base::Actor eve{.act = "topic.change", .tenant = "acme", .person = "eve"};
  EXPECT_TRUE(refusals_.Begin(eve)) << "it is put on record by whoever makes it";
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(refusals_.Begin(eve));
    refusals_.Count(eve, {"t", R"({"n":1})"});
  }
  EXPECT_TRUE(refusals_.Begin({.act = "topic.pause", .tenant = "acme", .person = "eve"}));
  clock_.Advance(60'000);
  refusals_.Flush();
  EXPECT_THAT(Written(), ElementsAre(R"(eve: t {"times":5,"last":{"n":1}})"));
  EXPECT_TRUE(refusals_.Begin(eve));
  refusals_.Withdraw(eve);
  EXPECT_TRUE(refusals_.Begin(eve)) << "the one before changed nothing";
}

}  // namespace
}  // namespace tenure::audit
