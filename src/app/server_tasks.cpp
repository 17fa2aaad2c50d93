#include "app/server_tasks.hpp"

#include <utility>

#include "base/log.hpp"
#include "providers/store_session.hpp"

namespace tenure::app {

ServerTasks::ServerTasks(leases::Leases& leases, tasks::Tasks& tasks, wake::Registry& wake,
                         std::string instance)
    : leases_(leases), tasks_(tasks), wake_(wake), instance_(std::move(instance)) {}

void ServerTasks::Add(std::string name, std::int64_t interval_ms, Work work) {
  auto entry = std::make_unique<Entry>();
  entry->name = std::move(name);
  entry->interval_ms = interval_ms;
  entry->work = std::move(work);
  entries_.push_back(std::move(entry));
}

base::Caller ServerTasks::FencedBy(const leases::TaskContext& context) {
  return {nullptr, {{tasks::kOwnTenant, context.lease, context.fence}}};
}

void ServerTasks::Start() {
  manager_ = std::make_unique<leases::Manager>(
      providers::MakeLocalProvider(leases_, tasks_, tasks::kOwnTenant));
  for (auto& entry : entries_) {
    leases::ReliableTaskOptions options;
    options.name = entry->name;
    options.interval = leases::Milliseconds(entry->interval_ms);
    options.holder = instance_;
    options.work = entry->work;
    options.finished = [](const leases::TaskContext& context, const std::string& error) {
      if (!error.empty())
        base::LogWarn("task.failed", "a task failed; it is tried again soon",
                      {{"task", context.task}, {"detail", error}});
    };
    entry->task = std::make_unique<leases::ReliableTask>(*manager_, std::move(options));
    AwaitTrigger(*entry);
  }
}

/// The registry's thread wakes the task and waits again; `Stop` of the registry comes before the
/// task's end (service.cpp), so the entry is there for as long as this may run.
void ServerTasks::AwaitTrigger(Entry& entry) {
  wake_.Wait(tasks::WakeKey({tasks::kOwnTenant, entry.name}), wake::Registry::kNever,
             [this, &entry] {
               entry.task->Wake();
               AwaitTrigger(entry);
             });
}

void ServerTasks::Stop() {
  for (auto& entry : entries_) entry->task.reset();
  manager_.reset();
}

}  // namespace tenure::app
