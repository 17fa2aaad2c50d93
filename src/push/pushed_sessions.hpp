#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "push/parcel.hpp"
#include "push/subscription.hpp"
#include "queues/queues.hpp"
#include "wake/registry.hpp"

namespace tenure::push {

/// The sessions of an ordered queue that a delivery holds: it is their consumer, `push:<subscription>`.
///
/// Invariants:
///  (1) A session is accepted with one message, and its next one comes with the answer to the completion
///      of that. So one message of each is under way, in order.
///  (2) What was accepted is completed, failed or released, again and again until the store has decided
///      it; a report whose fence is over is decided, too.
///  (3) Holds are renewed until then. A hold is believed in for nine tenths of its lease, from before the
///      store was asked.
///  (4) A delivery begins by releasing what an earlier one of the same subscription held: so a process
///      that died costs no message an attempt.
///
/// Threads: any. No lock is held while it calls others.
class PushedSessions : public std::enable_shared_from_this<PushedSessions> {
 public:
  /// Of a hold: short, so that others have the session soon when this process dies. The queue's, when that is
  /// shorter.
  static constexpr std::int64_t kLeaseMs = 10'000;

  PushedSessions(queues::Queues& queues, wake::Registry& wake, const base::Clock& clock,
                 const SubscriptionKey& key);

  /// REQUIRES: no other process delivers this subscription.
  void Reclaim(std::string queue, std::function<void()> done);

  struct Taken {
    enum class Kind { kTaken, kUnordered, kNoQueue };
    Kind kind = Kind::kTaken;
    std::vector<Parcel> parcels{};
  };
  struct Wish {
    std::string queue{};
    base::Uuid accept_id{};  ///< the same again is answered with the same holds
    std::int64_t sessions = 1;
    std::int64_t wait_ms = 0;
    std::vector<base::Fence> fences{};
  };
  using TakeDone = std::function<void(db::Result<Taken>)>;
  void Take(const Wish& wish, TakeDone done);

  /// Whether nobody else can have the session at this moment.
  bool IsHeld(const Turn& turn) const;

  using Next = std::function<void(std::optional<Parcel>)>;
  /// `next` gets what comes behind it, if the session stays here: then it must be settled, too.
  void Complete(const Parcel& parcel, bool keep, Next next);
  void Fail(const Parcel& parcel, const std::string& error);
  /// Nothing is counted.
  void Release(const Parcel& parcel);

 private:
  struct Held {
    std::string queue{};
    std::int64_t fence = 0;
    std::int64_t until_boot_ms = 0;
  };

  std::int64_t BelievedUntil(std::int64_t asked_boot_ms) const TENURE_REQUIRES(mutex_) {
    constexpr std::int64_t kTrustPercent = 90;
    return asked_boot_ms + lease_ms_ * kTrustPercent / 100;
  }
  void Hold(const Turn& turn, std::int64_t asked_boot_ms);
  void Drop(const Turn& turn);
  void Tell(const Turn& turn, queues::Report report, Next next);
  void ArmRenewal();
  void Renew();
  void Renewed(const queues::ReportRequest& request, const queues::ReportReply& reply,
               std::int64_t asked_boot_ms);
  void Later(std::int64_t in_ms, std::function<void()> task);

  queues::Queues& queues_;
  wake::Registry& wake_;
  const base::Clock& clock_;
  const std::string tenant_;
  const std::string consumer_;

  mutable base::Mutex mutex_;
  std::int64_t lease_ms_ TENURE_GUARDED_BY(mutex_) = kLeaseMs;
  std::map<base::Uuid, Held> held_ TENURE_GUARDED_BY(mutex_);
  bool is_armed_ TENURE_GUARDED_BY(mutex_) = false;
  // What is left of a time with an order may be parked: it must not keep the topic's messages waiting.
  bool is_leftover_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::push
