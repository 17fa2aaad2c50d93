#include "queues/batch.hpp"

#include <algorithm>

#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

/// Messages of one transaction of which spans are recorded.
constexpr std::int64_t kMostTraced = 1'000;

/// Where a session counts.
struct Standing {
  std::int64_t ready = 0;
  std::int64_t held = 0;
  std::int64_t parked = 0;

  explicit Standing(const SessionRow& row)
      : ready(row.state == State::kReady ? 1 : 0),
        held(row.state == State::kHeld ? 1 : 0),
        parked(row.state == State::kParked ? 1 : 0) {}
};

struct CounterChange {
  std::int64_t queue = 0;
  std::int64_t generation = 0;
  base::Uuid session{};
  std::int64_t first = 0;
  std::int64_t past = 0;
  std::int64_t messages = 0;
  std::int64_t came_bytes = 0;
  std::int64_t ready = 0;
  std::int64_t held = 0;
  std::int64_t parked = 0;
};

struct Buried {
  base::Uuid session{};
  std::int64_t queue = 0;
  const Death* death = nullptr;
};

}  // namespace

void Batch::Load(db::Transaction& tx, std::vector<SessionName> names) {
  names_ = std::move(names);
  loading_ = tx.Queue(sql::kLoadSessions, db::Columns(names_, &SessionName::id,
                                                      &SessionName::tenant, &SessionName::queue));
}

void Batch::Take(db::Transaction& tx, const std::set<base::Uuid>& locked, std::int64_t now_ms) {
  constexpr std::size_t kMark = kSessionColumnCount + kQueueColumnCount;
  now_ms_ = now_ms;
  for (const auto row : tx.Take(loading_)) {
    const QueueRow& queue = Know(ReadQueue(row, kSessionColumnCount));
    const base::Uuid& id = names_[row.ordinal()].id;
    if (!locked.contains(id)) {
      passed_over_[id] = &queue;
      continue;
    }
    Session& session = Add(ReadSession(row), queue, now_ms);
    if (!row.IsNull(kMark)) ApplyMark(session, row, kMark);
  }
}

void Batch::ApplyMark(Session& session, const db::Rows::Row& row, std::size_t first) {
  const Mark mark{row.Int(first), row.Int(first + 1)};
  if (session.Apply(mark) && !row.IsNull(first + 2))
    WriteState(session.row().id, std::string(row.Text(first + 2)), mark.fence);
}

const QueueRow* Batch::PassedOver(const base::Uuid& id) const {
  const auto found = passed_over_.find(id);
  return found == passed_over_.end() ? nullptr : found->second;
}

Session& Batch::Add(SessionRow row, const QueueRow& queue, std::int64_t now_ms) {
  now_ms_ = now_ms;
  const base::Uuid id = row.id;
  return sessions_.try_emplace(id, std::move(row), queue, now_ms).first->second;
}

const QueueRow& Batch::Know(QueueRow queue) {
  const std::int64_t id = queue.id;
  const QueueRow read = queue;
  QueueRow& known = queues_.try_emplace(id, std::move(queue)).first->second;
  // Those of a session that was tidied away meanwhile: they count as read after its lock.
  known.floor_fence = std::max(known.floor_fence, read.floor_fence);
  known.floor_sequence = std::max(known.floor_sequence, read.floor_sequence);
  return known;
}

