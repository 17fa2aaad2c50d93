#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tenure::app {

/// What became of a job's runs, for /health.
struct JobReport {
  std::string name;
  std::int64_t runs = 0;
  std::int64_t last_run_wall_ms = 0;  ///< 0: not yet
  std::string last_error;             ///< empty: the last run went well
};

/// What each process does for itself on its own timer: the gauges of its metrics. What one process
/// does for all is a reliable task (server_tasks.hpp).
///
/// One thread, one job at a time; a job runs first one interval after the start. Life: Add, Start,
/// Stop.
class Background {
 public:
  /// Runs once; throws base::Fault when it could not. Must return soon after `stopping` turned
  /// true.
  using Job = std::function<void(const std::atomic<bool>& stopping)>;

  ~Background();
  void Add(std::string name, std::int64_t interval_ms, Job job);
  void Start();
  void Stop();
  std::vector<JobReport> Reports() const;

 private:
  struct Entry {
    JobReport report;
    std::int64_t interval_ms;
    std::int64_t due_boot_ms = 0;
    Job job;
  };
  void Loop();
  void Run(Entry& entry);

  std::vector<Entry>
      entries_;               // constant once started, except due_boot_ms (the thread's) and report
  mutable std::mutex mutex_;  // guards the reports and the wait
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace tenure::app
