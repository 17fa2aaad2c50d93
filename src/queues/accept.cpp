#include "queues/accept.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "db/keys.hpp"
#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

/// So many that are due are looked at besides those that are asked for.
constexpr std::int64_t kMoreDue = 16;
/// And so many more of the line, for places that are freed by what is due.
constexpr std::int64_t kFreed = 4;

/// More than there can be sessions, and far from the end of the type.
constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;

/// Is served while messages of a time without order are left: no session is of it.
constexpr std::int64_t kNoGeneration = 0;

using AcceptItem = db::Item<AcceptRequest, AcceptReply>;

/// A queue from which a batch wants sessions.
struct AcceptedQueue {
  const QueueRow* row = nullptr;
  std::int64_t serving = 0;  ///< the generation that is handed out
  bool is_behind = false;    ///< it is not the current one
  std::int64_t room = kUnlimited;
  std::int64_t want = 0;
  std::vector<base::Uuid> line{};  ///< candidates, in the order of their places
  std::size_t next = 0;
  bool has_left = false;
  std::optional<std::int64_t> next_ms{};
};

struct ReservedFor {
  std::int64_t queue = 0;
  std::string consumer{};
  friend auto operator<=>(const ReservedFor&, const ReservedFor&) = default;
};

class AcceptBatch {
 public:
  AcceptBatch(db::Transaction& tx, std::string_view process) : tx_(tx), batch_(process) {}

  Effects Run(std::span<AcceptItem* const> items) {
    LoadQueues(items);
    PassGates(items);
    Seize(items);
    Prepare();
    std::vector<AcceptItem*> decided;
    for (AcceptItem* item : items) {
      if (!item->reply && slices_.is_full() && !decided.empty()) continue;  // for the next batch
      if (!item->reply) item->reply = Decide(item->request);
      decided.push_back(item);
    }
    batch_.Apply(tx_);
    LookBack(decided);
    return batch_.effects();
  }

 private:
  using QueueName = std::pair<std::string, std::string>;

  void LoadQueues(std::span<AcceptItem* const> items);
  void PassGates(std::span<AcceptItem* const> items);
  void Seize(std::span<AcceptItem* const> items);
  void AddSeized(const db::Rows& rows, const std::vector<std::int64_t>& queues);
  void Prepare();
  void LookBack(std::span<AcceptItem* const> items);

  AcceptReply Decide(const AcceptRequest& request);
  AcceptReply Repeat(const AcceptRequest& request, const std::vector<base::Uuid>& held);
  std::optional<NotToBeHad> TryChosen(const AcceptRequest& request, AcceptedQueue& queue,
                                      AcceptReply& reply);
  void TryReserved(const AcceptRequest& request, AcceptedQueue& queue, AcceptReply& reply);
  bool TryGrant(Session& session, const AcceptRequest& request, AcceptedQueue& queue,
                AcceptReply& reply);
  HeldSession ToHeld(const Session& session, std::vector<Message> messages) const;
  AcceptedQueue* QueueOf(const AcceptRequest& request);
  base::Uuid ChosenId(const AcceptRequest& request, const AcceptedQueue& queue) const {
    const std::int64_t generation =
        queue.serving == kNoGeneration ? queue.row->generation : queue.serving;
    return request.session ? *request.session : SessionIdOf(queue.row->id, generation, request.key);
  }
  /// The same key in the newest generation, which may wait for an older one.
  static base::Uuid NewestId(const AcceptRequest& request, const AcceptedQueue& queue) {
    return SessionIdOf(queue.row->id, queue.row->generation, request.key);
  }
  bool WaitsBehind(const AcceptRequest& request, const AcceptedQueue& queue) {
    if (request.key.empty() || queue.serving == queue.row->generation) return false;
    const Session* const newest = batch_.Find(NewestId(request, queue));
    return newest && newest->row().HasWork();
  }
  std::int64_t BytesFor(const AcceptRequest& request) const {
    return std::max<std::int64_t>(
        1, kMaxAcceptBytes / std::max<std::int64_t>(1, request.max_sessions));
  }

