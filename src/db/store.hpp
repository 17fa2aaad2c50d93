#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "db/engine.hpp"
#include "db/evidence.hpp"
#include "db/lane.hpp"

namespace tenure::db {

struct StoreOptions {
  int write_lanes = 2;  ///< fewer where the engine allows fewer
  int read_lanes = 1;
  bool renewal_lane = false;  ///< one for what never waits; none where the engine has one writer
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
  /// REQUIRES: before Start; the check outlives the store's lanes.
  void SetFenceCheck(FenceCheck& fence_check);

  /// Who puts acts on record; without one nobody does.
  /// REQUIRES: as SetFenceCheck.
  void SetRecorder(Recorder& recorder);

  /// Connects every lane. Throws kStoreUnavailable.
  void Open();
  void Start();
  /// Finishes what waits. Submissions are refused from the first moment on.
  void Stop();

  /// Makes an operation of a request and gives it to the lane that its handler names.
  template <class Handler, class Callback>
  void Submit(Handler& handler, base::Caller caller, typename Handler::RequestType request,
              Callback done) {
    const std::size_t key_hash = handler.KeyHash(request);
    LaneFor(handler.lane(), key_hash)
        .Submit(std::make_unique<typename Handler::ItemType>(handler, std::move(caller), key_hash,
                                                             std::move(request), std::move(done)));
  }

  /// For those who drive lanes by hand. Where there are fewer, numbers share them.
  Lane& WriteLane(std::size_t number) { return *write_[number % write_.size()]; }
  Lane& KeyLane() { return keys_ ? *keys_ : *write_[0]; }
  Lane& RenewalLane(std::size_t key_hash) { return renewals_ ? *renewals_ : WriteLane(key_hash); }
  Lane& ReadLane() {
    return *read_[next_read_.fetch_add(1, std::memory_order_relaxed) % read_.size()];
  }

  Engine& engine() { return *engine_; }
  /// Whether every lane has its connection.
  bool IsUp() const;
  /// When any of its lanes last committed a change; 0: never.
  std::int64_t CommittedBootMs() const;
  /// What clients say that the store cannot have told them.
  ForgottenEvidence& evidence() { return evidence_; }
  std::vector<Lane*> AllLanes();

 private:
  Lane& LaneFor(const LaneName& name, std::size_t key_hash);

  std::unique_ptr<Engine> engine_;
  ForgottenEvidence evidence_;
  std::vector<std::unique_ptr<Lane>> write_;
  std::unique_ptr<Lane> keys_;      // null where the engine has a single writer
  std::unique_ptr<Lane> renewals_;  // null there, too, and where nobody asked for it
  std::vector<std::unique_ptr<Lane>> read_;
  std::atomic<std::size_t> next_read_{0};
};

}  // namespace tenure::db
