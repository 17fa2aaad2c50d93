#include "tasks/capability.hpp"

#include <functional>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "explain/explanation.hpp"
#include "server/capability.hpp"
#include "tasks/explain.hpp"
#include "tasks/tasks.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::tasks {
namespace {

/// As ops/alerts.yaml has it.
constexpr std::int64_t kLongMs = 300'000;

/// Of Tenure's own tasks.
explain::Glance GlanceOf(const ListReply& listed) {
  explain::Glance glance;
  std::int64_t failing = 0;
  for (const TaskView& task : listed.tasks) {
    if (task.row.failures > 0) {
      ++failing;
      glance.concerns.push_back({.name = "TenureTaskFails",
                                 .sentence = fmt::format("The last run of {} failed: {}", task.name,
                                                         explain::Shown(task.row.last_error)),
                                 .since_ms = task.row.last_started_ms,
                                 .link = "/tasks/" + explain::Segment(task.name),
                                 .command = "tenure why task " + task.name});
    }
    if (task.locked_ms > 0 && listed.now_ms - task.locked_ms > kLongMs)
      glance.concerns.push_back(
          {.name = "TenureTaskLockHeld",
           .sentence = fmt::format("A run of {} by {} has taken {}.", task.name,
                                   explain::Shown(task.holder),
                                   base::SpanText(listed.now_ms - task.locked_ms)),
           .since_ms = task.locked_ms,
           .link = "/tasks/" + explain::Segment(task.name),
           .command = "tenure why task " + task.name});
  }
  glance.figures = {{"failing", failing}};
  return glance;
}

void CountLocks(Tasks& tasks, explain::Latest& latest) {
  const auto listed = server::Await(tasks.List, kOwnTenant);
  for (const TaskView& task : listed.tasks)
    tasks.probe().LockAge(task.name, task.locked_ms > 0 ? listed.now_ms - task.locked_ms : 0);
  latest.Set(GlanceOf(listed));
}

/// Of the asker's tasks and Tenure's own. There are few: who has many offers them, and has to wait.
void FindNames(Tasks& tasks, const server::Search& search, base::Caller caller,
               server::Finder::Done done) {
  if (!search.MayBegin()) return done(server::FoundList());
  const auto add = [text = search.text](const ListReply& listed, server::FoundList& found) {
    for (const TaskView& task : listed.tasks)
      if (task.name.starts_with(text))
        found.push_back({"task", task.name, task.name, Explain(task, listed.now_ms).state});
  };
  base::Executor* const home = caller.home;
  auto then = [&tasks, add, home, tenant = search.tenant,
               done = std::move(done)](db::Result<ListReply> own) mutable {
    if (!own.ok()) return done(own.fault());
    server::FoundList found;
    add(own.value(), found);
    tasks.List(tenant, home,
               server::Finding(std::move(done), [add, found](const ListReply& theirs) {
                 server::FoundList all = found;
                 add(theirs, all);
                 return all;
               }));
  };
  tasks.List(std::string(kOwnTenant), std::move(caller), std::move(then));
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
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.tasks", server::kOftenMs,
                   [&tasks, latest](const auto&) { CountLocks(tasks, *latest); }}};
  running.finders = {{"ops:read", std::bind_front(FindNames, std::ref(tasks))}};
  running.glance = [latest] { return latest->Get(); };
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
