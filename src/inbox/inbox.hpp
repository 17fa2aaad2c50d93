#pragma once

#include "base/caller.hpp"
#include "db/store.hpp"
#include "inbox/change.hpp"
#include "inbox/look.hpp"
#include "inbox/probe.hpp"
#include "inbox/upkeep.hpp"

namespace tenure::inbox {

/// The inbox on a store: what the routes, the tasks and the tests call. Every call returns at once;
/// the callback runs on the caller's executor (none: on a lane's thread) when the store has
/// decided.
///
/// Any number of processes may run this on one store: nothing is remembered here.
class Inbox {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Inbox(db::Store& store, const Budget& budget, telemetry::Registry& metrics);

  void Begin(BeginCommand command, base::Caller caller, Callback<BeginOutcome> done);
  void Complete(CompleteCommand command, base::Caller caller, Callback<FinishOutcome> done);
  void Fail(FailCommand command, base::Caller caller, Callback<FinishOutcome> done);

  void Find(FindRequest request, base::Caller caller, Callback<FindReply> done);

  /// One bounded batch of background work. The caller repeats while `has_more`.
  void TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done);
  void CountStuck(Callback<CountReply> done);

  Probe& probe() { return probe_; }

 private:
  template <class Reply, class SomeCommand>
  void Change(SomeCommand command, base::Caller caller, Callback<Reply> done);

  db::Store& store_;
  Probe probe_;
  ChangeHandler change_;
  FindHandler find_;
  CountHandler count_;
  TidyHandler tidy_;
};

}  // namespace tenure::inbox
