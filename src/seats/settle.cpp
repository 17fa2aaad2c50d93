#include "seats/settle.hpp"

#include <algorithm>

#include "base/json_writer.hpp"
#include "db/keys.hpp"
#include "seats/audit_event.hpp"
#include "seats/batch.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

struct LicenseOf {
  const base::Uuid& operator()(const auto& command) const { return command.license; }
};

/// What each command asks about.
struct WantAll {
  Ledgers& ledgers;
  void operator()(const AcquireCommand& command) const {
    ledgers.WantMachine(command.license, command.machine);
    ledgers.WantDead(command.license, command.testimony);
  }
  void operator()(const HeartbeatCommand& command) const {
    ledgers.Want(command.license);
    for (const base::Uuid& session : command.sessions)
      ledgers.WantSession(command.license, session);
  }
  void operator()(const ReleaseCommand& command) const {
    ledgers.WantSession(command.license, command.session);
  }
  void operator()(const RevokeSeatCommand& command) const {
    ledgers.WantSession(command.license, command.session);
  }
  void operator()(const TicketCommand& command) const {
    ledgers.WantTicket(command.license, command.ticket);
  }
  void operator()(const ChangeCommand& command) const { ledgers.WantOffers(command.license); }
  void operator()(const SweepCommand& command) const {
    ledgers.Want(command.license);
    ledgers.WantDead(command.license, command.testimony);
  }
  void operator()(const CheckpointCommand& command) const { ledgers.WantHoldings(command.license); }
  void operator()(const auto& command) const { ledgers.Want(command.license); }
};

/// Gives a licence another key, unless a licence of the organisation has it. The key's row is new, so
/// only the making of another licence with the very same key can be in the way, for a moment.
AdminOutcome Rotate(db::Transaction& tx, Ledger& ledger, const RotateKeyCommand& command) {
  const LicenseRow& license = ledger.license();
  const bool theirs = command.tenant.empty() || license.tenant == command.tenant;
  if (!theirs || license.state == LicenseState::kRevoked) return ledger.RotateKey(command, false);
  const db::Rows added =
      tx.Run(sql::kAddKey, std::string_view(license.tenant), db::BytesView{command.key_hash},
             license.id, std::string_view(command.key_hint));
  const bool taken = added.empty();
  if (!taken)
    tx.Queue(sql::kEndKeys, license.id, db::BytesView{command.key_hash},
             ledger.now_ms() + command.overlap_ms);
  return ledger.RotateKey(command, taken);
}

/// REQUIRES: the ledger is that of the command's licence; null: there is none.
struct Decide {
  db::Transaction& tx;
  Ledger* ledger;
  std::int64_t begun_boot_ms;

  Outcome operator()(const AcquireCommand& command) const {
    if (!ledger) return AcquireOutcome(NoLicense());
    AcquireOutcome outcome = ledger->Acquire(command);
    // What the holder may add to its validity: the time before this transaction began, and not a
    // moment of the transaction itself.
    if (auto* grant = std::get_if<Grant>(&outcome))
      grant->waited_ms = std::max<std::int64_t>(0, begun_boot_ms - command.received_boot_ms);
    return outcome;
  }
  Outcome operator()(const HeartbeatCommand& command) const {
    if (!ledger) return std::vector<HeartbeatOutcome>(command.sessions.size(), NoSession());
    return ledger->Heartbeat(command);
  }
  Outcome operator()(const ReleaseCommand& command) const {
    ReleaseOutcome outcome = ledger ? ledger->Release(command) : ReleaseOutcome();
    outcome.license = command.license;
    return outcome;
  }
  Outcome operator()(const RevokeSeatCommand& command) const {
    return ledger ? ledger->RevokeSeat(command) : RevokeSeatOutcome();
  }
  Outcome operator()(const TicketCommand& command) const {
    return ledger ? ledger->Ticket(command) : TicketOutcome(NoTicket());
  }
  Outcome operator()(const ChangeCommand& command) const {
    return ledger ? ledger->Change(command) : Missing();
  }
  Outcome operator()(const RevokeLicenseCommand& command) const {
    return ledger ? ledger->RevokeLicense(command) : Missing();
  }
  Outcome operator()(const RotateKeyCommand& command) const {
    return ledger ? Rotate(tx, *ledger, command) : Missing();
  }
  Outcome operator()(const SweepCommand&) const {
    return ledger ? ledger->Sweep() : SweepOutcome();
  }
  Outcome operator()(const NoteDenialsCommand& command) const {
    if (ledger) ledger->NoteDenials(command);
    return SweepOutcome();
  }
  Outcome operator()(const CheckpointCommand&) const {
    if (ledger) ledger->Checkpoint();
    return SweepOutcome();
  }
  static AdminOutcome Missing() {
    AdminOutcome outcome;
    outcome.kind = AdminOutcome::Kind::kNoLicense;
    return outcome;
  }
};

