#include "messages/upkeep.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/change.hpp"
#include "messages/claim.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kPromoteBatch = 1'000;
constexpr std::int64_t kReapWorkers = 16;
constexpr std::int64_t kReapClaims = 64;
constexpr std::int64_t kTidyBatch = 500;
/// What could not be locked is looked at again after this.
constexpr std::int64_t kLookAgainMs = 1'000;
/// A claim of somebody with a heartbeat is looked at so often, to see whether anything is left of
/// it.
constexpr std::int64_t kLookAtHeldMs = 30'000;
constexpr std::int64_t kOwnerMemoryMs = 7LL * 24 * 3'600'000;

std::optional<std::int64_t> NextDue(db::Transaction& tx) {
  std::optional<std::int64_t> due_ms;
  for (const auto row : tx.Run(sql::kNextDue)) due_ms = row.Int(0);
  return due_ms;
}

}  // namespace

void PromoteHandler::ReadItems(db::Transaction& tx, Items items) {
  const auto clock = tx.QueueClock();
  const auto next_due_ms = NextDue(tx);
  const std::int64_t now_ms = tx.TakeClock(clock);
  if (next_due_ms && *next_due_ms <= now_ms) return;
  PromoteReply nothing;
  nothing.now_ms = now_ms;
  nothing.next_due_ms = next_due_ms;
  for (auto* item : items) item->reply = nothing;
}

void PromoteHandler::WriteItems(db::Transaction& tx, Items items) {
  PromoteReply reply;
  reply.now_ms = tx.TakeClock(tx.QueueClock());
  for (const auto row : tx.Run(sql::kPromoteMessages, reply.now_ms, kPromoteBatch)) {
    ++reply.rows;
    reply.late_ms = std::max(reply.late_ms, reply.now_ms - row.Int(2));
    reply.news.Add(row.Text(0), row.Text(1), row.Int(2), reply.now_ms);
  }
  reply.has_more = reply.rows == kPromoteBatch;
  reply.next_due_ms = NextDue(tx);
  reply.news.Tell(tx, process_, reply.now_ms);
  for (auto* item : items) item->reply = PromoteReply{0, false, reply.now_ms, reply.next_due_ms};
  items.front()->reply = std::move(reply);
}

void PromoteHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    item->reply->news.Signal(wake_);
    probe_.Promoted(item->reply->rows, item->reply->late_ms);
  }
}

namespace {

/// One round of the reaper.
class Round {
 public:
  Round(std::string_view process, bool leases) : changes_(process), leases_(leases) {}

  ReapReply Run(db::Transaction& tx) {
    const std::int64_t begun_ms = tx.TakeClock(tx.QueueClock());
    for (const auto row : tx.Run(sql::kLockDeadWorkers, begun_ms, kReapWorkers))
      dead_.insert(row.Int(0));
    LockClaims(tx, begun_ms);
    Look(tx);
    TakeBack(tx);
    WriteClaims(tx);
    // One with claims that could not be looked at stays on record as dead: what it held is
    // nobody's, and is taken back in the next round rather than at the end of its lease.
    const std::vector<std::int64_t> dead(dead_.begin(), dead_.end());
    tx.Queue(sql::kGiveUpWorkers, dead);
    tx.Queue(sql::kDropDeadWorkers, dead);
    changes_.Apply(tx, now_ms_);
    reply_.news = changes_.news();
    return std::move(reply_);
  }

 private:
  struct Claim {
    std::string tenant{};
    base::Uuid claim{};
    std::int64_t started = 0;
    std::vector<Handed> messages{};
    std::int64_t look_ms = 0;  // 0: nothing is held any more
  };

  void LockClaims(db::Transaction& tx, std::int64_t begun_ms) {
    const std::vector<std::int64_t> dead(dead_.begin(), dead_.end());
    const auto of_dead = tx.Queue(sql::kLockClaimsOf, dead, kReapClaims);
    reply_.has_more = Take(tx.Take(of_dead)) >= kReapClaims ||
                      static_cast<std::int64_t>(dead.size()) == kReapWorkers;
    if (!leases_) return;
    const std::int64_t due = Take(tx.Run(sql::kLockDueClaims, begun_ms, kReapClaims));
    reply_.has_more |= due == kReapClaims;
  }

  std::int64_t Take(const db::Rows& rows) {
    for (const auto row : rows) {
      Claim& claim = claims_[{std::string(row.Text(0)), row.Uuid(1)}];
      claim.tenant = row.Text(0);
      claim.claim = row.Uuid(1);
      claim.started = row.Int(2);
      claim.messages = DecodeHanded(row.Text(3));
    }
    return static_cast<std::int64_t>(rows.size());
  }

  /// Locks what is left of the claims. The clock comes after the locks.
  void Look(db::Transaction& tx) {
    std::set<MessageRef> wanted;
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> fences;
    for (const auto& [key, claim] : claims_)
      for (const Handed& each : claim.messages) wanted.insert({each.id, claim.tenant});
    const MessageColumns columns(wanted);
    held_ = LockMessages(tx, columns);
    std::set<std::int64_t> workers;
    for (const auto& [ref, message] : held_)
      if (message.lease_until_ms > 0) workers.insert(message.worker);
    for (const auto row :
         tx.Run(sql::kLoadAlive, std::vector<std::int64_t>(workers.begin(), workers.end())))
      beating_[row.Int(0)] = row.Int(1);
    // Of what could not be locked, something may be left.
    std::set<MessageRef> missing;
    for (const MessageRef& each : wanted)
      if (!held_.contains(each)) missing.insert(each);
    const MessageColumns passed_over(missing);
    for (const auto row : tx.Run(sql::kLoadFates, passed_over.ids, passed_over.tenants))
      if (row.Int(1) > 0) busy_.insert(passed_over.At(row.ordinal()));
    now_ms_ = tx.TakeClock(tx.QueueClock());
  }

