#include "tasks/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::tasks {
namespace {

using base::SpanText;
using base::UtcText;
using explain::Explanation;
using explain::Shown;

std::string AgoText(std::int64_t ms, std::int64_t now_ms) {
  return SpanText(std::max<std::int64_t>(0, now_ms - ms)) + " ago";
}

void AddRun(Explanation& out, const TaskView& task, std::int64_t now_ms) {
  out.state = "claimed";
  out.Because({.code = "runs",
               .text = fmt::format("{} runs {} since {} ({}).", Shown(task.holder), task.name,
                                   UtcText(task.locked_ms), AgoText(task.locked_ms, now_ms)),
               .since_ms = task.locked_ms,
               .until_ms = task.lock_expires_ms});
  out.next = {fmt::format("If it is not heard of before, its lock ends at {}, and another process "
                          "begins the run again.",
                          UtcText(task.lock_expires_ms)),
              task.lock_expires_ms};
}

void AddDue(Explanation& out, const TaskRow& row, std::string_view name, std::int64_t now_ms) {
  const std::int64_t due_ms = DueMs(row);
  if (due_ms <= now_ms) {
    out.state = "due";
    out.Because(
        {.code = "due",
         .text = fmt::format("{} is due since {}, and no process runs it.", name, UtcText(due_ms)),
         .since_ms = due_ms});
    out.next = {"The first process that offers to run it does.", 0};
    return;
  }
  out.state = row.failures > 0 ? "failed" : "ok";
  out.Because(
      {.code = "waits",
       .text = fmt::format("{} waits for its time: it runs every {}.", name,
                           base::DurationText(std::max<std::int64_t>(row.interval_ms, 0)))});
  out.next = {fmt::format("It is due at {}.", UtcText(due_ms)), due_ms};
}

void AddLast(Explanation& out, const TaskRow& row) {
  if (row.failures > 0)
    out.Because(
        {.code = "failed",
         .text = fmt::format("{} ({}).",
                             explain::Counted(row.failures, "The last run failed",
                                              "runs failed, one after another"),
                             row.last_error.empty() ? "nobody said why" : Shown(row.last_error)),
         .since_ms = row.last_started_ms});
  else if (row.last_finished_ms > 0)
    out.Because(
        {.code = "last-run",
         .text = fmt::format("The last run was complete at {}.", UtcText(row.last_finished_ms)),
         .since_ms = row.last_finished_ms});
  else
    out.Because({.code = "never-ran", .text = "No run of it was ever complete."});
}

}  // namespace

Explanation Explain(const TaskView& task, std::int64_t now_ms) {
  Explanation out{.kind = "task", .id = task.name, .docs = "docs/leases.md"};
  if (task.locked_ms > 0)
    AddRun(out, task, now_ms);
  else
    AddDue(out, task.row, task.name, now_ms);
  AddLast(out, task.row);
  out.actions = {{.act = "task.run",
                  .title = fmt::format("Run {} now", task.name),
                  .scope = "admin",
                  .method = "POST",
                  .path = fmt::format("/api/v1/tasks/{}/run", explain::Segment(task.name)),
                  .command = "tenure task run " + explain::Word(task.name)}};
  return out;
}

}  // namespace tenure::tasks
