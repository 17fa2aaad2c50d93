#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "tenure/leases/errors.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {

enum class HoldState {
  kHeld,
  kJeopardy,  ///< a renewal failed, or the store's clock jumped; still valid
  kLost,
  kReleased,  ///< by its holder
};
std::string_view ToText(HoldState state);

struct Renewed {
  std::string lease;
  std::int64_t fence = 0;
  Milliseconds valid_for{};  ///< from now
};
struct RenewalFailed {
  std::string lease;
  std::int64_t fence = 0;
  std::string error;
  Milliseconds valid_for{};  ///< what is left
  int attempt = 1;           ///< since the last success
};
struct Lost {
  std::string lease;
  std::int64_t fence = 0;
  /// What the store said; empty when nothing was heard in time and the local deadline passed.
  std::optional<LossReason> verdict;
  std::string detail;
  Milliseconds since_last_success{};
};
/// This process did not run for a while (SIGSTOP, suspend, starvation).
struct Stalled {
  Milliseconds gap{};
};

/// One try to renew one lease in the background: what a span `Lease.AutoRenewal` is made of, with
/// the attributes lease.name, lease.id (the term) and lease.result. Times are those of the
/// manager's clock: it began `manager.clock().NowMs() - started_ms` ago.
struct AutoRenewal {
  std::string lease{};
  std::int64_t fence = 0;
  std::string term{};
  std::int64_t started_ms = 0;
  Milliseconds duration{};
  std::string result{};  ///< "renewed", "lost:<reason>" as the store said, or "failed"
  std::string error{};   ///< of one that failed
};

/// What a holder may listen to. Handlers run one after another on a thread of their own: a slow or
/// throwing one delays other handlers, never a renewal or a loss.
struct Events {
  std::function<void(const Renewed&)> renewed{};
  std::function<void(const RenewalFailed&)> renewal_failed{};
  std::function<void(const Lost&)> lost{};
  std::function<void(const Stalled&)> stalled{};
};

namespace internal {
class Hold;
}

/// A lease that this process holds, or held. Moves, does not copy; destruction releases it in the
/// background.
///
///   if (lease.Held()) WriteWith(lease.fence());      // Held() alone is a promise about the past
///
/// `Held` compares the clock with the local deadline, which lies before the store's by the margin:
/// it turns false before anybody else can be granted the name (L3). It cannot protect the line
/// after it: between the comparison and your write the process may be paused for an hour. Where
/// that matters, send the fence along and let the receiver refuse a stale one (docs/leases.md).
///
/// Threads: any.
class Lease {
 public:
  Lease() = default;  ///< holds nothing
  explicit Lease(std::shared_ptr<internal::Hold> hold);
  ~Lease();
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// No I/O, no lock, no allocation.
  bool Held() const noexcept;
  /// What is left of the validity; 0 when it is over.
  Milliseconds Remaining() const noexcept;
  /// Throws LostError.
  void ThrowIfLost() const;

  HoldState state() const;
  const std::string& name() const;
  std::int64_t fence() const noexcept;
  const std::string& term() const;
  /// As granted, with the store's times.
  Grant grant() const;
  /// How it was lost, once it was.
  std::optional<Lost> loss() const;

  /// Requested at the moment of the loss (or release). Its callbacks run on the thread that
  /// watches deadlines: let them be short.
  std::stop_token token() const;

  /// Renews now, on the calling thread. True: the deadline was restarted. Throws nothing: a loss
  /// or failure shows as false and in `state`.
  bool TryRenewNow();

  /// Releases and waits for the store's answer; afterwards nothing is held. Throws
  /// ProviderUnavailable when the store did not answer (the lease then ends by itself).
  ReleaseOutcome Close();

  /// Stops keeping it and does not release it: somebody else ended it in the store.
  void Forget() noexcept;

 private:
  std::shared_ptr<internal::Hold> hold_;
};

}  // namespace tenure::leases