/// What a command that was carried out means for a Redis.
struct TellPath {
  BeatPath& path;
  const Outcome& outcome;

  void operator()(const AcquireCommand& command) const {
    const auto* const grant = std::get_if<Grant>(&std::get<AcquireOutcome>(outcome));
    if (grant && grant->resumed) path.Resumed(command.tenant, command.person, grant->session);
  }
  void operator()(const ReleaseCommand& command) const {
    const auto& released = std::get<ReleaseOutcome>(outcome);
    if (released.fence > 0) path.Ended(command.license, released.slot, released.fence);
  }
  void operator()(const RevokeSeatCommand& command) const {
    const auto& revoked = std::get<RevokeSeatOutcome>(outcome);
    if (revoked.changed)
      path.Ended(command.license, revoked.holding->row.slot, revoked.holding->row.fence);
  }
  void operator()(const ChangeCommand& command) const { path.Changed(command.license); }
  void operator()(const RevokeLicenseCommand& command) const { path.Changed(command.license); }
  void operator()(const auto&) const {}
};

/// Of the sessions that are released: which licence is theirs, for good. Nil: nobody knows the session.
template <class Items>
void FindLicenses(db::Transaction& tx, const Items& items) {
  std::vector<ReleaseCommand*> releases;
  for (auto* item : items)
    if (auto* const release = std::get_if<ReleaseCommand>(&item->request))
      if (release->license == base::Uuid()) releases.push_back(release);
  const auto keys = db::UniqueKeys([&] {
    std::vector<base::Uuid> sessions;
    for (const ReleaseCommand* release : releases) sessions.push_back(release->session);
    return sessions;
  }());
  const std::vector<base::Uuid> sessions(keys.begin(), keys.end());
  std::vector<base::Uuid> licenses(sessions.size());
  for (const auto row : tx.Run(sql::kLocateSessions, sessions))
    if (!row.IsNull(0)) licenses[row.ordinal()] = row.Uuid(0);
  for (ReleaseCommand* release : releases)
    release->license = licenses[keys.IndexOf(release->session)];
}

}  // namespace

std::size_t SettleHandler::KeyHash(const Command& command) const {
  base::Uuid key = std::visit(LicenseOf(), command);
  if (const auto* const release = std::get_if<ReleaseCommand>(&command))
    if (key == base::Uuid()) key = release->session;
  return std::hash<base::Uuid>()(key);
}

Settled SettleHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t begun_boot_ms = clock_.BootMs();
  Ledgers ledgers(process_, rules_);
  FindLicenses(tx, items);
  for (const auto* item : items) std::visit(WantAll{ledgers}, item->request);
  ledgers.Open(tx);
  for (auto* item : items) {
    Ledger* const ledger = ledgers.Find(std::visit(LicenseOf(), item->request));
    item->reply = std::visit(Decide{tx, ledger, begun_boot_ms}, item->request);
    if (item->actor())
      if (auto event = AuditEventOf(item->request, *item->reply)) item->Did(*std::move(event));
  }
  ledgers.Apply(tx);
  Settled settled{ledgers.own_turns(), 0, {}};
  for (const auto& [license, ledger] : ledgers.ledgers()) {
    settled.offers_missed += ledger.offers_missed();
    for (const NewEntry& entry : ledger.entries()) settled.logged.push_back(entry.entry.kind);
  }
  return settled;
}

void SettleHandler::DoneItems(Items items, const Settled& settled) {
  for (const std::string& key : settled.own_turns) wake_.SignalAll(key);
  probe_.Logged(settled.logged);
  probe_.OffersMissed(settled.offers_missed);
  for (const auto* item : items)
    if (const auto* acquired = std::get_if<AcquireOutcome>(&*item->reply))
      probe_.Acquired(*acquired);
  if (!path_) return;
  for (const auto* item : items) std::visit(TellPath{*path_, *item->reply}, item->request);
}

}  // namespace tenure::seats