  db::Transaction& tx_;
  Batch batch_;
  Slices slices_;
  Limits limits_;
  std::int64_t begun_ms_ = 0;
  std::int64_t now_ms_ = 0;
  std::map<QueueName, AcceptedQueue> queues_;
  std::map<const AcceptItem*, std::vector<base::Uuid>> repeated_;
  std::map<const AcceptRequest*, const std::vector<base::Uuid>*> repeats_;
  std::set<base::Uuid> locked_;  // of those that were named
  std::vector<SessionRow> seized_;
  std::map<ReservedFor, std::vector<base::Uuid>> reserved_;
  std::int64_t slice_ = 1;  // the longest that is asked for
  // Of the answer under way: each of its sessions has one message at least, whatever its size.
  std::int64_t answered_bytes_ = 0;
};

AcceptedQueue* AcceptBatch::QueueOf(const AcceptRequest& request) {
  const auto found = queues_.find({request.tenant, request.queue});
  return found == queues_.end() ? nullptr : &found->second;
}

void AcceptBatch::LoadQueues(std::span<AcceptItem* const> items) {
  std::set<std::string> ids;
  std::set<QueueName> names;
  for (const AcceptItem* item : items) {
    if (item->request.accept_id) ids.insert(item->request.accept_id->ToString());
    names.emplace(item->request.tenant, item->request.queue);
  }
  tx_.Queue(sql::kLockAccepts, std::vector<std::string>(ids.begin(), ids.end()));
  tx_.Queue(sql::kLockBotsShared);
  const auto loading =
      tx_.Queue(sql::kLoadQueues, db::Columns(names, &QueueName::first, &QueueName::second));
  const auto limits = tx_.Queue(sql::kReadLimits);
  const auto clock = tx_.QueueClock();
  for (const auto row : tx_.Take(loading)) {
    const QueueRow& queue = batch_.Know(ReadQueue(row));
    if (queue.state == QueueState::kDropped) continue;
    AcceptedQueue& accepted = queues_[{queue.tenant, queue.name}];
    accepted.row = &queue;
    accepted.serving = queue.generation;
  }
  for (const auto row : tx_.Take(limits))
    limits_ = db::ReadAs<Limits>(row, &Limits::incarnation, &Limits::frozen_ms, &Limits::freeze_ms);
  begun_ms_ = tx_.TakeClock(clock);
  for (AcceptItem* item : items) {
    const AcceptedQueue* const queue = QueueOf(item->request);
    if (!queue)
      item->reply = AcceptReply{.kind = AcceptReply::Kind::kNoQueue, .now_ms = begun_ms_};
    else if (item->request.lease_ms.value_or(0) > queue->row->most_lease_ms())
      item->reply = AcceptReply{.kind = AcceptReply::Kind::kLeaseTooLong,
                                .most_lease_ms = queue->row->most_lease_ms(),
                                .now_ms = begun_ms_};
  }
}

