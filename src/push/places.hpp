#pragma once

#include <algorithm>
#include <cstdint>

#include "base/mutex.hpp"

namespace tenure::push {

/// Requests of a process under way, to all endpoints together.
inline constexpr int kMostUnderWay = 11'000;
/// The same where open files are scarce: so many descriptors no client of the server gets.
inline constexpr int kLeastUnderWay = 256;

/// Who may begin another request, of all subscriptions that a process delivers.
///
/// Invariants:
///  (1) A subscription that has no request under way may always begin one. So nobody has to stand in a line:
///      who is refused has one under way, and asks again when that has ended.
///  (2) A further one begins only while a first one of everybody still has room, and of a sixteenth of all
///      places for subscriptions that are yet to come. So at most `most` are under way, if subscriptions are
///      at most so many; a crowd that comes to full places at once and is larger than the sixteenth waits in
///      http::Outgoing instead.
///  (3) Nobody has more than is free for others. So many endpoints that hang share what there is evenly, one
///      alone has half of it at most, and who comes later finds as much as each of them has.
///
/// Threads: any.
class Places {
 public:
  explicit Places(std::int64_t most) : most_(most) {}

  /// A subscription comes; it has none under way.
  void Join() {
    const base::Lock lock(mutex_);
    ++subscriptions_;
  }
  /// It goes. REQUIRES: it has none under way.
  void Leave() {
    const base::Lock lock(mutex_);
    --subscriptions_;
  }

  /// For a subscription that has so many under way: whether it may begin another one.
  bool Take(std::int64_t under_way) {
    const base::Lock lock(mutex_);
    if (under_way > 0) {
      const std::int64_t kept = std::max(subscriptions_ - busy_, most_ / kOfThoseToCome);
      if (under_way >= most_ - kept - taken_) return false;
    }
    if (under_way == 0) ++busy_;
    ++taken_;
    return true;
  }
  /// One has ended, of a subscription that has so many left.
  void Give(std::int64_t left) {
    const base::Lock lock(mutex_);
    --taken_;
    if (left == 0) --busy_;
  }

 private:
  static constexpr std::int64_t kOfThoseToCome = 16;

  const std::int64_t most_;
  base::Mutex mutex_;
  std::int64_t subscriptions_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t busy_ TENURE_GUARDED_BY(mutex_) = 0;   // subscriptions with any under way
  std::int64_t taken_ TENURE_GUARDED_BY(mutex_) = 0;  // requests under way
};

}  // namespace tenure::push
