#pragma once

#include <string_view>

#include "base/caller.hpp"
#include "db/store.hpp"
#include "messages/settle/settle.hpp"

namespace tenure::messages {

bool ChangedSomething(const SettleResult& result);
/// The fault of a later transaction of a request whose earlier one has changed something: it must
/// not say that nothing happened.
base::Fault FaultAfterChange(const base::Fault& fault);

/// Takes what holders say of messages to the store.
///
/// All settlements of a process share one lane, and none of them may wait there for a stranger: a
/// user's own transaction may have a message locked for as long as it likes (tenure.acknowledge).
/// So there are two ways. The first passes over what some transaction has locked. That is asked
/// again by itself on the lane of keys, where it waits a moment for the lock: enough for another
/// process that is about to commit; whoever holds it longer makes the settlement kContended.
///
/// Invariants:
///  (1) A settlement on a message that no transaction has locked waits for nobody.
///  (2) The answer says of each message what became of it, in the order of the request, whichever
///      way it went.
///  (3) A request may thus be carried out in two transactions. If the second one fails, the fault
///      says that nothing happened only when the first changed nothing, and kOutcomeUnknown
///      otherwise. A repetition settles both: what was done the first time is `gone`, as after a
///      lost reply.
///
/// Threads: any.
class Settler {
 public:
  using Callback = base::UniqueFunction<db::Result<SettleResult>>;

  Settler(db::Store& store, TopicCache& topic_cache, std::string_view process, wake::Registry& wake,
          const FollowerSlot& followers, Probe& probe);

  void Submit(SettleRequest request, base::Caller caller, Callback done);

 private:
  void SubmitOnce(Locked locked, SettleRequest request, base::Caller caller, Callback done);
  void AskAgain(SettleResult first, base::Caller caller, Callback done);

  db::Store& store_;
  AcknowledgeHandler ack_;
  AcknowledgeHandler ack_locked_;
  SettleHandler settle_;
  SettleHandler settle_locked_;
};

}  // namespace tenure::messages
