#include "app/jobs.hpp"

#include <algorithm>
#include <future>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kCountIntervalMs = 60'000;
constexpr std::int64_t kRetentionIntervalMs = 3'600'000;
constexpr std::int64_t kMinWindowsIntervalMs = 1'000;
constexpr std::int64_t kMaxWindowsIntervalMs = 10'000;
constexpr std::int64_t kOftenMs = 10'000;
/// Dedup keys last minutes, and there may be many.
constexpr std::int64_t kMessageRetentionIntervalMs = 60'000;

/// Waits for an operation on the job's own thread. Throws its fault.
template <class Reply, class Submit>
Reply Await(Submit submit) {
  std::promise<db::Result<Reply>> promise;
  auto future = promise.get_future();
  submit([&promise](db::Result<Reply> result) { promise.set_value(std::move(result)); });
  db::Result<Reply> result = future.get();
  if (!result.ok()) throw result.fault();
  return std::move(result.value());
}

/// Batch after batch until one is not full. Returns the number of rows. A run that is told to stop
/// before that is not complete: it throws.
template <class Reply, class Submit>
std::int64_t RunToTheEnd(const leases::TaskContext& context, Submit submit) {
  std::int64_t rows = 0;
  for (bool more = true; more;) {
    if (context.stop.stop_requested())
      throw base::Fault(base::FaultKind::kStopping, "was told to stop before it was complete");
    const auto reply = Await<Reply>(submit);
    rows += reply.rows;
    more = reply.has_more;
  }
  return rows;
}

void Expire(sessions::Sessions& sessions, const leases::TaskContext& context) {
  const std::int64_t begun = base::MeasureMicros();
  const std::int64_t rows = RunToTheEnd<sessions::BackgroundReply>(context, [&](auto done) {
    sessions.ExpireSome(ServerTasks::FencedBy(context), std::move(done));
  });
  sessions.probe().Expired(static_cast<std::size_t>(rows), base::MeasureMicros() - begun);
  if (rows > 0)
    base::LogInfo("sessions.expired", "marked overdue sessions as expired", {{"sessions", rows}});
}

void Remove(sessions::Sessions& sessions, const leases::TaskContext& context) {
  const std::int64_t rows = RunToTheEnd<sessions::BackgroundReply>(context, [&](auto done) {
    sessions.RemoveSome(ServerTasks::FencedBy(context), std::move(done));
  });
  sessions.probe().Removed(static_cast<std::size_t>(rows));
  if (rows > 0)
    base::LogInfo("sessions.removed", "removed ended sessions after their retention",
                  {{"sessions", rows}});
}

void Tidy(leases::Leases& leases, const config::LeaseSettings& settings,
          const leases::TaskContext& context) {
  leases::TidyRequest request{settings.history_ms, settings.retention_ms, {}};
  const std::int64_t rows = RunToTheEnd<leases::TidyReply>(context, [&](auto done) {
    leases.TidySome(
        request, ServerTasks::FencedBy(context),
        [&request, done = std::move(done)](db::Result<leases::TidyReply> result) mutable {
          if (result.ok()) request.after = result.value().after;
          done(std::move(result));
        });
  });
  if (rows > 0)
    base::LogInfo("leases.tidied", "forgot past grants and unused names", {{"rows", rows}});
}

void Forget(inbox::Inbox& inbox, const config::InboxSettings& settings,
            const leases::TaskContext& context) {
  const std::int64_t rows = RunToTheEnd<inbox::TidyReply>(context, [&](auto done) {
    inbox.TidySome({settings.retention_ms}, ServerTasks::FencedBy(context), std::move(done));
  });
  inbox.probe().Forgotten(rows);
  if (rows > 0)
    base::LogInfo("inbox.forgotten", "removed inbound messages after their retention",
                  {{"messages", rows}});
}

void Tidy(messages::Messages& messages, const leases::TaskContext& context) {
  const std::int64_t rows = RunToTheEnd<messages::TidyReply>(context, [&](auto done) {
    messages.TidySome({}, ServerTasks::FencedBy(context), std::move(done));
  });
  if (rows > 0)
    base::LogInfo("messages.tidied", "forgot finished messages, keys and redriven dead letters",
                  {{"rows", rows}});
}

void Forget(audit::Audit& audit, const config::AuditSettings& settings,
            const leases::TaskContext& context) {
  const std::int64_t rows = RunToTheEnd<audit::ForgetReply>(context, [&](auto done) {
    audit.ForgetSome({settings.retention_ms}, ServerTasks::FencedBy(context), std::move(done));
  });
  audit.probe().Forgotten(rows);
  if (rows > 0)
    base::LogInfo("audit.forgotten", "removed entries of the audit after their retention",
                  {{"entries", rows}});
}

/// The missing windows follow one by one, at most so many in a run; the next run goes on.
constexpr int kWindowsPerRun = 100;

void CloseWindows(usage::Usage& usage, const leases::TaskContext& context) {
  for (int i = 0; i < kWindowsPerRun && !context.stop.stop_requested(); ++i) {
    const auto reply = Await<usage::SealReply>([&](auto done) { usage.SealNext(std::move(done)); });
    if (!reply.sealed) break;
  }
  while (!context.stop.stop_requested()) {
    auto ranges = Await<usage::RangesReply>([&](auto done) { usage.FindRanges(std::move(done)); });
    if (!ranges.window) return;
    Await<usage::EmitReply>([&](auto done) { usage.Emit(std::move(ranges), std::move(done)); });
  }
}

