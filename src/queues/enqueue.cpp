#include "queues/enqueue.hpp"

#include <set>
#include <vector>

#include "db/keys.hpp"
#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

/// What enters of users' transactions with one of ours: so many in all where a queue is drained,
/// and so many of a session.
constexpr std::int64_t kStagedAtOnce = 500;
constexpr std::int64_t kStagedOfASession = 1'000;

struct OpenedSession {
  base::Uuid id{};
  std::int64_t queue = 0;
  std::int64_t generation = 0;
  const NewMessage* first = nullptr;
  const QueueRow* row = nullptr;

  const std::string& name() const { return first->name.empty() ? first->key : first->name; }
};

struct WrittenKey {
  std::int64_t queue = 0;
  std::string_view key{};
  base::Uuid id{};
  base::Uuid session{};
  std::int64_t sequence = 0;
  std::int64_t expires_ms = 0;
};

}  // namespace

std::vector<SendReply> Enqueuer::Add(db::Transaction& tx,
                                     std::span<const SendRequest* const> requests) {
  LoadQueues(tx, requests);
  std::vector<const SendRequest*> taken;
  for (const SendRequest* request : requests)
    if (KindOf(*request) == SendReply::Kind::kSent) taken.push_back(request);
  if (!taken.empty()) {
    LockAndLoad(tx, taken);
    // Our own would overtake what is left.
    for (const auto& [session, staged] : staged_)
      if (static_cast<std::int64_t>(staged.size()) >= kStagedOfASession)
        throw base::Fault(base::FaultKind::kOverloaded,
                          "more was sent to this session by SQL than has entered it yet");
    EnterStaged(tx);
  }
  std::vector<SendReply> replies;
  replies.reserve(requests.size());
  for (const SendRequest* request : requests) {
    const SendReply::Kind kind = KindOf(*request);
    replies.push_back(kind == SendReply::Kind::kSent ? Put(*request) : SendReply{kind, {}, {}});
  }
  if (!taken.empty()) {
    WriteKeys(tx);
    batch_.Apply(tx);
  }
  return replies;
}

void Enqueuer::LoadQueues(db::Transaction& tx, std::span<const SendRequest* const> requests) {
  std::set<QueueName> names;
  for (const SendRequest* request : requests) names.emplace(request->tenant, request->queue);
  tx.Queue(sql::kLockBotsShared);
  for (const auto row :
       tx.Run(sql::kLoadQueues, db::Columns(names, &QueueName::first, &QueueName::second))) {
    QueueRow queue = ReadQueue(row);
    batch_.Know(queue);
    QueueName name{queue.tenant, queue.name};
    queues_.insert_or_assign(std::move(name), std::move(queue));
  }
}

SendReply::Kind Enqueuer::KindOf(const SendRequest& request) const {
  const auto found = queues_.find({request.tenant, request.queue});
  if (found == queues_.end() || found->second.state == QueueState::kDropped)
    return SendReply::Kind::kNoQueue;
  if (found->second.settings.scope == Scope::kNone) return SendReply::Kind::kUnordered;
  if (found->second.state == QueueState::kDraining) return SendReply::Kind::kDraining;
  return SendReply::Kind::kSent;
}

