#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/operation.hpp"
#include "messages/message.hpp"
#include "messages/watch.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// The claims of this process that wait for messages. It decides nothing: each of them asks the
/// store again when there may be something.
///
/// Of those who wait for one topic the first asks, when
///  - the topic is signalled: something became ready, here or (by NOTIFY) elsewhere;
///  - it is time to look: every 50 ms while a producer may have missed that we wait (watch.hpp),
///    then after 250 ms, 500 ms, … `poll_max_ms`. That makes good for a signal that was lost.
/// Whoever got something wakes the next two, so a burst reaches all who wait soon, and one message
/// does not wake them all.
///
/// No wake-up is lost: a topic is registered before its first question, so a signal that comes
/// while the question is under way is remembered, and asked for again.
///
/// Whoever goes while its question is under way gives back what it is handed, as untouched; unless
/// the client chose the claim's id: then it may ask for the same again, and what it was handed
/// waits for it, or for the lease to end.
///
/// Threads: any. Callbacks run where the asked operations complete (the caller's executor), or in
/// Stop.
class Consumers {
 public:
  using Id = std::uint64_t;
  using Callback = base::UniqueFunction<db::Result<ClaimReply>>;

  /// How the consumers reach the store.
  struct Store {
    /// Completes on a lane's thread, or at once on the caller's.
    std::function<void(ClaimRequest, std::vector<base::Fence>, Callback)> claim;
    std::function<void(ReportRequest)> give_back;
    std::function<void(WatchRequest, base::UniqueFunction<db::Result<WatchReply>>)> watch;
    std::function<void(std::int64_t)> count;  ///< how many wait now
    bool others_commit = false;               ///< processes that must be told that we wait
  };

  Consumers(Store store, wake::Registry& wake, const base::Clock& clock, std::int64_t poll_max_ms);
  ~Consumers();
  Consumers(const Consumers&) = delete;
  Consumers& operator=(const Consumers&) = delete;

  Id Add(ClaimRequest request, std::int64_t wait_ms, base::Caller caller, Callback done);
  /// Its callback is dropped.
  void Abandon(Id id);
  /// Answers all with kStopping.
  void Stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace tenure::messages
