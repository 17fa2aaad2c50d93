#include "db/store.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::db {

Store::Store(std::unique_ptr<Engine> engine, const StoreOptions& options, const base::Clock& clock,
             telemetry::Registry& metrics)
    : engine_(std::move(engine)) {
  const int most = engine_->max_write_lanes();
  const int writers = most > 0 ? std::min(most, options.write_lanes) : options.write_lanes;
  const auto lane = [&](Access access, std::string name) {
    return std::make_unique<Lane>(std::move(name), engine_->NewConnection(access), options.lanes,
                                  clock, metrics);
  };
  for (int i = 0; i < writers; ++i)
    write_.push_back(lane(Access::kWrite, fmt::format("write-{}", i)));
  if (most != 1) keys_ = lane(Access::kWrite, "keys");
  for (int i = 0; i < options.read_lanes; ++i)
    read_.push_back(lane(Access::kRead, fmt::format("read-{}", i)));
}

std::vector<Lane*> Store::AllLanes() {
  std::vector<Lane*> all;
  for (auto& lane : write_) all.push_back(lane.get());
  if (keys_) all.push_back(keys_.get());
  for (auto& lane : read_) all.push_back(lane.get());
  return all;
}

void Store::SetGuard(Guard& guard) {
  for (Lane* lane : AllLanes()) lane->SetGuard(guard);
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

bool Store::IsUp() const {
  const auto up = [](const auto& lane) { return lane->is_up(); };
  return std::all_of(write_.begin(), write_.end(), up) && (!keys_ || keys_->is_up()) &&
         std::all_of(read_.begin(), read_.end(), up);
}

}  // namespace tenure::db
