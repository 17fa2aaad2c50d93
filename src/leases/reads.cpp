#include "leases/reads.hpp"

#include "db/keys.hpp"
#include "leases/ledger.hpp"
#include "leases_sql/queries.hpp"

namespace tenure::leases {
namespace {

LeaseState StateOf(const LeaseView& view, bool has_term, bool is_broken) {
  if (!has_term || view.expires_at_ms <= view.now_ms) return LeaseState::kFree;
  return is_broken ? LeaseState::kBroken : LeaseState::kHeld;
}

/// Of a grant that is over only the fence and the end are told; the rest is history.
LeaseView ReadView(const db::Rows::Row& row, std::string_view tenant, std::int64_t now_ms) {
  LeaseView view;
  view.now_ms = now_ms;
  db::ReadInto(view, row, 0, &LeaseView::name, &LeaseView::fence);
  view.expires_at_ms = row.Int(8);
  view.state = StateOf(view, !row.IsNull(2), !row.IsNull(9));
  view.waiters = row.Int(10);
  if (view.state == LeaseState::kFree) {
    const Limits limits{.frozen_ms = row.Int(11), .freeze_ms = row.Int(12)};
    const std::int64_t frozen_until_ms = limits.FrozenUntilMs(tenant, row.Int(13));
    if (frozen_until_ms > now_ms) view.frozen_until_ms = frozen_until_ms;
    return view;
  }
  view.term = row.Uuid(2).ToString();
  db::ReadInto(view, row, 3, &LeaseView::holder, &LeaseView::metadata);
  view.ttl = Milliseconds(row.Int(5));
  view.granted_at_ms = row.Int(6);
  view.renewed_at_ms = row.Int(7);
  if (!row.IsNull(9)) view.break_reason = row.Text(9);
  return view;
}

/// What holds off the next grant of these views, which are of these keys.
template <class Keys, class ViewOf>
class GuardLook {
 public:
  GuardLook(db::Transaction& tx, const Keys& keys, ViewOf view_of)
      : pending_(tx.Queue(sql::kFindGuards, db::Columns(keys, kKeyColumns))), view_of_(view_of) {}

  /// Of several guards of one name the oldest comes first, and is told.
  void Take(db::Transaction& tx) {
    for (const auto row : tx.Take(pending_))
      if (LeaseView* const view = view_of_(row.ordinal()); view && !view->guard)
        view->guard =
            db::ReadAs<LeaseGuard>(row, &LeaseGuard::pid, &LeaseGuard::user, &LeaseGuard::since_ms);
  }

 private:
  db::Transaction::Pending pending_;
  ViewOf view_of_;
};

PastGrant ReadPast(const db::Rows::Row& row) {
  PastGrant past;
  past.fence = row.Int(0);
  past.term = row.Uuid(1).ToString();
  db::ReadInto(past, row, 2, &PastGrant::holder, &PastGrant::granted_at_ms, &PastGrant::ended_at_ms,
               &PastGrant::reason, &PastGrant::detail);
  return past;
}

/// The first text behind all that begin with `prefix`; empty when there is none. Names are ASCII.
std::string BehindPrefix(std::string prefix) {
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

}  // namespace

void FindHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const auto keys = db::KeysOf(items, &FindRequest::key);
  const auto found = tx.Queue(sql::kFindLease, db::Columns(keys, kKeyColumns), now_ms);
  std::vector<std::optional<LeaseView>> views(keys.size());
  GuardLook guards(tx, keys, [&](std::size_t i) { return views[i] ? &*views[i] : nullptr; });
  std::vector<db::Transaction::Pending> histories;
  for (const auto* item : items)
    histories.push_back(tx.Queue(sql::kListHistory, std::string_view(item->request.key.tenant),
                                 std::string_view(item->request.key.name), item->request.history));
  for (const auto row : tx.Take(found))
    views[row.ordinal()] = ReadView(row, keys[row.ordinal()].tenant, now_ms);
  guards.Take(tx);
  for (std::size_t i = 0; i < items.size(); ++i) {
    FindReply reply{views[keys.IndexOf(items[i]->request.key)]};
    for (const auto row : tx.Take(histories[i]))
      if (reply.lease) reply.lease->history.push_back(ReadPast(row));
    items[i]->reply = std::move(reply);
  }
}

db::Transaction::Pending ListHandler::QueuePage(db::Transaction& tx, const PageRequest& request,
                                                std::int64_t now_ms) {
  // Behind a name comes, first of all texts, that name with the smallest character added.
  const std::string first = request.after.empty() ? request.prefix : request.after + '\x01';
  const std::string end = BehindPrefix(request.prefix);
  const std::int64_t state = request.state ? static_cast<std::int64_t>(*request.state) : -1;
  const std::int64_t rows = static_cast<std::int64_t>(request.limit) + 1;
  return tx.Queue(sql::kListLeases, std::string_view(request.tenant), std::string_view(first),
                  std::string_view(end), std::string_view(request.holder), state, now_ms, rows);
}

void ListHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<db::Transaction::Pending> pages;
  for (const auto* item : items) pages.push_back(QueuePage(tx, item->request, now_ms));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& tenant = items[i]->request.tenant;
    PageReply page = db::TakePage<LeaseView>(
        tx.Take(pages[i]), static_cast<std::int64_t>(items[i]->request.limit), now_ms,
        [&](const db::Rows::Row& row) { return ReadView(row, tenant, now_ms); });
    LookForGuards(tx, tenant, page);
    items[i]->reply = std::move(page);
  }
}

void ListHandler::LookForGuards(db::Transaction& tx, const std::string& tenant, PageReply& page) {
  if (page.rows.empty()) return;
  std::vector<LeaseKey> keys;
  for (const LeaseView& view : page.rows) keys.push_back({tenant, view.name});
  GuardLook(tx, keys, [&](std::size_t i) { return &page.rows[i]; }).Take(tx);
}

void CountHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const std::int64_t active = tx.Run(sql::kCountActive, now_ms)[0].Int(0);
  for (auto* item : items) item->reply = CountReply{active};
}

}  // namespace tenure::leases
