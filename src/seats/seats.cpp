#include "seats/seats.hpp"

#include <algorithm>
#include <map>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "seats/json.hpp"

namespace tenure::seats {
namespace {

/// How many heartbeats one transaction carries out.
constexpr std::size_t kBeatsAtOnce = 1'000;

}  // namespace

Seats::Seats(db::Store& store, wake::Registry& wake, std::string process, const Rules& rules,
             const base::Clock& clock, telemetry::Registry& metrics)
    : MakeOrganization(store, "seats.make_organization", db::LaneName::UserKeys()),
      ChangeOrganization(store, "seats.change_organization", db::LaneName::UserKeys()),
      ListOrganizations(store, "seats.list_organizations"),
      FindLicense(store, "seats.find_license"),
      ListLicenses(store, "seats.list_licenses"),
      ListHoldings(store, "seats.list_holdings"),
      FindHolding(store, "seats.find_holding"),
      ListTickets(store, "seats.list_tickets"),
      ListLog(store, "seats.list_log"),
      Levels(store, "seats.levels"),
      ReadEpoch(store, "seats.read_epoch"),
      NoteRedisUse(store, "seats.note_redis_use", db::LaneName::Shared(0)),
      RaiseRedisEpoch(store, "seats.raise_redis_epoch", db::LaneName::Shared(0)),
      FindRedisCandidates(store, "seats.find_candidates"),
      FindHoldingFacts(store, "seats.find_facts"),
      ReadRevisionsOf(store, "seats.read_revisions"),
      FindKeptLicenses(store, "seats.find_kept"),
      AdoptAbsentSeats(store, "seats.adopt_absent", db::LaneName::Shared(0)),
      FindDueLicenses(store, "seats.find_due"),
      OldestDeadline(store, "seats.oldest_deadline"),
      ForgetSomeTickets(store, "seats.forget_tickets", db::LaneName::Shared(0)),
      FindEndsOfLogs(store, "seats.find_log_ends"),
      ForgetSomeLog(store, "seats.forget_log", db::LaneName::Shared(0)),
      store_(store),
      process_(std::move(process)),
      clock_(clock),
      probe_(metrics),
      settle_(process_, rules, clock, wake, probe_),
      settle_once_("seats.settle_once", settle_, KeptAnswer),
      create_once_("seats.create_once", create_, KeptCreation),
      look_(store, "seats.look"),
      locate_session_(store, "seats.locate_session"),
      locate_ticket_(store, "seats.locate_ticket"),
      waiters_(*this, store, wake, clock) {}

class Seats::Request {
 public:
  /// False: whoever asked has gone meanwhile.
  bool Waits(Waiters& waiters, Waiters::Id id) {
    const base::Lock lock(mutex_);
    if (gone_) {
      waiters.Abandon(id);
      return false;
    }
    waiter_ = id;
    return true;
  }
  bool gone() {
    const base::Lock lock(mutex_);
    return gone_;
  }
  void Abandon(Waiters& waiters) {
    std::optional<Waiters::Id> waiter;
    {
      const base::Lock lock(mutex_);
      gone_ = true;
      waiter = waiter_;
    }
    if (waiter) waiters.Abandon(*waiter);
  }

