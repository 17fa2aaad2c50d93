// What the reliable task does, on every store: history ends, sessions go and come back above.

#include "queues/contract_fixture.hpp"

namespace tenure::queues {
namespace {

using store::EngineKind;

constexpr std::int64_t kDay = 86'400'000;

class TidyContract : public QueuesContract {
 protected:
  /// To the end, in parts.
  TidyReply Tidy() {
    TidyReply sum;
    TidyRequest request{{}, 30 * kDay};
    for (bool more = true; more;) {
      const TidyReply reply = a_.Call(a_.queues(), &Queues::Tidy, request);
      sum.messages += reply.messages;
      sum.sessions += reply.sessions;
      request.after = reply.last;
      more = reply.has_more;
    }
    return sum;
  }
  void Do(const std::string& key, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) a_.Send(key);
    for (HeldSession held = a_.AcceptOne(); count > 0;) {
      const std::int64_t last = held.messages.back().sequence;
      count -= std::ssize(held.messages);
      held.messages = a_.Complete(held, last).messages;
    }
  }
  std::int64_t Messages(const base::Uuid& session) {
    return std::ssize(a_.Call(a_.queues(), &Queues::Peek,
                              {.tenant = "default", .queue = "q", .session = session, .limit = 500})
                          .rows);
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, TidyContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(TidyContract, HistoryEndsButNotWhatWaitsOrIsADeadLetter) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip, .history_ms = kDay});
  a_.Send("k");
  const HeldSession first = a_.AcceptOne();
  Report reject = a_.Of(Report::Kind::kFail, first, 1);
  reject.rejected = true;
  a_.Tell(reject);
  for (int i = 0; i < 150; ++i) a_.Send("k");
  HeldSession held = a_.Accept(a_.Ask(1, "c", 100)).sessions.at(0);
  Report complete = a_.Of(Report::Kind::kComplete, held, 101);
  complete.max_messages = 100;
  complete.keep = false;
  a_.Tell(complete);
  EXPECT_EQ(Tidy().messages, 0) << "it is not old";
  clock().Advance(kDay);
  EXPECT_EQ(Tidy().messages, 100);
  EXPECT_EQ(Messages(first.id), 51) << "the dead letter, and those that wait";
  EXPECT_EQ(a_.AcceptOne().messages.front().sequence, 102);
}

TEST_P(TidyContract, ASessionThatNobodyUsesGoesAndComesBackAbove) {
  a_.Declare({.history_ms = kDay});
  Do("k", 3);
  a_.Send("l");
  const HeldSession kept = a_.AcceptOne();
  Report report = a_.Of(Report::Kind::kComplete, kept, 1);
  report.state = "s";
  a_.Tell(report);
  const std::int64_t fence = kept.fence;
  clock().Advance(29 * kDay);
  EXPECT_EQ(Tidy().sessions, 0) << "not yet";
  clock().Advance(kDay);
  EXPECT_EQ(Tidy().sessions, 1) << "l has a state";
  EXPECT_EQ(a_.Send("k").sequence, 4);
  EXPECT_EQ(a_.Send("l").sequence, 2);
  for (const HeldSession& each : a_.Accept(a_.Ask(2)).sessions)
    EXPECT_GE(each.fence, each.key == "k" ? 2 : fence + 1) << each.key;
}

TEST_P(TidyContract, OneThatComesBackInTheSameBatchAsItsQueueWasReadStartsAboveToo) {
  a_.Declare({.history_ms = kDay});
  Do("k", 2);
  const std::int64_t before =
      a_.Call(a_.queues(), &Queues::ListSessions, {.tenant = "default", .queue = "q", .key = "k"})
          .rows.at(0)
          .session.fence;
  clock().Advance(60 * kDay);
  EXPECT_EQ(Tidy().sessions, 1);
  a_.Send("k");
  EXPECT_GT(a_.AcceptOne().fence, before);
}

TEST_P(TidyContract, KeysAndReplayedLettersAreForgotten) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip, .dedup_ms = 1'000});
  NewMessage message = a_.Of("k");
  message.dedup_key = "d";
  a_.Send({message});
  Report reject = a_.Of(Report::Kind::kFail, a_.AcceptOne(), 1);
  reject.rejected = true;
  a_.Tell(reject);
  AgainRequest again;
  again.tenant = "default";
  again.queue = "q";
  again.places = {{reject.session, 1}};
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::Again, again).changed, 1);
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::ForgetSome, {}).rows, 0);
  clock().Advance(1'000);
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::ForgetSome, {}).rows, 1) << "the key";
  clock().Advance(90 * kDay);
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::ForgetSome, {}).rows, 1) << "the letter";
}

TEST_P(TidyContract, AQueueWhoseBotWasRemovedIsDroppedWhenItIsEmpty) {
  a_.Declare();
  a_.Send("k");
  a_.Call(a_.queues(), &Queues::Declare, {"default", "q", {{}, "", true}});
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::DropSome, {}).rows, 0);
  a_.Complete(a_.AcceptOne(), 1);
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::DropSome, {}).rows, 1);
  EXPECT_EQ(a_.Accept(a_.Ask()).kind, AcceptReply::Kind::kNoQueue);
}

TEST_P(TidyContract, FiguresAreThoseOfTheCounters) {
  a_.Declare({.max_concurrent_sessions = 2, .depth_threshold = 1});
  a_.Send("k");
  a_.Send("l");
  a_.AcceptOne();
  clock().Advance(5'000);
  const FiguresReply reply = a_.Call(a_.queues(), &Queues::Count, {});
  ASSERT_EQ(reply.queues.size(), 1u);
  const QueueFigures& figures = reply.queues.front();
  EXPECT_EQ(figures.messages, 2);
  EXPECT_EQ(figures.held, 1);
  EXPECT_EQ(figures.ready, 1);
  EXPECT_EQ(reply.now_ms - figures.oldest_ms, 5'000);
  EXPECT_TRUE(a_.Call(a_.queues(), &Queues::FindQueuesToDrain, {}).queues.empty());
}

}  // namespace
}  // namespace tenure::queues
