#include "client/seats/seat_core.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/uuid.hpp"

namespace tenure::client {
namespace {

using seats::NoSeat;
using seats::Seat;

/// Nothing is held.
constexpr std::int64_t kNotHeld = std::numeric_limits<std::int64_t>::min();
/// Grants in a row that were over when they arrived.
constexpr int kMostSlowGrants = 5;
/// The first pause after a heartbeat that failed.
constexpr Milliseconds kBeatBackoff{1'000};

/// The token of a call, and of our own end.
class EitherStop {
 public:
  EitherStop(const std::stop_token& one, const std::stop_token& other)
      : on_one_(one, [this] { both_.request_stop(); }),
        on_other_(other, [this] { both_.request_stop(); }) {}
  std::stop_token token() const { return both_.get_token(); }

 private:
  std::stop_source both_;
  std::stop_callback<std::function<void()>> on_one_;
  std::stop_callback<std::function<void()>> on_other_;
};

/// Counts a caller for as long as it asks.
class Counted {
 public:
  explicit Counted(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<int>& count_;
};

bool MayAcquireAgain(const std::optional<SeatGone>& gone) {
  return !gone || (gone->reason != seats::LossReason::kResumedElsewhere &&
                   gone->reason != seats::LossReason::kRevoked);
}

std::uint64_t RandomSeed() {
  std::uint64_t seed = 0;
  base::RandomBytes(reinterpret_cast<std::uint8_t*>(&seed), sizeof seed);
  return seed;
}

[[noreturn]] void ThrowAsSeatError(const SeatCallFailed& failed) {
  switch (failed.kind()) {
    case CallFailed::Kind::kInvalid:
      throw std::invalid_argument(failed.what());
    case CallFailed::Kind::kDenied:
      throw seats::AccessDenied(failed.what(), false);
    case CallFailed::Kind::kUnfit:
    case CallFailed::Kind::kUnavailable:
      break;
  }
  throw seats::Unavailable(failed.what(), failed.outcome_unknown());
}

}  // namespace

/// One acquisition: as many questions as it takes.
///
/// A question that may have been carried out although no answer came is asked again under the same
/// idempotency key, and its validity counts from when it was sent first: what was given then is
/// given again.
class SeatCore::Asking {
 public:
  Asking(SeatCore& core, const SeatAcquisition::Rules& rules, std::stop_token stop)
      : core_(core), plan_(rules, core.clock_.NowMs(), RandomSeed()), stop_(std::move(stop)) {
    last_.reason = NoSeat::Reason::kStopped;
  }

  seats::AcquireOutcome Run() {
    try {
      NewQuestion();
      while (!stop_.stop_requested())
        if (auto outcome = Try()) return std::move(*outcome);
    } catch (...) {
      LeaveLine();
      throw;
    }
    LeaveLine();
    last_.reason = NoSeat::Reason::kStopped;
    return last_;
  }

 private:
  using Outcome = std::optional<seats::AcquireOutcome>;

  void NewQuestion() {
    const seats::SeatOptions& options = core_.options_;
    request_ = {.license_key = options.license_key,
                .machine_id = core_.machine_id_,
                .user_agent = options.user_agent,
                .metadata = options.metadata,
                .former_session = core_.former(),
                .wait_seconds = plan_.WaitSeconds(core_.clock_.NowMs()),
                .once = base::Uuid::V7(base::SystemClock().WallMs()).ToString()};
    first_sent_ms_ = core_.clock_.NowMs();
  }

  Outcome Try() {
    plan_.Asked(core_.clock_.NowMs());
    SeatAnswer answer;
    try {
      answer = core_.server_.backend().Acquire(request_, core_.options_.call_timeout, stop_);
    } catch (const SeatCallFailed& failed) {
      return AfterFailure(failed);
    }
    return std::visit([this](auto& each) { return After(each); }, answer);
  }

  Outcome After(const SeatGrant& grant) {
    ticket_.clear();
    if (auto seat = core_.Keep(grant, {first_sent_ms_, core_.clock_.NowMs()}))
      return Outcome(*seat);
    if (++slow_grants_ == kMostSlowGrants)
      throw seats::Unavailable("the server's answers take longer than the seat lasts", false);
    NewQuestion();  // that names the one before as the former one
    return std::nullopt;
  }

  Outcome After(const SeatTicket& ticket) {
    ticket_ = ticket.ticket;
    last_ = {.reason = NoSeat::Reason::kInUse, .position = ticket.position};
    core_.Post(core_.events_.waiting, seats::InLine{.position = ticket.position});
    return AskAgain(plan_.AfterTicket(core_.clock_.NowMs()));
  }

  Outcome After(const SeatsInUse& in_use) {
    if (!in_use.ticket.empty()) ticket_ = in_use.ticket;
    last_ = in_use.why;
    return AskAgain(plan_.AfterInUse(core_.clock_.NowMs(), in_use.why.retry_after));
  }

  Outcome After(const SeatDenied& denied) { return Outcome(denied.why); }

  Outcome AfterFailure(const SeatCallFailed& failed) {
    if (stop_.stop_requested()) return std::nullopt;
    const bool is_final = failed.kind() != CallFailed::Kind::kUnavailable;
    const auto next = is_final ? std::nullopt
                               : plan_.AfterFailure(core_.clock_.NowMs(), failed.outcome_unknown(),
                                                    failed.retry_after());
    if (!next) ThrowAsSeatError(failed);
    core_.server_.runtime().troubles().Tell("acquiring", failed);
    SleepUntil(core_.clock_, *next, stop_);
    if (!failed.outcome_unknown()) NewQuestion();
    return std::nullopt;
  }

  Outcome AskAgain(SeatAcquisition::Next next) {
    if (!next) {
      LeaveLine();
      return Outcome(last_);
    }
    SleepUntil(core_.clock_, *next, stop_);
    NewQuestion();
    return std::nullopt;
  }

  /// Nobody would pick up what is offered to it, and the next in line would wait for that.
  void LeaveLine() noexcept {
    if (ticket_.empty()) return;
    try {
      core_.server_.backend().LeaveLine(std::exchange(ticket_, {}), core_.options_.call_timeout);
    } catch (const std::exception& error) {  // it ends by itself
      core_.server_.runtime().troubles().Tell("leaving the line", error);
    }
  }

  SeatCore& core_;
  SeatAcquisition plan_;
  const std::stop_token stop_;
  SeatRequest request_{};
  std::int64_t first_sent_ms_ = 0;
  std::string ticket_{};
  NoSeat last_{};
  int slow_grants_ = 0;
};

SeatCore::SeatCore(seats::SeatOptions options, seats::SeatEvents events, SeatServer& server,
                   std::unique_ptr<StateFile> state_file, std::string machine_id)
    : options_(std::move(options)),
      events_(std::move(events)),
      server_(server),
      clock_(server.clock()),
      machine_id_(std::move(machine_id)),
      validity_(std::make_shared<Hold::Validity>(kNotHeld)),
      state_file_(std::move(state_file)) {
  if (!state_file_) return;
  const SeatMemory& memory = state_file_->memory();
  if (memory.machine_id == machine_id_) former_ = memory.session_id;
}

// ---- acquiring

seats::AcquireOutcome SeatCore::Acquire(const std::stop_token& stop) {
  const Counted caller(callers_);
  EndAgain();
  const std::stop_token closing = [this] {
    const base::Lock lock(mutex_);
    return closing_.get_token();
  }();
  const base::Lock one(acquiring_);
  const EitherStop either(stop, closing);
  return Ask({.wait = options_.wait, .tries_when_in_use = options_.tries_when_in_use},
             either.token());
}

seats::AcquireOutcome SeatCore::Ask(const SeatAcquisition::Rules& rules,
                                    const std::stop_token& stop) {
  // What is over by the clock is told as lost before something else is held.
  if (state() == seats::SeatState::kOk || state() == seats::SeatState::kAtRisk) return *seat();
  return Asking(*this, rules, stop).Run();
}

std::optional<Seat> SeatCore::Keep(const SeatGrant& grant, CallTimes times) {
  const Seat& seat = grant.seat;
  leases::Grant kept;
  kept.name = seat.license_id;
  kept.fence = seat.fence;
  kept.term = seat.session_id;
  kept.ttl = kept.remaining = grant.remaining;
  kept.waited = grant.waited;
  kept.granted_at_ms = seat.started_at_ms;
  kept.expires_at_ms = seat.expires_at_ms;
  leases::LeaseOptions options;
  options.retry_backoff = kBeatBackoff;
  // Before it is kept: should this process die now, its successor knows what to vouch for.
  Remember(seat.session_id);
  const HoldPtr hold =
      server_.runtime().Keep(kept, times, options, EventsOf(seat.session_id), validity_);
  if (!hold) {
    const base::Lock lock(mutex_);
    former_ = seat.session_id;
    return std::nullopt;
  }
  leases::Lease before;
  {
    const base::Lock lock(mutex_);
    before = std::exchange(lease_, leases::Lease(hold));
    seat_ = seat;
    loss_.reset();
    is_at_risk_ = false;
    was_closed_ = false;
    former_ = seat.session_id;
  }
  before.Forget();  // it is over, and its session has a successor
  Post(events_.acquired, Seat(seat));
  return seat;
}

void SeatCore::Remember(const std::string& session) {
  if (!state_file_) return;
  try {
    state_file_->Write({.machine_id = machine_id_, .session_id = session});
  } catch (const seats::StateFileError& error) {
    server_.runtime().troubles().Tell("remembering", error);
  }
}

/// Before a session is released: whoever names it later as the one that it goes on with would be believed
/// by a store that was restored and has forgotten the release, and the seat may be another's by then.
/// Should the release not arrive, the next session resumes the seat all the same.
void SeatCore::Forget() {
  {
    const base::Lock lock(mutex_);
    former_.clear();
  }
  Remember({});
}

std::string SeatCore::former() const {
  const base::Lock lock(mutex_);
  return former_;
}

// ---- what becomes of it

leases::Events SeatCore::EventsOf(const std::string& session) {
  const std::weak_ptr<SeatCore> weak = weak_from_this();
  leases::Events events;
  events.renewed = [weak, session](const leases::Renewed&) {
    if (const auto core = weak.lock()) core->OnRenewed(session);
  };
  events.renewal_failed = [weak, session](const leases::RenewalFailed& failed) {
    if (const auto core = weak.lock()) core->OnFailed(failed, session);
  };
  events.lost = [weak, session](const leases::Lost& lost) {
    if (const auto core = weak.lock()) core->OnLost(lost, session);
  };
  return events;
}

void SeatCore::OnRenewed(const std::string& session) {
  std::optional<Seat> seat;
  {
    const base::Lock lock(mutex_);
    if (!is_at_risk_ || !seat_ || seat_->session_id != session) return;
    is_at_risk_ = false;
    seat = seat_;
  }
  if (events_.ok) events_.ok(*seat);
}

void SeatCore::OnFailed(const leases::RenewalFailed& failed, const std::string& session) {
  {
    const base::Lock lock(mutex_);
    if (!seat_ || seat_->session_id != session) return;
    is_at_risk_ = true;
  }
  if (events_.at_risk)
    events_.at_risk({.session_id = session,
                     .error = failed.error,
                     .valid_for = failed.valid_for,
                     .attempt = failed.attempt});
}

void SeatCore::OnLost(const leases::Lost& lost, const std::string& session) {
  const auto gone = server_.verdicts().Take(session);
  seats::SeatLost told{.session_id = session,
                       .fence = lost.fence,
                       .detail = gone && !gone->detail.empty() ? gone->detail : lost.detail,
                       .since_last_success = lost.since_last_success};
  if (gone) told.verdict = gone->reason;
  told.is_acquired_again = options_.acquire_again && MayAcquireAgain(gone);
  {
    const base::Lock lock(mutex_);
    if (!seat_ || seat_->session_id != session) return;
    loss_ = told;
  }
  if (events_.lost) RunHook([&] { events_.lost(told); });
  if (told.is_acquired_again) StartAgain();
}

template <class Event>
void SeatCore::Post(const std::function<void(const Event&)>& handler, Event event) {
  if (!handler) return;
  server_.runtime().handlers().Post([handler, event = std::move(event)] { handler(event); });
}

// ---- after a loss

bool SeatCore::StartAgain() {
  const base::Lock lock(again_mutex_);
  if (is_shut_down_ || callers_ > 0) return false;
  if (again_.joinable()) {
    again_stop_.request_stop();
    again_.join();
  }
  again_stop_ = std::stop_source();
  again_ = std::thread([this, stop = again_stop_.get_token()] { AcquireAgain(stop); });
  return true;
}

void SeatCore::EndAgain() {
  const base::Lock lock(again_mutex_);
  again_stop_.request_stop();
  if (again_.joinable()) again_.join();
}

void SeatCore::AcquireAgain(const std::stop_token& stop) {
  NoSeat none;
  try {
    const base::Lock one(acquiring_);
    if (stop.stop_requested()) return;
    auto outcome = Ask({.wait = options_.wait,
                        .tries_when_in_use = options_.tries_when_in_use,
                        .is_patient = true},
                       stop);
    if (std::holds_alternative<Seat>(outcome)) return;
    none = std::get<NoSeat>(std::move(outcome));
  } catch (const std::exception& error) {
    none.reason = NoSeat::Reason::kRefused;
    none.detail = error.what();
  }
  if (none.reason == NoSeat::Reason::kStopped) return;
  base::LogWarn("seats.not_acquired_again", "A seat that was lost cannot be acquired again.",
                {{"reason", ToText(none.reason)}, {"detail", none.detail}});
  Post(events_.denied, std::move(none));
}

// ---- the end

seats::Released SeatCore::Close() {
  {
    const base::Lock lock(mutex_);
    closing_.request_stop();
  }
  EndAgain();
  const base::Lock one(acquiring_);
  leases::Lease lease;
  std::optional<seats::SeatLost> loss;
  {
    const base::Lock lock(mutex_);
    closing_ = std::stop_source();
    lease = std::exchange(lease_, {});
    was_closed_ = was_closed_ || seat_.has_value();
    loss = loss_;
  }
  if (lease.name().empty()) return {};
  if (const auto verdict = loss ? loss->verdict : std::nullopt)
    return {.released = false, .reason = verdict};
  if (!loss) Forget();
  try {
    const leases::ReleaseOutcome outcome = lease.Close();
    if (outcome.released) return {.released = true};
    const auto gone = server_.verdicts().Take(lease.term());
    return {.released = false, .reason = gone ? gone->reason : seats::LossReason::kUnknown};
  } catch (const leases::LeaseError& error) {
    throw seats::Unavailable(error.what(), error.outcome_unknown());
  }
}

void SeatCore::Shutdown() noexcept {
  {
    const base::Lock lock(mutex_);
    closing_.request_stop();
  }
  {
    const base::Lock lock(again_mutex_);
    is_shut_down_ = true;
    again_stop_.request_stop();
    if (again_.joinable()) again_.join();
  }
  leases::Lease lease;
  bool releases = false;
  {
    const base::Lock lock(mutex_);
    lease = std::exchange(lease_, {});
    seat_.reset();  // what is told from now on concerns nobody
    releases = !lease.name().empty() && !loss_;
  }
  // Its destructor releases; a successor may come at any time.
  const base::Lock one(acquiring_);
  if (releases) Forget();
  state_file_.reset();
}

// ---- what others see

Milliseconds SeatCore::Remaining() const noexcept {
  const std::int64_t until_ms = validity_->load(std::memory_order_acquire);
  const std::int64_t now_ms = clock_.NowMs();
  return Milliseconds(until_ms > now_ms ? until_ms - now_ms : 0);
}

seats::SeatState SeatCore::state() const {
  const base::Lock lock(mutex_);
  if (lease_.name().empty())
    return was_closed_ ? seats::SeatState::kReleased : seats::SeatState::kNone;
  switch (lease_.state()) {
    case leases::HoldState::kHeld:
      return seats::SeatState::kOk;
    case leases::HoldState::kJeopardy:
      return seats::SeatState::kAtRisk;
    case leases::HoldState::kLost:
      return seats::SeatState::kLost;
    case leases::HoldState::kReleased:
      break;
  }
  return seats::SeatState::kReleased;
}

std::optional<Seat> SeatCore::seat() const {
  const base::Lock lock(mutex_);
  return seat_;
}

std::optional<seats::SeatLost> SeatCore::loss() const {
  const base::Lock lock(mutex_);
  return loss_;
}

std::stop_token SeatCore::token() const {
  const base::Lock lock(mutex_);
  return lease_.token();
}

}  // namespace tenure::client
