#include "queues/enqueue.hpp"

#include <ranges>
#include <set>

#include "db/keys.hpp"
#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

struct OpenedSession {
  base::Uuid id{};
  std::int64_t queue = 0;
  std::int64_t generation = 0;
  const NewMessage* first = nullptr;

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
  if (!taken.empty()) LockAndLoad(tx, taken);
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
  for (const SendRequest* request : requests) {
    const QueueRow& queue = queues_.at({request->tenant, request->queue});
    if (queue.settings.max_bytes > 0) bounded.insert(queue.id);
    for (const NewMessage& message : request->messages) {
      const base::Uuid id = SessionIdOf(queue.id, queue.generation, message.key);
      if (opened.try_emplace(id, OpenedSession{id, queue.id, queue.generation, &message}).second)
        names.push_back({id, queue.tenant, queue.name});
      shares.push_back({queue.id, queue.generation, message.share});
      if (!message.dedup_key.empty()) keys_.try_emplace({queue.id, message.dedup_key});
    }
  }
  const std::vector<std::int64_t> counted(bounded.begin(), bounded.end());
  const auto rows = opened | std::views::values;
  const auto key_columns = db::Columns(
      keys_, [](const auto& each) { return each.first.first; },
      [](const auto& each) { return std::string_view(each.first.second); });

  tx.Queue(sql::kLockKeys, key_columns);
  const auto keys = tx.Queue(sql::kLoadKeys, key_columns);
  tx.Queue(sql::kLockOpenSessions,
           db::Columns(rows, &OpenedSession::id, &OpenedSession::queue, &OpenedSession::generation,
                       db::Inside(&OpenedSession::first, &NewMessage::key), &OpenedSession::name,
                       db::Inside(&OpenedSession::first, &NewMessage::entity, &NewMessage::share)));
  batch_.Load(tx, std::move(names));
  batch_.LoadLevels(tx, std::move(shares));
  const auto sums = tx.Queue(sql::kSumCounters, counted);
  const auto clock = tx.QueueClock();

  std::vector<Known*> known;
  for (auto& [key, each] : keys_) known.push_back(&each);
  for (const auto row : tx.Take(keys))
    *known[row.ordinal()] = {row.Uuid(0), row.Uuid(1), row.Int(2), row.Int(3)};
  for (const auto row : tx.Take(sums)) bytes_[counted[row.ordinal()]] += row.Int(2);
  now_ms_ = tx.TakeClock(clock);
  std::set<base::Uuid> locked;
  for (const auto& [id, each] : opened) locked.insert(id);
  batch_.Take(tx, locked, now_ms_);
  batch_.TakeLevels(tx);
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
  for (const NewMessage& message : request.messages) {
    const base::Uuid id = SessionIdOf(queue.id, queue.generation, message.key);
    Known* const known =
        message.dedup_key.empty() ? nullptr : &keys_.at({queue.id, message.dedup_key});
    if (known && (known->is_new || known->expires_ms > now_ms_)) {
      reply.messages.push_back({known->id, known->session, known->sequence, true});
      continue;
    }
    Session* const session = batch_.Find(id);
    if (!session) db::ThrowBadRow("a session that was opened is not there");
    const base::Uuid message_id = base::Uuid::V7(now_ms_);
    const std::int64_t sequence = batch_.Put(*session, message, message_id);
    if (known) *known = {message_id, id, sequence, now_ms_ + queue.settings.dedup_ms, true};
    reply.messages.push_back({message_id, id, sequence, false});
  }
  return reply;
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

messages::Notifications SendHandler::WriteItems(db::Transaction& tx, Items items) {
  Enqueuer enqueuer(process_);
  std::vector<SendReply> replies = enqueuer.Add(tx, db::Requests(items));
  for (std::size_t i = 0; i < items.size(); ++i) items[i]->reply = std::move(replies[i]);
  return enqueuer.notifications();
}

}  // namespace tenure::queues
