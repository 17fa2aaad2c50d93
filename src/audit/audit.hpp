#pragma once

#include "audit/look.hpp"
#include "audit/note.hpp"
#include "audit/probe.hpp"
#include "audit/refusals.hpp"
#include "audit/upkeep.hpp"
#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/store.hpp"

namespace tenure::audit {

/// The audit of a store: what the routes, the tasks and the tests call. Acts get there by
/// themselves (recorder.hpp). Every call returns at once; the callback runs on the caller's `home`
/// (null: on a lane's thread).
///
/// Any number of processes may run this on one store: nothing is remembered here but refusals that
/// are summed up.
class Audit {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Audit(db::Store& store, const base::Clock& clock, telemetry::Registry& metrics);

  void List(ListRequest request, base::Executor* home, Callback<ListReply> done);
  /// What happened and was no change.
  void Note(base::Actor actor, db::Deed deed, Callback<NoteReply> done);
  /// One bounded batch. The caller repeats while `has_more`.
  void ForgetSome(const ForgetRequest& request, base::Caller caller, Callback<ForgetReply> done);

  Refusals& refusals() { return refusals_; }
  Probe& probe() { return probe_; }

 private:
  db::Store& store_;
  Probe probe_;
  NoteHandler note_;
  ListHandler list_;
  ForgetHandler forget_;
  Refusals refusals_;
};

}  // namespace tenure::audit
