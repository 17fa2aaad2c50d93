#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include "base/mutex.hpp"
#include "client/leases/connection_pool.hpp"
#include "client/leases/handlers.hpp"
#include "client/leases/lease_table.hpp"
#include "client/leases/pending_releases.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::client {

/// What a runtime keeps. Seats are kept as leases are; a few words and one number differ.
struct KindOfHold {
  std::string_view area = "leases";  ///< what the names of its log's lines begin with
  std::string_view noun = "lease";
  std::size_t round_max = 1'000;  ///< of those that are renewed in one call
};

/// What a manager is made of: the provider, the table of leases and the threads that serve it.
///
///   renewals   takes what is due from the table, makes one call, hands the answers back
///   watchdog   ends overdue leases, tells of losses, cancels calls that hang, notices stalls
///   handlers   runs the user's handlers            (begins with the first event)
///   releases    releases that nobody waits for      (begins with the first of them)
///
/// They meet only in the table. Whatever one of them hangs in, the others go on; the watchdog
/// makes no calls at all, so no behaviour of a provider can keep it from telling a loss.
///
/// Life: `Start`, then `Stop` by the manager's destructor. Leases keep the runtime's memory, and
/// after `Stop` nothing but that.
class LeaseRuntime : public std::enable_shared_from_this<LeaseRuntime> {
 public:
  LeaseRuntime(std::unique_ptr<leases::Provider> provider, const leases::ManagerOptions& options,
               const KindOfHold& kind = {});
  ~LeaseRuntime();

  void Start();
  void Stop();
  /// Without threads: everything that they would do now. Returns when to come again.
  std::int64_t RunDue();

  /// What an acquisition is asked for.
  struct AcquireCall {
    std::string name;
    leases::LeaseOptions options;
    Milliseconds timeout{};  ///< 0: one try
    leases::Events events;
    std::stop_token stop;
  };
  std::variant<HoldPtr, leases::HeldByAnother> Acquire(AcquireCall call);
  /// Keeps a grant; null when it is not valid (any more) by our clock. `validity`: where it is
  /// published until when; null: for itself.
  HoldPtr Keep(const leases::Grant& grant, CallTimes times, const leases::LeaseOptions& options,
               leases::Events events, std::shared_ptr<Hold::Validity> validity = nullptr);

  bool RenewNow(const HoldPtr& hold);
  leases::ReleaseOutcome Close(const HoldPtr& hold);
  /// Its lease was destroyed: ends it here and now, and in the store later.
  void Abandon(const HoldPtr& hold) noexcept;
  /// Ends it here only.
  void Forget(const HoldPtr& hold) noexcept;

  /// Calls `call(connection)` on a borrowed one.
  template <class Call>
  auto Use(const Call& call) {
    BorrowedConnection borrowed(connections_);
    return borrowed->Use(options_.call_timeout, call);
  }

  void OnStall(std::function<void(const leases::Stalled&)> handler);
  void OnAutoRenewal(std::function<void(const leases::AutoRenewal&)> handler);

  LeaseTable& table() { return table_; }
  ConnectionPool& connections() { return connections_; }
  leases::Provider& provider() { return *provider_; }
  Troubles& troubles() { return troubles_; }
  Handlers& handlers() { return handlers_; }
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
  /// Where handlers run: neither a renewal nor a caller waits for a hook of the user's.
  Troubles::Hook TroubleHook();
  void TellLosses();
  void TellStall(Milliseconds gap);
  std::int64_t NextTickMs() const;

  const leases::ManagerOptions options_;
  const KindOfHold kind_;
  const std::string trouble_event_;
  const Clock& clock_;
  const std::unique_ptr<leases::Provider> provider_;
  std::atomic<std::uint64_t> seed_;
  Handlers handlers_;
  Troubles troubles_;
  LeaseTable table_;
  ConnectionPool connections_;
  const std::shared_ptr<WatchedConnection> renewal_connection_;
  PendingReleases releases_;

  base::Mutex hooks_mutex_;
  std::function<void(const leases::Stalled&)> on_stall_ TENURE_GUARDED_BY(hooks_mutex_);
  std::function<void(const leases::AutoRenewal&)> on_auto_renewal_ TENURE_GUARDED_BY(hooks_mutex_);

  std::thread renewals_;
  std::thread watchdog_;
};

}  // namespace tenure::client
