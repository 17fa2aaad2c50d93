#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "leases/leases.hpp"
#include "messages/messages.hpp"
#include "push/courier.hpp"
#include "push/delivery.hpp"
#include "push/places.hpp"
#include "push/subscriptions.hpp"

namespace tenure::push {

/// Delivers the subscriptions of which this process holds the lease, and takes those that nobody has.
///
/// Each subscription has a lease `push/<name>` of its tenant. Every second or so this looks around: a
/// subscription whose lease is free is taken, one that is ours is renewed (all in one operation), one
/// that was changed is loaded anew, one that is gone is let go when what is under way has ended. Its
/// claims are held by one heartbeat of the process.
///
/// A process that dies loses its leases after kTtlMs and its claims after messages::kWorkerTtlMs, so
/// others go on within 10 s. One that cannot reach the store believes in its leases for less than their ttl,
/// and then cuts off what it has under way, by a timer that waits for no answer: so there are never more
/// than `max_in_flight` of a subscription, whoever has them. (Not covered, as in L3: a process that is paused
/// just then; its endpoints see the old requests until it goes on.)
///
/// A subscription whose secrets this process cannot open is left to those that can.
///
/// Life: construct, Start, Stop. REQUIRES: it outlives the lanes, the registry and the courier.
/// Threads: any.
class Deliverer {
 public:
  static constexpr std::int64_t kTtlMs = 6'000;
  static constexpr std::int64_t kTickMs = 1'000;
  static constexpr std::int64_t kRenewMs = 2'000;
  static constexpr std::int64_t kSealedMs =
      60'000;  ///< until it tries again to open what it could not

  struct Parts {
    Subscriptions& subscriptions;
    messages::Messages& messages;
    queues::Queues& queues;
    leases::Leases& leases;
    wake::Registry& wake;
    const base::Clock& clock;
    Probe& probe;
    const Vault& vault;
    std::string process;
    decltype(DeliveryParts::deliver) deliver;
    decltype(DeliveryParts::give_up) give_up;
    std::int64_t most_under_way = kMostUnderWay;  ///< of all subscriptions together
  };
  explicit Deliverer(Parts parts);

  void Start() { Tick(); }
  /// Begins nothing any more, cuts off what is under way, and gives leases and claims back.
  void Stop();

  /// Asked oftener by tests: what has come and what is due.
  void Tick();

 private:
  struct Held {
    Hold hold{};
    base::Uuid id{};
    std::int64_t revision = 0;  ///< that was loaded, or is being loaded
    bool is_leaving = false;    ///< once it is over, the lease is given back
    std::shared_ptr<Delivery>
        delivery{};  ///< null: its secrets cannot be opened, or not yet loaded
  };
  using HeldMap = std::map<SubscriptionKey, Held>;

  void Beat();
  void Renew();
  void ReportAll();
  void LetGo();
  /// LetGo runs when the first hold is over, at the latest.
  void ArmLetGo();
  void Counted() TENURE_REQUIRES(mutex_);
  void Look();
  void Seen(const Surroundings& around);
  void Take(const SubscriptionKey& key);
  void Granted(const SubscriptionKey& key, const base::Uuid& term, std::int64_t asked_boot_ms,
               const leases::AcquireOutcome& outcome);
  void Load(const SubscriptionKey& key);
  void Loaded(const SubscriptionKey& key, const FindReply& found);
  void CannotOpen(const SubscriptionKey& key, Held& held) TENURE_REQUIRES(mutex_);
  void Release(const SubscriptionKey& key, const Hold& hold);
  void Lose(const SubscriptionKey& key, std::int64_t fence);
  void Disable(const Endpoint& endpoint);
  void WriteDisabled(const DisableCommand& command);

  const Parts parts_;
  Places places_;
  const DeliveryParts delivery_parts_;
  std::atomic<bool> stopping_{false};

  base::Mutex mutex_;
  std::int64_t worker_ TENURE_GUARDED_BY(mutex_);
  bool has_joined_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_beating_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_renewing_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_looking_ TENURE_GUARDED_BY(mutex_) = false;
  bool look_again_ TENURE_GUARDED_BY(mutex_) = false;  // something was signalled meanwhile
  wake::Registry::Id next_tick_ TENURE_GUARDED_BY(mutex_) = 0;
  wake::Registry::Id next_let_go_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t next_beat_boot_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t next_renewal_boot_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_group_ TENURE_GUARDED_BY(mutex_) = 0;
  HeldMap held_ TENURE_GUARDED_BY(mutex_);
  std::set<SubscriptionKey> taking_ TENURE_GUARDED_BY(mutex_);  // asked for, not answered yet
  // Whose secrets could not be opened, and until when (boot time) they are left alone.
  std::map<SubscriptionKey, std::int64_t> sealed_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::push
