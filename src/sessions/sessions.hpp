#pragma once

#include <cstdint>

#include "base/caller.hpp"
#include "base/task.hpp"
#include "db/once.hpp"
#include "db/store.hpp"
#include "sessions/end.hpp"
#include "sessions/expiry.hpp"
#include "sessions/look.hpp"
#include "sessions/probe.hpp"
#include "sessions/put.hpp"

namespace tenure::sessions {

struct Options {
  std::int64_t duration_ms = 2'592'000'000;    ///< of a new session; the whole ensemble's
  std::int64_t retention_ms = 34'560'000'000;  ///< how long ended sessions are kept
};

/// One active session per user and capacity: what the routes, the tasks and the tests call. Every
/// call returns at once; the callback runs on the caller's `home` (null: on a lane's thread) when
/// the store has decided.
///
/// Any number of processes may run this on one store: nothing is remembered here.
class Sessions {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Sessions(db::Store& store, const Options& options, telemetry::Registry& metrics);

  void Put(const PutRequest& request, const base::Caller& caller, Callback<PutReply> done);
  /// The same under an idempotency key: after a lost reply the caller gets the first answer again.
  void PutOnce(const PutRequest& request, db::OnceKey key, const base::Caller& caller,
               Callback<db::OnceReply> done);
  void Find(const base::Uuid& id, base::Executor* home, Callback<FindReply> done);
  void List(const ListRequest& request, base::Executor* home, Callback<ListReply> done);

  /// Ends a session of which `request.key` was found before: its key decides the lane.
  void End(const EndRequest& request, const base::Caller& caller, Callback<EndReply> done);

  /// One bounded batch of each background job. The caller repeats while `has_more`.
  void ExpireSome(const base::Caller& caller, Callback<BackgroundReply> done);
  void RemoveSome(const base::Caller& caller, Callback<BackgroundReply> done);
  void CountActive(Callback<CountReply> done);

  Probe& probe() { return probe_; }

 private:
  db::Store& store_;
  const Options options_;
  Probe probe_;
  PutHandler put_;
  db::OnceHandler<PutRequest, PutReply> put_once_;
  EndHandler end_;
  FindHandler find_;
  ListHandler list_;
  CountHandler count_;
  ExpireHandler expire_;
  RemoveHandler remove_;
};

}  // namespace tenure::sessions
