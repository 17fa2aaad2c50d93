#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/metrics.hpp"

namespace tenure::webhooks {

/// What became of a webhook.
enum class Outcome : std::uint8_t {
  kStored,
  kDuplicate,
  kPing,
  kForbidden,
  kTooOften,
  kBadSignature,
  kUnsupported,
  kInvalid,
  kNoSecrets,
  kNoRoom,  ///< in the queue of one of the bots that want it
  kFailed,  ///< the store could not take it
};
std::string_view ToText(Outcome outcome);

/// The metrics of webhooks, as verbs. Any thread.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  /// `source` is one that is known; `event` as it was sent.
  void Answered(std::string_view source, std::string_view event, Outcome outcome,
                std::int64_t took_us);
  /// A message went by its entity, its repository or its owner, because the rule of its bot did not
  /// apply.
  void FellBack(std::string_view event);
  void SecretsRead(const std::string& source, std::int64_t count);
  void Forgotten(std::int64_t rows) { forgotten_.Add(static_cast<std::uint64_t>(rows)); }

 private:
  telemetry::Registry& metrics_;
  telemetry::Histogram& intake_;
  telemetry::Counter& forgotten_;
};

}  // namespace tenure::webhooks
