#include "audit/audit.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "audit_sql/queries.hpp"

namespace tenure::audit {
namespace {

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

/// An object has few entries, a person more; an act or a tenant may have most of them.
const db::Query& QueryFor(const ListRequest& request) {
  if (!request.object.empty()) return sql::kListByObject;
  if (!request.person.empty()) return sql::kListByPerson;
  if (!request.act.empty()) return sql::kListByAct;
  if (!request.tenant.empty()) return sql::kListByTenant;
  return sql::kListAll;
}

}  // namespace

std::string ToText(const Position& position) {
  return fmt::format("{}-{}", position.at_ms, position.sequence);
}

std::optional<Position> ParsePosition(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto at_ms = ParseNumber(text.substr(0, dash));
  const auto sequence = ParseNumber(text.substr(dash + 1));
  if (!at_ms || !sequence) return std::nullopt;
  return Position{*at_ms, *sequence};
}

db::Transaction::Pending QueueEntries(db::Transaction& tx, const ListRequest& request,
                                      std::int64_t rows) {
  tx.Queue(sql::kWalkIndex);
  // Sequences begin at 1: nothing of `to_ms` itself lies before this.
  const Position end{request.to_ms, 0};
  const Position before = request.before ? std::min(*request.before, end) : end;
  return tx.Queue(QueryFor(request), std::string_view(request.tenant),
                  std::string_view(request.person), std::string_view(request.act),
                  std::string_view(request.object), request.from_ms, before.at_ms, before.sequence,
                  rows);
}

Entry ReadEntry(const db::Rows::Row& row) {
  return db::ReadAs<Entry>(row, &Entry::sequence, &Entry::at_ms, &Entry::tenant, &Entry::person,
                           &Entry::address, &Entry::request_id, &Entry::act, &Entry::object,
                           &Entry::detail);
}

void WriteNotes(db::Transaction&, db::Items<NoteRequest, NoteReply> items) {
  for (auto* item : items) {
    item->Did(item->request.event);
    item->reply = NoteReply{};
  }
}

db::Swept Forget(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  const std::int64_t before_ms = now_ms - request.retention_ms;
  tx.Queue(sql::kRaiseKeptFrom, before_ms);
  return db::Swept().Add(tx.Run(sql::kForgetEntries, before_ms, db::kSweepRows).size());
}

Audit::Audit(db::Store& store, const base::Clock& clock, telemetry::Registry& metrics)
    : probe_(metrics),
      note_(store, "audit.note", db::LaneName::Shared(0)),
      refusals_(
          [this](base::Actor actor, db::AuditEvent event, base::UniqueFunction<bool> done) {
            Note(std::move(actor), std::move(event),
                 [done = std::move(done)](const db::Result<NoteReply>& result) mutable {
                   done(result.ok());
                 });
          },
          clock, probe_),
      List(store, "audit.list"),
      ForgetSome(store, "audit.forget", db::LaneName::Shared(0)) {}

void Audit::Note(base::Actor actor, db::AuditEvent event, db::Write<WriteNotes>::Callback done) {
  base::Caller caller;
  caller.actor = std::make_shared<const base::Actor>(std::move(actor));
  note_({std::move(event)}, std::move(caller), std::move(done));
}

}  // namespace tenure::audit