 private:
  base::Mutex mutex_;
  bool gone_ TENURE_GUARDED_BY(mutex_) = false;
  std::optional<Waiters::Id> waiter_ TENURE_GUARDED_BY(mutex_);
};

Seats::RequestPtr Seats::Acquire(AcquireRequest request, base::Caller caller,
                                 Callback<Acquired> done) {
  auto under_way = std::make_shared<Request>();
  probe_.Asked();
  done = [this, machine = request.command.machine,
          done = std::move(done)](db::Result<Acquired> result) mutable {
    if (result.ok()) NoteDenial(result.value(), machine);
    done(std::move(result));
  };
  const auto& former = request.command.former;
  if (!path_ || !former) {
    Begin(under_way, std::move(request), std::move(caller), std::move(done));
    return under_way;
  }
  const std::string tenant = request.command.tenant, person = request.command.person;
  const base::Uuid session = *former;
  path_->Forget(tenant, person, session,
                [this, under_way, request = std::move(request), caller = std::move(caller),
                 done = std::move(done)](bool is_gone) mutable {
                  request.command.former_gone = is_gone;
                  Begin(under_way, std::move(request), std::move(caller), std::move(done));
                });
  return under_way;
}

void Seats::Begin(const RequestPtr& under_way, AcquireRequest request, base::Caller caller,
                  Callback<Acquired> done) {
  // Who waits is served by the line.
  if (path_ && request.wait_ms == 0)
    AskAndGiveOn(under_way, std::move(request), std::move(caller), std::move(done));
  else
    Ask(under_way, std::move(request), std::move(caller), std::move(done));
}

void Seats::Ask(const RequestPtr& under_way, AcquireRequest request, base::Caller caller,
                Callback<Acquired> done) {
  KeyLook look{request.command.tenant, request.key_hash, request.command.machine,
               request.wait_ms > 0};
  base::Executor* const home = caller.home;
  look_(std::move(look), home,
        [this, under_way, request = std::move(request), caller = std::move(caller),
         done = std::move(done)](db::Result<KeyLookReply> looked) mutable {
          if (!looked.ok()) return done(looked.fault());
          const KeyLookReply& reply = looked.value();
          if (!reply.license) return done(Acquired(AcquireOutcome(NoLicense())));
          // What a look says does not count for one who claims a fence.
          if (reply.outcome && caller.fences.empty()) return done(Acquired(*reply.outcome));
          if (under_way->gone()) return;
          AcquireCommand command = std::move(request.command);
          command.license = *reply.license;
          if (request.wait_ms == 0)
            return AskOnce(std::move(command), request.once, std::move(caller), std::move(done));
          const Waiters::Id id =
              waiters_.AddAcquire(std::move(command), std::move(request.once), request.wait_ms,
                                  std::move(caller), std::move(done));
          under_way->Waits(waiters_, id);
        });
}

/// A licence that is full may have seats of the dead that only a Redis keeps: then it is asked again.
void Seats::AskAndGiveOn(const RequestPtr& under_way, AcquireRequest request, base::Caller caller,
                         Callback<Acquired> done) {
  auto again = request;
  Ask(under_way, std::move(request), caller,
      [this, under_way, again = std::move(again), caller,
       done = std::move(done)](db::Result<Acquired> result) mutable {
        auto* const outcome = result.ok() ? std::get_if<AcquireOutcome>(&result.value()) : nullptr;
        auto* const full = outcome ? std::get_if<Full>(outcome) : nullptr;
        if (!full || full->reason != Full::Reason::kFull) return done(std::move(result));
        base::Executor* const home = caller.home;
        path_->GiveOn(
            full->license, [this, under_way, again = std::move(again), caller, full = *full,
                            done = std::move(done), home](const GivenOn& given) mutable {
              if (given.some)
                return Ask(under_way, std::move(again), std::move(caller), std::move(done));
              if (given.next_ms > 0) full.retry_ms = std::min(full.retry_ms, given.next_ms);
              auto tell = [full, done = std::move(done)]() mutable {
                done(Acquired(AcquireOutcome(full)));
              };
              home ? home->Post(std::move(tell)) : tell();
            });
      });
}

void Seats::NoteDenial(const Acquired& acquired, const std::string& machine) {
  const auto* const outcome = std::get_if<AcquireOutcome>(&acquired);
  const auto* const full = outcome ? std::get_if<Full>(outcome) : nullptr;
  if (full) denials_.Note(full->license, machine, clock_.WallMs());
}

void Seats::Abandon(const RequestPtr& request) { request->Abandon(waiters_); }

void Seats::AskOnce(AcquireCommand command, const std::optional<base::IdempotencyKey>& once,
                    base::Caller caller, Callback<Acquired> done) {
  if (!once)
    return Settle<AcquireOutcome>(
        std::move(command), std::move(caller),
        [done = std::move(done)](db::Result<AcquireOutcome> result) mutable {
          if (result.ok())
            done(Acquired(result.value()));
          else
            done(result.fault());
        });
  base::Executor* const home = caller.home;
  SettleOnce(std::move(command), *once, std::move(caller),
             [this, home,
              done = std::move(done)](db::Result<base::IdempotentReply<Outcome>> result) mutable {
               if (!result.ok()) return done(result.fault());
               std::visit(
                   [&](auto& reply) {
                     using Reply = std::remove_cvref_t<decltype(reply)>;
                     if constexpr (std::is_same_v<Reply, Outcome>)
                       done(Acquired(std::get<AcquireOutcome>(std::move(reply))));
                     else if constexpr (std::is_same_v<Reply, base::StoredAnswer>)
                       TellAgain(std::move(reply), home, std::move(done));
                     else
                       done(Acquired(std::move(reply)));
                   },
                   result.value());
             });
}

/// What was left when it was granted is less by now, and it may be over: whoever repeats its request
/// counts from when it asked again. The clock of the look is read after that.
void Seats::TellAgain(base::StoredAnswer kept, base::Executor* home, Callback<Acquired> done) {
  const auto session = SessionOfGrant(kept.body);
  if (!session) return done(Acquired(std::move(kept)));
  FindHolding(
      {{}, *session}, home,
      [kept = std::move(kept), done = std::move(done)](db::Result<FindHoldingReply> found) mutable {
        if (!found.ok()) return done(found.fault());
        const auto& holding = found.value().holding;
        const bool is_live = holding && !holding->end;
        kept.body = GrantAgain(kept.body, is_live ? holding->row.expires_ms - holding->now_ms : 0);
        done(Acquired(std::move(kept)));
      });
}

/// Heartbeats under way: in parts, and then by licence where a row alone does not tell.
class Seats::Beating : public std::enable_shared_from_this<Seats::Beating> {
 public:
  Beating(Seats& seats, BeatRequest request, base::Caller caller, AdoptedHere adopted,
          Callback<Heartbeats> done)
      : seats_(seats),
        request_(std::move(request)),
        caller_(std::move(caller)),
        adopted_here_(std::move(adopted)),
        done_(std::move(done)) {
    answer_.outcomes.resize(request_.sessions.size(), NoSession());
  }

