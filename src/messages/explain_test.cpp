#include "messages/explain.hpp"

#include <functional>

#include <gmock/gmock.h>

#include "base/time_text.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kMinute = 60'000;
const std::int64_t kNow = base::ParseUtcMs("2026-01-01T11:00:00.000Z").value();

struct MessageCase {
  std::string_view code;
  std::function<void(MessageView&)> set;
  std::string sentence;
  std::string next;
  std::vector<std::string_view> acts;
};

std::vector<std::string_view> ActsOf(const explain::Explanation& explanation) {
  std::vector<std::string_view> acts;
  for (const explain::Action& each : explanation.actions) acts.push_back(each.act);
  return acts;
}

void Claimed(MessageView& message) {
  message.state = MessageState::kClaimed;
  message.owner = "mailer\x1b[2J";
  message.claimed_ms = kNow - kMinute;
  message.lease_until_ms = kNow + kMinute;
}
void Dead(MessageView& message, DeathReason reason) {
  message.state = MessageState::kDead;
  message.reason = reason;
  message.attempts = 20;
  message.crashes = 3;
  message.error = "550\nno such mailbox";
}

const std::vector<MessageCase>& MessageCases() {
  static const std::vector<MessageCase> cases{
      {"delayed",
       [](MessageView& message) {
         message.state = MessageState::kWaiting;
         message.due_ms = kNow + kMinute;
       },
       "It is due at 2026-01-01T11:01:00.000Z.",
       "Then it is ready, for whoever asks for messages of mail.",
       {"timer.cancel"}},
      {"retrying",
       [](MessageView& message) {
         message.state = MessageState::kWaiting;
         message.due_ms = kNow + kMinute;
         message.attempts = 2;
       },
       "Attempt 2 failed; the next is due at 2026-01-01T11:01:00.000Z. The error was: (none was "
       "given)",
       "Then it is ready, for whoever asks for messages of mail.",
       {}},
      {"paused",
       [](MessageView& message) {
         message.paused_ms = kNow - kMinute;
         message.paused_reason = "supplier is down";
       },
       "The topic mail is paused since 2026-01-01T10:59:00.000Z: supplier is down.",
       "It goes on when the topic does: `tenure message resume mail`.",
       {"topic.resume"}},
      {"unhandled",
       [](MessageView& message) { message.asked_ms = 0; },
       "It is ready, but nobody has ever asked for messages of mail.",
       "Start a worker for the topic.",
       {}},
      {"unhandled",
       [](MessageView& message) { message.asked_ms = kNow - kUnhandledMs - 1'000; },
       "It is ready, but nobody has asked for messages of mail since 2026-01-01T10:54:59.000Z.",
       "Is its worker running?",
       {}},
      {"next",
       [](MessageView&) {},
       "It is the next in its line.",
       "The next worker that asks gets it.",
       {}},
      {"in-line",
       [](MessageView& message) {
         message.ahead = kMaxAhead;
         message.crashes = 1;
       },
       "1000 or more of the same topic and priority became ready before it. It is handed out "
       "alone, since its worker died with it.",
       "It is handed out when they are.",
       {}},
      {"claimed",
       Claimed,
       "mailer?[2J has it since 2026-01-01T10:59:00.000Z.",
       "Unless it is prolonged, it comes back at 2026-01-01T11:01:00.000Z.",
       {}},
      {"claimed",
       [](MessageView& message) {
         Claimed(message);
         message.owner = "mailer";
         message.worker_until_ms = kNow + kMinute / 2;
       },
       "mailer has worked on it since 2026-01-01T10:59:00.000Z, and is alive.",
       "If nothing more is heard of that worker, it comes back at 2026-01-01T11:00:30.000Z.",
       {}},
      {"attempts",
       [](MessageView& message) { Dead(message, DeathReason::kAttempts); },
       "All 20 attempts failed. The last error was: 550 no such mailbox",
       "It stays until somebody redrives or discards it.",
       {"message.redrive", "message.discard"}},
      {"crashes",
       [](MessageView& message) { Dead(message, DeathReason::kCrashes); },
       "3 workers died with it, or never said a word.",
       "It stays until somebody redrives or discards it.",
       {"message.redrive", "message.discard"}},
      {"failed",
       [](MessageView& message) { Dead(message, DeathReason::kFailed); },
       "Its worker gave it up for good. The last error was: 550 no such mailbox",
       "It stays until somebody redrives or discards it.",
       {"message.redrive", "message.discard"}},
      {"done",
       [](MessageView& message) {
         message.state = MessageState::kDone;
         message.ended_ms = kNow - kMinute;
       },
       "It was finished at 2026-01-01T10:59:00.000Z.",
       "Nothing more happens to it.",
       {}},
  };
  return cases;
}

TEST(WhyMessage, SaysWhatEachWaitsForAndWhatComesNext) {
  for (const MessageCase& each : MessageCases()) {
    MessageView message{.topic = "mail", .asked_ms = kNow, .now_ms = kNow};
    each.set(message);
    const explain::Explanation why = Explain(message);
    EXPECT_EQ(why.because.front().code, each.code);
    EXPECT_EQ(why.Sentence(), each.sentence);
    EXPECT_EQ(why.next.text, each.next);
    EXPECT_EQ(ActsOf(why), each.acts) << each.sentence;
  }
}

struct TopicCase {
  std::string state;
  TopicView topic;
  std::string sentence;
  std::string next;
};

TEST(WhyTopic, SaysWhatItsMessagesWaitFor) {
  TopicView idle{.name = "it's", .row = {.asked_ms = kNow}, .now_ms = kNow};
  TopicView busy = idle;
  busy.ready = 12;
  busy.claimed = 1;
  busy.oldest_ms = kNow - 185'000;
  TopicView alone = busy;
  alone.row.asked_ms = 0;
  alone.dead = 3;
  TopicView paused = busy;
  paused.row.paused_ms = kNow - kMinute;
  paused.row.paused_reason = "the bank is closed";
  const std::vector<TopicCase> cases{
      {"ok", idle,
       "Nothing is ready. A worker last asked for it at 2026-01-01T11:00:00.000Z. 0 messages are "
       "in somebody's hands. No dead letters.",
       "What is sent goes to the next worker that asks."},
      {"ready", busy,
       "12 messages are ready, the oldest for 3m 5s. A worker last asked for it at "
       "2026-01-01T11:00:00.000Z. One message is in somebody's hands. No dead letters.",
       "The workers that ask get them, the oldest first."},
      {"unhandled", alone,
       "12 messages are ready, the oldest for 3m 5s. No worker has ever asked for it. One message "
       "is in somebody's hands. 3 dead letters: `tenure message dead --topic 'it'\\''s'` lists "
       "them.",
       "Start a worker for it, or look whether its worker runs."},
      {"paused", paused,
       "The topic it's is paused since 2026-01-01T10:59:00.000Z: the bank is closed. 12 messages "
       "are ready, the oldest for 3m 5s. A worker last asked for it at 2026-01-01T11:00:00.000Z. "
       "One message is in somebody's hands. No dead letters.",
       "Nobody gets any of it until `tenure message resume 'it'\\''s'`."},
  };
  for (const TopicCase& each : cases) {
    const explain::Explanation why = Explain(each.topic);
    EXPECT_EQ(why.state, each.state);
    EXPECT_EQ(why.Sentence(), each.sentence);
    EXPECT_EQ(why.next.text, each.next);
    EXPECT_EQ(ActsOf(why).size(), 1U);
    EXPECT_EQ(why.actions.front().path, "/api/v1/topics/it%27s");
  }
}

}  // namespace
}  // namespace tenure::messages
