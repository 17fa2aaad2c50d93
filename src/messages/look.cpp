#include "messages/look.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

void ReadLive(const db::Rows::Row& row, MessageView& view) {
  view.topic = row.Text(0);
  view.priority = PriorityOf(row.Int(1));
  view.fence = row.Int(3);
  view.attempts = row.Int(4);
  view.crashes = row.Int(5);
  view.enqueued_ms = row.Int(6);
  view.due_ms = row.Int(7);
  view.claimed_ms = row.Int(8);
  view.lease_until_ms = row.Int(9);
  view.owner = row.Text(10);
  view.worker_until_ms = row.Int(11);
  view.error = row.Text(12);
  view.correlation_id = row.Text(13);
  view.headers = row.Text(14);
  view.trace = row.Text(15);
  view.kind = static_cast<PayloadKind>(row.Int(16));
  view.payload = row.Text(17);
  view.paused_ms = row.Int(18);
  view.paused_reason = row.Text(19);
  view.asked_ms = row.Int(20);
  view.ahead = row.Int(21);
  view.state = view.lease_until_ms > 0 ? MessageState::kClaimed
               : row.Int(2) > 0        ? MessageState::kReady
                                       : MessageState::kWaiting;
}

void ReadDead(const db::Rows::Row& row, MessageView& view) {
  view.state = MessageState::kDead;
  view.topic = row.Text(0);
  view.priority = static_cast<int>(row.Int(1));
  view.fence = row.Int(2);
  view.attempts = row.Int(3);
  view.crashes = row.Int(4);
  view.enqueued_ms = row.Int(5);
  view.ended_ms = row.Int(6);
  view.reason = static_cast<DeathReason>(row.Int(7));
  view.error = row.Text(8);
  view.correlation_id = row.Text(9);
  view.headers = row.Text(10);
  view.trace = row.Text(11);
  view.kind = static_cast<PayloadKind>(row.Int(12));
  view.payload = row.Text(13);
}

void ReadFinished(const db::Rows::Row& row, MessageView& view) {
  view.state = MessageState::kDone;
  view.topic = row.Text(0);
  view.fence = row.Int(1);
  view.attempts = row.Int(2);
  view.crashes = row.Int(3);
  view.enqueued_ms = row.Int(4);
  view.ended_ms = row.Int(5);
  view.correlation_id = row.Text(6);
  view.output = row.Text(7);
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

void FindHandler::ReadItems(db::Transaction& tx, Items items) {
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

void TopicsHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const TopicsRequest& request = item->request;
    TopicsReply reply;
    // One more than asked for tells whether there is another page.
    for (const auto row :
         tx.Run(sql::kListTopics, std::string_view(request.tenant), std::string_view(request.name),
                std::string_view(request.after), request.limit + 1, kMaxCounted)) {
      TopicView& view = reply.topics.emplace_back();
      view.name = row.Text(0);
      view.row = ReadTopic(row, 1);
      view.ready = row.Int(13);
      view.claimed = row.Int(14);
      view.dead = row.Int(15);
      view.oldest_ms = row.Int(16);
      view.now_ms = now_ms;
    }
    if (static_cast<std::int64_t>(reply.topics.size()) > request.limit) {
      reply.topics.pop_back();
      reply.has_more = true;
    }
    item->reply = std::move(reply);
  }
}

void DeadHandler::ReadItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    const DeadRequest& request = item->request;
    DeadReply reply;
    const std::int64_t reason =
        request.filter.reason ? static_cast<std::int64_t>(*request.filter.reason) : 0;
    for (const auto row : tx.Run(sql::kListDead, std::string_view(request.filter.tenant),
                                 std::string_view(request.filter.topic), reason,
                                 request.after.value_or(base::Uuid()), request.limit + 1)) {
      DeadLetter& letter = reply.letters.emplace_back();
      letter.id = row.Uuid(0);
      letter.topic = row.Text(1);
      letter.reason = static_cast<DeathReason>(row.Int(2));
      letter.died_ms = row.Int(3);
      letter.enqueued_ms = row.Int(4);
      letter.attempts = row.Int(5);
      letter.crashes = row.Int(6);
      letter.error = row.Text(7);
      letter.correlation_id = row.Text(8);
      letter.payload_bytes = row.Int(9);
    }
    if (static_cast<std::int64_t>(reply.letters.size()) > request.limit) {
      reply.letters.pop_back();
      reply.has_more = true;
    }
    item->reply = std::move(reply);
  }
}

void CountsHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
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
  for (auto* item : items) item->reply = reply;
}

}  // namespace tenure::messages
