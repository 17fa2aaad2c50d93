#include "inbox/capability.hpp"

#include <algorithm>

#include "inbox/inbox.hpp"
#include "inbox_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::inbox {
namespace {

using server::TaskRun;

void RunRetention(Inbox& inbox, std::int64_t retention_ms, const TaskRun& run) {
  inbox.probe().Forgotten(server::SweepAll(
      run, inbox.TidySome, {retention_ms},
      {"inbox.forgotten", "removed inbound messages after their retention", "messages"}));
}

server::Running Run(const server::Parts& parts, const server::Others&) {
  const config::InboxSettings& settings = parts.settings.inbox;
  const auto object = std::make_shared<Inbox>(
      parts.store, Budget{.max_attempts = settings.max_attempts}, parts.metrics);
  Inbox& inbox = *object;
  server::Running running;
  running.object = object;
  running.type = typeid(Inbox);
  running.add_routes = [&inbox](http::Router& router) { AddRoutes(router, inbox); };
  running.tasks = {{"inbox.retention",
                    std::min(settings.retention_ms, server::kRetentionIntervalMs),
                    [&inbox, retention_ms = settings.retention_ms](const TaskRun& run) {
                      RunRetention(inbox, retention_ms, run);
                    }}};
  running.jobs = {{"gauges.inbox", server::kCountIntervalMs, [&inbox](const auto&) {
                     inbox.probe().StuckCounted(server::Await(inbox.CountStuck));
                   }}};
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "inbox",
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::inbox,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::inbox
