#include "seats/create.hpp"

#include "seats/audit_event.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {

/// One by one: licences are made seldom.
void CreateHandler::WriteItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    const CreateRequest& request = item->request;
    const db::Rows store = tx.Run(sql::kReadLimits);
    const Limits limits = ReadLimits(store);
    const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
    item->reply = CreateReply{std::nullopt, now_ms};
    const db::Rows keyed = tx.Run(sql::kAddKey, std::string_view(request.license.tenant),
                                  db::BytesView{request.key_hash}, request.license.id,
                                  std::string_view(request.license.key_hint));
    if (keyed.empty()) continue;
    tx.Queue(sql::kAddOrganization, std::string_view(request.license.tenant),
             std::string_view(request.license.tenant), std::string_view(""), std::string_view(""),
             now_ms);
    LicenseRow license = request.license;
    license.created_ms = now_ms;
    license.born = license.incarnation = limits.incarnation;
    license.longest_ms = license.ttl_ms + license.grace_ms;
    Ledger ledger({.license = license}, {.limits = limits, .clock_ms = now_ms});
    ledger.Create(request.by);
    const std::vector<const LicenseRow*> made{&ledger.license()};
    tx.Queue(
        sql::kInsertLicenses,
        db::Columns(made, &LicenseRow::id, &LicenseRow::tenant, &LicenseRow::name,
                    &LicenseRow::state, &LicenseRow::seats, &LicenseRow::ttl_ms,
                    &LicenseRow::interval_ms, &LicenseRow::grace_ms, &LicenseRow::valid_from_ms,
                    &LicenseRow::valid_until_ms, &LicenseRow::metadata, &LicenseRow::key_hint,
                    &LicenseRow::revision, &LicenseRow::created_ms, &LicenseRow::row_count,
                    &LicenseRow::held, &LicenseRow::holders, &LicenseRow::peak,
                    &LicenseRow::peak_ms, &LicenseRow::last_slot, &LicenseRow::next_ticket,
                    &LicenseRow::fence, &LicenseRow::last_ms, &LicenseRow::look_ms,
                    &LicenseRow::longest_ms, &LicenseRow::born, &LicenseRow::incarnation,
                    &LicenseRow::log_seq, kLogHashOf, &LicenseRow::log_base));
    tx.Queue(sql::kAddSeats, std::vector{license.id}, std::vector<std::int64_t>{1},
             std::vector<std::int64_t>{ledger.license().last_slot});
    tx.Queue(sql::kAddLog, db::Columns(ledger.entries(), kEntryColumns));
    item->Did(AuditEventOf(ledger.license()));
    item->reply->license = ledger.license();
  }
}

}  // namespace tenure::seats
