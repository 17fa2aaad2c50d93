#include "messages/hold/reap.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/rules.hpp"
#include "messages/settle/locked_messages.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kReapWorkers = 16;
constexpr std::int64_t kReapClaims = 64;
/// What could not be locked is looked at again after this.
constexpr std::int64_t kLookAgainMs = 1'000;
/// A claim of somebody with a heartbeat is looked at so often, to see whether anything is left of
/// it.
constexpr std::int64_t kLookAtHeldMs = 30'000;

/// One round of the reaper.
class ReapRound {
 public:
  ReapRound(std::string_view process, const FollowerSlot& followers, bool leases)
      : changes_(process, followers), leases_(leases) {}

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
    const auto dead = db::Columns(dead_, std::identity());
    tx.Queue(sql::kGiveUpWorkers, dead);
    tx.Queue(sql::kDropDeadWorkers, dead);
    changes_.Apply(tx, now_ms_);
    return reply_;
  }
  const Notifications& notifications() const { return changes_.notifications(); }

 private:
  struct Claim {
    std::string tenant{};
    base::Uuid claim{};
    std::int64_t started = 0;
    std::vector<Handed> messages{};
    std::int64_t look_ms = 0;  // 0: nothing is held any more
  };

  void LockClaims(db::Transaction& tx, std::int64_t begun_ms) {
    const auto of_dead =
        tx.Queue(sql::kLockClaimsOf, db::Columns(dead_, std::identity()), kReapClaims);
    reply_.has_more = Take(tx.Take(of_dead)) >= kReapClaims ||
                      static_cast<std::int64_t>(dead_.size()) == kReapWorkers;
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
    std::vector<MessageRef> claimed;
    for (const auto& [key, claim] : claims_)
      for (const Handed& each : claim.messages) claimed.emplace_back(each.id, claim.tenant);
    const MessageRefs wanted(std::move(claimed));
    held_ = LockMessages(tx, wanted);
    std::set<std::int64_t> workers;
    for (const auto& [ref, message] : held_)
      if (message.lease_until_ms > 0) workers.insert(message.worker);
    for (const auto row : tx.Run(sql::kLoadAlive, db::Columns(workers, std::identity())))
      beating_[row.Int(0)] = row.Int(1);
    // Of what could not be locked, something may be left.
    const MessageRefs missing = MissingIn(held_, wanted);
    for (const auto row : tx.Run(sql::kLoadWhereabouts, db::Columns(missing, kMessageRefColumns)))
      if (row.Int(1) > 0) busy_.insert(missing[row.ordinal()]);
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
    std::vector<const Claim*> kept, dropped;
    for (const auto& [key, claim] : claims_) (claim.look_ms > 0 ? kept : dropped).push_back(&claim);
    tx.Queue(sql::kPostponeClaims,
             db::Columns(kept, &Claim::tenant, &Claim::claim, &Claim::look_ms));
    tx.Queue(sql::kDropClaims, db::Columns(dropped, &Claim::tenant, &Claim::claim));
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

Notifications ReapHandler::WriteItems(db::Transaction& tx, Items items) {
  const bool leases = std::any_of(items.begin(), items.end(),
                                  [](const auto* item) { return item->request.leases; });
  for (auto* item : items) item->reply = ReapReply{};
  ReapRound round(process_, followers_, leases);
  items.front()->reply = round.Run(tx);
  return round.notifications();
}

void ReapHandler::DoneItems(Items items, const Notifications& notifications) {
  notifications.Signal(wake_);
  for (const auto* item : items) probe_.Reaped(*item->reply);
}

}  // namespace tenure::messages
