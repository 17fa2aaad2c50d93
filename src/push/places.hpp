#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tenure::push {

/// Requests of a process under way, to all endpoints together.
inline constexpr int kMostUnderWay = 10'000;
/// The same where open files are scarce: so many descriptors no client of the server gets.
inline constexpr int kLeastUnderWay = 256;

/// Where a request is counted that is under way.
enum class Place { kNone, kOwn, kCommon };

/// Who may begin another request, of all subscriptions that a process delivers.
///
/// Half of the places are divided among the subscriptions, at least one for each; the rest is anybody's. So
/// endpoints that hang can have all common places, and nobody else's own. Who gets none has an own one
/// under way, and asks again when that has ended.
///
/// When subscriptions come, the shares of the others become smaller only as their requests end; until
/// then there may be a few more than `most`, which wait for their turn (http::Outgoing).
///
/// Threads: any.
class Places {
 public:
  explicit Places(std::int64_t most) : most_(most) {}

  void SetSubscriptions(std::int64_t count) { subscriptions_ = std::max<std::int64_t>(count, 1); }

  /// For a subscription that has so many own ones.
  Place Take(std::int64_t own) {
    const std::int64_t subscriptions = subscriptions_;
    const std::int64_t share = std::max<std::int64_t>(1, most_ / 2 / subscriptions);
    if (own < share) return Place::kOwn;
    if (common_++ < most_ - share * subscriptions) return Place::kCommon;
    --common_;
    return Place::kNone;
  }
  void Give(Place place) {
    if (place == Place::kCommon) --common_;
  }

 private:
  const std::int64_t most_;
  std::atomic<std::int64_t> subscriptions_{1};
  std::atomic<std::int64_t> common_{0};  // that are taken
};

}  // namespace tenure::push
