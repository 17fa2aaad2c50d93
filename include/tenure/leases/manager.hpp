#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <variant>
#include <vector>

#include "tenure/leases/lease.hpp"
#include "tenure/leases/options.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::leases {

/// What a manager has done so far.
struct ManagerStats {
  std::int64_t active = 0;  ///< held now
  std::int64_t acquired = 0;
  std::int64_t renewals = 0;
  std::int64_t renewal_failures = 0;
  std::int64_t lost = 0;
  std::int64_t stalls = 0;
  std::int64_t clock_gains = 0;  ///< of the store on this machine, each enough for jeopardy
};

/// Acquires leases and keeps them: renews in time, tells of losses.
///
///   auto manager = tenure::leases::Open("postgres://localhost/app");
///   auto outcome = manager->TryAcquire("nightly-report", {.ttl = 10s});
///   if (auto* lease = std::get_if<Lease>(&outcome)) …
///
/// All leases of a manager are renewed together on one thread with a connection of its own,
/// in one call where they are due together. A second thread watches the local deadlines, so that a
/// renewal that hangs cannot hide a loss; a third runs the handlers of events.
///
/// Life: the destructor sends what was to be released before it (waiting for the store no longer
/// than one call may take), runs the handlers that wait, and ends the threads. It releases nothing
/// by itself. Leases may outlive their manager: nobody renews them or watches their deadlines any
/// more, so their tokens are requested at once, while `Held` stays true until the deadline.
/// Threads: any; the destructor must not be called by a handler or a stop callback.
class Manager {
 public:
  explicit Manager(std::unique_ptr<Provider> provider, ManagerOptions options = {});
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  using TryOutcome = std::variant<Lease, HeldByAnother>;

  /// One try. Throws ProviderUnavailable, AccessDenied, std::invalid_argument.
  TryOutcome TryAcquire(std::string_view name, const LeaseOptions& options = {},
                        Events events = {});
  /// Waits for one's turn, first come first served where the provider has that. Asks again after
  /// troubles of the provider until `timeout` has passed.
  TryOutcome TryAcquireFor(std::string_view name, Milliseconds timeout,
                           const LeaseOptions& options = {}, Events events = {},
                           std::stop_token stop = {});
  /// The same; throws ConflictError when the time is over.
  Lease Acquire(std::string_view name, Milliseconds timeout, const LeaseOptions& options = {},
                Events events = {}, std::stop_token stop = {});

  /// Keeps a grant that was made elsewhere (a reliable task's lock). `sent_ms` is the clock's time
  /// before its request was sent. Holds nothing when the grant is not valid any more.
  Lease Adopt(const Grant& grant, std::int64_t sent_ms, const LeaseOptions& options,
              Events events = {});

  std::optional<BreakOutcome> Break(const BreakRequest& request);
  std::optional<LeaseView> Get(std::string_view name);
  std::vector<LeaseView> List(const ListRequest& request = {});
  ClaimOutcome ClaimTask(const TaskClaim& claim);
  FinishOutcome FinishTask(const TaskFinish& finish);

  /// Called for every stall of this process that the guard noticed.
  void OnStall(std::function<void(const Stalled&)> handler);
  /// Called for each lease of each round of renewals, to connect them to a tracer of your own. Runs
  /// where the handlers of events run, after the answer was judged: it delays no renewal.
  void OnAutoRenewal(std::function<void(const AutoRenewal&)> handler);

  /// For whoever builds on a manager, as leaders and reliable tasks do: a trouble with the provider
  /// that it goes on with, told as the manager's own are (`on_trouble`, and the log from time to
  /// time). `doing`: "claiming a task".
  void TellTrouble(std::string_view doing, const std::exception& error);

  /// Without threads: renews what is due, declares lost what is overdue, runs handlers; all on the
  /// calling thread. Returns the clock's time at which there is something to do next.
  std::int64_t RunDue();

  ManagerStats stats() const;
  Provider& provider();
  const Clock& clock() const;
  bool threads() const;  ///< whether it has threads of its own

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// A manager on the provider of `url` (see OpenProvider).
std::unique_ptr<Manager> Open(std::string_view url, ManagerOptions options = {});

}  // namespace tenure::leases
