#pragma once

#include <cstdint>
#include <string>

#include "telemetry/metrics.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::tasks {

/// The metrics of reliable tasks, as verbs. Task names of users become labels: they are bounded by
/// what runs in this process.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics) : metrics_(metrics) {}

  void Began(const std::string& task, const leases::TaskRun& run, bool first_run);
  void Finished(const std::string& task, bool failed);
  /// How long the task's lock has been held; 0: nobody holds it.
  void LockAge(const std::string& task, std::int64_t age_ms);

 private:
  telemetry::Registry& metrics_;
};

}  // namespace tenure::tasks
