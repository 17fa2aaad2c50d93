#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <variant>

#include "holder/errands.hpp"
#include "holder/handlers.hpp"
#include "holder/line.hpp"
#include "holder/roster.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::holder {

/// What a manager is made of: the provider, the roster of leases and the threads that serve it.
///
///   renewals   takes what is due from the roster, makes one call, hands the answers back
///   watchdog   ends overdue leases, tells of losses, cancels calls that hang, notices stalls
///   handlers   runs the user's handlers            (begins with the first event)
///   errands    releases that nobody waits for      (begins with the first of them)
///
/// They meet only in the roster. Whatever one of them hangs in, the others go on; the watchdog
/// makes no calls at all, so no behaviour of a provider can keep it from telling a loss.
///
/// Life: `Start`, then `Stop` by the manager's destructor. Leases keep the engine's memory, and
/// after `Stop` nothing but that.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(std::unique_ptr<leases::Provider> provider, const leases::ManagerOptions& options);
  ~Engine();

  void Start();
  void Stop();
  /// Without threads: everything that they would do now. Returns when to come again.
  std::int64_t RunDue();

  /// What an acquisition is asked for.
  struct Wish {
    std::string name;
    leases::LeaseOptions options;
    Milliseconds timeout{};  ///< 0: one try
    leases::Events events;
    std::stop_token stop;
  };
  std::variant<HoldPtr, leases::HeldByAnother> Acquire(Wish wish);
  /// Keeps a grant; null when it is not valid (any more) by our clock.
  HoldPtr Keep(const leases::Grant& grant, Exchange exchange, const leases::LeaseOptions& options,
               leases::Events events);

  bool RenewNow(const HoldPtr& hold);
  leases::ReleaseOutcome Close(const HoldPtr& hold);
  /// Its lease was destroyed: ends it here and now, and in the store later.
  void Abandon(const HoldPtr& hold) noexcept;
  /// Ends it here only.
  void Forget(const HoldPtr& hold) noexcept;

  /// Calls `call(session)` on a borrowed line.
  template <class Call>
  auto Use(const Call& call) {
    BorrowedLine line(lines_);
    return line->Use(options_.call_timeout, call);
  }

  void OnStall(std::function<void(const leases::Stalled&)> handler);
  void OnAutoRenewal(std::function<void(const leases::AutoRenewal&)> handler);

  Roster& roster() { return roster_; }
  Lines& lines() { return lines_; }
  leases::Provider& provider() { return *provider_; }
  const Clock& clock() const { return clock_; }
  const leases::ManagerOptions& options() const { return options_; }
  /// Posts the release of a term that may have been granted.
  void ReleaseLater(const std::string& name, const std::string& term, Milliseconds ttl);
  /// Of jitter.
  std::uint64_t NextSeed() { return seed_.fetch_add(0x9E3779B97F4A7C15ULL); }

 private:
  void RenewalLoop();
  void WatchdogLoop();
  /// Renews what is due in one call; false when nothing was.
  bool RenewRound();
  /// What became of a round; `error` when there are no outcomes.
  void TellRound(const Round& round, const std::vector<leases::RenewOutcome>& outcomes,
                 const std::string& error);
  void TellLosses();
  void TellStall(Milliseconds gap);
  std::int64_t NextTickMs() const;

  const leases::ManagerOptions options_;
  const Clock& clock_;
  const std::unique_ptr<leases::Provider> provider_;
  std::atomic<std::uint64_t> seed_;
  Handlers handlers_;
  Roster roster_;
  Lines lines_;
  const std::shared_ptr<Line> renewal_line_;
  Errands errands_;

  std::mutex hooks_mutex_;
  // Guarded by hooks_mutex_.
  std::function<void(const leases::Stalled&)> on_stall_;
  std::function<void(const leases::AutoRenewal&)> on_auto_renewal_;

  std::thread renewals_;
  std::thread watchdog_;
};

}  // namespace tenure::holder
