#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "seats/beat_path.hpp"
#include "seats/create.hpp"
#include "seats/denials.hpp"
#include "seats/heartbeat.hpp"
#include "seats/look.hpp"
#include "seats/organizations.hpp"
#include "seats/probe.hpp"
#include "seats/reads.hpp"
#include "seats/redis_epoch.hpp"
#include "seats/redis_kept.hpp"
#include "seats/settle.hpp"
#include "seats/sweep.hpp"
#include "seats/waiters.hpp"
#include "wake/registry.hpp"

namespace tenure::seats {

/// A request for a seat, by key.
struct AcquireRequest {
  std::string key_hash{};
  AcquireCommand command{};  ///< its licence is not known yet
  std::int64_t wait_ms = 0;  ///< 0: one try
  std::optional<base::IdempotencyKey> once{};
};

/// Licence seats on a store: what the routes, the tasks and the tests call. Every call returns at once;
/// the callback runs on the caller's executor (none: on a lane's thread) when the store has decided.
///
/// Any number of processes may run this on one store: nothing is remembered here but who waits, and
/// what was denied within the last minute.
class Seats {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;
  using Acquired = base::IdempotentReply<AcquireOutcome>;

  /// `process` names this process among those of the store ("host:pid:random").
  Seats(db::Store& store, wake::Registry& wake, std::string process, const Rules& rules,
        const base::Clock& clock, telemetry::Registry& metrics);

  /// A request that may wait, until it is answered.
  class Request;
  using RequestPtr = std::shared_ptr<Request>;
  RequestPtr Acquire(AcquireRequest request, base::Caller caller, Callback<Acquired> done);
  /// Whoever asked has gone: what it is granted meanwhile is given back.
  void Abandon(const RequestPtr& request);

  using Heartbeats = seats::Heartbeats;
  void Heartbeat(BeatRequest request, base::Caller caller, Callback<Heartbeats> done);
  void Release(ReleaseCommand command, base::Caller caller, Callback<ReleaseOutcome> done) {
    Settle<ReleaseOutcome>(std::move(command), std::move(caller), std::move(done));
  }
  /// Its licence is found first.
  void RevokeSeat(RevokeSeatCommand command, base::Caller caller, Callback<RevokeSeatOutcome> done);
  void RevokeSeatOnce(RevokeSeatCommand command, base::IdempotencyKey key, base::Caller caller,
                      Callback<base::IdempotentReply<Outcome>> done);
  /// REQUIRES: not kOpen.
  void Ticket(TicketCommand command, base::Caller caller, Callback<TicketOutcome> done);
  /// Waits until a seat is offered to it, or `wait_ms` have passed.
  RequestPtr AwaitTicket(TicketCommand command, std::int64_t wait_ms, base::Caller caller,
                         Callback<TicketOutcome> done);

  /// On one licence that is named.
  template <class Reply>
  void Settle(Command command, base::Caller caller, Callback<Reply> done) {
    store_.Submit(settle_, std::move(caller), std::move(command), db::Only<Reply>(std::move(done)));
  }
  void SettleOnce(Command command, base::IdempotencyKey key, base::Caller caller,
                  Callback<base::IdempotentReply<Outcome>> done);

  void Create(CreateRequest request, base::Caller caller, Callback<CreateReply> done);
  void CreateOnce(CreateRequest request, base::IdempotencyKey key, base::Caller caller,
                  Callback<base::IdempotentReply<CreateReply>> done);

  db::Write<MakeOrganizations> MakeOrganization;
  db::Write<ChangeOrganizations> ChangeOrganization;
  db::List<QueueOrganizations, ReadOrganization> ListOrganizations;

  db::Look<FindLicenses> FindLicense;
  db::List<QueueLicenses, ReadLicenseView> ListLicenses;
  db::List<QueueHoldings, ReadHolding> ListHoldings;
  db::Look<FindHoldings> FindHolding;
  db::List<QueueTickets, ReadTicket> ListTickets;
  db::List<QueueLog, ReadLogEntry> ListLog;
  db::Look<ReadLevels> Levels;

  // Heartbeats in a Redis (promise.hpp).

  /// Heartbeats go there from now on. Before the first call of anybody; it outlives them.
  void GoBy(BeatPath& path) {
    path_ = &path;
    settle_.Tell(path);
  }
  BeatPath* path() { return path_; }
  /// What a path leaves to the store. With an adoption `adopted` gets, before `done`, what may be
  /// put into the Redis.
  using AdoptedHere = base::UniqueFunction<std::vector<Adopted>>;
  void BeatInStore(BeatRequest request, base::Caller caller, AdoptedHere adopted,
                   Callback<Heartbeats> done);

  db::Count<ReadRedisEpochNow> ReadEpoch;
  db::Write<NoteUse> NoteRedisUse;
  db::Write<RaiseEpoch> RaiseRedisEpoch;
  db::Look<FindCandidates> FindRedisCandidates;
  db::Look<FindFacts> FindHoldingFacts;
  db::Look<seats::ReadRevisions> ReadRevisionsOf;
  db::Look<FindKept> FindKeptLicenses;
  db::Write<AdoptAbsent> AdoptAbsentSeats;
  /// Live holdings alone; what is no such is answered as NoSession or AskLicense.
  void Adopt(BeatRequest request, Callback<BeatReply> done) {
    store_.Submit(beat_, nullptr, std::move(request), std::move(done));
  }

  // Background work, in bounded batches.

  db::Look<FindDue> FindDueLicenses;
  db::Count<ReadOldestLook> OldestDeadline;
  db::Sweep<ForgetTickets> ForgetSomeTickets;
  db::Look<FindLogEnds> FindEndsOfLogs;
  db::Sweep<ForgetLog> ForgetSomeLog;
  /// Writes what was denied since the last time. Returns at once; what cannot be written is told next time.
  void FlushDenials();
  Denials& denials() { return denials_; }

  /// Answers everybody who waits with kStopping; nobody waits any more afterwards.
  void StopWaiting() { waiters_.Stop(); }

  Probe& probe() { return probe_; }
  const base::Clock& clock() const { return clock_; }
  const std::string& process() const { return process_; }

 private:
  friend class Waiters;
  class Beating;

  void NoteDenial(const Acquired& acquired, const std::string& machine);
  void Begin(const RequestPtr& under_way, AcquireRequest request, base::Caller caller,
             Callback<Acquired> done);
  void Ask(const RequestPtr& under_way, AcquireRequest request, base::Caller caller,
           Callback<Acquired> done);
  void AskAndGiveOn(const RequestPtr& under_way, AcquireRequest request, base::Caller caller,
                    Callback<Acquired> done);
  void AskOnce(AcquireCommand command, const std::optional<base::IdempotencyKey>& once,
               base::Caller caller, Callback<Acquired> done);

  void TellAgain(base::StoredAnswer kept, base::Executor* home, Callback<Acquired> done);

  db::Store& store_;
  const std::string process_;
  const base::Clock& clock_;
  Probe probe_;
  SettleHandler settle_;
  db::IdempotentHandler<Command, Outcome> settle_once_;
  BeatHandler beat_;
  CreateHandler create_;
  db::IdempotentHandler<CreateRequest, CreateReply> create_once_;
  db::Look<LookAtKeys> look_;
  db::Look<LocateSessions> locate_session_;
  db::Look<LocateTickets> locate_ticket_;
  Denials denials_;
  BeatPath* path_ = nullptr;  // null: the store alone
  Waiters waiters_;
};

}  // namespace tenure::seats
