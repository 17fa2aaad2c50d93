#include "queues/columns.hpp"

namespace tenure::queues {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;

void DemandSane(std::int64_t number) {
  if (number < 0 || number > kMostNumber) db::ThrowBadRow("a number of a queue is out of range");
}

}  // namespace

SessionRow ReadSession(const db::Rows::Row& row, std::size_t first) {
  SessionRow session;
  db::ReadInto(session, row, first, kSessionColumns);
  for (const std::int64_t number :
       {session.next, session.head, session.fence, session.lease_until_ms, session.lease_ms,
        session.turn_ms, session.turn_count, session.handed, session.attempts, session.position,
        session.due_ms, session.not_before_ms, session.reserved_until_ms, session.parked_ms,
        session.ttl_free})
    DemandSane(number);
  if (session.state > State::kParked || session.reason > DeathReason::kDropped ||
      session.head > session.next)
    db::ThrowBadRow("a session is in no state");
  return session;
}

QueueRow ReadQueue(const db::Rows::Row& row, std::size_t first) {
  QueueRow queue;
  db::ReadInto(queue, row, first, kQueueColumns);
  for (const std::int64_t number :
       {queue.generation, queue.oldest, queue.floor_fence, queue.floor_sequence,
        queue.settings.session_timeout_ms, queue.settings.idle_timeout_ms,
        queue.settings.max_duration_ms, queue.settings.max_messages})
    DemandSane(number);
  if (queue.state > QueueState::kDropped || queue.settings.scope > Scope::kCustom ||
      queue.settings.on_dead_letter > DeadLetterPolicy::kStop)
    db::ThrowBadRow("a queue is in no state");
  return queue;
}

}  // namespace tenure::queues
