#include "webhooks/replay.hpp"

#include <algorithm>

#include "base/json_writer.hpp"
#include "webhooks/event_columns.hpp"
#include "webhooks/rules/form.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

/// The bodies of one call: an event beyond them is left for the next one.
constexpr std::int64_t kMaxBodies = 32 << 20;

const bots::Bot* FindBot(const TenantBots* bots, std::string_view name) {
  if (!bots) return nullptr;
  const auto found = std::ranges::find(bots->file.bots, name, &bots::Bot::name);
  return found == bots->file.bots.end() ? nullptr : &*found;
}

/// A source that is gone has left its events, and they their keys.
std::string HostOf(const Snapshot& bots, std::string_view source) {
  const Snapshot::Door door = bots.FindSource(source);
  return door.source ? door.source->host : bots::Source().host;
}

/// The event's JSON; empty where its body is gone.
std::string ReadBody(db::Transaction& tx, const EventRow& event) {
  for (const auto row : tx.Run(sql::kReadPayload, std::string_view(event.tenant), event.event_id)) {
    if (!IsForm(row.Text(1))) return std::string(row.Text(0));
    return rules::PayloadOfForm(row.Text(0)).value_or("");
  }
  return {};
}

std::string ReplayDetail(const ReplayRequest& request, const ReplayReply& reply) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject()
      .Field("events", reply.found)
      .Field("messages", reply.changed)
      .Key("since")
      .TimeOrNull(request.since_ms)
      .EndObject();
  return out;
}

}  // namespace

ReceiveEffect ReplayHandler::WriteItems(db::Transaction& tx, Items items) {
  tx.Queue(sql::kShareBots);
  const std::int64_t revision = tx.Run(sql::kReadRevision)[0].Int(0);
  SnapshotPtr bots = bots_.Get();
  const bool learnt = revision != bots->revision;
  if (learnt) bots = LoadSnapshot(tx);
  FanOut fan_out(topics_, process_, options_.inline_payload_bytes, full_);
  for (auto* item : items) {
    ReplayReply reply = Append(tx, item->request, *bots, fan_out);
    if (!item->request.dry_run && reply.changed > 0)
      item->Did({item->request.bot, ReplayDetail(item->request, reply)});
    item->reply = reply;
  }
  fan_out.Send(tx);
  return {fan_out.sent(), fan_out.ordered(), learnt ? bots : nullptr, fan_out.fallbacks()};
}

ReplayReply ReplayHandler::Append(db::Transaction& tx, const ReplayRequest& request,
                                  const Snapshot& bots, FanOut& fan_out) {
  ReplayReply reply;
  const bots::Bot* const bot = FindBot(bots.OfTenant(request.tenant), request.bot);
  if (!bot) {
    reply.kind = ReplayReply::Kind::kNoBot;
    return reply;
  }
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const db::Rows rows =
      tx.Run(sql::kListReplayed, std::string_view(request.tenant), request.after,
             std::string_view(request.event), std::string_view(request.repository),
             request.since_ms, request.until_ms, request.limit);
  std::vector<EventRow> events;
  for (const auto row : rows) events.push_back(ReadEvent(row));
  bool is_last = static_cast<std::int64_t>(events.size()) < request.limit;
  std::int64_t bodies = 0;
  for (const EventRow& row : events) {
    if (bodies > 0 && bodies + row.bytes > kMaxBodies) {
      is_last = false;
      break;
    }
    bodies += row.bytes;
    reply.after = row.number;
    const std::string json = ReadBody(tx, row);
    const auto payload = rules::Payload::Parse(json);
    if (!payload) continue;  // its retention is over
    const std::string host = HostOf(bots, row.source);
    const rules::Origin origin{
        .source = row.source, .host = host, .hook = row.hook, .event = row.event};
    const rules::Event event(origin, *payload);
    if (!rules::Matches(bot->routing, event).matches) continue;
    ++reply.found;
    if (request.dry_run) continue;
    fan_out.Begin(row, event, now_ms);
    reply.changed += fan_out.Give(*bot);
  }
  if (is_last) reply.after = 0;
  return reply;
}

}  // namespace tenure::webhooks
