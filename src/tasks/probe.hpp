#pragma once

#include <cstdint>
#include <string>

#include "tasks/task.hpp"
#include "telemetry/metrics.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::tasks {

/// The metrics of reliable tasks, as verbs. Only the names of Tenure's own tasks become labels; those
/// of tenants are nobody else's business, and they can make up as many as they like: their sum is
/// `other`.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics) : metrics_(metrics) {}

  void Began(const TaskKey& key, const leases::TaskRun& run, bool first_run);
  void Finished(const TaskKey& key, bool failed);
  /// Of a task of Tenure's own: how long its lock has been held; 0: nobody holds it.
  void LockAge(const std::string& task, std::int64_t age_ms);

 private:
  static std::string LabelOf(const TaskKey& task);

  telemetry::Registry& metrics_;
};

}  // namespace tenure::tasks