void Settle(usage::Usage& usage, const leases::TaskContext& context) {
  RunToTheEnd<usage::SettleReply>(context, [&](auto done) { usage.Settle(std::move(done)); });
}

}  // namespace

void AddUsageTasks(ServerTasks& tasks, usage::Usage& usage) {
  // Oftener than windows end: a window is closed soon after its end, wherever that lies. A run
  // without a window that is due is a look. None of it needs the task's fence: whatever two
  // processes do at once, one of them finds it done.
  tasks.Add(
      "usage.windows",
      std::clamp(usage.options().interval_ms / 6, kMinWindowsIntervalMs, kMaxWindowsIntervalMs),
      [&](const auto& context) { CloseWindows(usage, context); });
  tasks.Add("usage.settle", kRetentionIntervalMs,
            [&](const auto& context) { Settle(usage, context); });
}

void AddSessionTasks(ServerTasks& tasks, sessions::Sessions& sessions,
                     const config::SessionSettings& settings) {
  tasks.Add("sessions.expiry", settings.expiry_interval_ms,
            [&](const auto& context) { Expire(sessions, context); });
  tasks.Add("sessions.retention", std::min(settings.retention_ms, kRetentionIntervalMs),
            [&](const auto& context) { Remove(sessions, context); });
}

void AddAnswerTask(ServerTasks& tasks, db::Store& store, db::ForgetHandler& forget) {
  tasks.Add("answers.retention", kRetentionIntervalMs, [&](const auto& context) {
    RunToTheEnd<db::ForgetReply>(context, [&](auto done) {
      store.WriteLane(0).Submit(std::make_unique<db::ForgetHandler::ItemType>(
          forget, ServerTasks::FencedBy(context), 0, db::ForgetRequest{}, std::move(done)));
    });
  });
}

void AddLeaseTask(ServerTasks& tasks, leases::Leases& leases,
                  const config::LeaseSettings& settings) {
  tasks.Add("leases.retention", std::min(settings.history_ms, kRetentionIntervalMs),
            [&](const auto& context) { Tidy(leases, settings, context); });
}

void AddInboxTask(ServerTasks& tasks, inbox::Inbox& inbox, const config::InboxSettings& settings) {
  tasks.Add("inbox.retention", std::min(settings.retention_ms, kRetentionIntervalMs),
            [&](const auto& context) { Forget(inbox, settings, context); });
}

void AddMessageTask(ServerTasks& tasks, messages::Messages& messages) {
  tasks.Add("messages.retention", kMessageRetentionIntervalMs,
            [&](const auto& context) { Tidy(messages, context); });
}

void AddAuditTask(ServerTasks& tasks, audit::Audit& audit, const config::AuditSettings& settings) {
  if (settings.retention_ms == 0) return;
  tasks.Add("audit.retention", std::min(settings.retention_ms, kRetentionIntervalMs),
            [&](const auto& context) { Forget(audit, settings, context); });
}

void AddRefusalSums(Background& background, audit::Audit& audit) {
  background.Add("audit.refusals", kOftenMs, [&](const auto&) { audit.refusals().Flush(); });
}

void AddMessageGauges(Background& background, messages::Messages& messages) {
  background.Add("gauges.messages", kOftenMs, [&](const auto&) {
    messages.probe().Counted(
        Await<messages::CountsReply>([&](auto done) { messages.Count(std::move(done)); }));
  });
}

void AddTaskGauges(Background& background, tasks::Tasks& tasks) {
  background.Add("gauges.tasks", kOftenMs, [&](const auto&) {
    const auto listed = Await<tasks::ListReply>(
        [&](auto done) { tasks.List(tasks::kOwnTenant, nullptr, std::move(done)); });
    for (const tasks::TaskView& task : listed.tasks)
      tasks.probe().LockAge(task.name, task.locked_ms > 0 ? listed.now_ms - task.locked_ms : 0);
  });
}

void AddUsageGauges(Background& background, usage::Usage& usage) {
  background.Add("gauges.usage", kOftenMs, [&](const auto&) {
    const auto unsent =
        Await<usage::UnsentReply>([&](auto done) { usage.CountUnsent(std::move(done)); });
    usage.probe().UnsentCounted(unsent.records, unsent.refused_records);
  });
}

void AddGauges(Background& background, sessions::Sessions& sessions, leases::Leases& leases,
               inbox::Inbox& inbox, std::int64_t interval_ms) {
  background.Add("gauges", std::min(interval_ms, kCountIntervalMs), [&](const auto&) {
    sessions.probe().ActiveCounted(Await<sessions::CountReply>([&](auto done) {
                                     sessions.CountActive(std::move(done));
                                   }).active);
    leases.probe().ActiveCounted(
        Await<leases::CountReply>([&](auto done) { leases.CountActive(std::move(done)); }).active);
    inbox.probe().StuckCounted(
        Await<inbox::CountReply>([&](auto done) { inbox.CountStuck(std::move(done)); }).stuck);
  });
}

}  // namespace tenure::app
