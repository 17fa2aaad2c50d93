// What operators see of queues, sessions and messages, on every store.

#include "db/maintenance.hpp"
#include "queues/contract_fixture.hpp"
#include "queues/explain.hpp"

namespace tenure::queues {
namespace {

using store::EngineKind;
using testing::ElementsAre;
using testing::HasSubstr;

class LookContract : public QueuesContract {
 protected:
  SessionView Find(const std::string& key) {
    const auto page = a_.Call(a_.queues(), &Queues::ListSessions,
                              {.tenant = "default", .queue = "q", .key = key});
    EXPECT_EQ(page.rows.size(), 1u);
    return page.rows.empty() ? SessionView() : page.rows.front();
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, LookContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(LookContract, QueuesAreListedWithWhatTheirCountersSay) {
  a_.Declare();
  a_.Declare({}, "", "r");
  a_.Send("k", "12345");
  a_.Send("l");
  a_.AcceptOne();
  const auto page = a_.Call(a_.queues(), &Queues::List, {.tenant = "default", .limit = 1});
  ASSERT_EQ(page.rows.size(), 1u);
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(page.rows[0].sums.messages, 2);
  EXPECT_EQ(page.rows[0].sums.bytes, 7);
  EXPECT_EQ(page.rows[0].sums.held, 1);
  EXPECT_EQ(page.rows[0].sums.ready, 1);
  const auto next =
      a_.Call(a_.queues(), &Queues::List, {.tenant = "default", .after = "q", .limit = 1});
  EXPECT_EQ(next.rows.at(0).queue.name, "r");
  EXPECT_TRUE(a_.Call(a_.queues(), &Queues::List, {.tenant = "other"}).rows.empty());
}

TEST_P(LookContract, AQueueSaysWhatBacksOffAndWhoHoldsItsSessions) {
  a_.Declare({.backoff_ms = 1'000, .backoff_max_ms = 1'000});
  for (const char* key : {"k", "l", "m"}) a_.Send(key);
  a_.Fail(a_.AcceptOne("ann"), 1);
  a_.AcceptOne("ann");
  const HeldSession held = a_.AcceptOne("ben");
  clock().Advance(400);
  a_.Tell(a_.Of(Report::Kind::kRenew, held));
  const auto look = [&] {
    return a_.Call(a_.queues(), &Queues::List, {.tenant = "default", .name = "q"}).rows.at(0);
  };
  EXPECT_EQ(look().backoff, 1);
  EXPECT_EQ(look().staged, 0);
  const auto consumers =
      a_.Call(a_.queues(), &Queues::ListConsumers, {.tenant = "default", .queue = "q"}).rows;
  ASSERT_EQ(consumers.size(), 2u);
  EXPECT_EQ(consumers[0].consumer, "ann");
  EXPECT_EQ(consumers[1].sessions, 1);
  EXPECT_EQ(consumers[1].seen_ms - consumers[0].seen_ms, 400);
  clock().Advance(1'000);
  EXPECT_EQ(look().backoff, 0) << "its time has come";
}

TEST_P(LookContract, SessionsAreListedByTheirKeysAndFoundByWhatIsPrintedOfThem) {
  a_.Declare();
  NewMessage named = a_.Of("acme/r1/thread/7");
  named.name = "acme/shop/issue/7";
  a_.Send({named, a_.Of("k"), a_.Of("l")});
  a_.AcceptOne();
  SessionsRequest request{.tenant = "default", .queue = "q"};
  request.limit = 2;
  const auto page = a_.Call(a_.queues(), &Queues::ListSessions, request);
  ASSERT_EQ(page.rows.size(), 2u);
  EXPECT_TRUE(page.has_more);
  request.after_key = page.rows.back().session.key;
  request.after_generation = page.rows.back().session.generation;
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::ListSessions, request).rows.at(0).session.key, "l");
  request = {.tenant = "default", .queue = "q", .state = State::kHeld};
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::ListSessions, request).rows.size(), 1u);
  const auto count = [&](SessionsRequest of) {
    of.tenant = "default";
    of.queue = "q";
    return a_.Call(a_.queues(), &Queues::ListSessions, of).rows.size();
  };
  EXPECT_EQ(count({.consumer = "c"}), 1u);
  EXPECT_EQ(count({.consumer = "nobody"}), 0u);
  EXPECT_EQ(count({.share = "nobody's"}), 0u);
  EXPECT_EQ(count({.min_depth = 1}), 3u);
  EXPECT_EQ(count({.min_depth = 2}), 0u);
  EXPECT_EQ(Find("acme/shop/issue/7").session.key, "acme/r1/thread/7");
  EXPECT_GT(Find("k").head_enqueued_ms, 0);
}

TEST_P(LookContract, AQueueIsFoundByHowItsNameBeginsAndASessionByItsIdAlone) {
  a_.Declare({});
  const base::Uuid id = a_.Send("k").session;
  const auto names = [&](const std::string& begins) {
    std::string text;
    for (const QueueView& each :
         a_.Call(a_.queues(), &Queues::List, {.tenant = "default", .begins = begins}).rows)
      text += each.queue.name + " ";
    return text;
  };
  EXPECT_EQ(names("q"), "q ");
  EXPECT_EQ(names("q1"), "");
  EXPECT_EQ(names("p"), "");
  const auto owner = [&](const std::string& tenant, const base::Uuid& session) {
    return a_.Call(a_.queues(), &Queues::FindOwner, {tenant, session}).queue;
  };
  EXPECT_EQ(owner("default", id), "q");
  EXPECT_EQ(owner("another", id), "");
  EXPECT_EQ(owner("default", base::Uuid()), "");
}

TEST_P(LookContract, EverySessionSaysWhyItDoesNotMove) {
  a_.Declare({.max_delivery_count = 2});
  a_.Send("k");
  EXPECT_EQ(Find("k").Reason(), "ready");
  HeldSession held = a_.AcceptOne("ann");
  EXPECT_THAT(Explain(Find("k")).Sentence(), HasSubstr("ann holds k since"));
  clock().Advance(300'000);
  EXPECT_EQ(Find("k").Reason(), "overdue");
  a_.Fail(held, 1, "it broke");
  EXPECT_THAT(Explain(Find("k")).Sentence(), HasSubstr("failed (it broke)"));
  clock().Advance(10'000);
  held = a_.AcceptOne();
  a_.Fail(held, 1, "it broke");
  EXPECT_THAT(Explain(Find("k")).Sentence(), HasSubstr("max_delivery_count: it broke"));
  a_.Complete(held, 1);
  EXPECT_EQ(Find("k").Reason(), "idle");
  a_.Send("l");
  Report transfer = a_.Of(Report::Kind::kTransfer, a_.AcceptOne());
  transfer.to = "ben";
  a_.Tell(transfer);
  EXPECT_THAT(Explain(Find("l")).Sentence(), HasSubstr("reserved for ben"));
  a_.Pause(true);
  EXPECT_THAT(Explain(Find("l")).Sentence(), HasSubstr("paused"));
  a_.Pause(false);
  a_.Declare({}, "another rule");
  a_.Send("m");
  EXPECT_EQ(Find("m").Reason(), "generation");
}

TEST_P(LookContract, ASessionThatIsReadySaysHowManyAreBeforeItAndWhetherThereIsAPlace) {
  a_.Declare({.max_concurrent_sessions = 1});
  for (const char* key : {"k", "l", "m"}) a_.Send(key);
  EXPECT_THAT(Explain(Find("k")).Sentence(),
              HasSubstr("it is the next one: its message waits since"));
  EXPECT_THAT(Explain(Find("m")).Sentence(), HasSubstr("2 sessions are before it"));
  const HeldSession held = a_.AcceptOne();
  EXPECT_EQ(Find("m").Reason(), "cap");
  EXPECT_THAT(Explain(Find("m")).Sentence(), HasSubstr("One session is held, as many as"));
  a_.Complete(held, 1);
  EXPECT_EQ(Find("m").Reason(), "ready");

  db::NewIncarnation(a_.store().engine());
  EXPECT_EQ(Find("m").Reason(), "frozen");
  EXPECT_THAT(Explain(Find("m")).Sentence(), HasSubstr("restored or promoted"));
}

TEST_P(LookContract, MessagesArePeekedAtWithoutAHoldHistoryToo) {
  a_.Declare({.max_delivery_count = 1, .on_dead_letter = DeadLetterPolicy::kSkip});
  for (int i = 0; i < 3; ++i) a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  a_.Complete(held, 1);
  a_.Fail(held, 2);
  const auto peek = [&](PeekedState state) {
    std::vector<std::string> seen;
    const PeekRequest request{
        .tenant = "default", .queue = "q", .session = held.id, .state = state};
    for (const PeekedMessage& each : a_.Call(a_.queues(), &Queues::Peek, request).rows)
      seen.push_back(std::to_string(each.message.sequence) + std::string(ToText(each.State())));
    return seen;
  };
  EXPECT_THAT(peek(PeekedState::kAny), ElementsAre("1done", "2dead", "3waiting"));
  EXPECT_THAT(peek(PeekedState::kDone), ElementsAre("1done"));
  EXPECT_THAT(peek(PeekedState::kDead), ElementsAre("2dead"));
  EXPECT_THAT(peek(PeekedState::kWaiting), ElementsAre("3waiting"));
  EXPECT_THAT(peek(PeekedState::kParked), ElementsAre());
  a_.Declare({.max_delivery_count = 1});
  a_.Fail(a_.AcceptOne(), 3);
  EXPECT_THAT(peek(PeekedState::kParked), ElementsAre("3parked"));
  EXPECT_THAT(peek(PeekedState::kWaiting), ElementsAre());
}

TEST_P(LookContract, AQueueSaysWhatItsOlderGenerationsHoldBack) {
  a_.Declare({.max_delivery_count = 1});
  a_.Send("k");
  a_.Send("l");
  a_.Fail(a_.AcceptOne(), 1);
  a_.Declare({.max_delivery_count = 1}, "another");
  a_.Send("k");
  const QueueView view =
      a_.Call(a_.queues(), &Queues::List, {.tenant = "default", .name = "q"}).rows.at(0);
  EXPECT_EQ(view.queue.oldest, 1);
  EXPECT_EQ(view.older_messages, 2);
  EXPECT_EQ(view.older_parked, 1);
  EXPECT_EQ(view.sums.messages, 3);
}

TEST_P(LookContract, WhoAsksForAQueueIsKnownToTheMinute) {
  a_.Declare();
  const auto asked = [&] {
    return a_.Call(a_.queues(), &Queues::List, {.tenant = "default", .name = "q"})
        .rows.at(0)
        .asked_ms;
  };
  EXPECT_EQ(asked(), 0);
  a_.Accept(a_.Ask());
  a_.Drive();
  const std::int64_t first = asked();
  EXPECT_GT(first, 0);
  clock().Advance(59'000);
  a_.Accept(a_.Ask());
  a_.Drive();
  EXPECT_EQ(asked(), first);
  clock().Advance(1'000);
  a_.Accept(a_.Ask());
  a_.Drive();
  EXPECT_EQ(asked(), first + 60'000);
}

TEST_P(LookContract, WhatIsLeftIsWhatHoldsOrIsHeld) {
  a_.Declare();
  for (const char* key : {"held", "ready", "parked", "idle"}) a_.Send(key);
  const auto accept = [&](const std::string& key) {
    AcceptRequest request = a_.Ask();
    request.key = key;
    return a_.Accept(std::move(request)).sessions.at(0);
  };
  const HeldSession idle = accept("idle");
  a_.Complete(idle, 1);
  const HeldSession parked = accept("parked");
  Report rejected = a_.Of(Report::Kind::kFail, parked, 1);
  rejected.rejected = true;
  a_.Tell(std::move(rejected));
  const HeldSession held = accept("held");
  const auto left = [&] { return a_.Call(a_.queues(), &Queues::FindLeft, {"default", "q", 100}); };
  EXPECT_EQ(left().sessions.size(), 3u);
  EXPECT_EQ(left().messages, 3);
  HoldsReply holds = a_.Call(a_.queues(), &Queues::FindHolds, {"default", "q", "c"});
  ASSERT_EQ(holds.holds.size(), 1u);
  EXPECT_EQ(holds.holds[0].session, held.id);
  EXPECT_EQ(holds.holds[0].fence, held.fence);
  for (const base::Uuid& session : left().sessions)
    EXPECT_EQ(a_.Tell({.kind = Report::Kind::kClear, .session = session}).kind,
              ReportOutcome::Kind::kDone);
  EXPECT_EQ(left().sessions.size(), 0u);
  EXPECT_EQ(a_.Complete(held, 1).kind, ReportOutcome::Kind::kStale) << "it lost its hold";
}

}  // namespace
}  // namespace tenure::queues
