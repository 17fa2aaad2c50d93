#pragma once

#include <string_view>

#include "base/caller.hpp"
#include "db/store.hpp"
#include "messages/report.hpp"

namespace tenure::messages {

/// Takes what holders say of messages to the store.
///
/// All reports of a process share one lane, and none of them may wait there for a stranger: a
/// user's own transaction may have a message locked for as long as it likes (tenure.acknowledge).
/// So there are two ways. The first passes over what some transaction has locked. That is asked
/// again by itself on the lane of keys, where it waits a moment for the lock: enough for another
/// process that is about to commit; whoever holds it longer makes the report kContended.
///
/// 1. Whoever is not passed over waits for nobody.
/// 2. The answer says of each message what became of it, in the order of the request, whichever way
///    it went.
/// 3. A request may thus be carried out in two transactions. If the second one fails, the fault
/// says
///    that nothing happened only when the first changed nothing, and kOutcomeUnknown otherwise. A
///    repetition settles both: what was done the first time is `gone`, as after a lost reply.
///
/// Threads: any.
class Reports {
 public:
  using Callback = base::UniqueFunction<db::Result<ReportResult>>;

  /// `lane`: the number of the lane that reports share.
  Reports(db::Store& store, std::size_t lane, Directory& directory, std::string_view process,
          wake::Registry& wake, Probe& probe);

  void Submit(ReportRequest request, base::Caller caller, Callback done);

 private:
  void SubmitTo(db::Lane& lane, Locked locked, ReportRequest request, base::Caller caller,
                Callback done);
  void AskAgain(ReportResult first, base::Caller caller, Callback done);

  db::Store& store_;
  const std::size_t lane_;
  AckHandler ack_;
  AckHandler ack_locked_;
  ReportHandler report_;
  ReportHandler report_locked_;
};

}  // namespace tenure::messages
