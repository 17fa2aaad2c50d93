#include "messages/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::messages {
namespace {

using base::UtcText;
using explain::Action;
using explain::Cause;
using explain::Counted;
using explain::Explanation;
using explain::Shown;

std::string TopicLink(const std::string& topic) { return "/topics/" + explain::Segment(topic); }

/// What is paused goes on with it.
Action ResumeAction(const std::string& topic) {
  return {.act = "topic.resume",
          .title = fmt::format("Resume {}", Shown(topic)),
          .scope = "messages:write",
          .method = "PATCH",
          .path = "/api/v1/topics/" + explain::Segment(topic),
          .body = R"({"paused":false})",
          .command = "tenure message resume " + explain::Word(topic)};
}

Action LetterAction(const MessageView& message, bool redrive) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Key("ids").BeginArray().Value(message.id).EndArray().EndObject();
  return {.act = redrive ? "message.redrive" : "message.discard",
          .title = redrive ? "Redrive it" : "Discard it",
          .scope = "messages:write",
          .danger = !redrive,
          .method = "POST",
          .path = redrive ? "/api/v1/dead-letters/redrive" : "/api/v1/dead-letters/discard",
          .body = std::move(body),
          .command = fmt::format("tenure message {} {}", redrive ? "redrive" : "discard",
                                 message.id.ToString())};
}

std::string PauseText(const std::string& topic, std::int64_t since_ms, const std::string& reason) {
  return fmt::format("The topic {} is paused since {}: {}.", Shown(topic), UtcText(since_ms),
                     reason.empty() ? "no reason was given" : Shown(reason));
}

void ExplainWaiting(Explanation& out, const MessageView& message) {
  if (message.attempts > 0) {
    out.Because(
        {.code = "retrying",
         .text = fmt::format("Attempt {} failed; the next is due at {}. The error was: {}",
                             message.attempts, UtcText(message.due_ms),
                             message.error.empty() ? "(none was given)" : Shown(message.error)),
         .until_ms = message.due_ms});
  } else {
    out.Because({.code = "delayed",
                 .text = fmt::format("It is due at {}.", UtcText(message.due_ms)),
                 .until_ms = message.due_ms});
    out.actions = {{.act = "timer.cancel",
                    .title = "Cancel it",
                    .scope = "messages:write",
                    .danger = true,
                    .method = "DELETE",
                    .path = "/api/v1/timers/" + message.id.ToString(),
                    .command = "tenure timer cancel " + message.id.ToString()}};
  }
  out.next = {
      fmt::format("Then it is ready, for whoever asks for messages of {}.", Shown(message.topic)),
      message.due_ms};
}

void ExplainReady(Explanation& out, const MessageView& message) {
  const std::string topic = Shown(message.topic);
  if (message.paused_ms > 0) {
    out.Because({.code = "paused",
                 .text = PauseText(message.topic, message.paused_ms, message.paused_reason),
                 .since_ms = message.paused_ms,
                 .link = TopicLink(message.topic)});
    out.next = {fmt::format("It goes on when the topic does: `tenure message resume {}`.",
                            explain::Word(message.topic)),
                0};
    out.actions = {ResumeAction(message.topic)};
    return;
  }
  if (message.asked_ms + kUnhandledMs < message.now_ms) {
    const bool never = message.asked_ms == 0;
    out.Because(
        {.code = "unhandled",
         .text =
             never
                 ? fmt::format("It is ready, but nobody has ever asked for messages of {}.", topic)
                 : fmt::format("It is ready, but nobody has asked for messages of {} since {}.",
                               topic, UtcText(message.asked_ms)),
         .since_ms = message.asked_ms,
         .link = TopicLink(message.topic)});
    out.next = {never ? "Start a worker for the topic." : "Is its worker running?", 0};
    return;
  }
  if (message.ahead == 0)
    out.Because({.code = "next", .text = "It is the next in its line."});
  else
    out.Because({.code = "in-line",
                 .text = fmt::format("{}{} of the same topic and priority became ready before it.",
                                     message.ahead, message.ahead == kMaxAhead ? " or more" : "")});
  if (message.crashes > 0)
    out.Because(
        {.code = "suspect", .text = "It is handed out alone, since its worker died with it."});
  out.next = {
      message.ahead == 0 ? "The next worker that asks gets it." : "It is handed out when they are.",
      0};
}

void ExplainClaimed(Explanation& out, const MessageView& message) {
  const bool beats = message.worker_until_ms > 0;
  const std::int64_t until_ms = beats ? message.worker_until_ms : message.lease_until_ms;
  const std::string since = UtcText(message.claimed_ms);
  const std::string owner = Shown(message.owner);
  out.Because(
      {.code = "claimed",
       .text = beats ? fmt::format("{} has worked on it since {}, and is alive.", owner, since)
                     : fmt::format("{} has it since {}.", owner, since),
       .since_ms = message.claimed_ms,
       .until_ms = until_ms});
  out.next = {
      fmt::format("{}, it comes back at {}.",
                  beats ? "If nothing more is heard of that worker" : "Unless it is prolonged",
                  UtcText(until_ms)),
      until_ms};
}

