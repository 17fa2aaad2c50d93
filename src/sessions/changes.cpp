#include "sessions/changes.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "db/keys.hpp"
#include "sessions_sql/queries.hpp"

namespace tenure::sessions {
namespace {

/// The keys of a batch, in the order in which they are locked.
using BatchKeys = db::UniqueKeys<Key>;
using KeyColumns = decltype(db::Columns(std::declval<const BatchKeys&>(), kKeyColumns));

/// The latest session of each key and the store's time, in one flush.
struct Loaded {
  std::vector<std::optional<Session>> latest;  // by index of the key
  std::int64_t now_ms = 0;
};

Loaded LoadLatest(db::Transaction& tx, const KeyColumns& keys, std::size_t count) {
  const auto rows = tx.Queue(sql::kLoadLatest, keys);
  const auto clock = tx.QueueClock();
  Loaded loaded;
  loaded.latest.resize(count);
  for (const auto row : tx.Take(rows)) loaded.latest[row.ordinal()] = ReadSession(row);
  loaded.now_ms = tx.TakeClock(clock);
  return loaded;
}

/// The ledgers of a batch's keys. Locks first (the seal, then the keys), then what is there, then
/// the clock: each a statement of its own, so that what is read and the time are not older than the
/// lock (docs/ground.md, Time). Their time is never before the end of the last usage window
/// that was closed (usage_seal.hpp).
std::vector<Ledger> OpenLedgers(db::Transaction& tx, const BatchKeys& keys) {
  tx.Queue(sql::kLockSealShared);
  const auto columns = db::Columns(keys, kKeyColumns);
  tx.Queue(sql::kLockKeys, columns);
  const auto bounds = tx.Queue(sql::kReadBounds);
  const Loaded loaded = LoadLatest(tx, columns, keys.size());
  const std::int64_t now_ms = std::max(loaded.now_ms, tx.Take(bounds)[0].Int(0));
  std::vector<Ledger> ledgers;
  ledgers.reserve(keys.size());
  for (const auto& latest : loaded.latest) ledgers.emplace_back(latest, now_ms);
  return ledgers;
}

/// Queues the net change of all ledgers; it is sent together with COMMIT.
void ApplyChanges(db::Transaction& tx, const std::vector<Ledger>& ledgers) {
  std::vector<const Session*> ended, started;
  for (const Ledger& ledger : ledgers) {
    if (ledger.ended()) ended.push_back(&*ledger.ended());
    for (const Session& session : ledger.started()) started.push_back(&session);
  }
  tx.Queue(sql::kEndSessions,
           db::Columns(ended, &Session::id, &Session::end_ms, &Session::end_reason));
  tx.Queue(sql::kStartSessions, db::Columns(started, kSessionColumns));
}

db::AuditEvent AuditEventOf(const Session& session) {
  db::AuditEvent event{session.id.ToString(), ""};
  base::JsonWriter(event.detail)
      .BeginObject()
      .Field("tenant", session.tenant)
      .Field("user", session.key.user)
      .Field("capacity", session.key.capacity)
      .EndObject();
  return event;
}

}  // namespace

void PutHandler::ReadItems(db::Transaction& tx, Items items) {
  const BatchKeys keys = db::KeysOf(items, &PutRequest::key);
  const Loaded loaded = LoadLatest(tx, db::Columns(keys, kKeyColumns), keys.size());
  for (auto* item : items)
    item->reply = AnswerWithoutChange(item->request, loaded.latest[keys.IndexOf(item->request.key)],
                                      loaded.now_ms);
}

void PutHandler::WriteItems(db::Transaction& tx, Items items) {
  const BatchKeys keys = db::KeysOf(items, &PutRequest::key);
  std::vector<Ledger> ledgers = OpenLedgers(tx, keys);
  for (auto* item : items) {
    item->reply = ledgers[keys.IndexOf(item->request.key)].Put(item->request, duration_ms_);
    // What has fences is not looked at before, so of it nothing is known.
    item->reply->contended = item->fences().empty() && item->reply->status == PutStatus::kExisting;
  }
  ApplyChanges(tx, ledgers);
}

void PutHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    if (item->reply->contended) probe_.Contended();
    switch (item->reply->status) {
      case PutStatus::kCreated:
        probe_.Created();
        break;
      case PutStatus::kUpgraded:
        probe_.Upgraded();
        break;
      case PutStatus::kExisting:
        probe_.Existing();
        break;
      case PutStatus::kForeign:
        probe_.RefusedForeign();
        base::LogWarn("sessions.foreign",
                      "a tenant asked for a key whose active session is another tenant's",
                      {{"tenant", item->request.tenant.ToString()},
                       {"user", item->request.key.user.ToString()},
                       {"capacity", item->request.key.capacity.ToString()}});
        break;
    }
  }
}

void EndHandler::WriteItems(db::Transaction& tx, Items items) {
  const BatchKeys keys = db::KeysOf(items, &EndRequest::key);
  std::vector<Ledger> ledgers = OpenLedgers(tx, keys);
  for (auto* item : items) {
    Ledger& ledger = ledgers[keys.IndexOf(item->request.key)];
    const bool ended_before = ledger.ended().has_value();
    ledger.End(item->request.id);
    item->reply =
        EndReply{!ended_before && ledger.ended() && ledger.ended()->id == item->request.id &&
                 ledger.ended()->end_reason == EndReason::kDeleted};
    if (item->actor() && item->reply->ended_now) item->Did(AuditEventOf(*ledger.ended()));
  }
  ApplyChanges(tx, ledgers);
}

void EndHandler::DoneItems(Items items) {
  for (const auto* item : items)
    if (item->reply->ended_now) probe_.Deleted();
}

}  // namespace tenure::sessions
