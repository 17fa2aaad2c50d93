#include "tasks/explain.hpp"

#include <gmock/gmock.h>

namespace tenure::tasks {
namespace {

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

struct WhyTaskCase {
  std::string_view code;
  std::string_view state;
  TaskView task;
  std::string sentence;
  std::string next;
};

TEST(WhyTask, SaysWhoRunsItOrWhenItIsDueAndWhatBecameOfTheLastRun) {
  TaskView task;
  task.name = "usage.windows";
  task.row.interval_ms = 60'000;
  task.row.next_ms = kWhyNow + 30'000;
  TaskView done = task;
  done.row.last_finished_ms = kWhyNow - 30'000;
  TaskView failed = done;
  failed.row.failures = 1;
  failed.row.last_error = "no\nendpoint";
  TaskView failing = failed;
  failing.row.failures = 4;
  failing.row.last_error = "";
  TaskView due = done;
  due.row.next_ms = kWhyNow - 60'000;
  TaskView running = done;
  running.holder = "web-1";
  running.locked_ms = kWhyNow - 90'000;
  running.lock_expires_ms = kWhyNow + 30'000;
  const std::string complete = " The last run was complete at 2026-01-01T10:59:30.000Z.";
  const std::string waits = "usage.windows waits for its time: it runs every 1m.";
  const std::string then = "It is due at 2026-01-01T11:00:30.000Z.";
  const std::vector<WhyTaskCase> cases{
      {"waits", "ok", task, waits + " No run of it was ever complete.", then},
      {"waits", "ok", done, waits + complete, then},
      {"waits", "failed", failed, waits + " The last run failed (no endpoint).", then},
      {"waits", "failed", failing, waits + " 4 runs failed, one after another (nobody said why).",
       then},
      {"due", "due", due,
       "usage.windows is due since 2026-01-01T10:59:00.000Z, and no process runs it." + complete,
       "The first process that offers to run it does."},
      {"runs", "claimed", running,
       "web-1 runs usage.windows since 2026-01-01T10:58:30.000Z (1m 30s ago)." + complete,
       "If it is not heard of before, its lock ends at 2026-01-01T11:00:30.000Z, and another "
       "process begins the run again."},
  };
  for (const WhyTaskCase& each : cases) {
    const explain::Explanation why = Explain(each.task, kWhyNow);
    EXPECT_EQ(why.because.front().code, each.code);
    EXPECT_EQ(why.state, each.state);
    EXPECT_EQ(why.Sentence(), each.sentence);
    EXPECT_EQ(why.next.text, each.next);
  }
}

TEST(WhyTask, ItsActNamesIt) {
  TaskView task;
  task.name = "acme/report";
  EXPECT_EQ(Explain(task, kWhyNow).actions.front().path, "/api/v1/tasks/acme%2Freport/run");
}

}  // namespace
}  // namespace tenure::tasks
