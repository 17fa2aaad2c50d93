#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "messages/messages.hpp"
#include "usage/chunk_delivery.hpp"
#include "usage/usage.hpp"
#include "wake/registry.hpp"

namespace tenure::usage {

/// Sends chunks to the receiver: claims a round of them, brings each there (chunk_delivery.hpp), and goes
/// on when all have come to something. A receiver that is down is asked with one chunk at a time,
/// at growing intervals of up to a minute or when it asked for, until it answers again.
///
/// It has no thread: it goes on wherever a step completes, and waits by the registry's timers. Any
/// number of processes may have one; a chunk is claimed by one of them at a time.
///
/// Life: construct, Start, Stop. After Stop it begins nothing new. REQUIRES: it outlives the lanes,
/// the registry and whoever posts.
class Sender {
 public:
  using PostFunction = std::function<void(Post, base::UniqueFunction<PostReply>)>;

  Sender(Usage& usage, messages::Messages& messages, wake::Registry& wake, std::string installation,
         PostFunction post);

  void Start();
  void Stop() { stopping_ = true; }

 private:
  struct RoundResult;
  struct Round;

  /// The topic's messages are retried without limit: they are owed to the receiver, whatever fails.
  void SetUp();
  void Next();
  void Claimed(db::Result<messages::ClaimReply> result);
  void Ended(const RoundResult& round);
  void PauseThen(std::int64_t pause_ms, void (Sender::*then)());
  void Count(const Delivered& delivered);

  Usage& usage_;
  messages::Messages& messages_;
  wake::Registry& wake_;
  const ChunkDelivery delivery_;
  std::atomic<bool> stopping_{false};
  // Of the one round that is under way, or of whoever begins the next: never two at once.
  std::int64_t failures_ = 0;
};

}  // namespace tenure::usage
