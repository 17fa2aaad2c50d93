#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "tenure/leases/manager.hpp"

namespace tenure::leases {

struct LeaderOptions {
  LeaseOptions lease{};
  /// Whether to stand for election again after a loss, or when `work` returned.
  bool contend_again = true;
  /// The pause after an error of the provider, with jitter.
  Milliseconds pause{1'000};
  std::function<void(const Lease&)> elected{};
  std::function<void(const Lost&)> deposed{};
};

/// Runs `work` while this process is the leader, in the calling thread, until `stop` is requested
/// (or, without `contend_again`, once).
///
/// `work` gets the lease, with its fence, and a token of its own, and must return soon after that
/// token was requested: that happens when leadership is lost, and when `stop` is requested. The
/// lease is renewed until `work` has returned and released only then, so that at a planned
/// hand-over the next leader never starts beside it. What `work` throws goes to the caller;
/// so does AccessDenied. Other troubles of the provider are waited out. A name or options that no
/// store takes throw std::invalid_argument at once.
void RunAsLeader(Manager& manager, const std::string& name,
                 const std::function<void(Lease& lease, std::stop_token stop)>& work,
                 std::stop_token stop, const LeaderOptions& options = {});

}  // namespace tenure::leases
