#include "app/jobs.hpp"

#include <algorithm>
#include <future>
#include <optional>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kCountIntervalMs = 60'000;
constexpr std::int64_t kRetentionIntervalMs = 3'600'000;

/// Waits for an operation of sessions on the job's own thread. Throws its fault.
template <class Reply, class Submit>
Reply Await(Submit submit) {
  std::promise<db::Result<Reply>> promise;
  auto future = promise.get_future();
  submit([&promise](db::Result<Reply> result) { promise.set_value(std::move(result)); });
  db::Result<Reply> result = future.get();
  if (!result.ok()) throw result.fault();
  return std::move(result.value());
}

/// Batch after batch until one is not full. Returns the number of rows.
template <class Reply, class Submit>
std::int64_t RunToTheEnd(const std::atomic<bool>& stopping, Submit submit) {
  std::int64_t rows = 0;
  for (bool more = true; more && !stopping;) {
    const auto reply = Await<Reply>(submit);
    rows += reply.rows;
    more = reply.has_more;
  }
  return rows;
}

void Expire(sessions::Sessions& sessions, const std::atomic<bool>& stopping) {
  const std::int64_t begun = base::MeasureMicros();
  const std::int64_t rows = RunToTheEnd<sessions::BackgroundReply>(
      stopping, [&](auto done) { sessions.ExpireSome(std::move(done)); });
  sessions.probe().Expired(static_cast<std::size_t>(rows), base::MeasureMicros() - begun);
  if (rows > 0)
    base::LogInfo("sessions.expired", "marked overdue sessions as expired", {{"sessions", rows}});
}

void Remove(sessions::Sessions& sessions, const std::atomic<bool>& stopping) {
  const std::int64_t rows = RunToTheEnd<sessions::BackgroundReply>(
      stopping, [&](auto done) { sessions.RemoveSome(std::move(done)); });
  sessions.probe().Removed(static_cast<std::size_t>(rows));
  if (rows > 0)
    base::LogInfo("sessions.removed", "removed ended sessions after their retention",
                  {{"sessions", rows}});
}

void Count(sessions::Sessions& sessions) {
  const auto reply =
      Await<sessions::CountReply>([&](auto done) { sessions.CountActive(std::move(done)); });
  sessions.probe().ActiveCounted(reply.active);
}

}  // namespace

void AddSessionJobs(Background& background, sessions::Sessions& sessions,
                    const config::SessionSettings& settings) {
  background.Add("sessions.expiry", settings.expiry_interval_ms,
                 [&](const auto& stopping) { Expire(sessions, stopping); });
  background.Add("sessions.retention", std::min(settings.retention_ms, kRetentionIntervalMs),
                 [&](const auto& stopping) { Remove(sessions, stopping); });
  background.Add("sessions.count", std::min(settings.expiry_interval_ms, kCountIntervalMs),
                 [&](const auto&) { Count(sessions); });
}

void AddAnswerJob(Background& background, db::Store& store, db::ForgetHandler& forget) {
  background.Add("answers.retention", kRetentionIntervalMs, [&](const auto& stopping) {
    RunToTheEnd<db::ForgetReply>(stopping, [&](auto done) {
      store.WriteLane(0).Submit(std::make_unique<db::ForgetHandler::ItemType>(
          forget, nullptr, 0, db::ForgetRequest{}, std::move(done)));
    });
  });
}

}  // namespace tenure::app
