#include "usage/records.hpp"

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"
#include "db/keys.hpp"
#include "sessions/usage_seal.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

/// Above every id of version 7.
constexpr base::Uuid kLastId{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                              0xff, 0xff, 0xff, 0xff, 0xff}};

db::Transaction::Pending QueuePage(db::Transaction& tx, const RecordsRequest& request,
                                   const Window& window) {
  const base::Uuid after = request.after.value_or(base::Uuid());
  const std::int64_t limit = request.limit + 1;
  if (request.user)
    return tx.Queue(sql::kListActiveOfUser, window.start_ms, window.end_ms, after, kLastId, limit,
                    request.capacity, *request.user, request.tenant);
  if (request.tenant)
    return tx.Queue(sql::kListActiveOfTenant, window.start_ms, window.end_ms, after, kLastId, limit,
                    request.capacity, *request.tenant);
  return tx.Queue(sql::kListActive, window.start_ms, window.end_ms, after, kLastId, limit,
                  request.capacity);
}

std::vector<sessions::Session> ReadSessions(const db::Rows& rows) {
  std::vector<sessions::Session> sessions;
  sessions.reserve(rows.size());
  for (const auto row : rows) sessions.push_back(sessions::ReadSession(row));
  return sessions;
}

/// The id before which a chunk begins.
base::Uuid Before(base::Uuid id) {
  for (std::size_t i = id.bytes.size(); i-- > 0;)
    if (id.bytes[i]-- != 0) break;
  return id;
}

}  // namespace

void AppendRecord(std::string& out, const Window& window, const Factors& factors,
                  const sessions::Session& session) {
  const int kind = static_cast<int>(session.kind);
  base::JsonWriter json(out);
  json.BeginObject();
  json.Field("recordId",
             std::string_view(fmt::format("{}-{}", window.number, session.id.ToString())))
      .Field("sessionId", session.id)
      .Field("userObjectId", session.key.user)
      .Field("tenantObjectId", session.tenant)
      .Field("capacityId", session.key.capacity)
      .Field("sessionKind", kind);
  json.Key("windowStartUtc").Time(window.start_ms);
  json.Key("windowEndUtc").Time(window.end_ms);
  json.Key("usage").Raw(base::MillionthsText(
      factors.MicrosIn(kind, {session.start_ms, session.end_ms}, window.interval())));
  json.EndObject();
}

std::string RecordsJson(const Material& material) {
  std::string out;
  out.reserve(2 + material.sessions.size() * 400);
  out += '[';
  for (const auto& session : material.sessions) {
    if (out.size() > 1) out += ',';
    AppendRecord(out, material.window, material.factors, session);
  }
  out += ']';
  return out;
}

void ListWindowRecords(db::Transaction& tx, db::Items<RecordsRequest, RecordsReply> items) {
  for (auto* item : items) {
    const RecordsRequest& request = item->request;
    const auto rows = tx.Queue(sql::kFindWindow, request.number);
    const auto factors = tx.Queue(sql::kLoadFactors);
    RecordsReply reply;
    if (const auto window = ReadWindow(tx.Take(rows))) {
      db::Page<sessions::Session> page;
      if (!request.of_nobody)
        page = db::TakePage<sessions::Session>(tx.Take(QueuePage(tx, request, *window)),
                                               request.limit, 0, sessions::ReadSession);
      reply.has_more = page.has_more;
      // After the page: whatever was missing from it is told by now.
      reply.is_removed = window->start_ms < sessions::ReadUsageSeal(tx).removed_ms;
      reply.material = Material{*window, TakeFactors(tx.Take(factors)), std::move(page.rows)};
    } else {
      tx.Take(factors);
    }
    item->reply = std::move(reply);
  }
}

void LoadChunks(db::Transaction& tx, db::Items<ChunkName, LoadReply> items) {
  const auto requests = db::Requests(items);
  const auto chunks = tx.Queue(sql::kFindChunks, db::Columns(requests, kNameColumns));
  const auto factor_rows = tx.Queue(sql::kLoadFactors);
  for (auto* item : items) item->reply = LoadReply{};
  const db::Rows found = tx.Take(chunks);
  const Factors factors = TakeFactors(tx.Take(factor_rows));

  std::vector<std::pair<LoadReply*, db::Transaction::Pending>> pages;
  for (const auto row : found) {
    const auto* item = items[row.ordinal()];
    LoadReply& reply = *items[row.ordinal()]->reply;
    reply.chunk = Chunk{item->request, row.Uuid(0), row.Uuid(1), row.Int(2), row.Int(3)};
    reply.material.window.number = item->request.number;
    reply.material.window.start_ms = row.Int(5);
    reply.material.window.end_ms = row.Int(6);
    reply.material.window.incarnation = row.Int(7);
    reply.material.factors = factors;
    const Window& window = reply.material.window;
    pages.emplace_back(&reply, tx.Queue(sql::kListActive, window.start_ms, window.end_ms,
                                        Before(reply.chunk->first_id), reply.chunk->last_id,
                                        reply.chunk->records + 1, std::optional<base::Uuid>()));
  }
  for (const auto& [reply, page] : pages) reply->material.sessions = ReadSessions(tx.Take(page));
}

}  // namespace tenure::usage
