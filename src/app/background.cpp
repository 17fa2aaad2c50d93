#include "app/background.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "client/store/lease_provider.hpp"

namespace tenure::app {
namespace {

/// For how long the work of a server that was killed stands still before another one takes it over, and
/// how long Tenure's own tasks are frozen after a restore. It is renewed every quarter of that, also
/// while the work waits for the store. A server that was paused for longer changes nothing more.
constexpr std::int64_t kOwnLockMs = 30'000;

}  // namespace

Background::~Background() { Stop(); }

void Background::Add(server::Job job) {
  JobReport report{.name = job.name};
  jobs_.push_back({.report = std::move(report), .job = std::move(job)});
}

void Background::Start() {
  const std::int64_t now_ms = base::SystemClock().BootMs();
  // At once: until a gauge has been counted it is 0, which is not so.
  for (ScheduledJob& scheduled : jobs_) scheduled.due_boot_ms = now_ms;
  thread_ = std::thread([this] { Loop(); });
}

void Background::Stop() {
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::Loop() {
  if (jobs_.empty()) return;
  while (!stopping_) {
    auto next = std::min_element(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
      return a.due_boot_ms < b.due_boot_ms;
    });
    const std::int64_t wait_ms = next->due_boot_ms - base::SystemClock().BootMs();
    if (wait_ms > 0) {
      base::Lock lock(mutex_);
      wake_.wait_for(lock.native(), std::chrono::milliseconds(wait_ms),
                     [&] { return stopping_.load(); });
      continue;
    }
    Run(*next);
    next->due_boot_ms = base::SystemClock().BootMs() + next->job.interval_ms;
  }
}

void Background::Run(ScheduledJob& scheduled) {
  std::string error;
  try {
    scheduled.job.run(stopping_);
  } catch (const std::exception& thrown) {
    error = thrown.what();
    base::LogWarn("background.failed", "a background job failed; it runs again after its interval",
                  {{"job", scheduled.report.name}, {"detail", error}});
  }
  const base::Lock lock(mutex_);
  ++scheduled.report.runs;
  scheduled.report.last_run_wall_ms = base::SystemClock().WallMs();
  scheduled.report.last_error = error;
}

std::vector<JobReport> Background::Reports() const {
  const base::Lock lock(mutex_);
  std::vector<JobReport> reports;
  for (const ScheduledJob& scheduled : jobs_) reports.push_back(scheduled.report);
  return reports;
}

ServerTasks::ServerTasks(leases::Leases& leases, tasks::Tasks& tasks, wake::Registry& wake,
                         std::string instance)
    : leases_(leases), tasks_(tasks), wake_(wake), instance_(std::move(instance)) {}

void ServerTasks::Add(server::Task task) {
  own_.push_back(std::make_unique<ServerTask>(ServerTask{.offered = std::move(task)}));
}

void ServerTasks::Start() {
  manager_ = std::make_unique<leases::Manager>(
      client::MakeLocalProvider(leases_, tasks_, tasks::kOwnTenant));
  for (auto& own : own_) {
    leases::ReliableTaskOptions options;
    options.name = own->offered.name;
    options.interval = leases::Milliseconds(own->offered.interval_ms);
    options.lock_timeout = leases::Milliseconds(kOwnLockMs);
    options.holder = instance_;
    options.work = [&work = own->offered.work](const leases::TaskContext& context) {
      work({.caller = {nullptr, {{tasks::kOwnTenant, context.lease, context.fence}}},
            .stop = context.stop});
    };
    own->task = std::make_unique<leases::ReliableTask>(*manager_, std::move(options));
    AwaitTrigger(*own);
  }
}

/// The registry's thread wakes the task and waits again; `Stop` of the registry comes before the
/// task's end (service.cpp), so the task is there for as long as this may run.
void ServerTasks::AwaitTrigger(ServerTask& own) {
  wake_.Wait(tasks::WakeKey({tasks::kOwnTenant, own.offered.name}), wake::Registry::kNever,
             [this, &own] {
               own.task->Wake();
               AwaitTrigger(own);
             });
}

void ServerTasks::Stop() {
  for (auto& own : own_) own->task.reset();
  manager_.reset();
}

}  // namespace tenure::app
