#include "sessions/end.hpp"

#include "base/json_writer.hpp"
#include "sessions/batch.hpp"

namespace tenure::sessions {
namespace {

db::Deed DeedOf(const Session& session) {
  db::Deed deed{session.id.ToString(), ""};
  base::JsonWriter(deed.detail)
      .BeginObject()
      .Field("tenant", session.tenant)
      .Field("user", session.key.user)
      .Field("capacity", session.key.capacity)
      .EndObject();
  return deed;
}

}  // namespace

void EndHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<Key> wanted;
  wanted.reserve(items.size());
  for (const auto* item : items) wanted.push_back(item->request.key);
  const BatchKeys keys(std::move(wanted));
  std::vector<Ledger> ledgers = OpenLedgers(tx, keys);
  for (auto* item : items) {
    Ledger& ledger = ledgers[keys.IndexOf(item->request.key)];
    const bool ended_before = ledger.ended().has_value();
    ledger.End(item->request.id);
    item->reply =
        EndReply{!ended_before && ledger.ended() && ledger.ended()->id == item->request.id &&
                 ledger.ended()->end_reason == EndReason::kDeleted};
    if (item->actor() && item->reply->ended_now) item->Did(DeedOf(*ledger.ended()));
  }
  ApplyChanges(tx, ledgers);
}

void EndHandler::DoneItems(Items items) {
  for (const auto* item : items)
    if (item->reply->ended_now) probe_.Deleted();
}

}  // namespace tenure::sessions
