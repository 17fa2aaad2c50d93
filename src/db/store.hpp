#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "db/engine.hpp"
#include "db/lane.hpp"

namespace tenure::db {

struct StoreOptions {
  int write_lanes = 2;  ///< fewer where the engine allows fewer
  int read_lanes = 1;
  LaneOptions lanes;
};

/// An engine and its lanes: what capabilities submit to. A key always goes to the same write lane,
/// so within a process no two batches ever hold the same key.
///
/// Life: construct (set-up and migrations are done), Open, Start, Stop. Without Start the lanes are
/// driven by hand.
class Store {
 public:
  Store(std::unique_ptr<Engine> engine, const StoreOptions& options, const base::Clock& clock,
        telemetry::Registry& metrics);

  /// Who decides about fences; without one every fence is stale.
  /// REQUIRES: before Start; the guard outlives the store's lanes.
  void SetGuard(Guard& guard);

  /// Who puts acts on record; without one nobody does.
  /// REQUIRES: as SetGuard.
  void SetRecorder(Recorder& recorder);

  /// Connects every lane. Throws kStoreUnavailable.
  void Open();
  void Start();
  /// Finishes what waits. Submissions are refused from the first moment on.
  void Stop();

  Lane& WriteLane(std::size_t key_hash) { return *write_[key_hash % write_.size()]; }
  /// For inserts with unique keys that users chose (a dedup key, an idempotency key): one of them
  /// may have to wait for a user's own transaction, which must not hold up anybody else.
  Lane& KeyLane() { return keys_ ? *keys_ : *write_[0]; }
  /// For looks; any will do.
  Lane& ReadLane() {
    return *read_[next_read_.fetch_add(1, std::memory_order_relaxed) % read_.size()];
  }

  Engine& engine() { return *engine_; }
  /// Whether every lane has its connection.
  bool IsUp() const;
  std::vector<Lane*> AllLanes();

 private:
  std::unique_ptr<Engine> engine_;
  std::vector<std::unique_ptr<Lane>> write_;
  std::unique_ptr<Lane> keys_;  // null where the engine has a single writer
  std::vector<std::unique_ptr<Lane>> read_;
  std::atomic<std::size_t> next_read_{0};
};

}  // namespace tenure::db
