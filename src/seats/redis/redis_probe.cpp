#include "seats/redis/redis_probe.hpp"

#include <array>
#include <utility>
#include <vector>

namespace tenure::seats {
namespace {

constexpr std::array<const char*, 3> kPaths{"redis", "adopted", "sql"};
constexpr std::array<const char*, 5> kOutcomes{"renewed", "lost", "unknown", "forgotten",
                                               "revived"};
constexpr std::array<const char*, 3> kSaid{"dead", "alive", "absent"};
constexpr std::size_t kIdentityShown = 8;

telemetry::Counter& BumpsOf(telemetry::Registry& metrics, std::string_view reason) {
  return metrics.GetCounter("seat_ledger_bumps_total",
                            "Changes of the Redis that keeps heartbeats, by reason.",
                            {{"reason", std::string(reason)}});
}
telemetry::Counter& BeatsOf(telemetry::Registry& metrics, const char* path, const char* outcome) {
  return metrics.GetCounter("seat_ledger_beats_total",
                            "Heartbeats, by who answered them and what was answered.",
                            {{"path", path}, {"outcome", outcome}});
}
telemetry::Counter& TestimonyOf(telemetry::Registry& metrics, const char* said) {
  return metrics.GetCounter("seat_ledger_testimony_total",
                            "Seats of which a Redis was asked whether they are dead, by answer.",
                            {{"result", said}});
}

}  // namespace

RedisProbe::RedisProbe(telemetry::Registry& metrics)
    : metrics_(metrics),
      epoch_(metrics.GetGauge("seat_ledger_epoch", "How often that Redis has changed.")),
      frozen_(metrics.GetGauge("seat_ledger_frozen_seconds",
                               "For how long seats of the dead are kept after such a change.")),
      authority_(metrics.GetGauge("seat_ledger_authority_seconds",
                                  "For how long this process may use the Redis without asking the "
                                  "store again.")),
      requests_(metrics.GetHistogram("seat_ledger_request_seconds",
                                     "How long the Redis took for a batch.",
                                     telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)) {
  using Reason = Bump::Reason;
  for (const Reason reason : {Reason::kIdentity, Reason::kClock, Reason::kRestored,
                              Reason::kUnreachable, Reason::kOperator})
    BumpsOf(metrics, ToText(reason));
  for (const char* path : kPaths)
    for (const char* outcome : kOutcomes) beats_.push_back(&BeatsOf(metrics, path, outcome));
  for (const char* said : kSaid) TestimonyOf(metrics, said);
}

void RedisProbe::Beaten(Path path, const HeartbeatOutcome& outcome) {
  const auto* const beat = std::get_if<Beat>(&outcome);
  const std::size_t which = beat && beat->revived ? kOutcomes.size() - 1 : outcome.index();
  beats_.at(static_cast<std::size_t>(path) * kOutcomes.size() + which)->Add();
}

void RedisProbe::Bumped(Bump::Reason reason) { BumpsOf(metrics_, ToText(reason)).Add(); }

void RedisProbe::Testified(Said said, std::size_t count) {
  TestimonyOf(metrics_, kSaid.at(static_cast<std::size_t>(said))).Add(count);
}

void RedisProbe::Seen(const RedisEpoch& epoch, std::int64_t frozen_ms) {
  epoch_.Set(epoch.epoch);
  frozen_.Set(frozen_ms / 1'000);
  std::vector<std::pair<telemetry::Labels, std::int64_t>> info;
  if (epoch.identity)
    info.push_back({{{"identity", epoch.identity->substr(0, kIdentityShown)}}, 1});
  metrics_.ReplaceGauges("seat_ledger_info", "Which Redis keeps heartbeats.", info);
}

}  // namespace tenure::seats
