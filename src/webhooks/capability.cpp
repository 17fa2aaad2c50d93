#include "webhooks/capability.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/audit.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"
#include "messages/messages.hpp"
#include "queues/queues.hpp"
#include "webhooks/bots/read.hpp"
#include "webhooks/intake.hpp"
#include "webhooks/routes.hpp"
#include "webhooks/shown_events.hpp"
#include "webhooks/webhooks.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

using server::TaskRun;

constexpr std::int64_t kBotsIntervalMs = 1'000;
constexpr std::int64_t kSecretsIntervalMs = 10'000;

struct Process {
  Process(const server::Parts& parts, messages::Messages& messages, audit::Audit& audit)
      : webhooks(parts.store, parts.wake, messages, parts.metrics,
                 {.dedup_ms = parts.settings.webhooks.dedup_ms}),
        intake(webhooks, parts.clock,
               {.max_body_bytes = parts.settings.webhooks.max_body_bytes,
                .bytes_in_flight = parts.settings.webhooks.bytes_in_flight,
                .refusals = &audit.refusals()}) {}

  Webhooks webhooks;
  Intake intake;
};

/// What another process applied is known here soon also when no webhook comes.
void LearnBots(Webhooks& webhooks) {
  const auto reply =
      server::Await(webhooks.InForce, InForceRequest{webhooks.bots().Get()->revision});
  if (reply.bots) webhooks.bots().Put(reply.bots);
}

void MeasureTopics(Webhooks& webhooks) {
  const SnapshotPtr bots = webhooks.bots().Get();
  const TopicSizesRequest limited = FullTopics::Limited(*bots);
  TopicSizesReply sizes;
  if (!limited.bots.empty()) sizes = server::Await(webhooks.TopicSizes, limited);
  webhooks.full_topics().Learn(*bots, limited, sizes);
}

void WriteHooks(Webhooks& webhooks) {
  const NoteHooksRequest seen = webhooks.hooks().Take();
  if (seen.hooks.empty() && seen.refused.empty()) return;
  try {
    server::Await(webhooks.NoteHooksSeen, seen);
  } catch (const base::Fault&) {
    webhooks.hooks().PutBack(seen);
    throw;
  }
}

void RunRetention(Webhooks& webhooks, const config::WebhookSettings& settings, const TaskRun& run) {
  server::SweepAll(run, webhooks.ForgetSomeDeliveries, {settings.dedup_ms},
                   {"webhooks.deliveries", "forgot deliveries whose window is over", "deliveries"});
  webhooks.probe().Forgotten(
      server::SweepAll(run, webhooks.ForgetSomeEvents, {settings.retention_ms},
                       {"webhooks.forgotten", "removed events after their retention", "events"}));
}

/// The first process that starts puts its file in force. One that starts with another file says what
/// differs, and refuses.
void UseFile(Webhooks& webhooks, const std::string& path, std::int64_t retention_ms) {
  bots::Reading reading = bots::ReadYaml(base::ReadWholeFile(path, bots::kMaxFileBytes + 1),
                                         {.max_history_ms = retention_ms});
  for (const bots::Mistake& warning : reading.warnings)
    base::LogWarn("webhooks.bots", bots::ToText(warning, path));
  std::string wrong;
  for (const bots::Mistake& mistake : reading.mistakes)
    wrong += (wrong.empty() ? "" : "\n") + bots::ToText(mistake, path);
  if (!wrong.empty()) throw base::UserError(wrong);
  ApplyRequest apply;
  apply.content = bots::ToJson(reading.file);
  apply.file = std::move(reading.file);
  apply.only_first = true;
  const ApplyReply reply = server::Await(webhooks.Apply, std::move(apply));
  if (reply.kind == ApplyReply::Kind::kSourceTaken)
    throw base::UserError(
        fmt::format("{}: another tenant has a source named {}", path, reply.name));
  if (!reply.kept || reply.changes.empty()) return;
  std::string text = fmt::format("{} is not what is in force (revision {}):", path, reply.revision);
  for (const bots::Change& change : reply.changes)
    text += fmt::format("\n  {}: {}", change.name, change.detail);
  throw base::UserError(text + fmt::format("\n`tenure queue apply {}` puts it in force.", path));
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const config::WebhookSettings& settings = parts.settings.webhooks;
  const auto object =
      std::make_shared<Process>(parts, others.Of<messages::Messages>(), others.Of<audit::Audit>());
  Webhooks& webhooks = object->webhooks;
  Intake& intake = object->intake;
  others.Of<queues::Queues>().ShowEventsBy(std::make_shared<const ShownEvents>());
  server::Running running;
  running.object = std::shared_ptr<Webhooks>(object, &webhooks);
  running.type = typeid(Webhooks);
  running.add_routes = [&webhooks, &intake, &settings](http::Router& router) {
    intake.AddRoutes(router);
    AddRoutes(router, {.webhooks = webhooks,
                       .retention_ms = settings.retention_ms,
                       .max_body_bytes = settings.max_body_bytes});
  };
  running.tasks = {
      {"webhooks.retention",
       std::min({settings.retention_ms, settings.dedup_ms, server::kRetentionIntervalMs}),
       [&webhooks, &settings](const TaskRun& run) { RunRetention(webhooks, settings, run); }}};
  running.jobs = {
      {"webhooks.bots", kBotsIntervalMs, [&webhooks](const auto&) { LearnBots(webhooks); }},
      {"webhooks.sizes", server::kOftenMs, [&webhooks](const auto&) { MeasureTopics(webhooks); }},
      {"webhooks.hooks", server::kOftenMs, [&webhooks](const auto&) { WriteHooks(webhooks); }},
      {"webhooks.secrets", kSecretsIntervalMs,
       [&webhooks](const auto&) { webhooks.secrets().Read(*webhooks.bots().Get()); }}};
  running.start = [&webhooks, &files = parts.settings.queues.files, &settings] {
    for (const std::string& file : files) UseFile(webhooks, file, settings.retention_ms);
    LearnBots(webhooks);
  };
  running.read_again = [&webhooks] { webhooks.secrets().Read(*webhooks.bots().Get()); };
  running.stop = [&intake] { intake.Stop(); };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "webhooks",
          .needs = {"audit", "messages", "queues"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::webhooks,
          .commands = WebhookCommands,
          .run = Run};
}

}  // namespace tenure::webhooks
