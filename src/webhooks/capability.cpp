#include "webhooks/capability.hpp"

#include <algorithm>

#include "audit/audit.hpp"
#include "messages/messages.hpp"
#include "queues/queues.hpp"
#include "webhooks/files.hpp"
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
  running.add_routes = [&webhooks, &intake, &settings,
                        &queues = others.Of<queues::Queues>()](http::Router& router) {
    intake.AddRoutes(router);
    AddRoutes(router, {.webhooks = webhooks,
                       .queues = queues,
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
  running.apply = [&webhooks, &all = parts.settings] { return ApplyFiles(webhooks, all); };
  running.start = [&webhooks, &all = parts.settings] {
    UseFiles(webhooks, all);
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
          .run = Run,
          .check = CheckFiles,
          .applies = true};
}

}  // namespace tenure::webhooks
