#include "usage/capability.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "explain/explanation.hpp"
#include "http/outgoing.hpp"
#include "messages/messages.hpp"
#include "server/capability.hpp"
#include "sessions/sessions.hpp"
#include "usage/sender.hpp"
#include "usage/usage.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

using server::Await;
using server::TaskRun;

constexpr std::int64_t kMinWindowsIntervalMs = 1'000;
constexpr std::int64_t kMaxWindowsIntervalMs = 10'000;
/// The missing windows follow one by one, at most so many in a run; the next run goes on.
constexpr int kWindowsPerRun = 100;

Options OptionsOf(const config::UsageSettings& settings) {
  return {.interval_ms = settings.interval_ms,
          .factors = {settings.factor_1, settings.factor_2, settings.factor_3},
          .chunk_size = settings.chunk,
          .retention_ms = settings.retention_ms,
          .send = !settings.endpoint.empty()};
}

/// How chunks reach the receiver: each request is a trace of its own, which the receiver may go on.
Sender::PostFunction PostTo(const config::UsageSettings& settings, http::Outgoing& outgoing,
                            telemetry::Tracer& tracer) {
  return [&settings, &outgoing, &tracer](Post post, base::UniqueFunction<PostReply> done) {
    telemetry::Span span = tracer.Start("Usage.Send", std::nullopt, telemetry::SpanKind::kClient);
    span.Set("usage.key", post.idempotency_key);
    http::OutgoingRequest request;
    request.url = settings.endpoint;
    if (const auto context = span.context())
      request.headers.emplace_back("traceparent", FormatTraceParent(*context));
    request.headers.emplace_back("Idempotency-Key", std::move(post.idempotency_key));
    if (!settings.auth.empty())
      request.headers.emplace_back(settings.auth_header, settings.auth.Reveal());
    request.body = std::move(post.body);
    outgoing.Send(std::move(request), [done = std::move(done),
                                       span = std::move(span)](http::OutgoingReply reply) mutable {
      span.Set("http.response.status_code", reply.status);
      if (!reply.acknowledged()) span.Fail();
      span.End();
      done({reply.status, std::move(reply.body), reply.retry_after_ms, std::move(reply.error)});
    });
  };
}

struct Process {
  Process(const server::Parts& parts, const server::Others& others)
      : messages(others.Of<messages::Messages>()),
        usage(parts.store, others.Of<sessions::Sessions>(), messages, parts.wake,
              OptionsOf(parts.settings.usage), parts.metrics),
        outgoing({}) {
    if (usage.options().send && parts.settings.workers)
      sender = std::make_unique<Sender>(usage, messages, parts.wake, parts.installation,
                                        PostTo(parts.settings.usage, outgoing, parts.tracer));
  }

  messages::Messages& messages;
  Usage usage;
  http::Outgoing outgoing;
  std::unique_ptr<Sender> sender;  // null: nobody is told, or others do it
};

void CloseWindows(Usage& usage, const TaskRun& run) {
  for (int i = 0; i < kWindowsPerRun && !run.stop.stop_requested(); ++i) {
    const auto reply = Await<SealReply>([&](auto done) { usage.SealNext(std::move(done)); });
    if (!reply.sealed) break;
  }
  while (!run.stop.stop_requested()) {
    auto ranges = Await<RangesReply>([&](auto done) { usage.FindRanges(std::move(done)); });
    if (!ranges.window) return;
    Await(usage.Emit, std::move(ranges));
  }
}

/// None of it needs the task's fence: whatever two processes do at once, one of them finds it done.
std::vector<server::Task> Tasks(Usage& usage) {
  // Oftener than windows end: a window is closed soon after its end, wherever that lies. A run
  // without a window that is due is a look.
  const std::int64_t windows_ms =
      std::clamp(usage.options().interval_ms / 6, kMinWindowsIntervalMs, kMaxWindowsIntervalMs);
  return {{"usage.windows", windows_ms, [&usage](const TaskRun& run) { CloseWindows(usage, run); }},
          {"usage.settle", server::kRetentionIntervalMs, [&usage](const TaskRun& run) {
             server::RunToTheEnd<db::Swept>(run,
                                            [&](auto done) { usage.TidySome(std::move(done)); });
           }}};
}

explain::Glance GlanceOf(const UnsentReply& unsent) {
  explain::Glance glance{
      .figures = {{"unsent", unsent.records}, {"refused", unsent.refused_records}}};
  if (unsent.refused_records > 0)
    glance.concerns.push_back(
        {.name = "TenureUsageRefused",
         .severity = explain::Severity::kCritical,
         .sentence = fmt::format(
             "The receiver refuses {}: it says that they are wrong.",
             explain::Counted(unsent.refused_records, "one usage record", "usage records")),
         .since_ms = unsent.oldest_ms,
         .link = "/usage",
         .command = "tenure usage windows"});
  return glance;
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const auto process = std::make_shared<Process>(parts, others);
  Process& self = *process;
  Usage& usage = self.usage;
  server::Running running;
  running.object = {process, &usage};
  running.type = typeid(Usage);
  running.add_routes = [&self](http::Router& router) {
    AddRoutes(router, self.usage, self.messages);
  };
  running.tasks = Tasks(usage);
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.usage", server::kOftenMs, [&usage, latest](const auto&) {
                     const auto unsent = Await(usage.CountUnsent);
                     usage.probe().UnsentCounted(unsent.records, unsent.refused_records);
                     latest->Set(GlanceOf(unsent));
                   }}};
  running.glance = [latest] { return latest->Get(); };
  if (!self.sender) return running;
  running.start = [&self] {
    self.outgoing.Start();
    self.sender->Start();
  };
  running.stop_waiting = [&self] {
    self.sender->Stop();
    self.outgoing.Stop();
  };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "usage",
          .needs = {"messages", "sessions"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::usage,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::usage
