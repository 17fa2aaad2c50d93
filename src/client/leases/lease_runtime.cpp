#include "client/leases/lease_runtime.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/uuid.hpp"

namespace tenure::client {
namespace {

using leases::Connection;
using leases::LossReason;
using leases::ReleaseOutcome;

std::uint64_t SeedOr(std::uint64_t seed) {
  while (seed == 0) base::RandomBytes(reinterpret_cast<std::uint8_t*>(&seed), sizeof seed);
  return seed;
}

/// Judges whether this process did not run for a while, by how late somebody woke up who meant to
/// wake up often. Pure. Nothing rests on it (`Held` is a comparison): it reports, and renews early.
class StallGuard {
 public:
  /// How often to wake up while a lease of this ttl is held, the shortest of all.
  static Milliseconds TickFor(Milliseconds ttl) {
    return std::clamp(ttl / 60, Milliseconds(10), Milliseconds(500));
  }

  /// A wake-up that was planned for `planned_ms` and came at `now_ms` later than this is a stall:
  /// half the margin is gone, and more than an ordinary delay.
  static std::optional<Milliseconds> Judge(std::int64_t planned_ms, std::int64_t now_ms,
                                           Milliseconds ttl, Milliseconds margin) {
    const Milliseconds late(now_ms - planned_ms);
    if (late <= std::max(margin / 2, 2 * TickFor(ttl))) return std::nullopt;
    return late;
  }
};

Milliseconds RetryAfterOf(const std::exception& error) {
  const auto* failure = dynamic_cast<const leases::LeaseError*>(&error);
  return failure ? failure->retry_after() : Milliseconds(0);
}

std::string ResultText(const leases::RenewOutcome& outcome) {
  const auto* loss = std::get_if<leases::Loss>(&outcome);
  return loss ? "lost:" + std::string(ToText(loss->reason)) : "renewed";
}

}  // namespace

LeaseRuntime::LeaseRuntime(std::unique_ptr<leases::Provider> provider,
                           const leases::ManagerOptions& options, const KindOfHold& kind)
    : options_(options),
      kind_(kind),
      trouble_event_(fmt::format("{}.trouble", kind.area)),
      clock_(options.clock ? *options.clock : BootClock()),
      provider_(std::move(provider)),
      seed_(SeedOr(options.seed)),
      handlers_(options.threads),
      troubles_(clock_, trouble_event_, TroubleHook()),
      table_(clock_, handlers_, kind.round_max),
      connections_(*provider_, clock_,
                   [this](std::int64_t overdue_ms) { table_.Expect(overdue_ms); }),
      renewal_connection_(connections_.Dedicate()),
      releases_(connections_, troubles_, clock_, options.call_timeout, options.threads) {}

LeaseRuntime::~LeaseRuntime() { Stop(); }

Troubles::Hook LeaseRuntime::TroubleHook() {
  if (!options_.on_trouble) return nullptr;
  return [this](const std::string& what) {
    handlers_.Post([hook = options_.on_trouble, what] { hook(what); });
  };
}

void LeaseRuntime::Start() {
  if (!options_.threads) return;
  renewals_ = std::thread([this] { RenewalLoop(); });
  watchdog_ = std::thread([this] { WatchdogLoop(); });
}

void LeaseRuntime::Stop() {
  // Pending releases first, while the watchdog still sees to it that no call hangs. Then all other
  // calls end, then the threads.
  releases_.Stop();
  connections_.Close();
  for (const HoldPtr& hold : table_.Stop()) hold->stop.request_stop();
  if (renewals_.joinable()) renewals_.join();
  if (watchdog_.joinable()) watchdog_.join();
  TellLosses();
  if (!options_.threads) handlers_.RunAll();
  handlers_.Stop();
}

std::int64_t LeaseRuntime::RunDue() {
  table_.ExpireOverdue();
  while (RenewRound()) continue;
  table_.ExpireOverdue();
  TellLosses();
  const std::int64_t releases_ms = releases_.RunDue();
  handlers_.RunAll();
  return std::min(table_.NextMs(), releases_ms);
}

// ---- the threads

void LeaseRuntime::RenewalLoop() {
  while (table_.AwaitRenewal()) RenewRound();
}

bool LeaseRuntime::RenewRound() {
  const Round round = table_.TakeRound();
  if (round.holds.empty()) return false;
  const Milliseconds timeout = std::min(round.timeout, options_.call_timeout);
  std::vector<leases::RenewOutcome> outcomes;
  std::string error;
  try {
    outcomes = renewal_connection_->Use(
        timeout, [&](Connection& connection) { return connection.Renew(round.requests, timeout); });
    table_.Answered(round, outcomes);
  } catch (const leases::PartlyRenewed& e) {
    error = e.what();
    table_.AnsweredPartly(round, e.answers(), {error, RetryAfterOf(e)});
    troubles_.Tell("renewing", e);
  } catch (const std::exception& e) {
    // Whatever it was, the store has not said that a lease is lost: tried again while it is valid.
    error = e.what();
    table_.Failed(round, {error, RetryAfterOf(e)});
    troubles_.Tell("renewing", e);
  }
  TellRound(round, outcomes, error);
  return true;
}

void LeaseRuntime::TellRound(const Round& round, const std::vector<leases::RenewOutcome>& outcomes,
                             const std::string& error) {
  const auto handler = [&] {
    const base::Lock lock(hooks_mutex_);
    return on_auto_renewal_;
  }();
  if (!handler) return;
  const Milliseconds took(clock_.NowMs() - round.sent_ms);
  const bool answered = error.empty() && outcomes.size() == round.holds.size();
  std::vector<leases::AutoRenewal> told;
  for (std::size_t i = 0; i < round.holds.size(); ++i) {
    const Hold& hold = *round.holds[i];
    told.push_back({.lease = hold.name,
                    .fence = hold.fence,
                    .term = hold.term,
                    .started_ms = round.sent_ms,
                    .duration = took,
                    .result = answered ? ResultText(outcomes[i]) : "failed",
                    .error = error});
  }
  handlers_.Post([handler, told = std::move(told)] {
    for (const leases::AutoRenewal& renewal : told) handler(renewal);
  });
}

void LeaseRuntime::WatchdogLoop() {
  while (true) {
    const std::int64_t until_ms = std::min(NextTickMs(), connections_.NextOverdueMs());
    const LeaseTable::Wake wake = table_.AwaitAlarm(until_ms);
    if (!wake.running) return;
    const std::int64_t now_ms = clock_.NowMs();
    const auto shortest = table_.ShortestHeld();
    table_.ExpireOverdue();
    TellLosses();
    connections_.CancelOverdue(now_ms);
    if (!options_.stall_guard || shortest.ttl.count() == 0) continue;
    if (const auto gap = StallGuard::Judge(wake.planned_ms, now_ms, shortest.ttl, shortest.margin))
      TellStall(*gap);
  }
}

std::int64_t LeaseRuntime::NextTickMs() const {
  const auto shortest = table_.ShortestHeld();
  if (!options_.stall_guard || shortest.ttl.count() == 0) return kNever;
  return clock_.NowMs() + StallGuard::TickFor(shortest.ttl).count();
}

void LeaseRuntime::TellLosses() {
  for (const HoldPtr& hold : table_.TakeLosses()) {
    hold->stop.request_stop();
    base::LogWarn(
        fmt::format("{}.lost", kind_.area), fmt::format("A {} was lost.", kind_.noun),
        {{kind_.noun, hold->name}, {"fence", hold->fence}, {"detail", hold->loss->detail}});
    if (hold->events.lost) handlers_.Post([hold] { hold->events.lost(*hold->loss); });
  }
}

void LeaseRuntime::TellStall(Milliseconds gap) {
  base::LogWarn(fmt::format("{}.stalled", kind_.area), "This process did not run for a while.",
                {{"gap_ms", gap.count()}});
  const leases::Stalled stalled{.gap = gap};
  table_.Hasten(stalled);
  const base::Lock lock(hooks_mutex_);
  if (on_stall_) handlers_.Post([handler = on_stall_, stalled] { handler(stalled); });
}

void LeaseRuntime::OnStall(std::function<void(const leases::Stalled&)> handler) {
  const base::Lock lock(hooks_mutex_);
  on_stall_ = std::move(handler);
}

void LeaseRuntime::OnAutoRenewal(std::function<void(const leases::AutoRenewal&)> handler) {
  const base::Lock lock(hooks_mutex_);
  on_auto_renewal_ = std::move(handler);
}

// ---- what a lease asks for

HoldPtr LeaseRuntime::Keep(const leases::Grant& grant, CallTimes times,
                           const leases::LeaseOptions& options, leases::Events events,
                           std::shared_ptr<Hold::Validity> validity) {
  const Keeper keeper(grant, times, options, NextSeed());
  if (clock_.NowMs() >= keeper.valid_until_ms()) return nullptr;
  if (!validity) validity = std::make_shared<Hold::Validity>();
  const auto hold = std::make_shared<Hold>(shared_from_this(), clock_, grant, keeper,
                                           std::move(events), std::move(validity));
  table_.Add(hold);  // from here on it is renewed; everything of it stands already
  return hold;
}

bool LeaseRuntime::RenewNow(const HoldPtr& hold) {
  table_.ExpireIfOverdue(hold);
  if (!hold->Held()) return false;
  const Milliseconds timeout = std::min(
      RenewalTimeout(table_.With([&] { return hold->keeper.ttl(); })), options_.call_timeout);
  const leases::RenewRequest request{.name = hold->name, .fence = hold->fence, .term = hold->term};
  CallTimes times;
  try {
    BorrowedConnection borrowed(connections_);
    times.sent_ms = clock_.NowMs();
    const auto outcomes = borrowed->Use(timeout, [&](Connection& connection) {
      return connection.Renew({&request, 1}, timeout);
    });
    times.received_ms = clock_.NowMs();
    if (outcomes.size() == 1) return table_.Answered(hold, outcomes.front(), times);
    table_.Failed(hold, {"the provider did not answer for each lease"});
  } catch (const std::exception& e) {
    table_.Failed(hold, {e.what(), RetryAfterOf(e)});
    troubles_.Tell("renewing", e);
  }
  return false;
}

ReleaseOutcome LeaseRuntime::Close(const HoldPtr& hold) {
  table_.Release(*hold);  // from here on no renewal is begun, and answers to others are ignored
  hold->stop.request_stop();
  const auto known = table_.With([&]() -> std::optional<ReleaseOutcome> {
    if (hold->released) return ReleaseOutcome{.released = false, .reason = LossReason::kReleased};
    if (const auto verdict = hold->keeper.verdict())
      return ReleaseOutcome{.released = false, .reason = *verdict};
    return std::nullopt;
  });
  if (known) return *known;
  const leases::ReleaseRequest request{
      .name = hold->name, .term = hold->term, .fence = hold->fence};
  const auto outcome = Use(
      [&](Connection& connection) { return connection.Release(request, options_.call_timeout); });
  table_.With([&] { return hold->released = outcome; });
  return outcome;
}

void LeaseRuntime::Abandon(const HoldPtr& hold) noexcept {
  try {
    table_.Release(*hold);
    hold->stop.request_stop();
    // Also after a loss that only our own clock knows of: a renewal that came too late for us may
    // have restarted the deadline in the store, and the next holder need not wait for it.
    const bool needed =
        table_.With([&] { return !hold->released && !hold->keeper.verdict().has_value(); });
    if (needed) ReleaseLater(hold->name, hold->term, hold->keeper.ttl());
  } catch (const std::exception& e) {  // no memory: it ends by itself
    base::LogWarn(fmt::format("{}.release_failed", kind_.area),
                  fmt::format("A {} could not be released.", kind_.noun), {{"error", e.what()}});
  }
}

void LeaseRuntime::Forget(const HoldPtr& hold) noexcept {
  table_.Release(*hold);
  hold->stop.request_stop();
}

void LeaseRuntime::ReleaseLater(const std::string& name, const std::string& term,
                                Milliseconds ttl) {
  releases_.Release({.name = name, .term = term}, clock_.NowMs() + ttl.count());
}

}  // namespace tenure::client
