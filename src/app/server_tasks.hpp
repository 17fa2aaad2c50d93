#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/caller.hpp"
#include "leases/leases.hpp"
#include "tasks/tasks.hpp"
#include "tenure/leases/reliable_task.hpp"
#include "wake/registry.hpp"

namespace tenure::app {

/// Tenure's own reliable tasks: each process of the ensemble offers to run them, one does. Uses the
/// library as any other program would, on the server's own store.
///
/// Life: Add, Start, Stop; from one thread. A task has a thread of its own, which sleeps until it
/// is due or triggered.
class ServerTasks {
 public:
  /// Returns when the run is complete; throws when it is not. Every transaction of it is made with
  /// `FencedBy(context)`, so that a process that was paused past its lock changes nothing.
  using Work = std::function<void(const leases::TaskContext&)>;

  ServerTasks(leases::Leases& leases, tasks::Tasks& tasks, wake::Registry& wake,
              std::string instance);
  ~ServerTasks() { Stop(); }

  void Add(std::string name, std::int64_t interval_ms, Work work);
  void Start();
  /// Waits for what is under way to end; it is told to.
  void Stop();

  static base::Caller FencedBy(const leases::TaskContext& context);

 private:
  struct Entry {
    std::string name;
    std::int64_t interval_ms;
    Work work;
    std::unique_ptr<leases::ReliableTask> task;  // from Start to Stop
  };
  /// Offers a triggered task at once.
  void AwaitTrigger(Entry& entry);

  leases::Leases& leases_;
  tasks::Tasks& tasks_;
  wake::Registry& wake_;
  const std::string instance_;
  std::unique_ptr<leases::Manager> manager_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace tenure::app
