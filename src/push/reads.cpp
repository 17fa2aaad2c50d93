#include "push/reads.hpp"

#include <map>
#include <vector>

#include "push_sql/queries.hpp"

namespace tenure::push {
namespace {

constexpr std::int64_t kMostShown = 1'000;

/// A report as it is written.
struct ReportRow {
  Report report{};
  std::int64_t last_ms = 0;
  std::int64_t next_ms = 0;
};
constexpr auto kReportColumns = db::Members(
    db::Inside(&ReportRow::report, db::Inside(&Report::key, kSubscriptionKeyColumns), &Report::id,
               &Report::delivered, &Report::failed, &Report::last_status, &Report::last_error),
    &ReportRow::last_ms, db::Inside(&ReportRow::report, &Report::failures), &ReportRow::next_ms);

}  // namespace

void FindSubscriptions(db::Transaction& tx, db::Items<SubscriptionKey, FindReply> items) {
  std::vector<db::Transaction::Pending> found;
  found.reserve(items.size());
  for (const auto* item : items)
    found.push_back(tx.Queue(sql::kFindSubscription, std::string_view(item->request.tenant),
                             std::string_view(item->request.name)));
  const auto clock = tx.QueueClock();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const db::Rows rows = tx.Take(found[i]);
    items[i]->reply = FindReply();
    if (!rows.empty()) items[i]->reply->subscription = ReadSubscription(rows[0]);
  }
  const std::int64_t now_ms = tx.TakeClock(clock);
  for (auto* item : items) item->reply->now_ms = now_ms;
}

db::Transaction::Pending QueueSubscriptions(db::Transaction& tx, const ListRequest& request,
                                            std::int64_t rows) {
  return tx.Queue(sql::kListSubscriptions, std::string_view(request.tenant),
                  std::string_view(request.after), rows);
}

Subscription ReadSubscription(const db::Rows::Row& row) {
  return db::ReadAs<Subscription>(row, kSubscriptionColumns);
}

Surroundings LookAround(db::Transaction& tx, std::int64_t now_ms) {
  Surroundings around{.now_ms = now_ms};
  for (const auto row : tx.Run(sql::kLookAround, kMostDelivered)) {
    try {
      around.subscriptions.push_back(
          db::ReadAs<Sighting>(row, db::Inside(&Sighting::key, kSubscriptionKeyColumns),
                               &Sighting::id, &Sighting::revision, &Sighting::expires_ms));
    } catch (const base::Fault&) {
      // A row that somebody wrote by hand must not keep all others from being delivered.
    }
  }
  return around;
}

Figures CountSubscriptions(db::Transaction& tx, std::int64_t) {
  const auto counted = tx.Queue(sql::kCountSubscriptions, Circuit::kOpenAfter);
  const auto open = tx.Queue(sql::kFindOpen, Circuit::kOpenAfter, kMostShown);
  Figures figures;
  for (const auto row : tx.Take(counted))
    figures = {row.Int(0), row.Int(1), row.Int(2), row.Int(3), {}};
  for (const auto row : tx.Take(open))
    figures.open_ones.push_back(db::ReadAs<SubscriptionKey>(row, kSubscriptionKeyColumns));
  return figures;
}

db::Transaction::Pending QueueSealed(db::Transaction& tx, const SealedRequest& request,
                                     std::int64_t rows) {
  return tx.Queue(sql::kFindSealed, std::string_view(request.after.tenant),
                  std::string_view(request.after.name), std::string_view(request.prefix), rows);
}

SubscriptionKey ReadSealed(const db::Rows::Row& row) {
  return db::ReadAs<SubscriptionKey>(row, kSubscriptionKeyColumns);
}

void ReportDeliveries(db::Transaction& tx, db::Items<Report, ReportReply> items) {
  // Two of one subscription: the second one is left for the next transaction.
  std::map<SubscriptionKey, ReportRow> rows;
  for (auto* item : items)
    if (rows.try_emplace(item->request.key, ReportRow{item->request}).second)
      item->reply = ReportReply();
  std::vector<SubscriptionKey> keys;
  for (const auto& each : rows) keys.push_back(each.first);
  tx.Queue(sql::kLockSubscriptions, db::Columns(keys, kSubscriptionKeyColumns));
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<ReportRow> written;
  for (auto& [key, row] : rows) {
    row.last_ms = row.report.has_last ? now_ms - row.report.last_ago_ms : 0;
    row.next_ms = row.report.next_in_ms > 0 ? now_ms + row.report.next_in_ms : 0;
    written.push_back(row);
  }
  tx.Queue(sql::kReportDeliveries, db::Columns(written, kReportColumns));
}

}  // namespace tenure::push
