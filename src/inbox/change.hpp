#pragma once

#include <variant>

#include "db/operation.hpp"
#include "inbox/ledger.hpp"
#include "inbox/probe.hpp"

namespace tenure::inbox {

/// Everything that changes the inbox is one kind of operation, so that one transaction serves all
/// that waits, in order of arrival per message.
using Command = std::variant<BeginCommand, CompleteCommand, FailCommand>;
using Outcome = std::variant<BeginOutcome, FinishOutcome>;

/// Lock, load, decide, apply, for a batch of commands.
///
/// A look without locks comes first: a delivery of a message that is done, dead or being processed
/// costs one index probe, writes nothing and waits for nobody. Only a message that may be handed
/// out, and what ends a claim, goes through the locks. So whoever completes finds the row locked by
/// another lane only when that is just taking the message over.
class ChangeHandler final : public db::TypedHandler<Command, Outcome> {
 public:
  ChangeHandler(const Budget& budget, Probe& probe) : budget_(budget), probe_(probe) {}
  std::string_view name() const override { return "inbox.change"; }
  std::size_t KeyHash(const Command& command) const override;
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const Budget budget_;
  Probe& probe_;
};

}  // namespace tenure::inbox
