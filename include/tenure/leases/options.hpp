#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tenure/clock.hpp"
#include "tenure/leases/azure.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {

/// How a lease is held. The defaults suit a leader that should fail over within seconds.
struct LeaseOptions {
  /// How long the lease outlives its holder's last renewal. Shorter: a crash is noticed sooner.
  /// Longer: the holder survives longer troubles of the store.
  Milliseconds ttl{30'000};

  /// When the first try to renew comes, as a part of the ttl after the last success was sent. A
  /// third leaves time for several more tries; the source document's 2/3 leaves time for one or
  /// two.
  double renew_at = 1.0 / 3;
  /// The first try comes earlier by up to this part of `renew_at`, so that many holders do not
  /// renew in step.
  double jitter = 0.15;

  /// Up to which part of the ttl the holder trusts its lease. What is left is the margin by which
  /// the store's clock may gain on ours before two could believe that they hold it.
  double safety_threshold = 0.9;

  /// The first pause after a failed try, doubled after each further one up to a quarter of the
  /// ttl. Tries end with the validity of the lease, not after a count.
  Milliseconds retry_backoff{50};

  bool auto_renew = true;

  std::string holder{};    ///< for people; empty: "host:pid"
  std::string metadata{};  ///< for people: a JSON object
};

struct ManagerOptions {
  /// What the provider must give; see `Require`.
  bool require_durable_fence = true;
  bool require_store_time = true;
  /// Off: the program accepts that a crash of the store may forget grants. Nobody is granted a name
  /// while a forgotten holder may believe in it, so a restart of the store stops all grants for a
  /// while.
  bool require_durable_grant = true;
  /// How long one call to the provider may take at most; renewals take less where the ttl asks for
  /// it (an eighth of it, at least 50 ms).
  Milliseconds call_timeout{5'000};
  /// Whether a thread watches for stalls of this process (SIGSTOP, suspend, starvation).
  bool stall_guard = true;
  /// Whether renewals and deadlines are driven by the manager's own threads. Off: by `RunDue`,
  /// which is what simulations do.
  bool threads = true;
  const Clock* clock = nullptr;  ///< null: the machine's
  std::uint64_t seed = 0;        ///< of the jitter; 0: from the machine
  std::string ca_file{};         ///< of `Open`: as in ProviderOptions
  bool insecure = false;         ///< of `Open`: as in ProviderOptions
  bool allow_plaintext = false;  ///< of `Open`: as in ProviderOptions
  AzureOptions azure{};          ///< of `Open`: as in ProviderOptions
  /// Troubles with the provider, which the library goes on trying to reach: it says so here each
  /// time, and from time to time in the log (tenure/log.hpp). Called where the handlers of events
  /// are: return soon.
  std::function<void(const std::string&)> on_trouble{};
};

}  // namespace tenure::leases
