#include "queues/reads.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {

db::Transaction::Pending QueueQueues(db::Transaction& tx, const QueuesRequest& request,
                                     std::int64_t rows, std::int64_t now_ms) {
  // Behind all that begin so, in the order of bytes: the last character of all follows.
  const std::string end = request.begins.empty() ? "" : request.begins + "\xF4\x8F\xBF\xBF";
  return tx.Queue(sql::kListQueues, std::string_view(request.tenant),
                  std::string_view(request.name), std::string_view(request.after), rows, now_ms,
                  std::string_view(request.begins), std::string_view(end));
}

QueueView ReadQueueView(const db::Rows::Row& row, std::int64_t now_ms) {
  QueueView view{.queue = ReadQueue(row), .now_ms = now_ms};
  db::ReadInto(view.sums, row, kQueueColumnCount, &QueueSums::messages, &QueueSums::bytes,
               &QueueSums::ready, &QueueSums::held, &QueueSums::parked);
  db::ReadInto(view, row, kQueueColumnCount + 5, &QueueView::oldest_ms, &QueueView::backoff,
               &QueueView::staged, &QueueView::asked_ms, &QueueView::older_messages,
               &QueueView::older_parked);
  return view;
}

db::Transaction::Pending QueueConsumers(db::Transaction& tx, const ConsumersRequest& request,
                                        std::int64_t rows) {
  return tx.Queue(sql::kFindConsumers, std::string_view(request.tenant),
                  std::string_view(request.queue), rows);
}

ConsumerView ReadConsumer(const db::Rows::Row& row) {
  return db::ReadAs<ConsumerView>(row, &ConsumerView::consumer, &ConsumerView::sessions,
                                  &ConsumerView::seen_ms);
}

std::int64_t QueueView::OldestReadyMs() const {
  return oldest_ms > 0 ? std::max<std::int64_t>(0, now_ms - oldest_ms) : 0;
}

std::int64_t QueueView::Utilization() const {
  const std::int64_t cap = queue.settings.max_concurrent_sessions;
  // As many as there may be, whatever stands in the store.
  constexpr std::int64_t kMost = 1'000'000;
  return cap > 0 ? std::clamp<std::int64_t>(sums.held, 0, kMost) * 100 / cap : 0;
}

db::Transaction::Pending QueueSessions(db::Transaction& tx, const SessionsRequest& request,
                                       std::int64_t rows) {
  if (request.id || !request.key.empty())
    return tx.Queue(sql::kFindSessions, std::string_view(request.tenant),
                    std::string_view(request.queue), request.id.value_or(base::Uuid()),
                    std::string_view(request.key), rows);
  return tx.Queue(
      sql::kListSessions, std::string_view(request.tenant), std::string_view(request.queue),
      request.state ? static_cast<std::int64_t>(*request.state) : std::int64_t{-1},
      std::string_view(request.after_key), request.after_generation, rows,
      std::string_view(request.consumer), std::string_view(request.share), request.min_depth);
}

SessionView ReadSessionView(const db::Rows::Row& row, std::int64_t now_ms) {
  constexpr std::size_t kRest = kSessionColumnCount + kQueueColumnCount;
  SessionView view;
  view.session = ReadSession(row);
  view.queue = ReadQueue(row, kSessionColumnCount);
  db::ReadInto(view, row, kRest, &SessionView::head_enqueued_ms, &SessionView::is_behind,
               &SessionView::held, &SessionView::before, &SessionView::staged);
  db::ReadInto(view.limits, row, kRest + 5, &Limits::incarnation, &Limits::frozen_ms,
               &Limits::freeze_ms);
  view.asked_ms = row.Int(kRest + 8);
  view.now_ms = now_ms;
  return view;
}

std::int64_t SessionView::FrozenUntilMs() const {
  return Session(session, queue, now_ms).FrozenUntilMs(limits);
}

std::string_view SessionView::Reason() const {
  if (session.state == State::kParked) return "parked";
  if (session.state == State::kHeld) return session.lease_until_ms > now_ms ? "held" : "overdue";
  if (!session.HasWork()) return staged > 0 ? "staged" : "idle";
  if (queue.paused()) return "paused";
  if (is_behind) return "generation";
  if (session.not_before_ms > now_ms) return "backoff";
  if (session.reserved_until_ms > now_ms) return "reserved";
  if (FrozenUntilMs() > 0) return "frozen";
  const std::int64_t cap = queue.settings.max_concurrent_sessions;
  return cap > 0 && held >= cap ? "cap" : "ready";
}

void FindOwners(db::Transaction& tx, db::Items<OwnerRequest, OwnerReply> items) {
  for (auto* item : items) {
    const db::Rows rows =
        tx.Run(sql::kFindOwner, std::string_view(item->request.tenant), item->request.session);
    item->reply = rows.empty() ? OwnerReply() : OwnerReply{std::string(rows[0].Text(0))};
  }
}

void TouchQueues(db::Transaction& tx, db::Items<TouchRequest, TouchReply> items) {
  std::set<std::pair<std::string, std::string>> names;
  for (auto* item : items) {
    names.emplace(item->request.tenant, item->request.queue);
    item->reply = TouchReply();
  }
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (const auto& [tenant, queue] : names)
    tx.Queue(sql::kTouchQueue, std::string_view(tenant), std::string_view(queue), now_ms);
}

void FindLeft(db::Transaction& tx, db::Items<LeftRequest, LeftReply> items) {
  for (auto* item : items) {
    const LeftRequest& request = item->request;
    LeftReply reply;
    for (const auto row : tx.Run(sql::kFindLeft, std::string_view(request.tenant),
                                 std::string_view(request.queue), request.limit)) {
      reply.sessions.push_back(row.Uuid(0));
      reply.messages += row.Int(1);
    }
    item->reply = std::move(reply);
  }
}

void FindHeldBy(db::Transaction& tx, db::Items<HoldsRequest, HoldsReply> items) {
  for (auto* item : items) {
    const HoldsRequest& request = item->request;
    item->reply = HoldsReply();
    for (const auto row :
         tx.Run(sql::kFindHolds, std::string_view(request.tenant), std::string_view(request.queue),
                std::string_view(request.consumer)))
      item->reply->holds.push_back({row.Uuid(0), row.Int(1)});
  }
}

db::Transaction::Pending QueuePeek(db::Transaction& tx, const PeekRequest& request,
                                   std::int64_t rows) {
  return tx.Queue(sql::kListMessages, std::string_view(request.tenant),
                  std::string_view(request.queue), request.session, request.from, rows,
                  static_cast<std::int64_t>(request.state));
}

PeekedMessage ReadPeeked(const db::Rows::Row& row) {
  PeekedMessage peeked{db::ReadAs<Message>(row, kMessageColumns)};
  constexpr std::size_t kRest = std::tuple_size_v<decltype(kMessageColumns)>;
  peeked.head = row.Int(kRest);
  peeked.dead = row.Int(kRest + 1) != 0;
  peeked.parked = row.Int(kRest + 2) != 0;
  return peeked;
}

PeekedState PeekedMessage::State() const {
  if (dead) return PeekedState::kDead;
  if (message.sequence < head) return PeekedState::kDone;
  return parked && message.sequence == head ? PeekedState::kParked : PeekedState::kWaiting;
}

std::string_view ToText(PeekedState state) {
  switch (state) {
    case PeekedState::kAny:
      return "";
    case PeekedState::kWaiting:
      return "waiting";
    case PeekedState::kParked:
      return "parked";
    case PeekedState::kDone:
      return "done";
    case PeekedState::kDead:
      return "dead";
  }
  return "";
}

}  // namespace tenure::queues