Session* Batch::Find(const base::Uuid& id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

void Batch::LoadLevels(db::Transaction& tx, std::vector<Line::Share> shares) {
  std::sort(shares.begin(), shares.end());
  shares.erase(std::unique(shares.begin(), shares.end()), shares.end());
  asked_.clear();
  std::set_difference(shares.begin(), shares.end(), known_.begin(), known_.end(),
                      std::back_inserter(asked_));
  levels_ = tx.Queue(sql::kLoadLevels, db::Columns(asked_, &Line::Share::queue,
                                                   &Line::Share::generation, &Line::Share::share));
}

void Batch::TakeLevels(db::Transaction& tx) {
  for (const auto row : tx.Take(levels_)) line_.Know(asked_[row.ordinal()], row.Int(0), row.Int(1));
  known_.insert(known_.end(), asked_.begin(), asked_.end());
  std::sort(known_.begin(), known_.end());
}

void Batch::Place(db::Transaction& tx) {
  const auto share_of = [](const Session& session) {
    return Line::Share{session.row().queue, session.row().generation, session.row().share};
  };
  std::vector<Line::Share> shares;
  for (const auto& [id, session] : sessions_)
    if (session.row().position == kNewPlace) shares.push_back(share_of(session));
  if (shares.empty()) return;
  LoadLevels(tx, std::move(shares));
  TakeLevels(tx);
  for (auto& [id, session] : sessions_)
    if (session.row().position == kNewPlace) session.PlaceAt(line_.NextPlace(share_of(session)));
}

std::int64_t Batch::Put(Session& session, const NewMessage& message, const base::Uuid& id) {
  session.Describe(message.name, message.entity);
  const std::int64_t sequence = session.Put(1);
  const std::int64_t ttl_ms = message.ttl_ms.value_or(session.queue().settings.ttl_ms);
  stored_.push_back(
      {session.row().id,
       {sequence, id, message.event_id, message.kind, message.payload, message.size(),
        message.correlation_id, message.headers, message.trace, session.now_ms(),
        ttl_ms > 0 ? session.now_ms() + ttl_ms : 0, message.replay_of, message.copy}});
  came_bytes_[session.row().id] += message.size();
  return sequence;
}

void Batch::WriteState(const base::Uuid& session, std::string state, std::int64_t fence) {
  states_.push_back({session, std::move(state), fence});
}

void Batch::Apply(db::Transaction& tx) {
  Place(tx);
  std::vector<const SessionRow*> rows;
  std::vector<Buried> buried;
  std::map<std::int64_t, std::string> paused;  // their rows are locked in this order
  for (const auto& [id, session] : sessions_) {
    if (session.changed()) rows.push_back(&session.row());
    for (const Death& death : session.deaths()) buried.push_back({id, session.row().queue, &death});
    if (session.pauses_queue()) paused[session.row().queue] = session.row().error;
  }
  for (const auto& [queue, why] : paused)
    tx.Queue(sql::kPauseQueue, queue, now_ms_, std::string_view(why));
  WriteMessages(tx);
  tx.Queue(sql::kWriteSessions, db::Columns(rows, &SessionRow::id, &SessionRow::name,
                                            &SessionRow::entity, kStandColumns));
  tx.Queue(sql::kBuryMessages,
           db::Columns(buried, &Buried::session, db::Inside(&Buried::death, &Death::sequence),
                       &Buried::queue,
                       db::Inside(&Buried::death, &Death::reason, &Death::attempts, &Death::error,
                                  &Death::error_class)),
           now_ms_);
  for (const State& each : states_)
    tx.Queue(sql::kWriteState, each.session, db::BytesView{each.state}, each.fence, now_ms_);
  Notify(tx);
  Count();
  WriteCounters(tx);
}

/// What is counted after COMMIT.
void Batch::Count() {
  for (const auto& [id, session] : sessions_) {
    if (!session.changed()) continue;
    const SessionRow& old = session.old();
    const SessionRow& row = session.row();
    const std::string& queue = session.queue().name;
    const bool is_over = old.state == queues::State::kHeld &&
                         (row.state != queues::State::kHeld || row.fence != old.fence);
    if (is_over)
      // One that another consumer took over in this transaction was past its deadline.
      effects_.turns.push_back(
          {queue, row.entity, row.ended == End::kNone ? End::kExpired : row.ended, !old.HasWork(),
           now_ms_, now_ms_ - old.turn_ms, old.turn_count + session.completed(), row.name,
           session.queue().settings.scope});
    const bool was_parked = old.state == queues::State::kParked;
    const bool is_parked = row.state == queues::State::kParked;
    const Moved moved{row.next - old.next, session.completed(),
                      !is_parked && row.attempts > old.attempts ? 1 : 0,
                      is_parked && !was_parked ? 1 : 0, std::ssize(session.deaths())};
    if (moved.sent + moved.done + moved.retried + moved.parked + moved.skipped == 0) continue;
    Moved& sum = effects_.moved[queue];
    sum.sent += moved.sent;
    sum.done += moved.done;
    sum.retried += moved.retried;
    sum.parked += moved.parked;
    sum.skipped += moved.skipped;
  }
}

/// What was completed, and a head that failed.
void Batch::LoadHandled(db::Transaction& tx) {
  struct Span {
    base::Uuid session{};
    std::int64_t first = 0;
    std::int64_t past = 0;
  };
  std::vector<Span> spans;
  std::vector<const Session*> of;
  for (const auto& [id, session] : sessions_) {
    const SessionRow& old = session.old();
    const bool failed = session.row().attempts > old.attempts || !session.deaths().empty();
    const std::int64_t past = std::max(session.row().head, failed ? old.head + 1 : 0);
    if (past <= old.head || (session.completed() == 0 && !failed)) continue;
    spans.push_back({id, old.head, past});
    of.push_back(&session);
  }
  const db::Rows rows = tx.Run(
      sql::kLoadTraces, db::Columns(spans, &Span::session, &Span::first, &Span::past), kMostTraced);
  for (const auto row : rows) {
    const Session& session = *of[row.ordinal()];
    const SessionRow& old = session.old();
    const std::int64_t sequence = row.Int(0);
    // A report restarts the lease, and hands out what comes next.
    const std::int64_t handed_ms = std::max(old.turn_ms, old.lease_until_ms - old.lease_ms);
    const bool dead =
        std::ranges::find(session.deaths(), sequence, &Death::sequence) != session.deaths().end();
    effects_.handled.push_back({session.queue().name, row.Uuid(1), std::string(row.Text(2)),
                                sequence == old.head ? old.attempts + 1 : 1, now_ms_,
                                std::max<std::int64_t>(0, now_ms_ - handed_ms),
                                sequence < session.row().head && !dead});
  }
}

void Batch::WriteMessages(db::Transaction& tx) {
  constexpr auto kPayload = [](const auto& stored) {
    return db::BytesView{stored.message.payload};
  };
  tx.Queue(
      sql::kInsertMessages,
      db::Columns(stored_, &Stored::session,
                  db::Inside(&Stored::message, &Message::sequence, &Message::id, &Message::event_id,
                             &Message::kind),
                  kPayload,
                  db::Inside(&Stored::message, &Message::payload_bytes, &Message::correlation_id,
                             &Message::headers, &Message::trace, &Message::enqueued_ms,
                             &Message::expires_ms, &Message::replay_of, &Message::copy)));
}

void Batch::WriteCounters(db::Transaction& tx) {
  std::vector<CounterChange> changes;
  for (const auto& [id, session] : sessions_) {
    if (!session.changed()) continue;
    const SessionRow& row = session.row();
    const Standing was(session.old());
    const Standing is(row);
    const auto came = came_bytes_.find(id);
    const CounterChange change{row.queue,
                               row.generation,
                               id,
                               std::min(session.old().head, row.head),
                               row.head,
                               row.depth() - session.old().depth(),
                               came == came_bytes_.end() ? 0 : came->second,
                               is.ready - was.ready,
                               is.held - was.held,
                               is.parked - was.parked};
    if (change.first != change.past || change.messages != 0 || change.came_bytes != 0 ||
        change.ready != 0 || change.held != 0 || change.parked != 0)
      changes.push_back(change);
  }
  tx.Queue(sql::kAddCounters,
           db::Columns(changes, &CounterChange::queue, &CounterChange::generation,
                       &CounterChange::session, &CounterChange::first, &CounterChange::past,
                       &CounterChange::messages, &CounterChange::came_bytes, &CounterChange::ready,
                       &CounterChange::held, &CounterChange::parked));
}

void Batch::Notify(db::Transaction& tx) {
  for (const auto& [id, session] : sessions_) {
    const QueueRow& queue = session.queue();
    const SessionRow& row = session.row();
    if (session.tells_queue()) {
      effects_.notifications.Add(queue.tenant, QueueTopic(queue.name), now_ms_, now_ms_);
      if (!row.reserved_for.empty())
        effects_.notifications.Add(queue.tenant, ConsumerTopic(queue.name, row.reserved_for),
                                   now_ms_, now_ms_);
    }
    if (session.tells_session() || session.tells_queue())
      effects_.notifications.Add(queue.tenant, SessionTopic(id), now_ms_, now_ms_);
  }
  effects_.notifications.Tell(tx, process_, now_ms_);
}

void Slices::Load(db::Transaction& tx, std::vector<Asked> asked) {
  const auto sessions = std::max<std::int64_t>(1, std::ssize(asked));
  Queue(tx, std::move(asked), std::min(kMaxAcceptBytes, kMaxAheadBytes / sessions), false);
}

void Slices::Queue(db::Transaction& tx, std::vector<Asked> asked, std::int64_t bytes,
                   bool whole_head) {
  asked_ = std::move(asked);
  loading_ =
      tx.Queue(sql::kLoadSlices, db::Columns(asked_, &Asked::session, &Asked::from, &Asked::want),
               bytes, whole_head ? std::int64_t{1} : std::int64_t{0});
}

void Slices::Take(db::Transaction& tx) {
  for (const auto row : tx.Take(loading_)) {
    auto& here = loaded_[asked_[row.ordinal()].session];
    here.push_back(db::ReadAs<Message>(row, kMessageColumns));
    bytes_ += AnswerBytes(here.back());
  }
}

std::deque<Message>& Slices::FromHead(db::Transaction& tx, const Session& session,
                                      std::int64_t want, std::int64_t bytes) {
  std::deque<Message>& here = loaded_[session.row().id];
  while (!here.empty() && here.front().sequence < session.row().head) here.pop_front();
  if ((here.empty() || here.front().sequence != session.row().head) && session.row().HasWork()) {
    here.clear();
    Queue(tx, {{session.row().id, session.row().head, want}}, bytes, true);
    Take(tx);
    if (here.empty() || here.front().sequence != session.row().head)
      db::ThrowBadRow("a session's first message is missing");
  }
  return here;
}

std::int64_t Slices::HeadExpiresMs(db::Transaction& tx, const Session& session, std::int64_t want,
                                   std::int64_t bytes) {
  const auto& here = FromHead(tx, session, want, bytes);
  return here.empty() ? 0 : here.front().expires_ms;
}

std::vector<Message> Slices::HandOut(db::Transaction& tx, Session& session, std::int64_t most,
                                     std::int64_t bytes) {
  const auto want = static_cast<std::size_t>(session.SliceLimit(most));
  auto& here = FromHead(tx, session, session.SliceLimit(most), bytes);
  std::vector<Message> slice;
  for (const Message& each : here) {
    const bool expired = each.expires_ms > 0 && each.expires_ms <= session.now_ms() &&
                         each.sequence >= session.row().ttl_free;
    // What this transaction has put in itself is not read: `next` of a while ago is the end.
    if (slice.size() == want || expired || each.sequence >= session.row().next) break;
    slice.push_back(each);
  }
  if (!slice.empty()) session.HandOut(slice.back().sequence);
  return slice;
}

}  // namespace tenure::queues
