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

/// As load_leases.sql has them.
constexpr auto kGrantColumns = db::Members(
    &LeaseRow::fence, &LeaseRow::term, &LeaseRow::holder, &LeaseRow::metadata, &LeaseRow::ttl_ms,
    &LeaseRow::granted_ms, &LeaseRow::renewed_ms, &LeaseRow::expires_ms, &LeaseRow::longest_ttl_ms);

constexpr auto kTicketColumns =
    db::Members(&Ticket::number, &Ticket::term, &Ticket::process, &Ticket::expires_ms);

bool IsBroken(const LeaseRow& row) { return row.break_reason.has_value(); }

}  // namespace

void Ledgers::Want(const LeaseKey& key, const base::Uuid* term, Use use) {
  Wanted& wanted = wanted_[key];
  wanted.may_grant |= use == Use::kMayGrant;
  if (term) (use == Use::kMayGrant ? wanted.new_terms : wanted.holder_terms).insert(*term);
}

Ledgers::Opening Ledgers::Queue(db::Transaction& tx) {
  std::vector<const LeaseKey*> keys;
  keys.reserve(wanted_.size());
  for (const auto& [key, wanted] : wanted_) {
    keys.push_back(&key);
    if (wanted.may_grant) granting_.push_back(&key);
    for (const base::Uuid& term : wanted.new_terms) new_terms_.push_back({&key, term});
  }
  const auto names = db::Columns(keys, kKeyColumns);
  tx.Queue(sql::kLockNames, names);
  return {tx.Queue(sql::kTakeFences, db::Columns(granting_, kKeyColumns)),
          tx.Queue(sql::kLoadLeases, names),
          QueueEnded(tx, new_terms_),
          tx.Queue(sql::kLoadTickets, names, kLineAhead),
          tx.Queue(sql::kReadLimits),
          tx.QueueClock()};
}

void Ledgers::Open(db::Transaction& tx, const Opening& opening) {
  LoadedByKey loaded;
  std::vector<Ledger::Loaded*> by_name;
  for (const auto& [key, wanted] : wanted_) by_name.push_back(&loaded[key]);

  for (const LeaseKey* key : granting_) loaded[*key].guarded = true;
  for (const auto row : tx.Take(opening.fences)) loaded[*granting_[row.ordinal()]].guarded = false;
  for (const auto row : tx.Take(opening.rows))
    db::ReadInto(*by_name[row.ordinal()], row, 0,
                 db::Inside(&Ledger::Loaded::row, kGrantColumns, &LeaseRow::break_reason,
                            &LeaseRow::next_ticket),
                 &Ledger::Loaded::floor);
  TakeEnded(tx, opening.ended, new_terms_, loaded);
  for (const auto row : tx.Take(opening.tickets))
    by_name[row.ordinal()]->tickets.push_back(db::ReadAs<Ticket>(row, kTicketColumns));
  for (auto* one : by_name)
    one->long_line = one->tickets.size() >= static_cast<std::size_t>(kLineAhead);

  LoadEndedHolders(tx, loaded);

  const db::Rows store_row = tx.Take(opening.limits);
  const auto limits = db::ReadAs<Limits>(store_row[0], &Limits::incarnation, &Limits::frozen_ms,
                                         &Limits::freeze_ms);
  longest_ttl_ms_ = store_row[0].Int(3);
  now_ms_ = tx.TakeClock(opening.clock);
  for (auto& [key, one] : loaded)
    ledgers_.emplace(key, Ledger(key, std::move(one), limits, now_ms_, process_));
}

/// Who renews or releases is nearly always the holder, and the row says so. Only for the others is
/// it looked up how their term ended: in a further statement, still under the lock.
void Ledgers::LoadEndedHolders(db::Transaction& tx, LoadedByKey& loaded) {
  std::vector<KeyedTerm> strangers;
  for (const auto& [key, wanted] : wanted_)
    for (const base::Uuid& term : wanted.holder_terms)
      if (loaded[key].row.term != term) strangers.push_back({&key, term});
  TakeEnded(tx, QueueEnded(tx, strangers), strangers, loaded);
}

db::Transaction::Pending Ledgers::QueueEnded(db::Transaction& tx,
                                             const std::vector<KeyedTerm>& terms) {
  return tx.Queue(sql::kLoadEnded,
                  db::Columns(terms, db::Inside(&KeyedTerm::key, kKeyColumns), &KeyedTerm::term));
}

void Ledgers::TakeEnded(db::Transaction& tx, db::Transaction::Pending pending,
                        const std::vector<KeyedTerm>& terms, LoadedByKey& loaded) {
  for (const auto row : tx.Take(pending)) {
    const KeyedTerm& ended = terms[row.ordinal()];
    loaded[*ended.key].ended[ended.term] = static_cast<LossReason>(row.Int(0));
  }
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
  std::vector<const Ledger*> changed, unused;
  std::int64_t longest_ms = longest_ttl_ms_;
  for (const auto& [key, ledger] : ledgers_) {
    const LeaseRow& row = ledger.row();
    if (ledger.changed()) {
      changed.push_back(&ledger);
      longest_ms = std::max(longest_ms, row.ttl_ms);
    } else if (row.fence == 0 && row.next_ticket == 1) {
      unused.push_back(&ledger);
    }
  }
  tx.Queue(sql::kWriteLeases,
           db::Columns(changed, db::Inside(&Ledger::key, kKeyColumns),
                       db::Inside(&Ledger::row, kGrantColumns, IsBroken, &LeaseRow::break_reason,
                                  &LeaseRow::next_ticket)));
  tx.Queue(sql::kDropUnused, db::Columns(unused, db::Inside(&Ledger::key, kKeyColumns)));
  if (longest_ms > longest_ttl_ms_) tx.Queue(sql::kRaiseLongestTtl, longest_ms);
}

/// What ledgers have many of, each with its name.
template <class Part>
struct Ledgers::Keyed {
  const LeaseKey* key;
  const Part* part;
};
template <class Part>
std::vector<Ledgers::Keyed<Part>> Ledgers::All(const std::vector<Part>& (Ledger::*parts)()
                                                   const) const {
  std::vector<Keyed<Part>> all;
  for (const auto& [key, ledger] : ledgers_)
    for (const Part& part : (ledger.*parts)()) all.push_back({&key, &part});
  return all;
}

void Ledgers::ApplyHistory(db::Transaction& tx) {
  using Ended = Keyed<EndedGrant>;
  const std::vector<Ended> ended = All(&Ledger::ended);
  tx.Queue(sql::kAddHistory, db::Columns(ended, db::Inside(&Ended::key, kKeyColumns),
                                         db::Inside(&Ended::part, &EndedGrant::fence,
                                                    &EndedGrant::term, &EndedGrant::holder,
                                                    &EndedGrant::granted_ms, &EndedGrant::ended_ms,
                                                    &EndedGrant::reason, &EndedGrant::detail)));
}

void Ledgers::ApplyTickets(db::Transaction& tx) {
  using Removed = Keyed<base::Uuid>;
  const std::vector<Removed> removed = All(&Ledger::removed_tickets);
  tx.Queue(sql::kRemoveTickets, db::Columns(removed, db::Inside(&Removed::key, kKeyColumns),
                                            [](const Removed& each) { return *each.part; }));
  using Placed = Keyed<Ticket>;
  const std::vector<Placed> placed = All(&Ledger::placed_tickets);
  tx.Queue(sql::kPutTickets, db::Columns(placed, db::Inside(&Placed::key, kKeyColumns),
                                         db::Inside(&Placed::part, kTicketColumns)));
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
