#pragma once

#include <cstdint>
#include <string>

#include "base/caller.hpp"
#include "db/store.hpp"
#include "messages/messages.hpp"
#include "sessions/sessions.hpp"
#include "usage/chunk_delivery.hpp"
#include "usage/emit.hpp"
#include "usage/probe.hpp"
#include "usage/reads.hpp"
#include "usage/records.hpp"
#include "usage/seal.hpp"
#include "wake/registry.hpp"

namespace tenure::usage {

struct Options {
  std::int64_t interval_ms = 60'000;                     ///< of windows; the whole ensemble's
  SeedFactors factors{1'000'000, 2'000'000, 3'000'000};  ///< where the store has none
  std::int64_t chunk_size = 1'000;                       ///< records of one request
  std::int64_t chunks_per_step = kChunksPerStep;         ///< written in one transaction
  std::int64_t retention_ms = 34'560'000'000;            ///< of windows
  bool send = false;                                     ///< there is somebody to be told
};

/// Exact metering of sessions: what tasks, the sender, routes and tests call. Every call returns at
/// once; the callback runs on the caller's executor (none: on a lane's thread) when the store has
/// decided.
///
/// Any number of processes may run this on one store: nothing is remembered here.
class Usage {
  db::Store& store_;
  sessions::Sessions& sessions_;
  messages::Messages& messages_;
  wake::Registry& wake_;
  const Options options_;
  Probe probe_;
  db::Method<SealHandler> seal_{store_};
  db::Look<FindNextRanges> ranges_{store_, "usage.ranges"};
  db::Sweep<SettleAndForget> settle_{store_, "usage.settle", kWindowLane};
  db::Look<FindSpans> span_{store_, "usage.span"};
  db::Write<SetFactors> set_factor_{store_, "usage.set_factor", db::LaneName::UserKeys()};

 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Usage(db::Store& store, sessions::Sessions& sessions, messages::Messages& messages,
        wake::Registry& wake, const Options& options, telemetry::Registry& metrics)
      : store_(store),
        sessions_(sessions),
        messages_(messages),
        wake_(wake),
        options_(options),
        probe_(metrics) {}

  /// Closes the next window, if it is due.
  void SealNext(Callback<SealReply> done);
  /// Puts the next sessions of the first unfinished window into chunks: a look, then a change.
  void FindRanges(Callback<RangesReply> done) {
    ranges_({options_.chunk_size, options_.chunks_per_step}, std::move(done));
  }
  db::Method<EmitHandler> Emit{store_, messages_.topic_cache(), messages_.process(), wake_};
  /// One bounded batch. The caller repeats while `has_more`.
  void TidySome(Callback<db::Swept> done) { settle_({options_.retention_ms}, std::move(done)); }

  db::Look<LoadChunks> Load{store_, "usage.load"};
  db::Method<ChangeHandler> Change{store_, messages_.topic_cache(), messages_.process(), wake_};

  db::List<QueueWindows, ReadWindowView> ListWindows{store_, "usage.windows"};
  db::Look<ListWindowRecords> ListRecords{store_, "usage.records"};
  db::List<QueueRefused, ReadRefused> ListRefused{store_, "usage.refused"};
  db::Look<LoadAllFactors> ListFactors{store_, "usage.factors"};
  /// Page by page over the sessions, in flat memory.
  void Total(const TotalsRequest& request, base::Executor* home, Callback<TotalsReply> done);
  db::Look<CountUnsentRecords> CountUnsent{store_, "usage.unsent"};

  void SetFactor(int kind, std::int64_t millionths, base::Caller caller,
                 Callback<SetFactorReply> done) {
    set_factor_({kind, millionths, options_.interval_ms, options_.factors}, std::move(caller),
                std::move(done));
  }
  /// REQUIRES: there is an endpoint.
  db::Write<ReopenWindows> Send{store_, "usage.send", kWindowLane};

  const Options& options() const { return options_; }
  Probe& probe() { return probe_; }

 private:
  /// Once all pages were read: sessions that are missing from them were removed by now.
  void CheckComplete(db::Result<TotalsReply> total, base::Executor* home,
                     Callback<TotalsReply> done);
};

}  // namespace tenure::usage
