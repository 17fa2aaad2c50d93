#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "leases/leases.hpp"
#include "server/capability.hpp"
#include "tasks/tasks.hpp"
#include "tenure/leases/reliable_task.hpp"
#include "wake/registry.hpp"

namespace tenure::app {

/// What became of a job's runs, for /health.
struct JobReport {
  std::string name{};
  std::int64_t runs = 0;
  std::int64_t last_run_wall_ms = 0;  ///< 0: not yet
  std::string last_error{};           ///< empty: the last run went well
};

/// What each process does for itself on its own timer: the gauges of its metrics. What one process
/// does for all is a reliable task (ServerTasks).
///
/// One thread, one job at a time; a job runs first one interval after the start. Life: Add, Start,
/// Stop.
class Background {
 public:
  ~Background();
  void Add(server::Job job);
  void Start();
  void Stop();
  std::vector<JobReport> Reports() const;

 private:
  struct ScheduledJob {
    JobReport report{};
    server::Job job{};
    std::int64_t due_boot_ms = 0;
  };
  void Loop();
  void Run(ScheduledJob& scheduled);

  std::vector<ScheduledJob>
      jobs_;  // constant once started, except due_boot_ms (the thread's) and report
  mutable base::Mutex mutex_;  // guards the reports and the wait
  std::condition_variable wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// Tenure's own reliable tasks: each process of the ensemble offers to run them, one does. Uses the
/// library as any other program would, on the server's own store.
///
/// Life: Add, Start, Stop; from one thread. A task has a thread of its own, which sleeps until it
/// is due or triggered.
class ServerTasks {
 public:
  ServerTasks(leases::Leases& leases, tasks::Tasks& tasks, wake::Registry& wake,
              std::string instance);
  ~ServerTasks() { Stop(); }

  void Add(server::Task task);
  void Start();
  /// Waits for what is under way to end; it is told to.
  void Stop();

 private:
  struct ServerTask {
    server::Task offered;
    std::unique_ptr<leases::ReliableTask> task{};  // from Start to Stop
  };
  /// Offers a triggered task at once.
  void AwaitTrigger(ServerTask& own);

  leases::Leases& leases_;
  tasks::Tasks& tasks_;
  wake::Registry& wake_;
  const std::string instance_;
  std::unique_ptr<leases::Manager> manager_;
  std::vector<std::unique_ptr<ServerTask>> own_;
};

}  // namespace tenure::app
