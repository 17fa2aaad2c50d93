#include "messages/reads.hpp"

#include <algorithm>

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
  using Dead = CountsReply::DeadTopic;
  for (const auto row : tx.Run(sql::kCountDeadTopics, kMaxDeadNamed))
    reply.dead_topics.push_back(db::ReadAs<Dead>(row, &Dead::tenant, &Dead::name, &Dead::dead,
                                                 &Dead::first_ms, &Dead::last_ms));
  using Paused = CountsReply::PausedTopic;
  for (const auto row : tx.Run(sql::kListPaused))
    reply.paused.push_back(db::ReadAs<Paused>(row, &Paused::tenant, &Paused::name,
                                              &Paused::since_ms, &Paused::reason));
  reply.now_ms = now_ms;
  return reply;
}

}  // namespace tenure::messages
