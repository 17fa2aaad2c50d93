#include "tenure/leases/leader.hpp"

#include <exception>

#include "base/uuid.hpp"
#include "client/leases/handlers.hpp"
#include "client/leases/keeper.hpp"

namespace tenure::leases {
namespace {

/// Between half of `pause` and all of it.
std::int64_t Jittered(Milliseconds pause) {
  std::uint8_t byte = 0;
  base::RandomBytes(&byte, 1);
  return pause.count() / 2 + pause.count() * byte / 512;
}

/// Stands for election until it is won; empty: stopped.
std::optional<Lease> Contend(Manager& manager, const std::string& name, const std::stop_token& stop,
                             const LeaderOptions& options) {
  while (!stop.stop_requested()) {
    try {
      auto outcome = manager.TryAcquireFor(name, kMaxWait, options.lease, {}, stop);
      if (auto* lease = std::get_if<Lease>(&outcome)) return std::move(*lease);
    } catch (const AccessDenied&) {
      throw;  // it would be denied for ever
    } catch (const std::exception& e) {
      // Also what a proxy in between refuses: who waits for leadership outlasts it.
      manager.TellTrouble("standing for election as " + name, e);
      client::SleepUntil(manager.clock(), manager.clock().NowMs() + Jittered(options.pause), stop);
    }
  }
  return std::nullopt;
}

/// After `work`: the next leader need not wait for the deadline.
void StepDown(Manager& manager, Lease& lease) {
  try {
    lease.Close();
  } catch (const std::exception& e) {
    manager.TellTrouble("releasing " + lease.name(), e);
  }
}

}  // namespace

void RunAsLeader(Manager& manager, const std::string& name,
                 const std::function<void(Lease& lease, std::stop_token stop)>& work,
                 std::stop_token stop, const LeaderOptions& options) {
  client::CheckLease(name, options.lease);
  do {
    auto lease = Contend(manager, name, stop, options);
    if (!lease) return;
    {
      std::stop_source either;
      const std::stop_callback lost(lease->token(), [&] { either.request_stop(); });
      const std::stop_callback stopped(stop, [&] { either.request_stop(); });
      if (options.elected) options.elected(*lease);
      // What it throws goes to the caller; the lease is released on the way, after work has ended.
      work(*lease, either.get_token());
    }
    const auto loss = lease->loss();
    StepDown(manager, *lease);
    if (loss && options.deposed) options.deposed(*loss);
  } while (options.contend_again && !stop.stop_requested());
}

}  // namespace tenure::leases
