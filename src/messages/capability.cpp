#include "messages/capability.hpp"

#include <functional>

#include "audit/audit.hpp"
#include "messages/attention.hpp"
#include "messages/http/routes.hpp"
#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::messages {
namespace {

using server::TaskRun;

/// Dedup keys last minutes, and there may be many.
constexpr std::int64_t kTidyIntervalMs = 60'000;

/// As it was counted last; nothing is asked of the store.
void WriteHealth(base::JsonWriter& json, Messages& messages) {
  const Figures figures = messages.probe().figures();
  json.Key("messages").BeginObject();
  json.Field("ready", figures.ready)
      .Field("delayed", figures.delayed)
      .Field("dead", figures.dead)
      .Field("unhandled", figures.unhandled)
      .Field("oldest_seconds", figures.oldest_seconds)
      .Field("waiting_claims", figures.waiting_claims)
      .Field("clockwork", messages.HasScheduler() ? "on" : "off");
  json.EndObject();
}

void FindById(Messages& messages, const server::Search& search, base::Caller caller,
              server::Finder::Done done) {
  if (!search.id) return done(server::FoundList());
  messages.Find({search.tenant, *search.id}, std::move(caller),
                server::Finding(std::move(done), [](const FindReply& reply) {
                  server::FoundList found;
                  if (const auto& message = reply.message)
                    found.push_back({"message", message->id.ToString(), message->topic,
                                     std::string(ToText(message->state))});
                  return found;
                }));
}

void FindTopicsOf(Messages& messages, const server::Search& search, base::Caller caller,
                  server::Finder::Done done) {
  if (!search.MayBegin() || search.text.size() > kMaxTopicBytes) return done(server::FoundList());
  messages.FindTopics(
      {search.tenant, search.text, server::kMostFound}, std::move(caller),
      server::Finding(std::move(done), [](const FoundTopics& reply) {
        server::FoundList found;
        for (const FoundTopics::Topic& topic : reply.topics)
          found.push_back({"topic", topic.name, topic.name, topic.is_paused ? "paused" : "ok"});
        return found;
      }));
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const config::Settings& settings = parts.settings;
  const auto object =
      std::make_shared<Messages>(parts.store, parts.wake, parts.process, parts.clock, parts.metrics,
                                 Options{settings.messages.poll_max_ms, settings.metrics.topics});
  Messages& messages = *object;
  server::Running running;
  running.object = object;
  running.type = typeid(Messages);
  running.add_routes = [routes =
                            RouteParts{messages, parts.tracer, others.Of<audit::Audit>().refusals(),
                                       settings.messages.payload_max_bytes}](http::Router& router) {
    AddRoutes(router, routes);
  };
  running.tasks = {
      {"messages.retention", kTidyIntervalMs, [&messages, &settings](const TaskRun& run) {
         server::SweepAll(run, messages.TidySome, {},
                          {"messages.tidied",
                           "forgot finished messages, keys and redriven dead letters", "rows"});
         server::SweepAll(run, messages.ForgetTopics,
                          UnusedTopicsRequest{settings.topics.retention_ms},
                          {"messages.topics_tidied",
                           "closed, opened or removed topics that nobody uses", "topics"});
       }}};
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.messages", server::kOftenMs, [&messages, latest](const auto&) {
                     const CountsReply counts = server::Await(messages.Count);
                     messages.probe().Counted(counts);
                     latest->Set(GlanceOf(counts));
                   }}};
  running.finders = {{"messages:read", std::bind_front(FindById, std::ref(messages))},
                     {"messages:read", std::bind_front(FindTopicsOf, std::ref(messages))}};
  running.glance = [latest] { return latest->Get(); };
  running.write_health = [&messages](base::JsonWriter& json) { WriteHealth(json, messages); };
  if (settings.workers) running.start = [&messages] { messages.StartScheduler(); };
  running.stop_waiting = [&messages] { messages.Stop(); };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "messages",
          .needs = {"audit"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::messages,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::messages
