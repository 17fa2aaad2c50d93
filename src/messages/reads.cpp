#include "messages/reads.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

void ReadLive(const db::Rows::Row& row, MessageView& view) {
  view.topic = row.Text(0);
  view.priority = PriorityOf(row.Int(1));
  using View = MessageView;
  db::ReadInto(view, row, 3, &View::fence, &View::attempts, &View::crashes, &View::enqueued_ms,
               &View::due_ms, &View::claimed_ms, &View::lease_until_ms, &View::owner,
               &View::worker_until_ms, &View::error, &View::correlation_id, &View::headers,
               &View::trace, &View::kind, &View::payload, &View::paused_ms, &View::paused_reason,
               &View::asked_ms, &View::ahead);
  view.state = view.lease_until_ms > 0 ? MessageState::kClaimed
               : row.Int(2) > 0        ? MessageState::kReady
                                       : MessageState::kWaiting;
}

void ReadDead(const db::Rows::Row& row, MessageView& view) {
  view.state = MessageState::kDead;
  using View = MessageView;
  db::ReadInto(view, row, 0, &View::topic, &View::priority, &View::fence, &View::attempts,
               &View::crashes, &View::enqueued_ms, &View::ended_ms, &View::reason, &View::error,
               &View::correlation_id, &View::headers, &View::trace, &View::kind, &View::payload);
}

void ReadFinished(const db::Rows::Row& row, MessageView& view) {
  view.state = MessageState::kDone;
  using View = MessageView;
  db::ReadInto(view, row, 0, &View::topic, &View::fence, &View::attempts, &View::crashes,
               &View::enqueued_ms, &View::ended_ms, &View::correlation_id, &View::output);
}

std::string WhyReady(const MessageView& message) {
  if (message.paused_ms > 0)
    return fmt::format(
        "The topic {} is paused since {}: {}. Resume it, and it goes on.", message.topic,
        base::UtcText(message.paused_ms),
        message.paused_reason.empty() ? "no reason was given" : message.paused_reason);
  if (message.asked_ms + kUnhandledMs < message.now_ms)
    return message.asked_ms == 0
               ? fmt::format(
                     "It is ready, but nobody has ever asked for messages of {}. "
                     "Start a worker for the topic.",
                     message.topic)
               : fmt::format(
                     "It is ready, but nobody has asked for messages of {} since {}. "
                     "Is its worker running?",
                     message.topic, base::UtcText(message.asked_ms));
  const std::string suspect =
      message.crashes > 0 ? " It is handed out alone, since its worker died with it." : "";
  if (message.ahead == 0) return "It is the next in its line." + suspect;
  return fmt::format("{}{} of the same topic and priority became ready before it.{}", message.ahead,
                     message.ahead == kMaxAhead ? " or more" : "", suspect);
}

}  // namespace

std::string_view ToText(MessageState state) {
  switch (state) {
    case MessageState::kWaiting:
      return "waiting";
    case MessageState::kReady:
      return "ready";
    case MessageState::kClaimed:
      return "claimed";
    case MessageState::kDead:
      return "dead";
    case MessageState::kDone:
      return "done";
  }
  return "ready";
}

std::string Why(const MessageView& message) {
  switch (message.state) {
    case MessageState::kWaiting:
      if (message.attempts > 0)
        return fmt::format("Attempt {} failed; the next is due at {}. The error was: {}",
                           message.attempts, base::UtcText(message.due_ms),
                           message.error.empty() ? "(none was given)" : message.error);
      return fmt::format("It is due at {}.", base::UtcText(message.due_ms));
    case MessageState::kReady:
      return WhyReady(message);
    case MessageState::kClaimed:
      if (message.worker_until_ms > 0)
        return fmt::format("{} has worked on it since {}, and is alive.", message.owner,
                           base::UtcText(message.claimed_ms));
      return fmt::format("{} has it since {}; unless it is prolonged it comes back at {}.",
                         message.owner, base::UtcText(message.claimed_ms),
                         base::UtcText(message.lease_until_ms));
    case MessageState::kDead: {
      const std::string error =
          message.error.empty() ? "" : " The last error was: " + message.error;
      switch (message.reason.value_or(DeathReason::kFailed)) {
        case DeathReason::kAttempts:
          return fmt::format("All {} attempts failed.{}", message.attempts, error);
        case DeathReason::kCrashes:
          return fmt::format("{} workers died with it, or never said a word.", message.crashes);
        case DeathReason::kFailed:
          break;
      }
      return "Its worker gave it up for good." + error;
    }
    case MessageState::kDone:
      return fmt::format("It was finished at {}.", base::UtcText(message.ended_ms));
  }
  return "";
}

void FindMessages(db::Transaction& tx, db::Items<FindRequest, FindReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const std::string_view tenant = item->request.tenant;
    const auto live = tx.Queue(sql::kFindMessage, item->request.id, tenant);
    const auto dead = tx.Queue(sql::kFindDead, item->request.id, tenant);
    const auto finished = tx.Queue(sql::kFindFinished, item->request.id, tenant);
    MessageView view;
    view.id = item->request.id;
    view.now_ms = now_ms;
    bool found = false;
    const auto take = [&](db::Transaction::Pending pending, auto read) {
      for (const auto row : tx.Take(pending)) {
        if (!found) read(row, view);
        found = true;
      }
    };
    take(live, ReadLive);
    take(dead, ReadDead);
    take(finished, ReadFinished);
    item->reply = FindReply{};
    if (found) item->reply->message = std::move(view);
  }
}

CountsReply CountMessages(db::Transaction& tx, std::int64_t now_ms) {
  CountsReply reply;
  for (const auto row : tx.Run(sql::kCountTopics, kMaxCounted)) {
    const bool unhandled = row.Int(2) + kUnhandledMs < now_ms;
    reply.topics.push_back({std::string(row.Text(0)), std::string(row.Text(1)), row.Int(3),
                            now_ms - row.Int(4), unhandled});
  }
  for (const auto row : tx.Run(sql::kCountRest, kMaxCounted)) {
    reply.waiting = row.Int(0);
    reply.dead = row.Int(1);
  }
  return reply;
}

}  // namespace tenure::messages
