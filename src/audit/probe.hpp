#pragma once

#include <cstdint>
#include <string>

#include "telemetry/metrics.hpp"

namespace tenure::audit {

/// The metrics of the audit, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  /// Acts are seldom, and there are as many names as the program has: asking for the counter each
  /// time does no harm.
  void Recorded(const std::string& act);
  void Refused(std::uint64_t count) { refused_.Add(count); }
  void Forgotten(std::int64_t rows) { forgotten_.Add(static_cast<std::uint64_t>(rows)); }

 private:
  telemetry::Registry& metrics_;
  telemetry::Counter& refused_;
  telemetry::Counter& forgotten_;
};

}  // namespace tenure::audit
