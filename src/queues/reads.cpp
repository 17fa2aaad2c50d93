#include "queues/reads.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {

db::Transaction::Pending QueueQueues(db::Transaction& tx, const QueuesRequest& request,
                                     std::int64_t rows, std::int64_t now_ms) {
  return tx.Queue(sql::kListQueues, std::string_view(request.tenant),
                  std::string_view(request.name), std::string_view(request.after), rows, now_ms);
}

QueueView ReadQueueView(const db::Rows::Row& row, std::int64_t now_ms) {
  QueueView view{.queue = ReadQueue(row), .now_ms = now_ms};
  db::ReadInto(view.sums, row, kQueueColumnCount, &QueueSums::messages, &QueueSums::bytes,
               &QueueSums::ready, &QueueSums::held, &QueueSums::parked);
  db::ReadInto(view, row, kQueueColumnCount + 5, &QueueView::oldest_ms, &QueueView::backoff,
               &QueueView::staged);
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

std::string SessionView::WhyReady() const {
  const std::string waits = session.depth() == 1
                                ? "its message waits"
                                : fmt::format("the first of {} messages waits", session.depth());
  const std::string line = before < 0       ? ""
                           : before == 0    ? ", and it is the next one"
                           : before < 1'000 ? fmt::format(", and {} sessions are before it", before)
                                            : ", and a thousand sessions or more are before it";
  return fmt::format("It is ready{}: {} since {} for somebody to accept it.", line, waits,
                     base::UtcText(head_enqueued_ms));
}

std::string SessionView::Why() const {
  const std::string_view reason = Reason();
  if (reason == "parked")
    return fmt::format(
        "Message {} cannot be processed ({}: {}); the session waits since {} for "
        "somebody to resume or skip it, and {} follow.",
        session.head, ToText(session.reason), session.error, base::UtcText(session.parked_ms),
        session.depth() - 1);
  if (reason == "held")
    return fmt::format("{} holds it since {}, at message {}, until {}.", session.consumer,
                       base::UtcText(session.turn_ms), session.head,
                       base::UtcText(session.lease_until_ms));
  if (reason == "overdue")
    return fmt::format(
        "{} held it until {} and has not been heard of since; the next accept takes "
        "it over.",
        session.consumer, base::UtcText(session.lease_until_ms));
  if (reason == "idle") return "It has no messages that are not done.";
  if (reason == "paused")
    return fmt::format("The queue is paused since {}: {}.", base::UtcText(queue.paused_ms),
                       queue.paused_reason);
  if (reason == "generation")
    return "It is of a new generation of the queue, which waits until the older one is empty.";
  if (reason == "backoff")
    return fmt::format("Message {} failed ({}); it is tried again at {}.", session.head,
                       session.error, base::UtcText(session.not_before_ms));
  if (reason == "reserved")
    return fmt::format("It is reserved for {} until {}.", session.reserved_for,
                       base::UtcText(session.reserved_until_ms));
  if (reason == "staged")
    return fmt::format(
        "{} messages of users' transactions have not entered it: the next accept of "
        "the queue puts them in.",
        staged);
  if (reason == "frozen")
    return fmt::format(
        "The store was restored or promoted: somebody whom it has forgotten may hold "
        "it until {}.",
        base::UtcText(FrozenUntilMs()));
  if (reason == "cap")
    return fmt::format(
        "{} sessions are held, as many as max_concurrent_sessions allows: the next "
        "end of one lets it go on.",
        held);
  return WhyReady();
}

db::Transaction::Pending QueuePeek(db::Transaction& tx, const PeekRequest& request,
                                   std::int64_t rows) {
  return tx.Queue(sql::kListMessages, std::string_view(request.tenant),
                  std::string_view(request.queue), request.session, request.from, rows);
}

PeekedMessage ReadPeeked(const db::Rows::Row& row) {
  PeekedMessage peeked{db::ReadAs<Message>(row, kMessageColumns)};
  constexpr std::size_t kRest = std::tuple_size_v<decltype(kMessageColumns)>;
  peeked.head = row.Int(kRest);
  peeked.dead = row.Int(kRest + 1) != 0;
  peeked.parked = row.Int(kRest + 2) != 0;
  return peeked;
}

std::string_view PeekedMessage::State() const {
  if (dead) return "dead";
  if (message.sequence < head) return "done";
  return parked && message.sequence == head ? "parked" : "waiting";
}

}  // namespace tenure::queues