/// Where there is a cap or an older generation: the gate, and then the sums. What is left of a time
/// without order is in the queue's topic, and comes before all that is newer.
void AcceptBatch::PassGates(std::span<AcceptItem* const> items) {
  std::map<std::int64_t, AcceptedQueue*> gated;
  for (auto& [name, queue] : queues_)
    if (queue.row->gated()) gated[queue.row->id] = &queue;
  std::vector<std::int64_t> ids, older;
  for (const auto& [id, queue] : gated) {
    ids.push_back(id);
    if (queue->row->oldest < queue->row->generation && queue->row->settings.scope != Scope::kNone)
      older.push_back(id);
  }
  tx_.Queue(sql::kLockGates, ids);
  const auto summing = tx_.Queue(sql::kSumCounters, ids);
  const auto topics = tx_.Queue(sql::kLookTopics, older);
  std::vector<std::pair<const AcceptItem*, db::Transaction::Pending>> finding;
  for (const AcceptItem* item : items)
    if (!item->reply && item->request.accept_id)
      finding.emplace_back(item, tx_.Queue(sql::kFindAccepted, *item->request.accept_id,
                                           QueueOf(item->request)->row->id,
                                           std::string_view(item->request.consumer)));
  std::map<std::int64_t, std::int64_t> held;
  for (const auto row : tx_.Take(summing)) {
    AcceptedQueue& queue = *gated.at(ids[row.ordinal()]);
    held[queue.row->id] += row.Int(4);
    // By generation: the first that has messages is served.
    if (!queue.is_behind && row.Int(0) < queue.row->generation && row.Int(1) > 0) {
      queue.is_behind = true;
      queue.serving = row.Int(0);
    }
  }
  for (const auto row : tx_.Take(topics)) {
    AcceptedQueue& queue = *gated.at(older[row.ordinal()]);
    if (queue.is_behind) continue;
    queue.is_behind = true;
    queue.serving = kNoGeneration;
  }
  for (const auto& [id, queue] : gated)
    if (queue->row->settings.max_concurrent_sessions > 0)
      queue->room = queue->row->settings.max_concurrent_sessions - held[id];
  for (AcceptItem* item : items) {
    if (item->reply) continue;
    const AcceptedQueue& queue = *QueueOf(item->request);
    // What is left of a time when it was ordered is handed out.
    if (queue.row->settings.scope == Scope::kNone && !queue.is_behind)
      item->reply = AcceptReply{.kind = AcceptReply::Kind::kUnordered, .now_ms = begun_ms_};
  }
  for (const auto& [item, pending] : finding)
    for (const auto row : tx_.Take(pending)) repeated_[item].push_back(row.Uuid(0));
}

void AcceptBatch::Seize(std::span<AcceptItem* const> items) {
  std::set<base::Uuid> named;
  std::set<ReservedFor> reserved;
  for (const AcceptItem* item : items) {
    if (item->reply) continue;
    const AcceptRequest& request = item->request;
    AcceptedQueue& queue = *QueueOf(request);
    slice_ = std::max(slice_, std::min(request.max_messages, kMaxSlice));
    if (const auto again = repeated_.find(item); again != repeated_.end()) {
      repeats_[&request] = &again->second;
      named.insert(again->second.begin(), again->second.end());
    }
    if (request.is_chosen()) {
      named.insert(ChosenId(request, queue));
      if (!request.key.empty()) named.insert(NewestId(request, queue));
    } else if (!queue.row->paused()) {
      queue.want += std::min<std::int64_t>(request.max_sessions, kMaxSessions);
      reserved.insert({queue.row->id, request.consumer});
    }
  }
  std::vector<std::int64_t> due_queues, line_queues, generations, from, wants;
  std::int64_t most = kMoreDue;
  for (const auto& [name, queue] : queues_) {
    due_queues.push_back(queue.row->id);
    most = std::max(most, queue.want + kMoreDue);
    const std::int64_t want =
        queue.room >= queue.want
            ? queue.want
            : std::min(queue.want, std::max<std::int64_t>(queue.room, 0) + kFreed);
    if (want == 0) continue;
    line_queues.push_back(queue.row->id);
    generations.push_back(queue.serving);
    from.push_back(0);
    wants.push_back(want);
  }
  const std::vector<base::Uuid> ids(named.begin(), named.end());
  std::vector<SessionName> names;
  for (const base::Uuid& id : ids) names.push_back({id, {}, {}});
  const auto seizing = tx_.Queue(sql::kSeizeSessions, ids);
  batch_.Load(tx_, std::move(names));
  const auto due = tx_.Queue(sql::kSeizeDue, due_queues, begun_ms_, most);
  const auto ready = tx_.Queue(sql::kSeizeReady, line_queues, generations, from, wants);
  const auto reserving =
      tx_.Queue(sql::kSeizeReserved,
                db::Columns(reserved, &ReservedFor::queue, &ReservedFor::consumer), most);
  const auto clock = tx_.QueueClock();

  for (const auto row : tx_.Take(seizing)) locked_.insert(ids[row.ordinal()]);
  AddSeized(tx_.Take(due), due_queues);
  AddSeized(tx_.Take(ready), line_queues);
  const std::vector<ReservedFor> asked(reserved.begin(), reserved.end());
  for (const auto row : tx_.Take(reserving)) {
    seized_.push_back(ReadSession(row));
    reserved_[asked[row.ordinal()]].push_back(seized_.back().id);
  }
  now_ms_ = tx_.TakeClock(clock);
  batch_.Take(tx_, locked_, now_ms_);
}

