#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "client/leases/keeper.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/lease.hpp"

namespace tenure::client {
class LeaseRuntime;
}

namespace tenure::leases::internal {

/// One lease that is or was held: what `Lease` points to and what the threads of a manager keep.
///
/// It keeps its runtime alive, so a lease may outlive its manager; the runtime forgets it when it
/// is over, or when the manager goes, so the two never keep each other for ever.
class Hold {
 public:
  /// Until when it is valid, for those who only compare: it may be shared by all that one holder
  /// has one after another, since a hold that is over does not write it again.
  using Validity = std::atomic<std::int64_t>;

  Hold(std::shared_ptr<client::LeaseRuntime> keeping_runtime, const Clock& its_clock,
       const Grant& its_grant, const client::Keeper& its_keeper, Events its_events,
       std::shared_ptr<Validity> validity)
      : runtime(std::move(keeping_runtime)),
        clock(its_clock),
        name(its_grant.name),
        fence(its_grant.fence),
        term(its_grant.term),
        events(std::move(its_events)),
        keeper(its_keeper),
        grant(its_grant),
        valid_until_ms_(std::move(validity)) {
    Publish();
  }

  /// One load and one comparison.
  bool Held() const noexcept {
    return clock.NowMs() < valid_until_ms_->load(std::memory_order_acquire);
  }
  std::int64_t valid_until_ms() const noexcept {
    return valid_until_ms_->load(std::memory_order_acquire);
  }
  /// What the keeper says now becomes what `Held` sees. REQUIRES: the table's mutex is held.
  void Publish() { valid_until_ms_->store(keeper.valid_until_ms(), std::memory_order_release); }

  const std::shared_ptr<client::LeaseRuntime> runtime;
  const Clock& clock;
  const std::string name;
  const std::int64_t fence;
  const std::string term;
  const Events events;
  std::stop_source stop;

  // Guarded by the table's mutex.
  client::Keeper keeper;
  Grant grant;
  std::optional<Lost> loss;
  std::optional<ReleaseOutcome> released;  // what the store answered

 private:
  const std::shared_ptr<Validity> valid_until_ms_;
};

}  // namespace tenure::leases::internal

namespace tenure::client {
using leases::internal::Hold;
using HoldPtr = std::shared_ptr<Hold>;
}  // namespace tenure::client
