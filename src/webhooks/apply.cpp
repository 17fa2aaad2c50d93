#include "webhooks/apply.hpp"

#include "base/json_writer.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

/// Older revisions are for looking at.
constexpr std::int64_t kKeptRevisions = 100;

/// A source's name is the store's: the address of a webhook has no tenant.
std::string TakenSource(const Snapshot& snapshot, const bots::File& file) {
  for (const bots::Source& source : file.sources) {
    const Snapshot::Door door = snapshot.FindSource(source.name);
    if (door.source && door.bots->tenant != file.tenant) return source.name;
  }
  return {};
}

ApplyReply Judge(const Snapshot& snapshot, const ApplyRequest& request) {
  ApplyReply reply;
  const TenantBots* const before = snapshot.OfTenant(request.file.tenant);
  reply.revision = before ? before->revision : 0;
  if (request.revision && *request.revision != reply.revision) {
    reply.kind = ApplyReply::Kind::kMoved;
    return reply;
  }
  reply.name = TakenSource(snapshot, request.file);
  if (!reply.name.empty()) {
    reply.kind = ApplyReply::Kind::kSourceTaken;
    return reply;
  }
  reply.changes = bots::Compare(before ? before->file : bots::File{}, request.file);
  return reply;
}

std::string DetailOf(const ApplyReply& reply) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject().Field("revision", reply.revision).Key("changes").BeginArray();
  for (const bots::Change& change : reply.changes)
    json.BeginObject().Field("what", ToText(change.what)).Field("name", change.name).EndObject();
  json.EndArray().EndObject();
  return out;
}

}  // namespace

/// One at a time: the next one compares with what this one made.
void ApplyHandler::WriteItems(db::Transaction& tx, Items items) {
  auto& item = *items.front();
  const ApplyRequest& request = item.request;
  tx.Run(sql::kLockBots);
  const SnapshotPtr snapshot = LoadSnapshot(tx);
  const std::int64_t highest = tx.Run(sql::kReadRevision)[0].Int(0);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  ApplyReply reply = Judge(*snapshot, request);
  reply.kept = request.only_first && snapshot->OfTenant(request.file.tenant);
  const bool changes =
      reply.kind == ApplyReply::Kind::kDone && (!reply.changes.empty() || reply.revision == 0);
  if (changes && !request.dry_run && !reply.kept) {
    reply.revision = highest + 1;
    tx.Queue(sql::kAddBots, reply.revision, std::string_view(request.file.tenant),
             std::string_view(request.content), now_ms, std::string_view(request.person));
    tx.Queue(sql::kForgetBots, std::string_view(request.file.tenant), kKeptRevisions);
    item.Did({"bots", DetailOf(reply)});
  }
  item.reply = std::move(reply);
}

}  // namespace tenure::webhooks