  void Start() {
    const std::size_t count = request_.sessions.size();
    const std::size_t parts = (count + kBeatsAtOnce - 1) / kBeatsAtOnce;
    under_way_ = parts;
    for (std::size_t part = 0; part < parts; ++part) StartPart(part * kBeatsAtOnce);
  }

 private:
  void StartPart(std::size_t first) {
    const std::size_t last = std::min(first + kBeatsAtOnce, request_.sessions.size());
    BeatRequest part{request_.tenant, request_.person, {}, request_.adoption};
    part.sessions.assign(request_.sessions.begin() + static_cast<std::ptrdiff_t>(first),
                         request_.sessions.begin() + static_cast<std::ptrdiff_t>(last));
    seats_.store_.Submit(seats_.beat_, caller_, std::move(part),
                         [self = shared_from_this(), first](db::Result<BeatReply> result) {
                           self->TakePart(first, result);
                         });
  }

  void TakePart(std::size_t first, const db::Result<BeatReply>& result) {
    std::map<base::Uuid, std::vector<std::size_t>> by_license;
    {
      const base::Lock lock(mutex_);
      if (result.ok()) {
        answer_.now_ms = std::max(answer_.now_ms, result.value().now_ms);
        const auto& answers = result.value().answers;
        for (std::size_t i = 0; i < answers.size(); ++i) {
          if (const auto* ask = std::get_if<AskLicense>(&answers[i])) {
            by_license[ask->license].push_back(first + i);
            answer_.license = ask->license;
          } else if (const auto* beat = std::get_if<Beat>(&answers[i])) {
            answer_.outcomes[first + i] = *beat;
            answer_.license = beat->license;
          } else if (const auto* forgotten = std::get_if<Forgotten>(&answers[i]))
            answer_.outcomes[first + i] = *forgotten;
        }
        under_way_ += by_license.size();
        for (const auto& adopted : result.value().adopted)
          if (adopted) adopted_.push_back(*adopted);
      } else {
        const std::size_t last = std::min(first + kBeatsAtOnce, answer_.outcomes.size());
        for (std::size_t i = first; i < last; ++i) answer_.outcomes[i] = Unheard();
        fault_ = result.fault();
      }
    }
    for (auto& [license, places] : by_license) AskLicenseOf(license, std::move(places));
    Ended();
  }

