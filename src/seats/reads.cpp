#include "seats/reads.hpp"

#include <algorithm>

#include "base/json_text.hpp"
#include "db/keys.hpp"
#include "http/json_value.hpp"
#include "seats/batch.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

using base::JsonWriter;

LicenseView ViewOfRow(const db::Rows::Row& row, std::int64_t now_ms) {
  LicenseView view;
  view.license = ReadLicense(row);
  db::ReadInto(view.line, row, kLicenseColumnCount, &LineCounts::offered, &LineCounts::waiting);
  Limits limits;
  db::ReadInto(limits, row, kLicenseColumnCount + 2, &Limits::incarnation, &Limits::frozen_ms,
               &Limits::freeze_ms);
  db::ReadInto(limits.redis, row, kLicenseColumnCount + 5, &RedisEpoch::lag_ms);
  view.frozen_until_ms = limits.FrozenUntilMs(view.license);
  view.now_ms = now_ms;
  return view;
}

void WriteLicenseView(JsonWriter& json, const LicenseView& view) {
  json.BeginObject();
  WriteLicense(json, view.license, view.line, view.now_ms);
  if (view.frozen_until_ms > view.now_ms) json.Key("frozen_until").Time(view.frozen_until_ms);
  json.Field("peak", view.license.peak);
  json.Key("peak_at").TimeOrNull(view.license.peak_ms);
  json.EndObject();
}

/// A holding that has no seat any more, as far as the log tells.
Holding FromLog(const base::Uuid& session, const std::vector<SessionEntry>& entries,
                std::int64_t now_ms) {
  const Ended ended = EndOf(entries);
  Holding holding{.license = entries.front().license, .now_ms = now_ms};
  holding.row.open = false;
  holding.row.session = session;
  holding.row.person = ended.person;
  holding.row.started_ms = entries.back().at_ms;
  holding.row.beat_ms = ended.beat_ms;
  holding.row.expires_ms = ended.ended_ms;
  if (const auto detail = http::JsonValue::Parse(entries.front().detail)) {
    holding.row.machine = std::string(detail->TextOf("machine").value_or(""));
  }
  // Its first entry says how it began.
  const SessionEntry& first = entries.back();
  holding.row.slot = first.slot;
  holding.row.fence = first.fence;
  if (const auto detail = http::JsonValue::Parse(first.detail))
    holding.row.address = detail->TextOf("address").value_or("");
  holding.ended_ms = ended.ended_ms;
  holding.end = ended.reason;
  return holding;
}

/// A number as a cursor: text, like those of every list.
struct NumberText {
  std::string text;
  operator std::string_view() const { return text; }  // NOLINT(google-explicit-constructor)
};
NumberText CursorOf(std::int64_t number) { return {std::to_string(number)}; }

EndReason ReasonOf(std::string_view kind) {
  if (kind == ToText(LogKind::kSeatReleased)) return EndReason::kReleased;
  if (kind == ToText(LogKind::kSeatResumed)) return EndReason::kResumedElsewhere;
  if (kind == ToText(LogKind::kSeatRevoked)) return EndReason::kRevoked;
  return EndReason::kExpired;
}

}  // namespace

void FindLicenses(db::Transaction& tx, db::Items<FindLicenseRequest, FindLicenseReply> items) {
  const auto keys = db::KeysOf(items, &FindLicenseRequest::id);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const std::vector<base::Uuid> ids(keys.begin(), keys.end());
  std::vector<std::optional<LicenseView>> found(keys.size());
  for (const auto row : tx.Run(sql::kFindLicenses, ids, now_ms))
    found[row.ordinal()] = ViewOfRow(row, now_ms);
  for (auto* item : items) {
    const auto& view = found[keys.IndexOf(item->request.id)];
    const bool theirs =
        view && (item->request.tenant.empty() || view->license.tenant == item->request.tenant);
    item->reply = FindLicenseReply{theirs ? view : std::nullopt};
  }
}

db::Transaction::Pending QueueLicenses(db::Transaction& tx, const LicensesRequest& request,
                                       std::int64_t rows, std::int64_t now_ms) {
  return tx.Queue(sql::kListLicenses, std::string_view(request.tenant), request.after,
                  request.state ? static_cast<std::int64_t>(*request.state) : std::int64_t{-1},
                  std::string_view(request.key_hint), now_ms, rows);
}

