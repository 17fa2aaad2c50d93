#include "queues/explain.hpp"

#include <gmock/gmock.h>

namespace tenure::queues {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z
constexpr std::int64_t kWhyHour = 3'600'000;

struct SessionCase {
  std::string_view code;
  SessionView view;
  std::string sentence;
  std::string next;
  std::string acts;
};

std::string ActsOf(const explain::Explanation& why) {
  std::string acts;
  for (const explain::Action& each : why.actions)
    acts += std::string(each.act) + (each.danger ? "! " : " ");
  return acts;
}

SessionView Waiting() {
  SessionView view;
  view.now_ms = kWhyNow;
  view.queue.name = "triage";
  view.queue.generation = 1;
  view.session.name = "shop#7";
  view.session.generation = 1;
  view.session.state = State::kReady;
  view.session.head = 3;
  view.session.next = 5;
  view.head_enqueued_ms = kWhyNow - kWhyHour;
  view.asked_ms = kWhyNow;
  view.before = 2;
  return view;
}

TEST(WhyQueueSession, SaysWhoHasItSinceWhenUntilWhenAndWhatComesNext) {
  SessionView held = Waiting();
  held.session.state = State::kHeld;
  held.session.consumer = "ann\n2";
  held.session.turn_ms = kWhyNow - kWhyHour;
  held.session.lease_until_ms = kWhyNow + 60'000;
  SessionView overdue = held;
  overdue.session.lease_until_ms = kWhyNow;
  SessionView parked = Waiting();
  parked.session.state = State::kParked;
  parked.session.parked_ms = kWhyNow - kWhyHour;
  parked.session.reason = DeathReason::kRejected;
  parked.session.error = "no\nsuch thing";
  SessionView idle = Waiting();
  idle.session.state = State::kIdle;
  idle.session.head = 5;
  SessionView staged = idle;
  staged.staged = 2;
  SessionView next = Waiting();
  next.before = 0;
  next.session.head = 4;
  SessionView unasked = next;
  unasked.asked_ms = kWhyNow - kWhyHour;
  SessionView never = next;
  never.asked_ms = 0;
  SessionView frozen = Waiting();
  frozen.session.fence = 7;
  frozen.session.lease_ms = 60'000;
  frozen.limits = {.incarnation = 2, .frozen_ms = kWhyNow, .freeze_ms = 60'000};
  SessionView uncounted = Waiting();
  uncounted.before = -1;
  SessionView backoff = Waiting();
  backoff.session.not_before_ms = kWhyNow + 60'000;
  backoff.session.error = "HTTP 502";
  SessionView reserved = Waiting();
  reserved.session.reserved_for = "ben";
  reserved.session.reserved_until_ms = kWhyNow + 60'000;
  SessionView paused = Waiting();
  paused.queue.paused_ms = kWhyNow - kWhyHour;
  paused.queue.paused_reason = "supplier is down";
  paused.session.error = "HTTP 502";
  SessionView newer = Waiting();
  newer.is_behind = true;
  SessionView cap = Waiting();
  cap.queue.settings.max_concurrent_sessions = 1;
  cap.held = 1;
  const std::string then = "2026-01-01T10:00:00.000Z", soon = "2026-01-01T11:01:00.000Z";
  const std::string waiting_acts = "queue.skip queue.discard! ";
  const std::vector<SessionCase> cases{
      {"held", held, "ann 2 holds shop#7 since " + then + ", at message 3, until " + soon + ".",
       "Without a renewal it is free at " + soon +
           ", and what is not completed is handed out again.",
       "queue.break "},
      {"overdue", overdue,
       "ann 2 held shop#7 until 2026-01-01T11:00:00.000Z and has not been heard of since.",
       "The next accept takes it over, and gets what is not completed.", "queue.break "},
      {"parked", parked,
       "shop#7 is parked since " + then +
           ": message 3 cannot be processed (rejected: no such thing). One waits behind it.",
       "Resume tries that message again; skip passes it over, and the session goes on.",
       "queue.resume " + waiting_acts},
      {"idle", idle, "shop#7 has no messages that are not done.",
       "The next message that is sent to it makes it ready.", ""},
      {"staged", staged, "2 messages of users' transactions are yet to enter shop#7.",
       "The next accept of the queue puts them in.", ""},
      {"ready", Waiting(),
       "shop#7 is ready, and 2 sessions are before it: the first of its 2 messages waits since " +
           then + " for somebody to accept it.",
       "An accept of the queue takes the sessions in their order.", waiting_acts},
      {"ready", next,
       "shop#7 is ready, and it is the next one: its message waits since " + then +
           " for somebody to accept it.",
       "An accept of the queue takes the sessions in their order.", waiting_acts},
      {"ready", uncounted,
       "shop#7 is ready: the first of its 2 messages waits since " + then +
           " for somebody to accept it.",
       "An accept of the queue takes the sessions in their order.", waiting_acts},
      {"unasked", unasked,
       "shop#7 is ready, and it is the next one: its message waits since " + then +
           " for somebody to accept it, but nobody has asked for sessions of triage since " + then +
           ".",
       "A consumer takes them: `tenure queue run triage -- COMMAND`, or one of yours.",
       waiting_acts},
      {"unasked", never,
       "shop#7 is ready, and it is the next one: its message waits since " + then +
           " for somebody to accept it, but nobody has ever asked for sessions of triage.",
       "A consumer takes them: `tenure queue run triage -- COMMAND`, or one of yours.",
       waiting_acts},
      {"frozen", frozen,
       "The store was restored or promoted: somebody whom it has forgotten may hold shop#7 until " +
           soon + ".",
       "Then it is handed out again. `tenure admin thaw` ends that for all.", waiting_acts},
      {"backoff", backoff, "Message 3 of shop#7 failed (HTTP 502).",
       "It is tried again at " + soon + ".", waiting_acts},
      {"reserved", reserved, "shop#7 is reserved for ben until " + soon + ".",
       "Then anybody may accept it.", waiting_acts},
      {"paused", paused,
       "The queue triage is paused since " + then +
           ": \"supplier is down\". Message 3 failed before (HTTP 502).",
       "`tenure queue start` lets all its sessions go on.", waiting_acts},
      {"generation", newer,
       "shop#7 is of a new generation of the queue triage, which waits until the older one is "
       "empty.",
       "It goes on when the older generation has no messages.", waiting_acts},
      {"cap", cap, "One session is held, as many as max_concurrent_sessions of triage allows.",
       "The next end of one lets a session go on.", waiting_acts},
  };
  for (const SessionCase& each : cases) {
    const explain::Explanation why = Explain(each.view);
    EXPECT_EQ(why.because.front().code, each.code);
    EXPECT_EQ(why.state, each.code == "unasked" ? "ready" : each.code);
    EXPECT_EQ(why.Sentence(), each.sentence);
    EXPECT_EQ(why.next.text, each.next) << each.code;
    EXPECT_EQ(ActsOf(why), each.acts) << each.code;
  }
}

TEST(WhyQueueSession, AnActNamesTheMessageThatItPassesOver) {
  SessionView view = Waiting();
  view.queue.name = "a b";
  const explain::Action skip = Explain(view).actions.front();
  EXPECT_EQ(skip.body, R"({"sequence":3})");
  EXPECT_THAT(skip.path, HasSubstr("/api/v1/queues/a%20b/sessions/"));
  EXPECT_THAT(skip.command, HasSubstr("tenure queue skip 'a b' "));
}

QueueView Moving() {
  QueueView view;
  view.now_ms = kWhyNow;
  view.queue.name = "triage";
  view.sums = {.messages = 7, .bytes = 70, .ready = 2, .held = 1, .parked = 0};
  view.oldest_ms = kWhyNow - kWhyHour;
  view.asked_ms = kWhyNow;
  return view;
}

TEST(WhyQueue, SaysWhatKeepsItFromHandingOut) {
  const std::string line =
      " The session that is next in line waits since 2026-01-01T10:00:00.000Z.";
  QueueView paused = Moving();
  paused.queue.paused_ms = kWhyNow - kWhyHour;
  paused.queue.paused_reason = "supplier is down";
  QueueView unasked = Moving();
  unasked.asked_ms = kWhyNow - kWhyHour;
  QueueView draining = Moving();
  draining.queue.state = QueueState::kDraining;
  QueueView full = Moving();
  full.queue.settings.max_concurrent_sessions = 1;
  QueueView parked = Moving();
  parked.sums.parked = 2;
  QueueView empty = Moving();
  empty.sums = {};
  empty.oldest_ms = 0;
  QueueView newer = Moving();
  newer.queue.generation = 2;
  QueueView topic = empty;
  topic.queue.settings.scope = Scope::kNone;
  const auto expect = [](const QueueView& view, const std::string& state,
                         const std::string& sentence, const std::string& acts) {
    const explain::Explanation why = Explain(view);
    EXPECT_EQ(why.state, state);
    EXPECT_EQ(why.Sentence(), sentence);
    EXPECT_EQ(ActsOf(why), acts) << sentence;
    EXPECT_FALSE(why.next.text.empty());
  };
  const std::string count = " 7 messages are not done.";
  expect(Moving(), "active", "Of the sessions of triage, 2 are ready and 1 held." + count + line,
         "queue.pause ");
  expect(paused, "paused",
         "The queue triage is paused since 2026-01-01T10:00:00.000Z: \"supplier is down\"." +
             count + line,
         "queue.pause ");
  expect(unasked, "active",
         "Of the sessions of triage, 2 are ready and 1 held. Nobody has asked for sessions of "
         "triage since 2026-01-01T10:00:00.000Z." +
             count + line,
         "queue.pause ");
  expect(draining, "draining",
         "triage takes no messages any more; what is left is handed out." + count + line,
         "queue.pause ");
  expect(full, "active",
         "One session is held, as many as max_concurrent_sessions of triage allows." + count + line,
         "queue.pause ");
  expect(parked, "active",
         "Of the sessions of triage, 2 are ready and 1 held. 2 sessions are parked: a message of "
         "each cannot be processed." +
             count + line,
         "queue.pause queue.resume ");
  expect(empty, "active", "triage has no messages to hand out.", "queue.pause ");
  expect(newer, "active",
         "Of the sessions of triage, 2 are ready and 1 held. Its generation 2 waits until "
         "generation 1 is empty." +
             count + line,
         "queue.pause ");
  expect(topic, "active", "triage keeps no order: `tenure why topic triage` tells of its messages.",
         "");
}

}  // namespace
}  // namespace tenure::queues
