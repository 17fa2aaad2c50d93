#pragma once

#include <cstdint>
#include <string>

#include "base/caller.hpp"
#include "db/store.hpp"
#include "messages/messages.hpp"
#include "sessions/sessions.hpp"
#include "usage/delivery.hpp"
#include "usage/emit.hpp"
#include "usage/factors.hpp"
#include "usage/look.hpp"
#include "usage/probe.hpp"
#include "usage/records.hpp"
#include "usage/refused.hpp"
#include "usage/seal.hpp"
#include "usage/totals.hpp"
#include "usage/upkeep.hpp"
#include "wake/registry.hpp"

namespace tenure::usage {

struct Options {
  std::int64_t interval_ms = 60'000;                     ///< of windows; the whole ensemble's
  SeedFactors factors{1'000'000, 2'000'000, 3'000'000};  ///< where the store has none
  std::int64_t chunk_size = 1'000;                       ///< records of one request
  std::int64_t retention_ms = 34'560'000'000;            ///< of windows
  bool send = false;                                     ///< there is somebody to be told
};

/// Exact metering of sessions: what tasks, the sender, routes and tests call. Every call returns at
/// once; the callback runs on the caller's executor (none: on a lane's thread) when the store has
/// decided.
///
/// Any number of processes may run this on one store: nothing is remembered here.
class Usage {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Usage(db::Store& store, sessions::Sessions& sessions, messages::Messages& messages,
        wake::Registry& wake, const Options& options, telemetry::Registry& metrics);

  /// Closes the next window, if it is due.
  void SealNext(Callback<SealReply> done);
  /// Puts the next sessions of the first unfinished window into chunks: a look, then a change.
  void FindRanges(Callback<RangesReply> done);
  void Emit(EmitRequest request, Callback<EmitReply> done);
  /// One bounded batch. The caller repeats while `has_more`.
  void Settle(Callback<SettleReply> done);

  void Load(ChunkName name, Callback<LoadReply> done);
  void Change(ChunkChange change, Callback<ChunkChangeReply> done);

  void ListWindows(const WindowsRequest& request, base::Executor* home,
                   Callback<WindowsReply> done);
  void ListRecords(const RecordsRequest& request, base::Executor* home,
                   Callback<RecordsReply> done);
  void ListRefused(const RefusedRequest& request, base::Executor* home,
                   Callback<RefusedReply> done);
  void ListFactors(base::Executor* home, Callback<FactorsReply> done);
  /// Page by page over the sessions, in flat memory.
  void Total(const TotalsRequest& request, base::Executor* home, Callback<TotalsReply> done);
  void CountUnsent(Callback<UnsentReply> done);

  void SetFactor(int kind, std::int64_t millionths, const base::Caller& caller,
                 Callback<SetFactorReply> done);
  /// REQUIRES: there is an endpoint.
  void Send(const SendRequest& request, const base::Caller& caller, Callback<SendReply> done);

  const Options& options() const { return options_; }
  Probe& probe() { return probe_; }

 private:
  db::Store& store_;
  sessions::Sessions& sessions_;
  const Options options_;
  Probe probe_;
  SealHandler seal_;
  RangesHandler ranges_;
  EmitHandler emit_;
  SettleHandler settle_;
  LoadHandler load_;
  ChangeHandler change_;
  WindowsHandler windows_;
  RecordsHandler records_;
  RefusedHandler refused_;
  FactorsHandler factors_;
  SetFactorHandler set_factor_;
  UnsentHandler unsent_;
  SpanHandler span_;
  SendHandler send_;
};

}  // namespace tenure::usage
