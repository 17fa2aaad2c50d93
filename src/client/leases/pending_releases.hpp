#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "client/leases/connection_pool.hpp"
#include "client/leases/handlers.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::client {

/// Releases that nobody waits for: of leases that were destroyed, and of terms whose acquisition
/// was given up while its outcome was unknown. They have a thread and a connection of their own, so
/// that neither a destructor nor a renewal ever waits for one; the thread begins with the first of
/// them.
///
/// A release that fails is tried again until the lease would have ended by itself. It may come too
/// late or twice: a release by term changes nothing but that term's grant (L4).
///
/// Life: `Stop` tries each that waits once more, until one fails. Without threads the owner calls
/// `RunDue`.
/// Threads: any.
class PendingReleases {
 public:
  /// `troubles` is told of each release that failed.
  PendingReleases(ConnectionPool& connections, Troubles& troubles, const Clock& clock,
                  Milliseconds call_timeout, bool threads)
      : connection_(connections.Dedicate()),
        troubles_(troubles),
        clock_(clock),
        call_timeout_(call_timeout),
        threads_(threads) {}
  ~PendingReleases() { Stop(); }

  /// `give_up_ms`: when it needs no release any more.
  void Release(leases::ReleaseRequest request, std::int64_t give_up_ms);
  /// By hand only. Returns when there is something to do next.
  std::int64_t RunDue();
  void Stop();

 private:
  struct PendingRelease {
    leases::ReleaseRequest request;
    std::int64_t give_up_ms = 0;
    std::int64_t next_ms = 0;
    std::int64_t pause_ms = 0;
  };
  void Loop();
  /// They let the lock go while they call, which the analysis cannot follow; RunLast for good.
  std::int64_t RunDue(base::Lock& lock) TENURE_REQUIRES(mutex_) TENURE_NOT_ANALYSED;
  void RunLast(base::Lock& lock) TENURE_REQUIRES(mutex_) TENURE_NOT_ANALYSED;
  bool Try(const PendingRelease& release);
  std::int64_t NextMs() const TENURE_REQUIRES(mutex_);

  const std::shared_ptr<WatchedConnection> connection_;
  Troubles& troubles_;
  const Clock& clock_;
  const Milliseconds call_timeout_;
  const bool threads_;
  base::Mutex mutex_;
  std::condition_variable changed_;
  std::vector<PendingRelease> waiting_ TENURE_GUARDED_BY(mutex_);
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // begun under mutex_, joined by the one who stops
};

}  // namespace tenure::client
