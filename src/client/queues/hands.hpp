#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "client/queues/backend.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {

/// A session in the hands of a thread of a consumer.
struct InHand {
  std::string session{};
  std::int64_t fence = 0;
  std::int64_t until_ms =
      0;              ///< held for sure until then, by the consumer's clock; guarded by Hands
  bool lost = false;  ///< the same
  std::stop_source stop{};
};
using InHandPtr = std::shared_ptr<InHand>;

/// The sessions that a consumer has in hand. What holds:
///  (1) Of one session at most one hold is worked on: a thread that accepted one which another
///      thread still works on (its hold was lost, and accepted again here) waits for its end.
///  (2) A hold lasts for the lease from before the last renewal that succeeded was sent. When that
///      has passed, or the store says so, its stop token is requested, and it is never renewed again.
///
/// Threads: any.
class Hands {
 public:
  Hands(const Clock& clock, std::int64_t lease_ms) : clock_(clock), lease_ms_(lease_ms) {}

  /// Waits by (1). `sent_ms`: when its accept was sent.
  InHandPtr Take(const Held& held, std::int64_t sent_ms);
  void Drop(const InHandPtr& hand);

  bool IsHeld(const InHand& hand) const;
  std::vector<InHandPtr> Snapshot() const;
  /// Those of the snapshot, as the store answered; each is held, or not any more.
  void Renewed(const std::vector<InHandPtr>& hands, const std::vector<bool>& held,
               std::int64_t sent_ms);
  void LoseOverdue();
  /// A report said that the hold is over.
  void Lose(const InHandPtr& hand);
  /// The grace time is over.
  void Hurry();

  std::int64_t count() const;
  std::int64_t lost() const;

 private:
  /// Those of which `is_over` says so are lost; their tokens are requested without the mutex, since
  /// whoever listens may ask something here.
  template <class IsOver>
  void LoseIf(const IsOver& is_over);

  const Clock& clock_;
  const std::int64_t lease_ms_;
  mutable base::Mutex mutex_;
  std::condition_variable dropped_;  // a session was let go, or a hold that waits was lost
  std::map<std::string, InHandPtr> by_session_ TENURE_GUARDED_BY(mutex_);
  /// Those that wait for an earlier hold of the same session: they are renewed, too.
  std::vector<InHandPtr> waiting_ TENURE_GUARDED_BY(mutex_);
  std::int64_t lost_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure::client