  void AskLicenseOf(const base::Uuid& license, std::vector<std::size_t> places) {
    HeartbeatCommand command{license, request_.tenant, request_.person, {}};
    for (const std::size_t place : places) command.sessions.push_back(request_.sessions[place]);
    seats_.Settle<std::vector<HeartbeatOutcome>>(
        std::move(command), caller_,
        [self = shared_from_this(),
         places = std::move(places)](db::Result<std::vector<HeartbeatOutcome>> result) {
          {
            const base::Lock lock(self->mutex_);
            for (std::size_t i = 0; i < places.size(); ++i)
              self->answer_.outcomes[places[i]] =
                  result.ok() ? result.value()[i] : HeartbeatOutcome(Unheard());
            if (!result.ok()) self->fault_ = result.fault();
          }
          self->Ended();
        });
  }

  /// One of those that are under way is; the last one answers. What one licence's trouble leaves unheard
  /// costs the others nothing: they are told what became of them.
  void Ended() {
    {
      const base::Lock lock(mutex_);
      if (--under_way_ > 0) return;
    }
    if (!adopted_.empty()) adopted_here_(std::move(adopted_));
    const bool nobody = std::ranges::all_of(answer_.outcomes, [](const HeartbeatOutcome& each) {
      return std::holds_alternative<Unheard>(each);
    });
    if (fault_ && nobody) return done_(*fault_);
    for (const HeartbeatOutcome& outcome : answer_.outcomes) seats_.probe_.Beaten(outcome);
    done_(std::move(answer_));
  }

