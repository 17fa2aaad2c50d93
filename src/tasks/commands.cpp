#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "config/printable.hpp"
#include "tasks/capability.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::tasks {
namespace {

std::string Interval(const cli::JsonRow& task, std::string_view field,
                     std::optional<std::int64_t>) {
  return base::DurationText(std::max<std::int64_t>(task.Number(field), 0));
}

/// A task's lock is a lease of the same name.
std::string TaskName(const cli::Flag&, const std::string& text) {
  if (leases::IsLeaseName(text)) return text;
  throw cli::UsageError(fmt::format("{} is no task's name", config::Quoted(text)));
}

}  // namespace

cli::Commands Commands() {
  using namespace cli;  // the words of its tables
  return {Asking({.words = "task list",
                  .summary = "List the reliable tasks and their runs",
                  .notes = "FAILURES counts since the last run that was complete; RUNS AT is who "
                           "runs it now.\n\nExample:\n  tenure task list\n",
                  .path = "/api/v1/tasks",
                  .columns = {{"TASK", 0, "name"},
                              {"EVERY", 0, "interval_ms", Interval},
                              {"NEXT", 0, "next_run_at", In},
                              {"LAST", 0, "last_run_at", Ago},
                              {"RUNS", 0, "runs"},
                              {"FAILURES", 0, "failures"},
                              {"RUNS AT", 0, "holder", OrDash},
                              {"LAST ERROR", 0, "last_error", OrDash}},
                  .top = {"tasks", "task"}}),
          Asking({.words = "task run",
                  .summary = "Run a reliable task now",
                  .notes = "It becomes due at once, and the first process that offers to run it "
                           "does; while a run goes\non, one more follows it. Exit code 3 when "
                           "there is no such task.\n\nExample:\n"
                           "  tenure task run sessions.expiry\n",
                  .flags = {Argument("NAME", "The task.", TaskName).Named({"/api/v1/tasks"})},
                  .method = http::Method::kPost,
                  .on_record = true,
                  .path = "/api/v1/tasks/{NAME}/run",
                  .print = Sentence("{NAME} will run; `tenure task list` shows it")}),
          Asking({.words = "why task",
                  .summary = "Say who runs a reliable task, or when it is due",
                  .notes = "And what became of its last run. Exit code 3 when there is none.\n\n"
                           "Example:\n  tenure why task sessions.expiry\n",
                  .flags = {Argument("NAME", "The task.", TaskName).Named({"/api/v1/tasks"})},
                  .path = "/api/v1/why/task/{NAME}",
                  .print = Explained(),
                  .part = Part::kExplain})};
}

}  // namespace tenure::tasks
