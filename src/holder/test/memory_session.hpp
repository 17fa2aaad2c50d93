#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "holder/test/memory_store.hpp"

namespace tenure::holder::test {

class MemorySession final : public leases::Session {
 public:
  explicit MemorySession(std::shared_ptr<MemoryStore> store) : store_(std::move(store)) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 leases::Milliseconds timeout) override;
  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          leases::Milliseconds timeout) override;
  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 leases::Milliseconds timeout) override;
  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            leases::Milliseconds timeout) override;
  std::optional<leases::LeaseView> Get(std::string_view name,
                                       leases::Milliseconds timeout) override;
  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      leases::Milliseconds timeout) override;
  leases::ClaimOutcome ClaimTask(const leases::TaskClaim& claim,
                                 leases::Milliseconds timeout) override;
  leases::FinishOutcome FinishTask(const leases::TaskFinish& finish,
                                   leases::Milliseconds timeout) override;
  void Cancel() noexcept override;

 private:
  friend struct Call;

  /// Counts it and runs the script around `effect`, which is called with the store's mutex held.
  template <class Effect>
  std::invoke_result_t<Effect, std::unique_lock<std::mutex>&> Carry(const Call& call,
                                                                    const Effect& effect);
  leases::AcquireOutcome AcquireLocked(const leases::AcquireRequest& request,
                                       std::unique_lock<std::mutex>& lock);
  leases::AcquireOutcome WaitForTurn(MemoryStore::Row& row, const leases::AcquireRequest& request,
                                     std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<MemoryStore> store_;
  bool cancelled_ = false;  // guarded by the store's mutex
};

}  // namespace tenure::holder::test