  Seats& seats_;
  const BeatRequest request_;
  const base::Caller caller_;
  AdoptedHere adopted_here_;
  Callback<Heartbeats> done_;
  base::Mutex mutex_;
  // Guarded by mutex_ while anything is under way.
  std::size_t under_way_ = 0;
  Heartbeats answer_{};
  std::vector<Adopted> adopted_;
  std::optional<base::Fault> fault_;
};

void Seats::Heartbeat(BeatRequest request, base::Caller caller, Callback<Heartbeats> done) {
  if (request.sessions.empty()) return done(Heartbeats());
  // Whether a fence is of a live grant is told by the store alone.
  if (path_ && caller.fences.empty())
    return path_->Heartbeat(std::move(request), std::move(caller), std::move(done));
  BeatInStore(std::move(request), std::move(caller), {}, std::move(done));
}

/// REQUIRES: there are sessions.
void Seats::BeatInStore(BeatRequest request, base::Caller caller, AdoptedHere adopted,
                        Callback<Heartbeats> done) {
  std::make_shared<Beating>(*this, std::move(request), std::move(caller), std::move(adopted),
                            std::move(done))
      ->Start();
}

void Seats::RevokeSeat(RevokeSeatCommand command, base::Caller caller,
                       Callback<RevokeSeatOutcome> done) {
  base::Executor* const home = caller.home;
  locate_session_({command.session}, home,
                  [this, command, caller = std::move(caller),
                   done = std::move(done)](const db::Result<SessionPlace>& place) mutable {
                    if (!place.ok()) return done(place.fault());
                    if (!place.value().license) return done(RevokeSeatOutcome());
                    command.license = *place.value().license;
                    Settle<RevokeSeatOutcome>(std::move(command), std::move(caller),
                                              std::move(done));
                  });
}

void Seats::RevokeSeatOnce(RevokeSeatCommand command, base::IdempotencyKey key, base::Caller caller,
                           Callback<base::IdempotentReply<Outcome>> done) {
  base::Executor* const home = caller.home;
  locate_session_({command.session}, home,
                  [this, command, key = std::move(key), caller = std::move(caller),
                   done = std::move(done)](const db::Result<SessionPlace>& place) mutable {
                    if (!place.ok()) return done(place.fault());
                    if (!place.value().license)
                      return done(base::IdempotentReply<Outcome>(Outcome(RevokeSeatOutcome())));
                    command.license = *place.value().license;
                    SettleOnce(std::move(command), std::move(key), std::move(caller),
                               std::move(done));
                  });
}

void Seats::Ticket(TicketCommand command, base::Caller caller, Callback<TicketOutcome> done) {
  base::Executor* const home = caller.home;
  locate_ticket_({command.ticket}, home,
                 [this, command, caller = std::move(caller),
                  done = std::move(done)](const db::Result<TicketPlace>& place) mutable {
                   if (!place.ok()) return done(place.fault());
                   if (!place.value().license) return done(TicketOutcome(NoTicket()));
                   command.license = *place.value().license;
                   Settle<TicketOutcome>(std::move(command), std::move(caller), std::move(done));
                 });
}

Seats::RequestPtr Seats::AwaitTicket(TicketCommand command, std::int64_t wait_ms,
                                     base::Caller caller, Callback<TicketOutcome> done) {
  auto under_way = std::make_shared<Request>();
  base::Executor* const home = caller.home;
  locate_ticket_({command.ticket}, home,
                 [this, under_way, command, wait_ms, caller = std::move(caller),
                  done = std::move(done)](const db::Result<TicketPlace>& place) mutable {
                   if (!place.ok()) return done(place.fault());
                   if (!place.value().license) return done(TicketOutcome(NoTicket()));
                   if (under_way->gone()) return;
                   command.license = *place.value().license;
                   const Waiters::Id id =
                       waiters_.AddTicket(std::move(command), place.value().machine, wait_ms,
                                          std::move(caller), std::move(done));
                   under_way->Waits(waiters_, id);
                 });
  return under_way;
}

void Seats::SettleOnce(Command command, base::IdempotencyKey key, base::Caller caller,
                       Callback<base::IdempotentReply<Outcome>> done) {
  store_.Submit(settle_once_, std::move(caller), {std::move(command), std::move(key)},
                std::move(done));
}

void Seats::Create(CreateRequest request, base::Caller caller, Callback<CreateReply> done) {
  store_.Submit(create_, std::move(caller), std::move(request), std::move(done));
}

void Seats::CreateOnce(CreateRequest request, base::IdempotencyKey key, base::Caller caller,
                       Callback<base::IdempotentReply<CreateReply>> done) {
  store_.Submit(create_once_, std::move(caller), {std::move(request), std::move(key)},
                std::move(done));
}

void Seats::FlushDenials() {
  const Denials::Taken taken = denials_.Take();
  if (taken.others > 0)
    base::LogWarn("seats.denied", "denied seats of more licences than are summed one by one",
                  {{"denials", taken.others}});
  for (const NoteDenialsCommand& sum : taken.sums)
    Settle<SweepOutcome>(sum, nullptr, [this, sum](const db::Result<SweepOutcome>& result) {
      if (!result.ok() && !result.fault().outcome_unknown()) denials_.PutBack(sum);
    });
}

}  // namespace tenure::seats
