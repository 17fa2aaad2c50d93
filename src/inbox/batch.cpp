#include "inbox/batch.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "inbox_sql/queries.hpp"

namespace tenure::inbox {

EntryRow ReadEntry(const db::Rows::Row& row) {
  EntryRow entry;
  entry.state = static_cast<State>(row.Int(0));
  entry.fence = row.Int(1);
  if (!row.IsNull(2)) entry.term = row.Uuid(2);
  if (!row.IsNull(3)) entry.hash = row.Text(3);
  entry.lease_until_ms = row.Int(4);
  entry.not_before_ms = row.Int(5);
  entry.attempts = row.Int(6);
  entry.crashes = row.Int(7);
  if (!row.IsNull(8)) entry.result = row.Text(8);
  if (!row.IsNull(9)) entry.error = row.Text(9);
  entry.received_ms = row.Int(10);
  entry.updated_ms = row.Int(11);
  return entry;
}

void Entries::Want(const MessageKey& key, Use use) {
  Use& wanted = wanted_.emplace(key, use).first->second;
  wanted = std::max(wanted, use);
}

Entries::Opening Entries::QueueLoad(db::Transaction& tx) {
  return {tx.Queue(sql::kLoadEntries, columns_.tenants, columns_.sources, columns_.message_ids),
          tx.Queue(sql::kReadIncarnation), tx.QueueClock()};
}

void Entries::Open(db::Transaction& tx) {
  KeyColumns beginning;
  for (const auto& [key, use] : wanted_) {
    columns_.Add(key);
    keys_.push_back(key);
    if (use == Use::kBegin) beginning.Add(key);
  }
  const auto known =
      tx.Queue(sql::kLockEntries, columns_.tenants, columns_.sources, columns_.message_ids);
  const auto added =
      tx.Queue(sql::kAddEntries, beginning.tenants, beginning.sources, beginning.message_ids);
  const Opening opening = QueueLoad(tx);
  for (const auto row : tx.Take(known)) locked_[keys_[row.ordinal()]] = true;
  for (const auto row : tx.Take(added))
    locked_[{std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))}] = true;
  TakeLoad(tx, opening);
}

void Entries::Look(db::Transaction& tx) {
  for (const auto& [key, use] : wanted_) {
    columns_.Add(key);
    keys_.push_back(key);
  }
  TakeLoad(tx, QueueLoad(tx));
}

void Entries::TakeLoad(db::Transaction& tx, const Opening& opening) {
  const db::Rows rows = tx.Take(opening.rows);
  const Limits limits{tx.Take(opening.incarnation)[0].Int(0), budget_};
  const std::int64_t now_ms = tx.TakeClock(opening.clock);
  for (const auto row : rows) {
    const MessageKey& key = keys_[row.ordinal()];
    entries_.emplace(
        key, Entry(key, {ReadEntry(row), row.Int(12), locked_.contains(key)}, limits, now_ms));
  }
}

Entry& Entries::At(const MessageKey& key) {
  const auto found = entries_.find(key);
  TENURE_CHECK(found != entries_.end(), "a message that was not asked for");
  return found->second;
}

void Entries::Apply(db::Transaction& tx) {
  KeyColumns keys;
  std::vector<std::int64_t> states, fences, leases, not_before, attempts, crashes, received,
      updated;
  std::vector<base::Uuid> terms;
  std::vector<std::string> hashes, results, errors;
  for (const auto& [key, entry] : entries_) {
    if (!entry.changed()) continue;
    const EntryRow& row = entry.row();
    keys.Add(key);
    states.push_back(static_cast<std::int64_t>(row.state));
    fences.push_back(row.fence);
    terms.push_back(row.term.value_or(base::Uuid()));
    hashes.push_back(row.hash);
    leases.push_back(row.lease_until_ms);
    not_before.push_back(row.not_before_ms);
    attempts.push_back(row.attempts);
    crashes.push_back(row.crashes);
    results.push_back(row.result);
    errors.push_back(row.error);
    received.push_back(row.received_ms);
    updated.push_back(row.updated_ms);
  }
  tx.Queue(sql::kWriteEntries, keys.tenants, keys.sources, keys.message_ids, states, fences, terms,
           hashes, leases, not_before, attempts, crashes, results, errors, received, updated);
}

}  // namespace tenure::inbox