void Enqueuer::LockAndLoad(db::Transaction& tx, std::span<const SendRequest* const> requests) {
  std::map<base::Uuid, OpenedSession> opened;
  std::vector<SessionName> names;
  std::vector<Line::Share> shares;
  std::set<std::int64_t> bounded;
  std::set<DedupKey> keys;
  for (const SendRequest* request : requests) {
    const QueueRow& queue = queues_.at({request->tenant, request->queue});
    if (queue.settings.max_bytes > 0) bounded.insert(queue.id);
    for (const NewMessage& message : request->messages) {
      const base::Uuid id = SessionIdOf(queue.id, queue.generation, message.key);
      if (opened.try_emplace(id, OpenedSession{id, queue.id, queue.generation, &message, &queue})
              .second)
        names.push_back({id, queue.tenant, queue.name});
      shares.push_back({queue.id, queue.generation, message.share});
      if (!message.dedup_key.empty()) keys.insert({queue.id, message.dedup_key});
    }
  }
  const std::vector<std::int64_t> counted(bounded.begin(), bounded.end());
  std::vector<OpenedSession> rows;
  std::vector<base::Uuid> ids;
  std::set<base::Uuid> locked;
  for (const auto& [id, each] : opened) {
    rows.push_back(each);
    ids.push_back(id);
    locked.insert(id);
  }

  LoadKeys(tx, keys);
  tx.Queue(sql::kLockOpenSessions,
           db::Columns(rows, &OpenedSession::id, &OpenedSession::queue, &OpenedSession::generation,
                       db::Inside(&OpenedSession::first, &NewMessage::key), &OpenedSession::name,
                       db::Inside(&OpenedSession::first, &NewMessage::entity, &NewMessage::share)));
  batch_.Load(tx, std::move(names));
  const auto staged = tx.Queue(
      sql::kLoadStaged,
      db::Columns(rows, db::Inside(&OpenedSession::row, &QueueRow::tenant, &QueueRow::name),
                  db::Inside(&OpenedSession::first, &NewMessage::key)),
      kStagedOfASession);
  batch_.LoadLevels(tx, std::move(shares));
  const auto sums = tx.Queue(sql::kSumCounters, counted);
  const auto clock = tx.QueueClock();

  for (const auto row : tx.Take(staged)) {
    Staged each{row.Uuid(0), {}};
    db::ReadInto(each.message, row, 1, &NewMessage::key, &NewMessage::share, &NewMessage::kind,
                 &NewMessage::payload, &NewMessage::correlation_id, &NewMessage::headers,
                 &NewMessage::trace, &NewMessage::dedup_key);
    if (row.Int(9) >= 0) each.message.ttl_ms = row.Int(9);
    staged_[ids[row.ordinal()]].push_back(std::move(each));
  }
  for (const auto row : tx.Take(sums)) bytes_[counted[row.ordinal()]] += row.Int(2);
  now_ms_ = tx.TakeClock(clock);
  batch_.Take(tx, locked, now_ms_);
  batch_.TakeLevels(tx);
}

void Enqueuer::LoadKeys(db::Transaction& tx, const std::set<DedupKey>& keys) {
  if (keys.empty()) return;
  const auto columns = db::Columns(keys, &DedupKey::first, &DedupKey::second);
  const std::vector<DedupKey> asked(keys.begin(), keys.end());
  tx.Queue(sql::kLockKeys, columns);
  for (const DedupKey& key : asked) keys_.try_emplace(key);
  for (const auto row : tx.Run(sql::kLoadKeys, columns))
    keys_[asked[row.ordinal()]] = {row.Uuid(0), row.Uuid(1), row.Int(2), row.Int(3)};
}

void Enqueuer::EnterStaged(db::Transaction& tx) {
  std::set<DedupKey> keys;
  for (const auto& [session, staged] : staged_)
    for (const Staged& each : staged) {
      const DedupKey key{batch_.Find(session)->queue().id, each.message.dedup_key};
      if (!key.second.empty() && !keys_.contains(key)) keys.insert(key);
    }
  LoadKeys(tx, keys);
  std::vector<base::Uuid> entered;
  for (const auto& [session, staged] : staged_)
    for (const Staged& each : staged) {
      PutOne(batch_.Find(session)->queue(), each.message, each.id);
      entered.push_back(each.id);
    }
  tx.Queue(sql::kDropStaged, entered);
}

/// All of a request or nothing: a queue that is full takes no part of it.
SendReply Enqueuer::Put(const SendRequest& request) {
  const QueueRow& queue = queues_.at({request.tenant, request.queue});
  if (queue.settings.max_bytes > 0) {
    std::int64_t more = 0;
    for (const NewMessage& message : request.messages) more += message.size();
    std::int64_t& bytes = bytes_[queue.id];
    if (bytes + more > queue.settings.max_bytes) return {SendReply::Kind::kFull, {}, {}};
    bytes += more;
  }
  SendReply reply{SendReply::Kind::kSent, {}, request.is_list};
  reply.messages.reserve(request.messages.size());
  for (const NewMessage& message : request.messages)
    reply.messages.push_back(PutOne(queue, message, base::Uuid::V7(now_ms_)));
  return reply;
}

SentMessage Enqueuer::PutOne(const QueueRow& queue, const NewMessage& message,
                             const base::Uuid& id) {
  Known* const known =
      message.dedup_key.empty() ? nullptr : &keys_.at({queue.id, message.dedup_key});
  if (known && (known->is_new || known->expires_ms > now_ms_))
    return {known->id, known->session, known->sequence, true};
  const base::Uuid session_id = SessionIdOf(queue.id, queue.generation, message.key);
  Session* const session = batch_.Find(session_id);
  if (!session) db::ThrowBadRow("a session that was opened is not there");
  const std::int64_t sequence = batch_.Put(*session, message, id);
  if (known) *known = {id, session_id, sequence, now_ms_ + queue.settings.dedup_ms, true};
  return {id, session_id, sequence, false};
}

