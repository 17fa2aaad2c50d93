#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tenure/clock.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client::test {

enum class Op { kAcquire, kRenew, kRelease, kBreak, kGet, kList, kClaim, kFinish };

class MemoryConnection;

/// One call as a test's script sees it.
struct Call {
  Op op;
  std::vector<std::string> names;
  std::string term;  ///< of the first item
  leases::Milliseconds timeout;
  MemoryConnection& connection;

  /// Blocks until the connection is cancelled, then throws ProviderUnavailable.
  [[noreturn]] void Hang() const;
  [[noreturn]] void Fail() const;       ///< as if the store could not be reached
  [[noreturn]] void LoseReply() const;  ///< as if the connection was lost in COMMIT
};

/// Leases in memory, on the test's clock, with faults on demand. It stands for a store where the
/// holder's timing and faults are the point, and shows that the conformance suite can be passed;
/// real stores are tested as themselves.
///
/// `before` runs before a call has an effect, `after` when it had it and before its caller hears:
/// both may throw, block or move the clock. They are set while nobody calls.
/// Threads: any.
class MemoryStore : public std::enable_shared_from_this<MemoryStore> {
 public:
  explicit MemoryStore(const Clock& clock) : clock_(clock) {}

  std::unique_ptr<leases::Provider> Open();

  std::function<void(const Call&)> before;
  std::function<void(const Call&)> after;
  leases::Guarantees guarantees{.durable_fence = true,
                                .durable_grant = true,
                                .store_time = true,
                                .fifo = true,
                                .push = true,
                                .tasks = true,
                                .crosses_hosts = true};

  /// The store's clock jumps.
  void StepClock(std::int64_t ms);
  /// How often it was asked.
  int Count(Op op) const;
  /// Terms of the acquisitions, in order.
  std::vector<std::string> acquired_terms() const;
  /// Sizes of the rounds of renewals, in order.
  std::vector<std::size_t> rounds() const;
  /// Blocks until it was asked for the `count`th time.
  void AwaitCount(Op op, int count);

 private:
  friend class MemoryConnection;
  friend struct Call;

  struct Row {
    std::int64_t fence = 0;
    leases::Grant grant{};  // of the last holder
    std::int64_t renewed_at_ms = 0;
    leases::LeaseState state = leases::LeaseState::kFree;
    std::string break_reason{};
    std::map<std::string, leases::LossReason> ended{};  // terms that are over
    std::deque<std::string> queue{};                    // terms that wait, the longest first
    std::vector<leases::PastGrant> history{};           // newest first
  };
  struct Task {
    std::int64_t interval_ms = 0;
    std::int64_t next_ms = 0;
    std::int64_t retry_ms = 0;
    std::int64_t last_nominal_ms = 0;  // completed; 0: none yet
    std::int64_t running_ms = 0;       // begun and not finished; 0: none
  };

  // REQUIRES for all: mutex_ is held.
  std::int64_t NowMs() const { return 1'700'000'000'000 + ahead_ms_ + clock_.NowMs(); }
  Row& Settled(const std::string& name);
  void End(Row& row, leases::LossReason reason, std::int64_t at_ms, const std::string& detail);
  leases::Grant Renewed(Row& row, leases::Milliseconds waited);
  leases::Grant Granted(Row& row, const leases::AcquireRequest& request,
                        leases::Milliseconds waited);
  leases::HeldByAnother Refusal(const Row& row) const;
  leases::LossReason WhyOver(const Row& row, const std::string& term, std::int64_t fence) const;
  leases::LeaseView View(const std::string& name, Row& row, bool with_history) const;

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::int64_t ahead_ms_ = 0;
  std::map<std::string, Row> rows_;
  std::map<std::string, Task> tasks_;
  std::map<Op, int> counts_;
  std::vector<std::string> acquired_terms_;
  std::vector<std::size_t> rounds_;
};

/// ProviderUnavailable, as a provider throws it.
[[noreturn]] void ThrowUnavailable(const std::string& lease, bool outcome_unknown);

}  // namespace tenure::client::test