void AcceptBatch::AddSeized(const db::Rows& rows, const std::vector<std::int64_t>& queues) {
  for (const auto row : rows) {
    seized_.push_back(ReadSession(row));
    if (seized_.back().queue != queues[row.ordinal()])
      db::ThrowBadRow("a session is not of the queue that has it in line");
  }
}

/// What was locked becomes what it is at this moment: marks are applied, times that have come are
/// taken note of, places are given.
void AcceptBatch::Prepare() {
  std::map<std::int64_t, AcceptedQueue*> by_id;
  for (auto& [name, queue] : queues_) by_id[queue.row->id] = &queue;
  std::set<base::Uuid> seen;
  std::vector<Slices::Asked> asked;
  std::vector<base::Uuid> ids;
  for (SessionRow& row : seized_) {
    if (!seen.insert(row.id).second) continue;
    AcceptedQueue& queue = *by_id.at(row.queue);
    if (row.HasWork() && row.generation == queue.serving)
      asked.push_back({row.id, row.head, slice_});
    ids.push_back(row.id);
    if (!batch_.Find(row.id)) batch_.Add(std::move(row), *queue.row, now_ms_);
  }
  const auto marks = tx_.Queue(sql::kLoadMarks, ids);
  slices_.Load(tx_, std::move(asked));
  for (const auto row : tx_.Take(marks)) batch_.ApplyMark(*batch_.Find(ids[row.ordinal()]), row, 0);
  slices_.Take(tx_);

  for (auto& [id, session] : batch_.sessions()) {
    const auto queue = by_id.find(session.row().queue);
    if (queue == by_id.end()) continue;  // somebody else's, named by its id
    const bool was_held = session.row().state == State::kHeld;
    session.ComeDue();
    if (was_held && session.row().state != State::kHeld) ++queue->second->room;
  }
  batch_.Place(tx_);
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, base::Uuid>>> lines;
  for (const auto& [id, session] : batch_.sessions())
    if (session.row().position > 0 && seen.contains(id))
      lines[session.row().queue].emplace_back(session.row().position, id);
  for (auto& [queue, line] : lines) {
    std::sort(line.begin(), line.end());
    for (const auto& [position, id] : line) by_id.at(queue)->line.push_back(id);
  }
}

AcceptReply AcceptBatch::Decide(const AcceptRequest& request) {
  if (const auto again = repeats_.find(&request); again != repeats_.end()) {
    AcceptReply reply = Repeat(request, *again->second);
    if (!reply.sessions.empty()) return reply;
  }
  AcceptedQueue& queue = *QueueOf(request);
  AcceptReply reply{.now_ms = now_ms_};
  answered_bytes_ = 0;
  reply.is_leftover = queue.row->settings.scope == Scope::kNone;
  if (request.is_chosen()) {
    reply.unavailable = TryChosen(request, queue, reply);
    return reply;
  }
  if (queue.row->paused()) {
    reply.blocked = Blocked::kPaused;
    return reply;
  }
  TryReserved(request, queue, reply);
  const auto want = static_cast<std::size_t>(request.max_sessions);
  while (reply.sessions.size() < want && queue.next < queue.line.size() &&
         answered_bytes_ < kMaxAcceptBytes) {
    if (queue.room <= 0) break;
    Session& session = *batch_.Find(queue.line[queue.next++]);
    TryGrant(session, request, queue, reply);
    if (session.pauses_queue()) queue.room = 0;
  }
  if (!reply.sessions.empty()) reply.blocked = Blocked::kNo;
  if (reply.sessions.empty() && queue.room <= 0)
    reply.blocked = Blocked::kCap;
  else if (reply.sessions.empty() && queue.is_behind && reply.blocked == Blocked::kNo)
    reply.blocked = Blocked::kGeneration;
  return reply;
}

