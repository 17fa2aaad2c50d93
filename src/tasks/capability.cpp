#include "tasks/capability.hpp"

#include "server/capability.hpp"
#include "tasks/tasks.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::tasks {
namespace {

void CountLocks(Tasks& tasks) {
  const auto listed = server::Await(tasks.List, kOwnTenant);
  for (const TaskView& task : listed.tasks)
    tasks.probe().LockAge(task.name, task.locked_ms > 0 ? listed.now_ms - task.locked_ms : 0);
}

server::Running Run(const server::Parts& parts, const server::Others&) {
  const auto object =
      std::make_shared<Tasks>(parts.store, parts.wake, parts.process, parts.clock, parts.metrics);
  Tasks& tasks = *object;
  server::Running running;
  running.object = object;
  running.type = typeid(Tasks);
  running.add_routes = [&tasks](http::Router& router) { AddRoutes(router, tasks); };
  running.tasks = {
      {"tasks.retention", server::kRetentionIntervalMs,
       [&tasks, retention_ms = parts.settings.tasks.retention_ms](const server::TaskRun& run) {
         server::SweepAll(run, tasks.ForgetUnused, ForgetTasksRequest{retention_ms},
                          {"tasks.tidied", "forgot tasks that nobody runs", "tasks"});
       }}};
  running.jobs = {{"gauges.tasks", server::kOftenMs, [&tasks](const auto&) { CountLocks(tasks); }}};
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "tasks",
          .needs = {"leases"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::tasks,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::tasks