LicenseView ReadLicenseView(const db::Rows::Row& row, std::int64_t now_ms) {
  return ViewOfRow(row, now_ms);
}

db::Transaction::Pending QueueHoldings(db::Transaction& tx, const HoldingsRequest& request,
                                       std::int64_t rows, std::int64_t now_ms) {
  const std::int64_t any_person = request.person ? 0 : 1;
  const std::string_view person = request.person ? std::string_view(*request.person) : "";
  if (request.state == HoldingsRequest::State::kEnded)
    return tx.Queue(sql::kListEnded, request.license, std::string_view(request.machine), person,
                    any_person, request.before, rows);
  const std::int64_t state = request.state == HoldingsRequest::State::kActive   ? 1
                             : request.state == HoldingsRequest::State::kLapsed ? 2
                                                                                : 0;
  return tx.Queue(sql::kListHoldings, request.license, std::string_view(request.machine), person,
                  any_person, request.before, rows, state, now_ms);
}

/// Of either list: license_id, place, kind (null: it has a seat), ended_ms, and the seat's columns.
ListedHolding ReadHolding(const db::Rows::Row& row, std::int64_t now_ms) {
  ListedHolding listed;
  Holding& holding = listed.holding;
  holding.license = row.Uuid(0);
  listed.place = row.Int(1);
  holding.row = ReadSeat(row, 4);
  holding.now_ms = now_ms;
  if (!row.IsNull(2)) {
    holding.end = ReasonOf(row.Text(2));
    holding.ended_ms = row.Int(3);
  } else if (holding.row.open || holding.row.expires_ms <= now_ms) {
    holding.row.open = true;
    holding.end = holding.row.revoked ? EndReason::kRevoked : EndReason::kExpired;
    holding.ended_ms = holding.row.expires_ms;
  }
  return listed;
}

void FindHoldings(db::Transaction& tx, db::Items<FindHoldingRequest, FindHoldingReply> items) {
  const auto keys = db::KeysOf(items, &FindHoldingRequest::session);
  const std::vector<base::Uuid> sessions(keys.begin(), keys.end());
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<std::optional<Holding>> found(keys.size());
  for (const auto row : tx.Run(sql::kFindHoldings, sessions))
    found[row.ordinal()] = ReadHolding(row, now_ms).holding;
  const auto entries = LoadEntries(tx, sessions);
  for (std::size_t i = 0; i < sessions.size(); ++i)
    if (!found[i] && !entries[i].empty()) found[i] = FromLog(sessions[i], entries[i], now_ms);
  std::vector<base::Uuid> licenses;
  for (const auto& each : found)
    if (each) licenses.push_back(each->license);
  const db::UniqueKeys ids(std::move(licenses));
  std::vector<std::string> tenants(ids.size());
  const std::vector<base::Uuid> distinct(ids.begin(), ids.end());
  for (const auto row : tx.Run(sql::kFindLicenses, distinct, now_ms))
    tenants[row.ordinal()] = row.Text(1);
  for (auto* item : items) {
    const auto& holding = found[keys.IndexOf(item->request.session)];
    const bool theirs = holding && (item->request.tenant.empty() ||
                                    tenants[ids.IndexOf(holding->license)] == item->request.tenant);
    item->reply = FindHoldingReply{theirs ? holding : std::nullopt};
  }
}

db::Transaction::Pending QueueTickets(db::Transaction& tx, const TicketsRequest& request,
                                      std::int64_t rows) {
  return tx.Queue(sql::kListTickets, request.license, request.after, rows);
}

ListedTicket ReadTicket(const db::Rows::Row& row, std::int64_t now_ms) {
  ListedTicket ticket;
  ticket.row = ReadTicketRow(row);
  if (!row.IsNull(kTicketColumnCount)) ticket.offer_ends_ms = row.Int(kTicketColumnCount);
  ticket.now_ms = now_ms;
  return ticket;
}

