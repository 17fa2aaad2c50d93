#include "leases/change.hpp"

#include <algorithm>

#include "base/json_writer.hpp"
#include "leases/batch.hpp"

namespace tenure::leases {
namespace {

void WantKeys(Ledgers& ledgers, const Command& command) {
  struct Visitor {
    Ledgers& ledgers;
    void operator()(const AcquireCommand& acquire) const {
      ledgers.Want(acquire.key, &acquire.term, Ledgers::Use::kMayGrant);
    }
    void operator()(const std::vector<RenewCommand>& renewals) const {
      for (const RenewCommand& renew : renewals)
        ledgers.Want(renew.key, &renew.term, Ledgers::Use::kHolder);
    }
    void operator()(const ReleaseCommand& release) const {
      ledgers.Want(release.key, &release.term, Ledgers::Use::kHolder);
    }
    void operator()(const BreakCommand& breaking) const {
      ledgers.Want(breaking.key, nullptr, Ledgers::Use::kMayGrant);
    }
  };
  std::visit(Visitor{ledgers}, command);
}

Outcome Decide(Ledgers& ledgers, const Command& command, std::int64_t begun_boot_ms) {
  struct Visitor {
    Ledgers& ledgers;
    std::int64_t begun_boot_ms;
    Outcome operator()(const AcquireCommand& acquire) const {
      AcquireOutcome outcome = ledgers.At(acquire.key).Acquire(acquire);
      // What the holder may add to its validity (spec 20): the time before this transaction began,
      // and not a moment of the transaction itself.
      if (auto* grant = std::get_if<Grant>(&outcome))
        grant->waited =
            Milliseconds(std::max<std::int64_t>(0, begun_boot_ms - acquire.received_boot_ms));
      return outcome;
    }
    Outcome operator()(const std::vector<RenewCommand>& renewals) const {
      std::vector<RenewOutcome> outcomes;
      outcomes.reserve(renewals.size());
      for (const RenewCommand& renew : renewals)
        outcomes.push_back(ledgers.At(renew.key).Renew(renew));
      return outcomes;
    }
    Outcome operator()(const ReleaseCommand& release) const {
      return ledgers.At(release.key).Release(release);
    }
    Outcome operator()(const BreakCommand& breaking) const {
      return ledgers.At(breaking.key).Break(breaking);
    }
  };
  return std::visit(Visitor{ledgers, begun_boot_ms}, command);
}

db::Deed DeedOf(const BreakCommand& breaking, const BreakOutcome& outcome) {
  db::Deed deed{breaking.key.name, ""};
  base::JsonWriter json(deed.detail);
  json.BeginObject()
      .Field("reason", std::string_view(breaking.reason))
      .Field("force", breaking.force)
      .Field("drain_ms", breaking.drain_ms)
      .Field("holder", std::string_view(outcome.holder))
      .Field("fence", outcome.fence);
  json.Key("free_at").Time(outcome.free_at_ms).EndObject();
  return deed;
}

/// Carries out a command of an operator, who answers for what it changes: a break of a lease that
/// is broken like this already changes nothing.
Outcome DecideOnRecord(Ledgers& ledgers, ChangeHandler::ItemType& item,
                       std::int64_t begun_boot_ms) {
  const auto* breaking = std::get_if<BreakCommand>(&item.request);
  if (!breaking) return Decide(ledgers, item.request, begun_boot_ms);
  const Ledger& ledger = ledgers.At(breaking->key);
  const LeaseRow before = ledger.row();
  Outcome outcome = Decide(ledgers, item.request, begun_boot_ms);
  if (ledger.row() != before) item.Did(DeedOf(*breaking, std::get<BreakOutcome>(outcome)));
  return outcome;
}

}  // namespace

void ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t begun_boot_ms = clock_.BootMs();
  Ledgers ledgers(process_);
  for (const auto* item : items) WantKeys(ledgers, item->request);
  ledgers.Open(tx, ledgers.Queue(tx));
  for (auto* item : items)
    item->reply = ChangeReply{item->actor() ? DecideOnRecord(ledgers, *item, begun_boot_ms)
                                            : Decide(ledgers, item->request, begun_boot_ms)};
  ledgers.Apply(tx);
  // The first of the batch carries the news for after COMMIT.
  ChangeReply& news = *items.front()->reply;
  news.own_turns = ledgers.own_turns();
  news.expired = ledgers.CountEnded(LossReason::kExpired);
  news.broken = ledgers.CountEnded(LossReason::kBroken);
}

void ChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    for (const std::string& key : item->reply->own_turns) wake_.SignalAll(key);
    probe_.Lost(LossReason::kExpired, item->reply->expired);
    probe_.Lost(LossReason::kBroken, item->reply->broken);
    Count(item->request, item->reply->outcome);
  }
}

void ChangeHandler::Count(const Command& command, const Outcome& outcome) {
  if (const auto* acquire = std::get_if<AcquireCommand>(&command))
    probe_.Acquired(std::get<AcquireOutcome>(outcome), clock_.BootMs() - acquire->asked_boot_ms);
  else if (const auto* renewals = std::get_if<std::vector<RenewOutcome>>(&outcome))
    for (const RenewOutcome& renewal : *renewals) probe_.Renewed(renewal);
  else if (const auto* release = std::get_if<ReleaseOutcome>(&outcome))
    probe_.Released(*release);
}

}  // namespace tenure::leases
