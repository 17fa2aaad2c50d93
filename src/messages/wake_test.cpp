// Whoever waits for messages is woken when there are some. The clock of these tests stands still
// while somebody waits, so that no look of his own falls due: only a wake-up can end the wait.
// PostgreSQL, where messages come from other processes and from users' own transactions.

#include <atomic>
#include <chrono>

#include "db/feed.hpp"
#include "messages/test_process.hpp"
#include "store/tables.hpp"

namespace tenure::messages {
namespace {

class MessageWakeUp : public testing::Test {
 public:
  MessageWakeUp() {
    // tenure.enqueue goes by PostgreSQL's own clock: what it puts in must be due here.
    clock().Advance(base::SystemClock().WallMs() + 3'600'000 - clock().WallMs());
    feed_->Start();
    // What was committed before the feed listened it covers by waking everybody: not here.
    Await([&] { return gaps_ > 0; });
    a_.Enqueue("t");
    EXPECT_EQ(a_.Claim("t").size(), 1u) << "the topic is known";
  }
  ~MessageWakeUp() override { feed_->Stop(); }

 protected:
  base::ManualClock& clock() { return store_.clock(); }

  template <class Condition>
  void Await(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition() && std::chrono::steady_clock::now() < end) a_.Drive();
    EXPECT_TRUE(condition()) << "not within a minute";
  }
  /// Waits at one process, and is told of the message that `enqueue` commits.
  template <class Enqueue>
  void ExpectWoken(Enqueue enqueue) {
    const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 600'000);
    ASSERT_FALSE(waiting->outcome);
    const std::int64_t begun_ms = clock().BootMs();
    enqueue();
    Await([&] { return waiting->outcome.has_value(); });
    ASSERT_TRUE(waiting->outcome && waiting->outcome->ok());
    EXPECT_EQ(waiting->outcome->value().messages.size(), 1u);
    EXPECT_EQ(clock().BootMs(), begun_ms) << "no time has passed";
    EXPECT_EQ(gaps_, 1) << "he was woken by the message and by nothing else";
  }

  store::TestStore store_{store::EngineKind::kPostgres, sql::All()};
  TestProcess a_{store_};
  TestProcess b_{store_, "q"};
  std::atomic<int> gaps_{0};
  std::unique_ptr<db::Feed> feed_ = a_.store().engine().NewFeed(
      {.on_payload = [this](std::string_view payload) { a_.wake().SignalAll(payload); },
       .on_gap =
           [this] {
             a_.wake().SignalEverybody();
             ++gaps_;
           }});
};

TEST_F(MessageWakeUp, ByAnEnqueueOfTheSameProcess) {
  feed_->Stop();
  ExpectWoken([&] { a_.Enqueue("t"); });
}

TEST_F(MessageWakeUp, ByAnEnqueueOfAnotherProcess) {
  for (int round = 0; round < 3; ++round) ExpectWoken([&] { b_.Enqueue("t"); });
}

TEST_F(MessageWakeUp, ByAFunctionInAUsersOwnTransaction) {
  const auto user = store::OpenPostgresTables(store_.url());
  ExpectWoken([&] {
    for (const char* sql : {"begin", "select tenure.enqueue('t', '1')", "commit"}) user->Ask(sql);
  });
}

TEST_F(MessageWakeUp, ByAMessageThatSomebodyGaveBack) {
  b_.Enqueue("t");
  const auto held = b_.ClaimOne("t");
  ExpectWoken([&] { EXPECT_EQ(b_.Settle(Disposition::kUntouched, held), SettleOutcome::kDone); });
}

TEST_F(MessageWakeUp, ByATopicThatGoesOnAtAnotherProcess) {
  b_.ChangeTopic({.name = "t", .paused = true});
  b_.Enqueue("t");
  ExpectWoken([&] { b_.ChangeTopic({.name = "t", .paused = false}); });
}

}  // namespace
}  // namespace tenure::messages
