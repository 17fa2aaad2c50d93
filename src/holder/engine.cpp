#include "holder/engine.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "base/uuid.hpp"
#include "holder/stall_guard.hpp"

namespace tenure::holder {
namespace {

using leases::LossReason;
using leases::ReleaseOutcome;
using leases::Session;

std::uint64_t SeedOr(std::uint64_t seed) {
  while (seed == 0) base::RandomBytes(reinterpret_cast<std::uint8_t*>(&seed), sizeof seed);
  return seed;
}

std::string ResultText(const leases::RenewOutcome& outcome) {
  const auto* loss = std::get_if<leases::Loss>(&outcome);
  return loss ? "lost:" + std::string(ToText(loss->reason)) : "renewed";
}

}  // namespace

Engine::Engine(std::unique_ptr<leases::Provider> provider, const leases::ManagerOptions& options)
    : options_(options),
      clock_(options.clock ? *options.clock : BootClock()),
      provider_(std::move(provider)),
      seed_(SeedOr(options.seed)),
      handlers_(options.threads),
      roster_(clock_, handlers_),
      lines_(*provider_, clock_, [this](std::int64_t overdue_ms) { roster_.Expect(overdue_ms); }),
      renewal_line_(lines_.Dedicate()),
      errands_(lines_, clock_, options.call_timeout, options.threads) {}

Engine::~Engine() { Stop(); }

void Engine::Start() {
  if (!options_.threads) return;
  renewals_ = std::thread([this] { RenewalLoop(); });
  watchdog_ = std::thread([this] { WatchdogLoop(); });
}

void Engine::Stop() {
  // Errands first, while the watchdog still sees to it that no call hangs. Then all other calls
  // end, then the threads.
  errands_.Stop();
  lines_.Close();
  for (const HoldPtr& hold : roster_.Stop()) hold->stop.request_stop();
  if (renewals_.joinable()) renewals_.join();
  if (watchdog_.joinable()) watchdog_.join();
  TellLosses();
  if (!options_.threads) handlers_.RunAll();
  handlers_.Stop();
}

std::int64_t Engine::RunDue() {
  roster_.ExpireOverdue();
  while (RenewRound()) continue;
  roster_.ExpireOverdue();
  TellLosses();
  const std::int64_t errands_ms = errands_.RunDue();
  handlers_.RunAll();
  return std::min(roster_.NextMs(), errands_ms);
}

// ---- the threads

void Engine::RenewalLoop() {
  while (roster_.AwaitRenewal()) RenewRound();
}

bool Engine::RenewRound() {
  const Round round = roster_.TakeRound();
  if (round.holds.empty()) return false;
  const Milliseconds timeout = std::min(round.timeout, options_.call_timeout);
  std::vector<leases::RenewOutcome> outcomes;
  std::string error;
  try {
    outcomes = renewal_line_->Use(
        timeout, [&](Session& session) { return session.Renew(round.requests, timeout); });
    roster_.Answered(round, outcomes);
  } catch (const std::exception& e) {
    // Whatever it was, the store has not said that a lease is lost: tried again while it is valid.
    error = e.what();
    roster_.Failed(round, error);
  }
  TellRound(round, outcomes, error);
  return true;
}

void Engine::TellRound(const Round& round, const std::vector<leases::RenewOutcome>& outcomes,
                       const std::string& error) {
  const auto handler = [&] {
    const std::lock_guard lock(hooks_mutex_);
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

void Engine::WatchdogLoop() {
  while (true) {
    const std::int64_t until_ms = std::min(NextTickMs(), lines_.NextOverdueMs());
    const Roster::Wake wake = roster_.AwaitAlarm(until_ms);
    if (!wake.running) return;
    const std::int64_t now_ms = clock_.NowMs();
    const auto shortest = roster_.ShortestHeld();
    roster_.ExpireOverdue();
    TellLosses();
    lines_.CancelOverdue(now_ms);
    if (!options_.stall_guard || shortest.ttl.count() == 0) continue;
    if (const auto gap = StallGuard::Judge(wake.planned_ms, now_ms, shortest.ttl, shortest.margin))
      TellStall(*gap);
  }
}

std::int64_t Engine::NextTickMs() const {
  const auto shortest = roster_.ShortestHeld();
  if (!options_.stall_guard || shortest.ttl.count() == 0) return kNever;
  return clock_.NowMs() + StallGuard::TickFor(shortest.ttl).count();
}

void Engine::TellLosses() {
  for (const HoldPtr& hold : roster_.TakeLosses()) {
    hold->stop.request_stop();
    base::LogWarn("leases.lost", "A lease was lost.",
                  {{"lease", hold->name}, {"fence", hold->fence}, {"detail", hold->loss->detail}});
    if (hold->events.lost) handlers_.Post([hold] { hold->events.lost(*hold->loss); });
  }
}

void Engine::TellStall(Milliseconds gap) {
  base::LogWarn("leases.stalled", "This process did not run for a while.",
                {{"gap_ms", gap.count()}});
  const leases::Stalled stalled{.gap = gap};
  roster_.Hasten(stalled);
  const std::lock_guard lock(hooks_mutex_);
  if (on_stall_) handlers_.Post([handler = on_stall_, stalled] { handler(stalled); });
}

void Engine::OnStall(std::function<void(const leases::Stalled&)> handler) {
  const std::lock_guard lock(hooks_mutex_);
  on_stall_ = std::move(handler);
}

void Engine::OnAutoRenewal(std::function<void(const leases::AutoRenewal&)> handler) {
  const std::lock_guard lock(hooks_mutex_);
  on_auto_renewal_ = std::move(handler);
}

// ---- what a lease asks for

HoldPtr Engine::Keep(const leases::Grant& grant, Exchange exchange,
                     const leases::LeaseOptions& options, leases::Events events) {
  const Keeper keeper(grant, exchange, options, NextSeed());
  if (clock_.NowMs() >= keeper.valid_until_ms()) return nullptr;
  const auto hold =
      std::make_shared<Hold>(shared_from_this(), clock_, grant, keeper, std::move(events));
  roster_.Add(hold);  // from here on it is renewed; everything of it stands already
  return hold;
}

bool Engine::RenewNow(const HoldPtr& hold) {
  roster_.ExpireIfOverdue(hold);
  if (!hold->Held()) return false;
  const Milliseconds timeout = std::min(
      RenewalTimeout(roster_.With([&] { return hold->keeper.ttl(); })), options_.call_timeout);
  const leases::RenewRequest request{.name = hold->name, .fence = hold->fence, .term = hold->term};
  Exchange exchange;
  try {
    BorrowedLine line(lines_);
    exchange.sent_ms = clock_.NowMs();
    const auto outcomes = line->Use(timeout, [&](Session& session) {
      return session.Renew({&request, 1}, timeout);
    });
    exchange.received_ms = clock_.NowMs();
    if (outcomes.size() == 1) return roster_.Answered(hold, outcomes.front(), exchange);
    roster_.Failed(hold, "the provider did not answer for each lease");
  } catch (const std::exception& e) {
    roster_.Failed(hold, e.what());
  }
  return false;
}

ReleaseOutcome Engine::Close(const HoldPtr& hold) {
  roster_.Release(*hold);  // from here on no renewal is begun, and answers to others are ignored
  hold->stop.request_stop();
  const auto known = roster_.With([&]() -> std::optional<ReleaseOutcome> {
    if (hold->released) return ReleaseOutcome{.released = false, .reason = LossReason::kReleased};
    if (const auto verdict = hold->keeper.verdict())
      return ReleaseOutcome{.released = false, .reason = *verdict};
    return std::nullopt;
  });
  if (known) return *known;
  const leases::ReleaseRequest request{
      .name = hold->name, .term = hold->term, .fence = hold->fence};
  const auto outcome =
      Use([&](Session& session) { return session.Release(request, options_.call_timeout); });
  roster_.With([&] { return hold->released = outcome; });
  return outcome;
}

void Engine::Abandon(const HoldPtr& hold) noexcept {
  try {
    roster_.Release(*hold);
    hold->stop.request_stop();
    // Also after a loss that only our own clock knows of: a renewal that came too late for us may
    // have restarted the deadline in the store, and the next holder need not wait for it.
    const bool needed =
        roster_.With([&] { return !hold->released && !hold->keeper.verdict().has_value(); });
    if (needed) ReleaseLater(hold->name, hold->term, hold->keeper.ttl());
  } catch (const std::exception& e) {  // no memory: it ends by itself
    base::LogWarn("leases.release_failed", "A lease could not be released.", {{"error", e.what()}});
  }
}

void Engine::Forget(const HoldPtr& hold) noexcept {
  roster_.Release(*hold);
  hold->stop.request_stop();
}

void Engine::ReleaseLater(const std::string& name, const std::string& term, Milliseconds ttl) {
  errands_.Release({.name = name, .term = term}, clock_.NowMs() + ttl.count());
}

}  // namespace tenure::holder
