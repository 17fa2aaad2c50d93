#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "seats/command.hpp"
#include "seats/redis/authority.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::seats {

/// The metrics of heartbeats in a Redis, as verbs.
class RedisProbe {
 public:
  enum class Path { kRedis, kAdopted, kStore };
  /// What a look at seats that only a Redis keeps said of one.
  enum class Said { kDead, kAlive, kAbsent };

  explicit RedisProbe(telemetry::Registry& metrics);

  void Beaten(Path path, const HeartbeatOutcome& outcome);
  void Bumped(Bump::Reason reason);
  void Testified(Said said, std::size_t count);
  void AskedRedis(std::int64_t micros) { requests_.Observe(micros); }
  void Seen(const RedisEpoch& epoch, std::int64_t frozen_ms);
  void MayUse(std::int64_t authority_ms) { authority_.Set(authority_ms / 1'000); }

 private:
  telemetry::Registry& metrics_;
  std::vector<telemetry::Counter*> beats_;
  telemetry::Gauge& epoch_;
  telemetry::Gauge& frozen_;
  telemetry::Gauge& authority_;
  telemetry::Histogram& requests_;
};

}  // namespace tenure::seats
