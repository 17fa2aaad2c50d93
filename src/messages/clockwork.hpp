#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.hpp"
#include "db/operation.hpp"
#include "messages/upkeep.hpp"
#include "messages/watch.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// Promotes and reaps in time, by the registry's timers: at the very moment when the next timer is
/// due, when a nearer one is set (here, or elsewhere by NOTIFY), and otherwise every `poll_max_ms`;
/// the reaper looks once a second.
///
/// The reaper takes back no lease-bound claim for one lease time after it began and after each time
/// that the store was away: their holders could not prolong them meanwhile. What dead workers held
/// it takes back after the time of a heartbeat: they send one as soon as the store is there.
///
/// Threads: Start and Stop are the owner's; the rest runs on the registry's and the lanes' threads.
class Clockwork {
 public:
  struct Store {
    std::function<void(base::UniqueFunction<db::Result<PromoteReply>>)> promote;
    std::function<void(ReapRequest, base::UniqueFunction<db::Result<ReapReply>>)> reap;
    std::function<void(WatchRequest, base::UniqueFunction<db::Result<WatchReply>>)> watch;
    bool others_commit = false;
  };
  Clockwork(Store store, wake::Registry& wake, const base::Clock& clock, std::int64_t poll_max_ms);
  ~Clockwork();

  void Start();
  void Stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace tenure::messages