void AcceptBatch::TryReserved(const AcceptRequest& request, AcceptedQueue& queue,
                              AcceptReply& reply) {
  const auto found = reserved_.find({queue.row->id, request.consumer});
  if (found == reserved_.end()) return;
  for (const base::Uuid& id : found->second) {
    if (queue.room <= 0 || answered_bytes_ >= kMaxAcceptBytes ||
        reply.sessions.size() >= static_cast<std::size_t>(request.max_sessions))
      return;
    Session& session = *batch_.Find(id);
    if (session.row().generation == queue.serving) TryGrant(session, request, queue, reply);
  }
}

/// Expired messages at the head go by policy first.
bool AcceptBatch::TryGrant(Session& session, const AcceptRequest& request, AcceptedQueue& queue,
                           AcceptReply& reply) {
  if (!session.IsReadyFor(request.consumer) || session.row().generation != queue.serving)
    return false;
  if (session.FrozenUntilMs(limits_) > 0) {
    reply.blocked = Blocked::kFrozen;
    return false;
  }
  for (int passed = 0; session.IsReadyFor(request.consumer); ++passed) {
    const std::int64_t expires_ms = slices_.HeadExpiresMs(tx_, session, slice_, BytesFor(request));
    if (!session.ExpireHead(expires_ms)) break;
    if (passed == kMaxExpired) return false;  // the next accept goes on
  }
  if (!session.IsReadyFor(request.consumer)) return false;
  --queue.room;
  session.Accept(
      {request.consumer, request.lease_ms.value_or(queue.row->settings.session_timeout_ms),
       request.accept_id},
      limits_);
  auto slice = slices_.HandOut(tx_, session, request.max_messages, BytesFor(request));
  for (const Message& each : slice) answered_bytes_ += AnswerBytes(each);
  reply.sessions.push_back(ToHeld(session, std::move(slice)));
  return true;
}

HeldSession AcceptBatch::ToHeld(const Session& session, std::vector<Message> messages) const {
  const SessionRow& row = session.row();
  return {row.id,
          row.key,
          row.name,
          row.entity,
          row.fence,
          row.attempts + 1,
          row.lease_until_ms,
          row.depth(),
          std::nullopt,
          std::move(messages)};
}

/// The holds of an accept whose answer was lost, from the head on to what was handed out.
AcceptReply AcceptBatch::Repeat(const AcceptRequest& request, const std::vector<base::Uuid>& held) {
  AcceptReply reply{.now_ms = now_ms_};
  for (const base::Uuid& id : held) {
    Session* const session = batch_.Find(id);
    if (!session) continue;
    const SessionRow& row = session->row();
    if (row.state != State::kHeld || row.accept_id != request.accept_id) continue;
    session->GoOn(row.fence, true, true);
    if (row.state != State::kHeld) continue;
    std::vector<Message> slice;
    if (row.HasWork())
      slice = slices_.HandOut(tx_, *session, std::max<std::int64_t>(1, row.handed - row.head + 1),
                              kMaxAcceptBytes);
    reply.sessions.push_back(ToHeld(*session, std::move(slice)));
  }
  return reply;
}

