// How a manager gets a lease: one call, as many requests as troubles of the provider make
// necessary.
//
// The term is chosen before the first request and stays the same while it is not known to have
// ended. So wherever a reply is lost, asking again finds the grant that may have been made, or the
// place in the queue, and never waits for an orphan of our own. When a call is given up although
// one of its requests may have been carried out, its term is released later.

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "client/leases/handlers.hpp"
#include "client/leases/lease_runtime.hpp"

namespace tenure::client {
namespace {

using leases::AcquireOutcome;
using leases::Grant;
using leases::HeldByAnother;
using leases::ProviderUnavailable;
using leases::TermEnded;

constexpr std::int64_t kFirstPauseMs = 20;
constexpr std::int64_t kLongestPauseMs = 1'000;

class Acquisition {
 public:
  Acquisition(LeaseRuntime& runtime, LeaseRuntime::AcquireCall call)
      : runtime_(runtime),
        call_(std::move(call)),
        deadline_ms_(runtime.clock().NowMs() + call_.timeout.count()),
        random_(runtime.NextSeed()) {
    request_.name = call_.name;
    request_.term = leases::NewTerm();
    request_.ttl = call_.options.ttl;
    request_.holder = call_.options.holder;
    request_.metadata = call_.options.metadata;
  }

  std::variant<HoldPtr, HeldByAnother> Run() {
    try {
      while (true)
        if (auto result = Try()) return std::move(*result);
    } catch (...) {
      GiveUp();
      throw;
    }
  }

 private:
  using Result = std::variant<HoldPtr, HeldByAnother>;

  /// One request and what follows from its answer. Empty: ask again.
  std::optional<Result> Try() {
    CallTimes times{.sent_ms = runtime_.clock().NowMs()};
    AcquireOutcome outcome;
    try {
      outcome = Ask();
    } catch (const ProviderUnavailable& e) {
      return AfterFailure(e);
    }
    times.received_ms = runtime_.clock().NowMs();
    if (const auto* grant = std::get_if<Grant>(&outcome)) return AfterGrant(*grant, times);
    if (const auto* ended = std::get_if<TermEnded>(&outcome)) return AfterEnd(*ended);
    return AfterRefusal(std::get<HeldByAnother>(outcome), times);
  }

  AcquireOutcome Ask() {
    ++requests_;
    request_.wait = std::clamp(Left(), Milliseconds(0), leases::kMaxWait);
    const Milliseconds timeout = runtime_.options().call_timeout;
    BorrowedConnection borrowed(runtime_.connections());
    const std::stop_callback cancel(call_.stop, [&borrowed] { borrowed->Cancel(); });
    if (call_.stop.stop_requested())
      throw ProviderUnavailable("acquiring was stopped", {.lease = call_.name});
    return borrowed->Use(timeout + request_.wait, [&](leases::Connection& connection) {
      // A stop that came before the call began has cancelled nothing.
      if (call_.stop.stop_requested())
        throw ProviderUnavailable("acquiring was stopped", {.lease = call_.name});
      return connection.Acquire(request_, timeout);
    });
  }

  std::optional<Result> AfterGrant(const Grant& grant, CallTimes times) {
    if (auto hold = runtime_.Keep(grant, times, call_.options, std::move(call_.events))) {
      runtime_.table().CountAcquired();
      return hold;
    }
    // The answer took longer than the lease is good for, or the wait was long beside the ttl and
    // the provider's count of it is not trusted to the last tenth. The grant is ours, so asking
    // again restarts its deadline.
    unknown_ = true;
    if (++slow_answers_ < kMostSlowAnswers) return std::nullopt;
    throw leases::AcquisitionError(
        fmt::format("lease {}: the provider's answers take longer than the lease lasts",
                    call_.name),
        {.lease = call_.name, .fence = grant.fence});
  }

  std::optional<Result> AfterRefusal(const HeldByAnother& held, CallTimes times) {
    unknown_ = false;
    last_ = held;
    const std::int64_t asked_ms = times.received_ms - times.sent_ms;
    if (Left().count() <= 0 || call_.stop.stop_requested()) return held;
    // A provider that waited has kept our place in the queue, for a moment: no pause. One that
    // cannot wait, or will not yet, is asked again later.
    if (asked_ms * 2 >= request_.wait.count()) return std::nullopt;
    const std::int64_t pause_ms =
        std::clamp(held.retry_after.count(), kFirstPauseMs, kLongestPauseMs);
    if (Pause(pause_ms)) return std::nullopt;
    return held;
  }

  std::optional<Result> AfterEnd(const TermEnded& ended) {
    // An earlier request of ours was granted, its reply was lost or slow, and the grant is over.
    const bool ours = unknown_;
    unknown_ = false;
    if (!ours || (Left().count() <= 0 && ++ended_terms_ > 1))
      throw leases::AcquisitionError(
          fmt::format("lease {}: the term is over ({})", call_.name, ToText(ended.reason)),
          {.lease = call_.name});
    request_.term = leases::NewTerm();
    return std::nullopt;
  }

  std::optional<Result> AfterFailure(const ProviderUnavailable& error) {
    unknown_ = unknown_ || error.outcome_unknown();
    if (call_.stop.stop_requested()) {
      unknown_ = true;  // what was cancelled may have been carried out
      GiveUp();
      return last_;
    }
    // Without time to wait, only what may have been carried out is worth a second request.
    const bool once_more = requests_ == 1 && error.outcome_unknown();
    if (call_.timeout.count() == 0 && once_more) return std::nullopt;
    pause_ms_ = std::min(std::max(pause_ms_ * 2, kFirstPauseMs), kLongestPauseMs);
    const std::int64_t asked_ms = std::max(pause_ms_, error.retry_after().count());
    if (Left().count() <= asked_ms) throw;
    runtime_.troubles().Tell("acquiring", error);
    if (Pause(asked_ms, error.retry_after().count())) return std::nullopt;
    GiveUp();
    return last_;
  }

  void GiveUp() {
    if (unknown_) runtime_.ReleaseLater(request_.name, request_.term, request_.ttl);
    unknown_ = false;
  }

  /// Sleeps for up to `ms`, at least half of it and `least_ms`. False: stopped.
  bool Pause(std::int64_t ms, std::int64_t least_ms = 1) {
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::int64_t part_ms = ms / 2 + (ms / 2) * static_cast<std::int64_t>(random_ >> 56) / 255;
    const std::int64_t until_ms = std::min(
        runtime_.clock().NowMs() + std::max({part_ms, least_ms, std::int64_t{1}}), deadline_ms_);
    return SleepUntil(runtime_.clock(), until_ms, call_.stop);
  }

  Milliseconds Left() const { return Milliseconds(deadline_ms_ - runtime_.clock().NowMs()); }

  static constexpr int kMostSlowAnswers = 5;

  LeaseRuntime& runtime_;
  LeaseRuntime::AcquireCall call_;
  leases::AcquireRequest request_;
  const std::int64_t deadline_ms_;
  std::uint64_t random_;
  std::int64_t pause_ms_ = 0;
  HeldByAnother last_;
  bool unknown_ = false;  // the present term may have been granted
  int requests_ = 0;
  int slow_answers_ = 0;
  int ended_terms_ = 0;
};

}  // namespace

std::variant<HoldPtr, HeldByAnother> LeaseRuntime::Acquire(AcquireCall call) {
  CheckLease(call.name, call.options);
  return Acquisition(*this, std::move(call)).Run();
}

}  // namespace tenure::client
