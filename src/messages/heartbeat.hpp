#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "db/operation.hpp"

namespace tenure::messages {

/// How long a worker is believed to live after its last heartbeat, and how often it should send
/// one: three may be lost. What a dead one held comes back within kWorkerTtlMs and the reaper's
/// second.
inline constexpr std::int64_t kWorkerTtlMs = 8'000;
inline constexpr std::int64_t kHeartbeatMs = 2'000;

/// A number for a process that sends heartbeats; made anew whenever it was given up for dead.
std::int64_t NewWorker();

/// One process says: I am here (kJoin: for the first time), and hold what I claimed; or: I go.
struct HeartbeatRequest {
  enum class Kind { kJoin, kBeat, kLeave };
  Kind kind = Kind::kBeat;
  std::int64_t worker = 0;
  std::string tenant{};
  std::string owner{};
};
struct HeartbeatReply {
  /// False: it was given up for dead, and nothing that it claimed is its own any more.
  bool alive = true;
};
class HeartbeatHandler final : public db::TypedHandler<HeartbeatRequest, HeartbeatReply> {
 public:
  std::string_view name() const override { return "messages.heartbeat"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// A worker begins with messages of a claim: the first `started` of them, from now on, count a
/// crash if the worker dies. It must be answered before the work begins.
struct StartedRequest {
  std::string tenant{};
  base::Uuid claim{};
  std::int64_t started = 0;
};
struct StartedReply {};
class StartedHandler final : public db::TypedHandler<StartedRequest, StartedReply> {
 public:
  std::string_view name() const override { return "messages.started"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::messages
