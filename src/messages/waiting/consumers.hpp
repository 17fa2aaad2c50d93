#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/operation.hpp"
#include "messages/message.hpp"
#include "messages/waiting/notifications.hpp"
#include "wake/waiting_room.hpp"

namespace tenure::messages {

class Messages;

/// A request that waits for something of which other processes tell by the name of a topic.
class Watcher : public wake::Waiter {
 public:
  using wake::Waiter::Waiter;
  /// REQUIRES: it is one of its lines.
  virtual TopicKey TopicOf(const std::string& key) const = 0;
};

/// The claims of this process that wait for messages, and what other capabilities have waiting for
/// theirs (accepts of ordered queues); how they wait is the room's business
/// (wake/waiting_room.hpp). A topic is a line. Whoever got something makes the next two of each of
/// its topics ask: a burst reaches all who wait soon, and one message does not wake them all.
///
/// A look makes the first of every topic ask: every 50 ms while a producer may have missed that we
/// wait (notifications.hpp), then after 250 ms, 500 ms, … `poll_max_ms`. That makes good for a signal that
/// was lost. Before it, the look sets the flags by which other processes know what we wait for.
///
/// Whoever goes while its question is under way gives back what it is handed, as untouched; unless
/// the client chose the claim's id: then it may ask for the same again, and what it was handed
/// waits for it, or for the lease to end.
///
/// Threads: any. Callbacks run on the caller's executor; without one wherever the wait ends.
class Consumers final : wake::WaitingRoom::Policy {
 public:
  using Id = wake::WaitingRoom::Id;
  using Callback = base::UniqueFunction<db::Result<ClaimReply>>;

  /// `others_commit`: there are processes that must be told that we wait.
  Consumers(Messages& messages, bool others_commit, wake::Registry& wake, const base::Clock& clock,
            std::int64_t poll_max_ms);

  Id Add(ClaimRequest request, std::int64_t wait_ms, base::Caller caller, Callback done);
  /// One of another capability's. When a question of its brought nothing it names LookInMs, and
  /// PollSoon when it brought something.
  Id Add(std::shared_ptr<Watcher> watcher, std::int64_t wait_ms);
  void Abandon(Id id) { room_.Abandon(id); }
  void Stop() { room_.Stop(); }

  /// Somebody came, or something did: there may be more soon.
  void PollSoon();
  /// How soon a look must follow, for one that found nothing.
  std::int64_t LookInMs(const Watcher& watcher) const;

 private:
  class Waiter;
  using LookDone = base::UniqueFunction<wake::WaitingRoom::Found>;
  struct Flag {
    TopicKey topic{};
    std::int64_t until_boot_ms = 0;
  };

  void Look(wake::Poller::Cause cause, LookDone done) override;
  void Counted(std::int64_t waiting) override;

  bool IsFlagged(const std::string& key) const TENURE_REQUIRES(mutex_);
  WatchRequest NeededFlags() const;
  void NoteFlags(const WatchRequest& request);
  void LookAround(LookDone done);
  wake::WaitingRoom::Found Everybody(const db::Result<WatchReply>& snapshot);

  Messages& messages_;
  const bool others_commit_;
  const base::Clock& clock_;
  const std::int64_t poll_max_ms_;

  mutable base::Mutex mutex_;
  std::int64_t poll_ms_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, Flag> flags_
      TENURE_GUARDED_BY(mutex_);  // by wake key: what others tell us of, and until when
  bool settled_ TENURE_GUARDED_BY(mutex_) = true;  // nobody is under way who may have missed a flag
  std::int64_t noted_xmax_ TENURE_GUARDED_BY(mutex_) = 0;

  wake::WaitingRoom room_;
};

}  // namespace tenure::messages