std::optional<NotToBeHad> AcceptBatch::TryChosen(const AcceptRequest& request, AcceptedQueue& queue,
                                                 AcceptReply& reply) {
  using Reason = NotToBeHad::Reason;
  const base::Uuid id = ChosenId(request, queue);
  if (batch_.PassedOver(id) == queue.row && !batch_.Find(id))
    return NotToBeHad{Reason::kLocked, {}, 0};
  Session* const session = batch_.Find(id);
  const bool is_there = session && session->row().queue == queue.row->id;
  if (!(is_there && session->row().HasWork()) && WaitsBehind(request, queue))
    return NotToBeHad{Reason::kGeneration, {}, 0};
  if (!is_there) return NotToBeHad{Reason::kUnknown, {}, 0};
  const SessionRow& row = session->row();
  if (queue.row->paused()) return NotToBeHad{Reason::kPaused, {}, 0};
  if (row.state == State::kParked) return NotToBeHad{Reason::kParked, {}, 0};
  if (row.state == State::kHeld) return NotToBeHad{Reason::kHeld, row.consumer, row.lease_until_ms};
  if (!row.HasWork()) return NotToBeHad{Reason::kEmpty, {}, 0};
  if (row.not_before_ms > now_ms_) return NotToBeHad{Reason::kBackoff, {}, row.not_before_ms};
  if (!session->IsReadyFor(request.consumer))
    return NotToBeHad{Reason::kReserved, row.reserved_for, row.reserved_until_ms};
  if (row.generation != queue.serving) return NotToBeHad{Reason::kGeneration, {}, 0};
  if (const std::int64_t until_ms = session->FrozenUntilMs(limits_); until_ms > 0)
    return NotToBeHad{Reason::kFrozen, {}, until_ms};
  if (queue.room <= 0) return NotToBeHad{Reason::kCap, {}, 0};
  if (TryGrant(*session, request, queue, reply)) return std::nullopt;
  return NotToBeHad{row.state == State::kParked ? Reason::kParked : Reason::kEmpty, {}, 0};
}

/// Without locks, after the changes: what is left that may be taken, and when to look again. And
/// what consumers keep with what they got.
void AcceptBatch::LookBack(std::span<AcceptItem* const> items) {
  std::vector<AcceptedQueue*> looked;
  std::vector<std::int64_t> ids, generations;
  for (auto& [name, queue] : queues_) {
    looked.push_back(&queue);
    ids.push_back(queue.row->id);
    generations.push_back(queue.serving);
  }
  std::vector<base::Uuid> granted;
  std::vector<HeldSession*> sessions;
  for (AcceptItem* item : items)
    for (HeldSession& session : item->reply->sessions) {
      if (batch_.Find(session.id)->row().fence != session.fence) continue;
      granted.push_back(session.id);
      sessions.push_back(&session);
    }
  const db::UniqueKeys unique(granted);
  const std::vector<base::Uuid> stated(unique.begin(), unique.end());
  const auto looking = tx_.Queue(sql::kLookLeft, ids, generations, now_ms_);
  const auto states = tx_.Queue(sql::kLoadStates, stated);
  for (const auto row : tx_.Take(looking)) {
    AcceptedQueue& queue = *looked[row.ordinal()];
    queue.has_left = row.Int(0) != 0 && queue.room > 0 && !queue.row->paused();
    if (!row.IsNull(1)) queue.next_ms = row.Int(1);
  }
  for (const auto row : tx_.Take(states))
    for (HeldSession* session : sessions)
      if (session->id == stated[row.ordinal()]) session->state = std::string(row.Text(0));
  for (AcceptItem* item : items) {
    const AcceptedQueue* const queue = QueueOf(item->request);
    if (!queue) continue;
    item->reply->has_left = queue->has_left;
    if (queue->next_ms)
      item->reply->look_in_ms = std::max<std::int64_t>(1, *queue->next_ms - now_ms_);
  }
}

}  // namespace

Effects AcceptHandler::WriteItems(db::Transaction& tx, Items items) {
  Effects effects = AcceptBatch(tx, process_).Run(items);
  std::vector<Message*> referring;
  for (AcceptItem* item : items) {
    if (!item->reply) continue;
    for (HeldSession& session : item->reply->sessions) {
      CollectReferring(session.messages, referring);
      for (const Message& each : session.messages)
        effects.handed_ms.push_back(item->reply->now_ms - each.enqueued_ms);
    }
  }
  ShowEvents(events_, tx, referring);
  return effects;
}

}  // namespace tenure::queues
