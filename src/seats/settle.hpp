#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "db/operation.hpp"
#include "seats/beat_path.hpp"
#include "seats/command.hpp"
#include "seats/probe.hpp"
#include "wake/registry.hpp"

namespace tenure::seats {

/// Everything that is decided under a licence's lock is one kind of operation, so that one transaction
/// serves all that waits: commands on many licences, in order of arrival per licence.
using Command = std::variant<AcquireCommand, HeartbeatCommand, ReleaseCommand, RevokeSeatCommand,
                             TicketCommand, ChangeCommand, RevokeLicenseCommand, RotateKeyCommand,
                             SweepCommand, NoteDenialsCommand, CheckpointCommand>;
using Outcome = std::variant<AcquireOutcome, std::vector<HeartbeatOutcome>, ReleaseOutcome,
                             RevokeSeatOutcome, TicketOutcome, AdminOutcome, SweepOutcome>;

/// What a transaction did besides.
struct Settled {
  std::vector<std::string> own_turns{};  ///< wake keys of this process
  std::int64_t offers_missed = 0;
  std::vector<std::string> logged{};  ///< the kinds of its entries
};

/// Lock, load, decide, apply, for a batch of commands (batch.hpp, ledger.hpp). After COMMIT it wakes
/// those of this process to whom something was offered.
///
/// All of a process go through one lane, so its batches are as large as they can be, and never wait for
/// each other. Whoever holds a licence elsewhere, as another process does for the length of a
/// transaction, holds up the other licences for as long; beyond `store.lock_timeout` they are carried out without it.
/// Nothing with a deadline stands behind them: leases have another lane, and heartbeats one of their own.
class SettleHandler final : public db::TypedHandler<Command, Outcome, Settled> {
 public:
  SettleHandler(std::string process, const Rules& rules, const base::Clock& clock,
                wake::Registry& wake, Probe& probe)
      : process_(std::move(process)), rules_(rules), clock_(clock), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return "seats.settle"; }
  db::LaneName lane() const override { return db::LaneName::Shared(0); }
  /// Who is told of what a Redis should know. Before the first operation.
  void Tell(BeatPath& path) { path_ = &path; }
  /// Of the licence; of a session whose licence is not known, its own.
  std::size_t KeyHash(const Command& command) const override;

 protected:
  Settled WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Settled& settled) override;

 private:
  const std::string process_;
  const Rules rules_;
  const base::Clock& clock_;
  wake::Registry& wake_;
  Probe& probe_;
  BeatPath* path_ = nullptr;
};

}  // namespace tenure::seats
