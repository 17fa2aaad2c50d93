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
      // What the holder may add to its validity: the time before this transaction began,
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

db::AuditEvent AuditEventOf(const BreakCommand& breaking, const BreakOutcome& outcome) {
  db::AuditEvent event{breaking.key.name, ""};
  base::JsonWriter json(event.detail);
  json.BeginObject()
      .Field("reason", std::string_view(breaking.reason))
      .Field("force", breaking.force)
      .Field("drain_ms", breaking.drain_ms)
      .Field("holder", std::string_view(outcome.holder))
      .Field("fence", outcome.fence);
  json.Key("free_at").Time(outcome.free_at_ms).EndObject();
  return event;
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
  if (ledger.row() != before) item.Did(AuditEventOf(*breaking, std::get<BreakOutcome>(outcome)));
  return outcome;
}

struct FirstKey {
  const LeaseKey& operator()(const std::vector<RenewCommand>& renewals) const {
    return renewals.front().key;
  }
  const LeaseKey& operator()(const auto& single) const { return single.key; }
};

}  // namespace

std::size_t ChangeHandler::KeyHash(const Command& command) const {
  return LeaseKeyHash()(std::visit(FirstKey(), command));
}

Changed ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t begun_boot_ms = clock_.BootMs();
  Ledgers ledgers(process_);
  for (const auto* item : items) WantKeys(ledgers, item->request);
  ledgers.Open(tx, ledgers.Queue(tx));
  for (auto* item : items) {
    item->reply = item->actor() ? DecideOnRecord(ledgers, *item, begun_boot_ms)
                                : Decide(ledgers, item->request, begun_boot_ms);
    LookForEvidence(ledgers, item->request, *item->reply);
  }
  ledgers.Apply(tx);
  return {ledgers.own_turns(), ledgers.CountEnded(LossReason::kExpired),
          ledgers.CountEnded(LossReason::kBroken)};
}

/// Of a grant that the store does not know it may have been asked because the store has forgotten.
void ChangeHandler::LookForEvidence(Ledgers& ledgers, const Command& command,
                                    const Outcome& outcome) {
  const auto look = [&](const LeaseKey& key, std::int64_t fence) {
    evidence_.Look("lease " + key.name, fence, ledgers.At(key).highest_fence());
  };
  const auto* renewals = std::get_if<std::vector<RenewCommand>>(&command);
  for (std::size_t i = 0; renewals && i < renewals->size(); ++i) {
    const auto& renewed = std::get<std::vector<RenewOutcome>>(outcome)[i];
    if (const auto* loss = std::get_if<Loss>(&renewed);
        loss && loss->reason == LossReason::kUnknown)
      look((*renewals)[i].key, (*renewals)[i].fence);
  }
  const auto* release = std::get_if<ReleaseCommand>(&command);
  if (release && release->fence && !std::get<ReleaseOutcome>(outcome).released)
    look(release->key, *release->fence);
}

void ChangeHandler::DoneItems(Items items, const Changed& changed) {
  for (const std::string& key : changed.own_turns) wake_.SignalAll(key);
  probe_.Lost(LossReason::kExpired, changed.expired);
  probe_.Lost(LossReason::kBroken, changed.broken);
  for (const auto* item : items) Count(item->request, *item->reply);
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
