#include "inbox/change.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "inbox_sql/queries.hpp"

namespace tenure::inbox {
namespace {

/// The ledgers of the messages that one transaction looks at or changes. Locks first, then what is
/// there, then the clock: each a statement of its own, so that what is read and the time are not
/// older than the locks (docs/ground.md, Time). All of it is one flush on PostgreSQL.
///
///   Ledgers ledgers(budget);
///   ledgers.Want(key, Ledgers::Use::kBegin);  // for every command
///   ledgers.Open(tx);
///   ledgers.At(key).Begin(command);
///   ledgers.Apply(tx);                        // goes out with COMMIT
class Ledgers {
 public:
  enum class Use {
    kFinish,  ///< of something that is known
    kBegin,   ///< of something that may be new: it gets its row
  };

  explicit Ledgers(const Budget& budget) : budget_(budget) {}

  void Want(const MessageKey& key, Use use);

  /// For a transaction that changes something.
  void Open(db::Transaction& tx);
  /// Without locks: every ledger is as it is committed, and must not be changed.
  void Look(db::Transaction& tx);

  Ledger& At(const MessageKey& key);

  /// Queues the net change of all ledgers.
  void Apply(db::Transaction& tx);

 private:
  struct Opening {
    db::Transaction::Pending rows;
    db::Transaction::Pending incarnation;
    db::Transaction::PendingClock clock;
  };
  Opening QueueLoad(db::Transaction& tx) const;
  void TakeLoad(db::Transaction& tx, const Opening& opening);
  /// Of wanted_, by their ordinals.
  std::vector<const MessageKey*> Keys() const;

  const Budget budget_;
  std::map<MessageKey, Use> wanted_;  // ascending: the order of the columns

  std::set<MessageKey> locked_;
  std::map<MessageKey, Ledger> ledgers_;
};

void Ledgers::Want(const MessageKey& key, Use use) {
  Use& wanted = wanted_.emplace(key, use).first->second;
  wanted = std::max(wanted, use);
}

std::vector<const MessageKey*> Ledgers::Keys() const {
  std::vector<const MessageKey*> keys;
  keys.reserve(wanted_.size());
  for (const auto& [key, use] : wanted_) keys.push_back(&key);
  return keys;
}

Ledgers::Opening Ledgers::QueueLoad(db::Transaction& tx) const {
  const std::vector<const MessageKey*> keys = Keys();
  return {tx.Queue(sql::kLoadEntries, db::Columns(keys, kKeyColumns)),
          tx.Queue(sql::kReadIncarnation), tx.QueueClock()};
}

void Ledgers::Open(db::Transaction& tx) {
  const std::vector<const MessageKey*> keys = Keys();
  std::vector<const MessageKey*> beginning;
  for (const auto& [key, use] : wanted_)
    if (use == Use::kBegin) beginning.push_back(&key);
  const auto known = tx.Queue(sql::kLockEntries, db::Columns(keys, kKeyColumns));
  const auto added = tx.Queue(sql::kAddEntries, db::Columns(beginning, kKeyColumns));
  const Opening opening = QueueLoad(tx);
  for (const auto row : tx.Take(known)) locked_.insert(*keys[row.ordinal()]);
  for (const auto row : tx.Take(added)) locked_.insert(db::ReadAs<MessageKey>(row, kKeyColumns));
  TakeLoad(tx, opening);
}

void Ledgers::Look(db::Transaction& tx) { TakeLoad(tx, QueueLoad(tx)); }

void Ledgers::TakeLoad(db::Transaction& tx, const Opening& opening) {
  const std::vector<const MessageKey*> keys = Keys();
  const db::Rows rows = tx.Take(opening.rows);
  const Limits limits{tx.Take(opening.incarnation)[0].Int(0), budget_};
  const std::int64_t now_ms = tx.TakeClock(opening.clock);
  for (const auto row : rows) {
    const MessageKey& key = *keys[row.ordinal()];
    ledgers_.emplace(key, Ledger(key,
                                 {db::ReadAs<MessageRow>(row, kMessageColumns), row.Int(12),
                                  locked_.contains(key)},
                                 limits, now_ms));
  }
}

Ledger& Ledgers::At(const MessageKey& key) {
  const auto found = ledgers_.find(key);
  TENURE_CHECK(found != ledgers_.end(), "a message that was not asked for");
  return found->second;
}

void Ledgers::Apply(db::Transaction& tx) {
  std::vector<const Ledger*> changed;
  for (const auto& [key, ledger] : ledgers_)
    if (ledger.changed()) changed.push_back(&ledger);
  tx.Queue(sql::kWriteEntries, db::Columns(changed, db::Inside(&Ledger::key, kKeyColumns),
                                           db::Inside(&Ledger::row, kMessageColumns)));
}

const MessageKey& KeyOf(const Command& command) {
  return std::visit([](const auto& one) -> const MessageKey& { return one.key; }, command);
}

void WantKey(Ledgers& ledgers, const Command& command) {
  const bool begins = std::holds_alternative<BeginCommand>(command);
  ledgers.Want(KeyOf(command), begins ? Ledgers::Use::kBegin : Ledgers::Use::kFinish);
}

Outcome Decide(Ledgers& ledgers, const Command& command) {
  struct Visitor {
    Ledgers& ledgers;
    Outcome operator()(const BeginCommand& begin) const {
      return ledgers.At(begin.key).Begin(begin);
    }
    Outcome operator()(const CompleteCommand& complete) const {
      return ledgers.At(complete.key).Complete(complete);
    }
    Outcome operator()(const FailCommand& fail) const { return ledgers.At(fail.key).Fail(fail); }
  };
  return std::visit(Visitor{ledgers}, command);
}

}  // namespace

std::size_t ChangeHandler::KeyHash(const Command& command) const {
  return MessageKeyHash()(KeyOf(command));
}

/// What needs no change. A delivery whose hash is the first that comes is left for the locks.
void ChangeHandler::ReadItems(db::Transaction& tx, Items items) {
  Ledgers ledgers(budget_);
  bool any = false;
  for (const auto* item : items) {
    if (!std::holds_alternative<BeginCommand>(item->request)) continue;
    WantKey(ledgers, item->request);
    any = true;
  }
  if (!any) return;
  ledgers.Look(tx);
  for (auto* item : items) {
    const auto* begin = std::get_if<BeginCommand>(&item->request);
    if (!begin) continue;
    const Ledger& ledger = ledgers.At(begin->key);
    if (ledger.LearnsHash(*begin)) continue;
    if (auto answer = ledger.Answer(*begin)) item->reply = std::move(*answer);
  }
}

void ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  Ledgers ledgers(budget_);
  for (const auto* item : items) WantKey(ledgers, item->request);
  ledgers.Open(tx);
  for (auto* item : items) item->reply = Decide(ledgers, item->request);
  ledgers.Apply(tx);
}

void ChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    if (const auto* begun = std::get_if<BeginOutcome>(&*item->reply))
      probe_.Begun(*begun);
    else
      probe_.Finished(std::get<FinishOutcome>(*item->reply));
  }
}

}  // namespace tenure::inbox
