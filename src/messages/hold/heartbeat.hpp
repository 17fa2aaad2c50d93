#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "db/method.hpp"
#include "messages/message.hpp"

namespace tenure::messages {

/// How long a worker is believed to live after its last heartbeat, and how often it should send
/// one: three may be lost. What a dead one held comes back within kWorkerTtlMs and the reaper's
/// second.
inline constexpr std::int64_t kWorkerTtlMs = 8'000;
inline constexpr std::int64_t kHeartbeatMs = 2'000;

/// A number for a process that sends heartbeats; made anew whenever it was given up for dead.
std::int64_t NewWorker();
/// The number under which somebody without a heartbeat is on record.
std::int64_t WorkerOf(std::string_view tenant, std::string_view owner);

/// One process says: I am here (kJoin: for the first time), and hold what I claimed; or: I go.
struct HeartbeatRequest {
  enum class Kind { kJoin, kBeat, kLeave };
  Kind kind = Kind::kBeat;
  std::int64_t worker = 0;
  std::string tenant{};
  std::string owner{};

  std::size_t bytes() const { return db::BytesOf(tenant, owner); }
};
struct HeartbeatReply {
  /// False: it was given up for dead, and nothing that it claimed is its own any more.
  bool alive = true;
};
void BeatWorkers(db::Transaction& tx, db::Items<HeartbeatRequest, HeartbeatReply> items);

/// A worker begins with messages of a claim: the first `started` of them, from now on, count a
/// crash if the worker dies. It must be answered before the work begins.
struct StartedRequest {
  std::string tenant{};
  base::Uuid claim{};
  std::int64_t started = 0;

  std::size_t bytes() const { return tenant.size(); }
};
struct StartedReply {};
void MarkStarted(db::Transaction& tx, db::Items<StartedRequest, StartedReply> items);

}  // namespace tenure::messages
