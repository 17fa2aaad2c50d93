#include "sessions/put.hpp"

#include "base/log.hpp"
#include "sessions/batch.hpp"

namespace tenure::sessions {
namespace {

BatchKeys KeysOf(PutHandler::Items items) {
  std::vector<Key> keys;
  keys.reserve(items.size());
  for (const auto* item : items) keys.push_back(item->request.key);
  return BatchKeys(std::move(keys));
}

}  // namespace

void PutHandler::ReadItems(db::Transaction& tx, Items items) {
  const BatchKeys keys = KeysOf(items);
  const Loaded loaded = LoadLatest(tx, keys);
  for (auto* item : items)
    item->reply = AnswerWithoutChange(item->request, loaded.latest[keys.IndexOf(item->request.key)],
                                      loaded.now_ms);
}

void PutHandler::WriteItems(db::Transaction& tx, Items items) {
  const BatchKeys keys = KeysOf(items);
  std::vector<Ledger> ledgers = OpenLedgers(tx, keys);
  for (auto* item : items)
    item->reply = ledgers[keys.IndexOf(item->request.key)].Put(item->request, duration_ms_);
  ApplyChanges(tx, ledgers);
}

void PutHandler::DoneItems(Items items) {
  for (const auto* item : items) {
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

}  // namespace tenure::sessions