db::Transaction::Pending QueueLog(db::Transaction& tx, const LogRequest& request,
                                  std::int64_t rows) {
  return tx.Queue(sql::kListLog, request.license, request.from, std::string_view(request.kind),
                  request.since_ms, rows);
}

LogEntry ReadLogEntry(const db::Rows::Row& row) {
  auto entry = db::ReadAs<LogEntry>(row, &LogEntry::license, &LogEntry::seq, &LogEntry::at_ms,
                                    &LogEntry::kind, &LogEntry::session, &LogEntry::slot,
                                    &LogEntry::fence, &LogEntry::detail);
  const std::string_view hash = row.Text(8);
  std::copy_n(hash.begin(), std::min(hash.size(), entry.hash.size()), entry.hash.begin());
  return entry;
}

void ReadLevels(db::Transaction& tx, db::Items<LevelsRequest, LevelsReply> items) {
  for (auto* item : items) {
    LevelsReply reply;
    Level others{.license = "other"};
    for (const auto row : tx.Run(sql::kReadLevels, item->request.most)) {
      for (std::size_t column = 1; column <= 4; ++column) DemandNumber(row.Int(column));
      others.used = row.Int(3);
      others.total = row.Int(4);
      reply.levels.push_back({row.Uuid(0).ToString(), row.Int(1), row.Int(2)});
    }
    std::int64_t used = 0, total = 0;
    for (const Level& level : reply.levels) {
      used += level.used;
      total += level.total;
    }
    others.used -= used;
    others.total -= total;
    // First: whoever has a bound of its own leaves out the last ones.
    if (others.total > 0) reply.levels.insert(reply.levels.begin(), others);
    item->reply = std::move(reply);
  }
}

std::string LicenseViewJson(const LicenseView& view) {
  std::string body;
  JsonWriter json(body);
  WriteLicenseView(json, view);
  return body;
}

std::string LicensesJson(const db::Page<LicenseView>& page) {
  return base::PageJson(page.rows, page.has_more, WriteLicenseView,
                        [](const LicenseView& last) { return last.license.id; });
}

std::string HoldingsJson(const db::Page<ListedHolding>& page) {
  const auto write = [](JsonWriter& json, const ListedHolding& each) {
    WriteHolding(json, each.holding);
  };
  return base::PageJson(page.rows, page.has_more, write,
                        [](const ListedHolding& last) { return CursorOf(last.place); });
}

std::string TicketsJson(const db::Page<ListedTicket>& page) {
  const auto write = [](JsonWriter& json, const ListedTicket& each) {
    const bool offered = each.row.slot.has_value();
    json.BeginObject()
        .Field("ticket", each.row.id)
        .Field("number", each.row.number)
        .Field("state", offered                             ? "offered"
                        : each.row.IsWaitingAt(each.now_ms) ? "waiting"
                                                            : "dead")
        .Field("machine_id", std::string_view(each.row.machine))
        .Field("person", std::string_view(each.row.person));
    json.Key("placed_at").Time(each.row.placed_ms);
    json.Key("expires_at").Time(offered ? each.offer_ends_ms : each.row.expires_ms);
    json.EndObject();
  };
  return base::PageJson(page.rows, page.has_more, write,
                        [](const ListedTicket& last) { return CursorOf(last.row.number); });
}

std::string LogJson(const db::Page<LogEntry>& page) {
  const auto write = [](JsonWriter& json, const LogEntry& entry) {
    json.BeginObject()
        .Field("license_id", entry.license)
        .Field("seq", entry.seq)
        .Field("at_ms", entry.at_ms);
    json.Key("at").Time(entry.at_ms);
    json.Field("kind", std::string_view(entry.kind)).Key("session_id");
    entry.session ? json.Value(*entry.session) : json.Null();
    json.Key("slot");
    entry.slot ? json.Value(*entry.slot) : json.Null();
    json.Key("fence");
    entry.fence ? json.Value(*entry.fence) : json.Null();
    json.Key("detail").Raw(base::ObjectOrEmpty(entry.detail));
    json.Field("hash", std::string_view(HexOf(entry.hash))).EndObject();
  };
  return base::PageJson(page.rows, page.has_more, write,
                        [](const LogEntry& last) { return CursorOf(last.seq + 1); });
}

}  // namespace tenure::seats