void ExplainDead(Explanation& out, const MessageView& message) {
  const DeathReason reason = message.reason.value_or(DeathReason::kFailed);
  Cause cause{.code = ToText(reason), .since_ms = message.ended_ms};
  cause.text = reason == DeathReason::kAttempts
                   ? fmt::format("All {} attempts failed.", message.attempts)
               : reason == DeathReason::kCrashes
                   ? fmt::format("{} workers died with it, or never said a word.", message.crashes)
                   : "Its worker gave it up for good.";
  out.Because(std::move(cause));
  if (!message.error.empty() && reason != DeathReason::kCrashes)
    out.Because({.code = "last-error", .text = "The last error was: " + Shown(message.error)});
  out.next = {"It stays until somebody redrives or discards it.", 0};
  out.actions = {LetterAction(message, true), LetterAction(message, false)};
}

// Topics

std::string AskedText(const TopicView& topic) {
  if (topic.row.asked_ms == 0) return "No worker has ever asked for it.";
  return fmt::format("A worker last asked for it at {}.", UtcText(topic.row.asked_ms));
}

std::string ReadyText(const TopicView& topic) {
  if (topic.ready == 0) return "Nothing is ready.";
  return fmt::format("{} ready, the oldest for {}.",
                     Counted(topic.ready, "One message is", "messages are"),
                     base::SpanText(std::max<std::int64_t>(0, topic.now_ms - topic.oldest_ms)));
}

bool IsUnhandled(const TopicView& topic) {
  return topic.ready > 0 && topic.row.asked_ms + kUnhandledMs < topic.now_ms;
}

explain::Next NextOf(const TopicView& topic) {
  if (topic.row.paused_ms > 0)
    return {fmt::format("Nobody gets any of it until `tenure message resume {}`.",
                        explain::Word(topic.name)),
            0};
  if (IsUnhandled(topic)) return {"Start a worker for it, or look whether its worker runs.", 0};
  if (topic.ready > 0) return {"The workers that ask get them, the oldest first.", 0};
  return {"What is sent goes to the next worker that asks.", 0};
}

}  // namespace

Explanation Explain(const MessageView& message) {
  Explanation out{.kind = "message",
                  .id = message.id.ToString(),
                  .state = std::string(ToText(message.state)),
                  .docs = "docs/messages.md"};
  switch (message.state) {
    case MessageState::kWaiting:
      ExplainWaiting(out, message);
      break;
    case MessageState::kReady:
      ExplainReady(out, message);
      break;
    case MessageState::kClaimed:
      ExplainClaimed(out, message);
      break;
    case MessageState::kDead:
      ExplainDead(out, message);
      break;
    case MessageState::kDone:
      out.Because({.code = "done",
                   .text = fmt::format("It was finished at {}.", UtcText(message.ended_ms)),
                   .since_ms = message.ended_ms});
      out.next = {"Nothing more happens to it.", 0};
      break;
  }
  return out;
}

std::string Why(const MessageView& message) { return Explain(message).Sentence(); }

Explanation Explain(const TopicView& topic) {
  Explanation out{.kind = "topic", .id = topic.name, .docs = "docs/messages.md"};
  const bool paused = topic.row.paused_ms > 0;
  out.state = paused               ? "paused"
              : IsUnhandled(topic) ? "unhandled"
              : topic.ready > 0    ? "ready"
                                   : "ok";
  if (paused) {
    out.Because({.code = "paused",
                 .text = PauseText(topic.name, topic.row.paused_ms, topic.row.paused_reason),
                 .since_ms = topic.row.paused_ms});
    out.actions = {ResumeAction(topic.name)};
  } else {
    out.actions = {
        {.act = "topic.pause",
         .title = fmt::format("Pause {}", Shown(topic.name)),
         .scope = "messages:write",
         .method = "PATCH",
         .path = "/api/v1/topics/" + explain::Segment(topic.name),
         .body = R"({"paused":true})",
         .command = fmt::format("tenure message pause {} --reason …", explain::Word(topic.name))}};
  }
  out.Because({.code = "ready", .text = ReadyText(topic), .since_ms = topic.oldest_ms});
  out.Because({.code = IsUnhandled(topic) ? "unhandled" : "asked",
               .text = AskedText(topic),
               .since_ms = topic.row.asked_ms});
  out.Because({.code = "claimed",
               .text = fmt::format("{} in somebody's hands.",
                                   Counted(topic.claimed, "One message is", "messages are"))});
  out.Because(
      {.code = "dead",
       .text = topic.dead == 0 ? std::string("No dead letters.")
                               : fmt::format("{}: `tenure message dead --topic {}` lists them.",
                                             Counted(topic.dead, "One dead letter", "dead letters"),
                                             explain::Word(topic.name)),
       .link = topic.dead == 0 ? "" : "/dead-letters?topic=" + explain::Segment(topic.name)});
  out.next = NextOf(topic);
  return out;
}

}  // namespace tenure::messages