  void TakeBack(db::Transaction&) {
    for (auto& [key, claim] : claims_)
      for (std::size_t i = 0; i < claim.messages.size(); ++i) {
        const MessageRef ref{claim.messages[i].id, claim.tenant};
        if (busy_.contains(ref)) Postpone(claim, now_ms_ + kLookAgainMs);
        const auto found = held_.find(ref);
        if (found == held_.end() || !found->second.IsHeldUnder(claim.messages[i].fence)) continue;
        if (const auto until_ms = HeldUntil(found->second))
          Postpone(claim, *until_ms);
        else
          Revoke(ref.first, found->second, static_cast<std::int64_t>(i) < claim.started);
      }
  }

  /// Until when it is surely held; none: it is not any more.
  std::optional<std::int64_t> HeldUntil(const Held& message) const {
    if (dead_.contains(message.worker)) return std::nullopt;
    // One that is overdue is given up by somebody else at this moment, who passes over what we have
    // locked: we must look again soon.
    if (const auto beat = beating_.find(message.worker); beat != beating_.end())
      return now_ms_ + (beat->second <= now_ms_ ? kLookAgainMs : kLookAtHeldMs);
    // Whoever could not prolong because nobody was there gets the time once more.
    if (!leases_) return std::max(message.lease_until_ms, now_ms_ + kLookAgainMs);
    if (message.lease_until_ms > now_ms_) return message.lease_until_ms;
    return std::nullopt;
  }

  static void Postpone(Claim& claim, std::int64_t look_ms) {
    claim.look_ms = claim.look_ms == 0 ? look_ms : std::min(claim.look_ms, look_ms);
  }

  void Revoke(const base::Uuid& id, Held& message, bool was_begun) {
    message.lease_until_ms = 0;
    if (!was_begun) {
      ++reply_.returned;
      return changes_.PutBack(id, message, now_ms_, "");
    }
    ++message.crashes;
    constexpr auto kError = "its worker died, or said nothing until the lease was over";
    if (const auto reason = AfterCrash(message.topic.settings, message.crashes)) {
      ++reply_.dead;
      return changes_.Bury(id, message, *reason, kError);
    }
    ++reply_.crashed;
    changes_.PutBack(id, message, now_ms_, kError);
  }

  void WriteClaims(db::Transaction& tx) {
    std::vector<std::string_view> kept_tenants, dropped_tenants;
    std::vector<base::Uuid> kept, dropped;
    std::vector<std::int64_t> looks;
    for (const auto& [key, claim] : claims_) {
      if (claim.look_ms == 0) {
        dropped_tenants.push_back(claim.tenant);
        dropped.push_back(claim.claim);
        continue;
      }
      kept_tenants.push_back(claim.tenant);
      kept.push_back(claim.claim);
      looks.push_back(claim.look_ms);
    }
    tx.Queue(sql::kPostponeClaims, kept_tenants, kept, looks);
    tx.Queue(sql::kDropClaims, dropped_tenants, dropped);
  }

  Changes changes_;
  const bool leases_;
  ReapReply reply_;
  std::set<std::int64_t> dead_;  // given up in this transaction
  std::map<std::pair<std::string, base::Uuid>, Claim> claims_;
  std::map<MessageRef, Held> held_;
  std::map<std::int64_t, std::int64_t> beating_;  // workers that have a row, and until when
  std::set<MessageRef> busy_;                     // locked by somebody else
  std::int64_t now_ms_ = 0;
};

}  // namespace

void ReapHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const bool leases = std::any_of(items.begin(), items.end(),
                                  [](const auto* item) { return item->request.leases; });
  if (!tx.Run(sql::kFindLost, now_ms, std::int64_t{leases ? 1 : 0}).empty()) return;
  for (auto* item : items) item->reply = ReapReply{};
}

void ReapHandler::WriteItems(db::Transaction& tx, Items items) {
  const bool leases = std::any_of(items.begin(), items.end(),
                                  [](const auto* item) { return item->request.leases; });
  for (auto* item : items) item->reply = ReapReply{};
  items.front()->reply = Round(process_, leases).Run(tx);
}

void ReapHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    item->reply->news.Signal(wake_);
    probe_.Reaped(*item->reply);
  }
}

void TidyHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    TidyReply reply;
    const auto add = [&](db::Rows rows) {
      reply.rows += static_cast<std::int64_t>(rows.size());
      reply.has_more |= static_cast<std::int64_t>(rows.size()) >= kTidyBatch;
    };
    add(tx.Run(sql::kForgetFinished, now_ms, kTidyBatch));
    add(tx.Run(sql::kForgetKeys, now_ms, kTidyBatch));
    add(tx.Run(sql::kForgetRedriven, now_ms - item->request.redriven_ms, kTidyBatch));
    add(tx.Run(sql::kForgetOwners, now_ms - kOwnerMemoryMs, kTidyBatch));
    add(tx.Run(sql::kForgetWaiters, now_ms - kOwnerMemoryMs));
    item->reply = reply;
  }
}

}  // namespace tenure::messages
