#include "db/store.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::db {

Store::Store(std::unique_ptr<Engine> engine, const StoreOptions& options, const base::Clock& clock,
             telemetry::Registry& metrics)
    : engine_(std::move(engine)),
      evidence_([this] { return engine_->incarnation(); }, clock, metrics) {
  const int most = engine_->max_write_lanes();
  const int writers = most > 0 ? std::min(most, options.write_lanes) : options.write_lanes;
  LaneOptions lanes = options.lanes;
  const auto lane = [&](Access access, std::string name) {
    return std::make_unique<Lane>(std::move(name), engine_->NewConnection(access), lanes, clock,
                                  metrics);
  };
  for (int i = 0; i < writers; ++i)
    write_.push_back(lane(Access::kWrite, fmt::format("write-{}", i)));
  for (int i = 0; i < options.read_lanes; ++i)
    read_.push_back(lane(Access::kRead, fmt::format("read-{}", i)));
  if (options.renewal_lane && most != 1) renewals_ = lane(Access::kWrite, "renewals");
  lanes.impatient = true;
  if (most != 1) keys_ = lane(Access::kWrite, "keys");
}

Lane& Store::LaneFor(const LaneName& name, std::size_t key_hash) {
  switch (name.kind()) {
    case LaneName::Kind::kReading:
      return ReadLane();
    case LaneName::Kind::kOfKey:
      return WriteLane(key_hash);
    case LaneName::Kind::kShared:
      return WriteLane(name.number());
    case LaneName::Kind::kNeverWaits:
      return RenewalLane(key_hash);
    case LaneName::Kind::kUserKeys:
      break;
  }
  return KeyLane();
}

std::vector<Lane*> Store::AllLanes() {
  std::vector<Lane*> all;
  for (auto& lane : write_) all.push_back(lane.get());
  if (keys_) all.push_back(keys_.get());
  if (renewals_) all.push_back(renewals_.get());
  for (auto& lane : read_) all.push_back(lane.get());
  return all;
}

void Store::SetFenceCheck(FenceCheck& fence_check) {
  for (Lane* lane : AllLanes()) lane->SetFenceCheck(fence_check);
}

void Store::SetRecorder(Recorder& recorder) {
  for (Lane* lane : AllLanes()) lane->SetRecorder(recorder);
}

void Store::Open() {
  for (Lane* lane : AllLanes()) lane->Open();
}

void Store::Start() {
  for (Lane* lane : AllLanes()) lane->Start();
}

void Store::Stop() {
  for (Lane* lane : AllLanes()) lane->Stop();
}

std::int64_t Store::CommittedBootMs() const {
  std::int64_t last = 0;
  for (const Lane* lane : {keys_.get(), renewals_.get()})
    if (lane) last = std::max(last, lane->committed_boot_ms());
  for (const auto& lane : write_) last = std::max(last, lane->committed_boot_ms());
  return last;
}

bool Store::IsUp() const {
  const auto up = [](const auto& lane) { return !lane || lane->is_up(); };
  return std::all_of(write_.begin(), write_.end(), up) && up(keys_) && up(renewals_) &&
         std::all_of(read_.begin(), read_.end(), up);
}

}  // namespace tenure::db