namespace {

void DrainToTopic(db::Transaction& tx, const std::string& tenant, const std::string& queue,
                  messages::Enqueuer& to_topic) {
  messages::EnqueueRequest request{.tenant = tenant};
  for (const auto row :
       tx.Run(sql::kTakeStaged, std::string_view(tenant), std::string_view(queue), kStagedAtOnce)) {
    messages::NewMessage& message = request.messages.emplace_back();
    message.id = row.Uuid(0);
    message.topic = QueueTopic(queue);
    db::ReadInto(message, row, 1, &messages::NewMessage::kind, &messages::NewMessage::payload,
                 &messages::NewMessage::correlation_id, &messages::NewMessage::headers,
                 &messages::NewMessage::trace, &messages::NewMessage::dedup_key);
  }
  if (request.messages.empty()) return;
  const std::vector<const messages::EnqueueRequest*> requests{&request};
  to_topic.Add(tx, requests);
}

}  // namespace

void Enqueuer::Drain(db::Transaction& tx, const std::string& tenant, const std::string& queue,
                     messages::Enqueuer& to_topic) {
  // Not yet under the locks: which sessions to lock.
  SendRequest keys{tenant, queue, {}};
  for (const auto row :
       tx.Run(sql::kListStaged, std::string_view(tenant), std::string_view(queue), kStagedAtOnce)) {
    NewMessage& message = keys.messages.emplace_back();
    message.key = row.Text(0);
    message.share = row.Text(1);
  }
  const std::vector<const SendRequest*> requests{&keys};
  LoadQueues(tx, requests);
  const auto row = queues_.find({tenant, queue});
  if (row == queues_.end()) return;
  if (KindOf(keys) == SendReply::Kind::kUnordered) return DrainToTopic(tx, tenant, queue, to_topic);
  if (keys.messages.empty()) return;
  LockAndLoad(tx, requests);
  EnterStaged(tx);
  // Its bot was removed, and it had been found empty, before these were committed.
  if (row->second.state == QueueState::kDropped)
    for (auto& [id, session] : batch_.sessions()) session.Drop();
  WriteKeys(tx);
  batch_.Apply(tx);
}

void Enqueuer::WriteKeys(db::Transaction& tx) {
  std::vector<WrittenKey> written;
  for (const auto& [key, known] : keys_)
    if (known.is_new)
      written.push_back(
          {key.first, key.second, known.id, known.session, known.sequence, known.expires_ms});
  tx.Queue(sql::kWriteKeys,
           db::Columns(written, &WrittenKey::queue, &WrittenKey::key, &WrittenKey::id,
                       &WrittenKey::session, &WrittenKey::sequence, &WrittenKey::expires_ms));
}

Effects SendHandler::WriteItems(db::Transaction& tx, Items items) {
  Enqueuer enqueuer(process_);
  std::vector<SendReply> replies = enqueuer.Add(tx, db::Requests(items));
  for (std::size_t i = 0; i < items.size(); ++i) items[i]->reply = std::move(replies[i]);
  return enqueuer.effects();
}

DrainEffects DrainHandler::WriteItems(db::Transaction& tx, Items items) {
  Enqueuer enqueuer(process_);
  messages::Enqueuer to_topic(topic_cache_, process_);
  enqueuer.Drain(tx, items.front()->request.tenant, items.front()->request.queue, to_topic);
  for (auto* item : items)
    if (item->request.tenant == items.front()->request.tenant &&
        item->request.queue == items.front()->request.queue)
      item->reply = DrainReply();
  return {enqueuer.effects(), to_topic.effect()};
}

void DrainHandler::DoneItems(Items, const DrainEffects& effects) {
  effects.topic.Publish(topic_cache_, wake_);
  Tell(effects.sessions, wake_, probe_);
}

void FindStaged(db::Transaction& tx, db::Items<DrainRequest, StagedReply> items) {
  std::set<std::pair<std::string, std::string>> names;
  for (const auto* item : items) names.emplace(item->request.tenant, item->request.queue);
  const std::vector<std::pair<std::string, std::string>> asked(names.begin(), names.end());
  std::set<std::pair<std::string, std::string>> found;
  using Name = std::pair<std::string, std::string>;
  const db::Rows rows = tx.Run(sql::kFindStaged, db::Columns(asked, &Name::first, &Name::second));
  for (const auto row : rows) found.insert(asked[row.ordinal()]);
  for (auto* item : items)
    item->reply = StagedReply{found.contains({item->request.tenant, item->request.queue})};
}

}  // namespace tenure::queues
