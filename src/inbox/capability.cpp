#include "inbox/capability.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "inbox/entry_id.hpp"
#include "inbox/explain.hpp"
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

explain::Glance GlanceOf(std::int64_t stuck) {
  explain::Glance glance{.figures = {{"stuck", stuck}}};
  if (stuck > 0)
    glance.concerns.push_back(
        {.name = "TenureInboxStuck",
         .sentence = fmt::format("Of inbound messages, {} stuck: the worker crashed more than five "
                                 "minutes ago, and their source has not delivered them again.",
                                 stuck == 1 ? "one is" : fmt::format("{} are", stuck))});
  return glance;
}

/// By "stripe/evt_1", whole.
void FindById(Inbox& inbox, const server::Search& search, base::Caller caller,
              server::Finder::Done done) {
  const auto key = ParseEntryId(search.tenant, search.text);
  if (!key) return done(server::FoundList());
  inbox.Find({*key}, std::move(caller),
             server::Finding(std::move(done), [key = *key](const FindReply& reply) {
               server::FoundList found;
               if (reply.entry)
                 found.push_back({"inbox", EntryId(key), key.source,
                                  std::string(Standing(*reply.entry, reply.now_ms))});
               return found;
             }));
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
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.inbox", server::kCountIntervalMs, [&inbox, latest](const auto&) {
                     const std::int64_t stuck = server::Await(inbox.CountStuck);
                     inbox.probe().StuckCounted(stuck);
                     latest->Set(GlanceOf(stuck));
                   }}};
  running.glance = [latest] { return latest->Get(); };
  running.finders = {{"messages:read", std::bind_front(FindById, std::ref(inbox))}};
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
