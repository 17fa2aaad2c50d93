#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "db/evidence.hpp"
#include "db/operation.hpp"
#include "leases/lease.hpp"
#include "leases/probe.hpp"
#include "wake/registry.hpp"

namespace tenure::leases {

class Ledgers;

/// Everything that changes leases is one kind of operation, so that one transaction serves all that
/// waits: acquisitions, renewals and releases of many names, in order of arrival per name.
using Command =
    std::variant<AcquireCommand, std::vector<RenewCommand>, ReleaseCommand, BreakCommand>;
using Outcome =
    std::variant<AcquireOutcome, std::vector<RenewOutcome>, ReleaseOutcome, BreakOutcome>;

/// What a transaction did besides.
struct Changed {
  std::vector<std::string> own_turns{};  ///< wake keys of this process whose turn has come
  std::int64_t expired = 0;              ///< grants that were found overdue and taken over
  std::int64_t broken = 0;               ///< grants that an operator ended
};

/// Lock, load, decide, apply, for a batch of commands (batch.hpp, ledger.hpp). After COMMIT it
/// wakes those of this process whose turn has come.
class ChangeHandler final : public db::TypedHandler<Command, Outcome, Changed> {
 public:
  ChangeHandler(std::string process, const base::Clock& clock, wake::Registry& wake, Probe& probe,
                db::ForgottenEvidence& evidence)
      : process_(std::move(process)),
        clock_(clock),
        wake_(wake),
        probe_(probe),
        evidence_(evidence) {}
  std::string_view name() const override { return "leases.change"; }
  db::LaneName lane() const override { return kLane; }
  /// Of the first name.
  std::size_t KeyHash(const Command& command) const override;

 protected:
  Changed WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Changed& changed) override;

 private:
  void Count(const Command& command, const Outcome& outcome);
  void LookForEvidence(Ledgers& ledgers, const Command& command, const Outcome& outcome);

  const std::string process_;
  const base::Clock& clock_;
  wake::Registry& wake_;
  Probe& probe_;
  db::ForgottenEvidence& evidence_;
};

}  // namespace tenure::leases
