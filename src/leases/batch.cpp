#include "leases/batch.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "db_sql/queries.hpp"
#include "leases_sql/queries.hpp"

namespace tenure::leases {
namespace {

/// How much of a line is looked at. Dead tickets in front of it are removed by the grant that finds
/// them; more of them than this at once let one grant jump the line, nothing else.
constexpr std::int64_t kLineAhead = 64;

/// At least so long nothing is granted after a new incarnation.
constexpr std::int64_t kLeastFreezeMs = 60'000;

LeaseRow ReadRow(const db::Rows::Row& row) {
  LeaseRow lease;
  lease.fence = row.Int(0);
  if (!row.IsNull(1)) lease.term = row.Uuid(1);
  lease.holder = row.Text(2);
  lease.metadata = row.Text(3);
  lease.ttl_ms = row.Int(4);
  lease.granted_ms = row.Int(5);
  lease.renewed_ms = row.Int(6);
  lease.expires_ms = row.Int(7);
  if (!row.IsNull(8)) lease.break_reason = row.Text(8);
  lease.next_ticket = row.Int(9);
  return lease;
}

}  // namespace

void Ledgers::Want(const LeaseKey& key, const base::Uuid* term, Use use) {
  Wanted& wanted = wanted_[key];
  wanted.may_grant |= use == Use::kMayGrant;
  if (term) (use == Use::kMayGrant ? wanted.new_terms : wanted.holder_terms).insert(*term);
}

Ledgers::Opening Ledgers::Queue(db::Transaction& tx) {
  for (const auto& [key, wanted] : wanted_) {
    names_.Add(key);
    if (wanted.may_grant) {
      granting_.Add(key);
      granting_keys_.push_back(key);
    }
    for (const base::Uuid& term : wanted.new_terms) new_terms_.Add(key, term);
  }
  tx.Queue(sql::kLockNames, names_.tenants, names_.names);
  return {tx.Queue(sql::kTakeFences, granting_.tenants, granting_.names),
          tx.Queue(sql::kLoadLeases, names_.tenants, names_.names),
          new_terms_.Queue(tx),
          tx.Queue(sql::kLoadTickets, names_.tenants, names_.names, kLineAhead),
          tx.Queue(sql::kReadLimits),
          tx.QueueClock()};
}

void Ledgers::Open(db::Transaction& tx, const Opening& opening) {
  std::map<LeaseKey, Ledger::Loaded> loaded;
  std::vector<Ledger::Loaded*> by_name;
  for (const auto& [key, wanted] : wanted_) by_name.push_back(&loaded[key]);

  for (const LeaseKey& key : granting_keys_) loaded[key].guarded = true;
  for (const auto row : tx.Take(opening.fences))
    loaded[granting_keys_[row.ordinal()]].guarded = false;
  for (const auto row : tx.Take(opening.rows)) {
    by_name[row.ordinal()]->row = ReadRow(row);
    by_name[row.ordinal()]->floor = row.Int(10);
  }
  new_terms_.Take(tx, opening.ended, loaded);
  for (const auto row : tx.Take(opening.tickets))
    by_name[row.ordinal()]->tickets.push_back(
        {row.Int(0), row.Uuid(1), std::string(row.Text(2)), row.Int(3)});
  for (auto* one : by_name)
    one->long_line = one->tickets.size() >= static_cast<std::size_t>(kLineAhead);

  LoadEndedHolders(tx, loaded);

  const db::Rows store_row = tx.Take(opening.limits);
  const auto store = store_row[0];
  longest_ttl_ms_ = store.Int(2);
  Limits limits;
  limits.incarnation = store.Int(0);
  if (store.Int(1) > 0)
    limits.frozen_until_ms = store.Int(1) + std::max(kLeastFreezeMs, longest_ttl_ms_);
  now_ms_ = tx.TakeClock(opening.clock);
  for (auto& [key, one] : loaded)
    ledgers_.emplace(key, Ledger(key, std::move(one), limits, now_ms_, process_));
}

/// Who renews or releases is nearly always the holder, and the row says so. Only for the others is
/// it looked up how their term ended: in a further statement, still under the lock.
void Ledgers::LoadEndedHolders(db::Transaction& tx, std::map<LeaseKey, Ledger::Loaded>& loaded) {
  TermColumns strangers;
  for (const auto& [key, wanted] : wanted_)
    for (const base::Uuid& term : wanted.holder_terms)
      if (loaded[key].row.term != term) strangers.Add(key, term);
  strangers.Take(tx, strangers.Queue(tx), loaded);
}

db::Transaction::Pending Ledgers::TermColumns::Queue(db::Transaction& tx) const {
  return tx.Queue(sql::kLoadEnded, names.tenants, names.names, terms);
}

void Ledgers::TermColumns::Take(db::Transaction& tx, db::Transaction::Pending pending,
                                std::map<LeaseKey, Ledger::Loaded>& loaded) const {
  for (const auto row : tx.Take(pending))
    loaded[keys[row.ordinal()]].ended[terms[row.ordinal()]] = static_cast<LossReason>(row.Int(0));
}

Ledger& Ledgers::At(const LeaseKey& key) {
  const auto found = ledgers_.find(key);
  TENURE_CHECK(found != ledgers_.end(), "a name that was not asked for");
  return found->second;
}

void Ledgers::Apply(db::Transaction& tx) {
  ApplyRows(tx);
  ApplyHistory(tx);
  ApplyTickets(tx);
  ApplyTurns(tx);
}

std::int64_t Ledgers::CountEnded(LossReason reason) const {
  std::int64_t count = 0;
  for (const auto& [key, ledger] : ledgers_)
    for (const EndedGrant& grant : ledger.ended()) count += grant.reason == reason ? 1 : 0;
  return count;
}

void Ledgers::ApplyRows(db::Transaction& tx) {
  Columns names;
  Columns unused;
  std::vector<std::int64_t> fences, ttls, granted, renewed, expires, broken, next_tickets;
  std::vector<base::Uuid> terms;
  std::vector<std::string> holders, metadata, reasons;
  std::int64_t longest_ms = longest_ttl_ms_;
  for (const auto& [key, ledger] : ledgers_) {
    const LeaseRow& row = ledger.row();
    if (!ledger.changed()) {
      if (row.fence == 0 && row.next_ticket == 1) unused.Add(key);
      continue;
    }
    names.Add(key);
    fences.push_back(row.fence);
    terms.push_back(row.term.value_or(base::Uuid()));
    holders.push_back(row.holder);
    metadata.push_back(row.metadata);
    ttls.push_back(row.ttl_ms);
    granted.push_back(row.granted_ms);
    renewed.push_back(row.renewed_ms);
    expires.push_back(row.expires_ms);
    broken.push_back(row.break_reason ? 1 : 0);
    reasons.push_back(row.break_reason.value_or(""));
    next_tickets.push_back(row.next_ticket);
    longest_ms = std::max(longest_ms, row.ttl_ms);
  }
  tx.Queue(sql::kWriteLeases, names.tenants, names.names, fences, terms, holders, metadata, ttls,
           granted, renewed, expires, broken, reasons, next_tickets);
  tx.Queue(sql::kDropUnused, unused.tenants, unused.names);
  if (longest_ms > longest_ttl_ms_) tx.Queue(sql::kRaiseLongestTtl, longest_ms);
}

void Ledgers::ApplyHistory(db::Transaction& tx) {
  Columns names;
  std::vector<std::int64_t> fences, granted, ended, reasons;
  std::vector<base::Uuid> terms;
  std::vector<std::string> holders, details;
  for (const auto& [key, ledger] : ledgers_) {
    for (const EndedGrant& grant : ledger.ended()) {
      names.Add(key);
      fences.push_back(grant.fence);
      terms.push_back(grant.term);
      holders.push_back(grant.holder);
      granted.push_back(grant.granted_ms);
      ended.push_back(grant.ended_ms);
      reasons.push_back(static_cast<std::int64_t>(grant.reason));
      details.push_back(grant.detail);
    }
  }
  tx.Queue(sql::kAddHistory, names.tenants, names.names, fences, terms, holders, granted, ended,
           reasons, details);
}

void Ledgers::ApplyTickets(db::Transaction& tx) {
  Columns removed;
  std::vector<base::Uuid> removed_terms;
  Columns placed;
  std::vector<std::int64_t> numbers, expires;
  std::vector<base::Uuid> terms;
  std::vector<std::string> processes;
  for (const auto& [key, ledger] : ledgers_) {
    for (const base::Uuid& term : ledger.removed_tickets()) {
      removed.Add(key);
      removed_terms.push_back(term);
    }
    for (const Ticket& ticket : ledger.placed_tickets()) {
      placed.Add(key);
      numbers.push_back(ticket.number);
      terms.push_back(ticket.term);
      processes.push_back(ticket.process);
      expires.push_back(ticket.expires_ms);
    }
  }
  tx.Queue(sql::kRemoveTickets, removed.tenants, removed.names, removed_terms);
  tx.Queue(sql::kPutTickets, placed.tenants, placed.names, numbers, terms, processes, expires);
}

/// NOTIFY takes a lock of the whole database at commit: it is sent only where somebody of another
/// process waits and it is his turn. Nobody is missed: a ticket is placed under the name's lock, so
/// either this transaction sees it, or its owner's transaction comes after this one and finds the
/// name free.
void Ledgers::ApplyTurns(db::Transaction& tx) {
  std::vector<std::string> others;
  own_turns_.clear();
  for (const auto& [key, ledger] : ledgers_) {
    const auto process = ledger.NextProcess();
    if (!process) continue;
    (*process == process_ ? own_turns_ : others).push_back(WakeKey(key));
  }
  tx.Queue(db::sql::kNotify, others);
}

}  // namespace tenure::leases
