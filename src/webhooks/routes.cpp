#include "webhooks/routes.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/json_view.hpp"
#include "base/time_text.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "queues/http/routes.hpp"
#include "webhooks/bots/read.hpp"
#include "webhooks/json.hpp"
#include "webhooks/problems.hpp"

namespace tenure::webhooks {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::Method;

constexpr std::size_t kMaxFilterBytes = 300;
constexpr std::size_t kMaxTimeBytes = 40;
constexpr std::size_t kMaxCursorBytes = 20;
constexpr std::size_t kMaxWhoBytes = 200;
constexpr const char* kRead = "queues:read";
/// Each waits for 2 s (lock_bots.sql).
constexpr int kApplyTries = 15;
constexpr const char* kReplayAct = "webhook.replay";
constexpr const char* kQueueReplayAct = "queue.replay";
constexpr std::string_view kTimeRule = "must be a time of RFC 3339, such as 2026-01-31T12:00:00Z";
constexpr const char* kApplyAct = "bots.apply";

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1)
    return std::nullopt;
  return number;
}

// ---- bots

/// Goes on with what is in force now, as the store has it.
template <class Then>
void WithBots(const RouteParts& parts, const ExchangePtr& exchange, Then then) {
  Webhooks& webhooks = parts.webhooks;
  webhooks.InForce(
      {webhooks.bots().Get()->revision}, &exchange->executor(),
      Answering(exchange, [&webhooks, then = std::move(then)](const ExchangePtr& to,
                                                              const InForceReply& reply) mutable {
        const SnapshotPtr bots = reply.bots ? reply.bots : webhooks.bots().Get();
        then(to, bots->OfTenant(http::TenantOf(to)));
      }));
}

void GetBots(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  WithBots(parts, exchange,
           [](const ExchangePtr& to, const TenantBots* bots) { to->ReplyJson(BotsJson(bots)); });
}

/// The file of the request's tenant. Throws a 400 that names everything that is wrong.
bots::Reading ReadFile(const RouteParts& parts, const ExchangePtr& exchange) {
  bots::Reading reading =
      bots::ReadJson(exchange->request().body, {.max_history_ms = parts.retention_ms});
  std::vector<http::FieldError> errors;
  for (bots::Mistake& mistake : reading.mistakes)
    errors.push_back({std::move(mistake.field), std::move(mistake.message)});
  const auto& tenant = exchange->request().principal->tenant;
  if (tenant && !reading.names_tenant) reading.file.tenant = *tenant;
  if (tenant && reading.file.tenant != *tenant)
    errors.push_back({"tenant", "is not that of the token"});
  if (!errors.empty()) throw http::ProblemError(http::InvalidRequest(std::move(errors)));
  return reading;
}

/// What this process could not read of the secrets, which it has looked at by now.
void AddUnread(const bots::File& file, const SecretKeeper& secrets,
               std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < file.sources.size(); ++i) {
    const bots::Source& source = file.sources[i];
    const std::size_t read = secrets.Of(source.name)->size();
    if (read < source.secrets.size())
      warnings.push_back(
          fmt::format("sources[{}].secrets: {}: {} of {} can be read by this process", i,
                      source.name, read, source.secrets.size()));
  }
}

void ReplyApplied(const ExchangePtr& to, const ApplyReply& reply,
                  const std::vector<std::string>& warnings) {
  switch (reply.kind) {
    case ApplyReply::Kind::kDone:
      return to->ReplyJson(AppliedJson(reply, warnings));
    case ApplyReply::Kind::kMoved:
      return to->Reply(http::Problem{
          .status = 409,
          .type = "revision-moved",
          .title = "Somebody applied another file meanwhile",
          .detail = fmt::format("Revision {} is in force. Nothing was changed.", reply.revision)});
    case ApplyReply::Kind::kSourceTaken:
      return to->Reply(http::InvalidRequest(
          {{"sources", fmt::format("the name {} is another tenant's", reply.name)}}));
  }
}

struct Applying {
  ApplyRequest request;
  std::vector<std::string> warnings;
  int tries = 0;  ///< that are left
};

/// Asks again where it did not get the bots lock in time: whoever routes went on meanwhile.
void SubmitApply(Webhooks& webhooks, const ExchangePtr& exchange, Applying applying) {
  ApplyRequest request = applying.request;
  auto answer = [&webhooks, exchange, applying = std::move(applying)](auto result) mutable {
    if (!result.ok() && result.fault().kind() == base::FaultKind::kContended &&
        --applying.tries > 0)
      return SubmitApply(webhooks, exchange, std::move(applying));
    if (!result.ok()) return exchange->Reply(result.fault());
    // This process knows the new file before it says that it is in force. On a lane's thread,
    // because secrets are read then.
    webhooks.InForce({webhooks.bots().Get()->revision}, nullptr,
                     [&webhooks, exchange, reply = std::move(result.value()),
                      applying = std::move(applying)](auto in_force) mutable {
                       if (in_force.ok() && in_force.value().bots)
                         webhooks.bots().Put(in_force.value().bots);
                       if (!applying.request.dry_run)
                         AddUnread(applying.request.file, webhooks.secrets(), applying.warnings);
                       exchange->executor().Post([exchange, reply = std::move(reply),
                                                  warnings = std::move(applying.warnings)] {
                         ReplyApplied(exchange, reply, warnings);
                       });
                     });
  };
  webhooks.Apply(std::move(request), http::Acting(exchange, kApplyAct), std::move(answer));
}

void PutBots(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  ApplyRequest apply;
  apply.revision = fields.Integer("revision", 0, std::numeric_limits<std::int64_t>::max());
  apply.dry_run = fields.Flag("dry_run").value_or(false);
  http::ReadQueryReason(exchange, fields);
  fields.Finish();
  bots::Reading reading = ReadFile(parts, exchange);
  std::vector<std::string> warnings;
  for (const bots::Mistake& warning : reading.warnings)
    warnings.push_back(bots::ToText(warning, ""));
  apply.file = std::move(reading.file);
  apply.content = bots::ToJson(apply.file);
  apply.person = exchange->request().principal->person;
  SubmitApply(parts.webhooks, exchange, {std::move(apply), std::move(warnings), kApplyTries});
}

// ---- replay

/// The member `events` of a replay: which ones.
void ReadWhich(http::JsonFields& fields, ReplayRequest& replay) {
  const auto which = fields.OptionalObject("events", 4 * kMaxFilterBytes);
  if (!which)
    return fields.Refuse("events",
                         "is required: an object, such as {\"since\": \"2026-01-31T12:00:00Z\"}");
  for (const auto& [name, value] : base::JsonView::Trusted(*which).Members()) {
    const std::string field = "events." + name;
    const auto text = value.Text();
    if (!text || text->size() > kMaxFilterBytes) {
      fields.Refuse(field, "must be a string");
    } else if (name == "since" || name == "until") {
      const auto time = base::ParseRfc3339Ms(*text);
      if (!time) fields.Refuse(field, std::string(kTimeRule));
      (name == "since" ? replay.since_ms : replay.until_ms) = time.value_or(0);
    } else if (name == "event") {
      replay.event = *text;
    } else if (name == "repository") {
      replay.repository = *text;
    } else {
      fields.Refuse(field, "is not known here");
    }
  }
}

/// `queue`: that the path names; empty: the body does.
ReplayRequest ReadReplay(const ExchangePtr& exchange, const std::string& queue) {
  http::JsonFields fields(exchange->request().body);
  ReplayRequest replay;
  replay.tenant = http::TenantOf(exchange);
  replay.bot = queue.empty() ? fields.NonEmptyText("queue", kMaxWhoBytes) : queue;
  ReadWhich(fields, replay);
  replay.limit = fields.OptionalInteger("limit", 1, kMaxReplayed).value_or(kMaxReplayed);
  replay.dry_run = fields.OptionalFlag("dry_run").value_or(false);
  http::ReadReason(exchange, fields);
  if (const auto cursor = fields.OptionalText("cursor", kMaxCursorBytes)) {
    const auto number = ParseNumber(*cursor);
    if (!number) fields.Refuse("cursor", std::string(http::kNoCursor));
    replay.after = number.value_or(0);
  }
  fields.Finish();
  return replay;
}

void ReplyReplayed(const ExchangePtr& to, const ReplayReply& reply) {
  if (reply.kind == ReplayReply::Kind::kNoBot)
    return to->Reply(http::NotFound("No bot of this name is in force."));
  to->ReplyJson(ReplayedJson(reply));
}

/// What a full queue has no room for is none of the store's faults.
template <class Done>
auto UnlessFull(const ExchangePtr& exchange, Done done) {
  return [exchange, done = std::move(done)](auto result) mutable {
    if (!result.ok() && IsQueueFull(result.fault())) return exchange->Reply(QueueFull());
    done(std::move(result));
  };
}

void ReplayEvents(const RouteParts& parts, const ExchangePtr& exchange, const std::string& queue,
                  const char* act) {
  http::ExpectNoQuery(exchange->request());
  ReplayRequest replay = ReadReplay(exchange, queue);
  base::Caller caller = http::Acting(exchange, act);
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.webhooks.ReplayOnce(
        {std::move(replay), *std::move(key)}, std::move(caller),
        UnlessFull(exchange, http::AnsweringOnce(exchange, ReplyReplayed)));
  parts.webhooks.Replay(std::move(replay), std::move(caller),
                        UnlessFull(exchange, Answering(exchange, ReplyReplayed)));
}

void Replay(const RouteParts& parts, const ExchangePtr& exchange) {
  ReplayEvents(parts, exchange, "", kReplayAct);
}

/// Stored events, or what a session has done.
void ReplayIntoQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  const bool is_of_events = http::JsonFields(exchange->request().body).Has("events");
  if (!is_of_events) return queues::ReplayHistory({parts.queues}, exchange);
  ReplayEvents(parts, exchange, exchange->request().path_parameters.at(0), kQueueReplayAct);
}

// ---- events

base::Uuid EventIdOf(const ExchangePtr& exchange) {
  const auto id = base::Uuid::Parse(exchange->request().path_parameters.at(0));
  if (!id) http::RefuseField("id", "must be a UUID");
  return *id;
}

http::Problem UnknownEvent() { return http::NotFound("There is no such event, or not any more."); }

ListRequest DecodeList(const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  ListRequest list;
  list.tenant = http::TenantOf(exchange);
  const auto text = [&](std::string_view name) {
    return fields.Text(name, kMaxFilterBytes).value_or("");
  };
  list.delivery_id = text("delivery_id");
  list.correlation_id = fields.Parsed("correlation_id", kMaxFilterBytes, "must be a UUID",
                                      [](std::string_view id) { return base::Uuid::Parse(id); });
  list.event = text("event");
  list.action = text("action");
  list.repository = text("repository");
  const std::string entity = text("entity");
  list.entity_type = entity.substr(0, entity.find('/'));
  if (list.entity_type.size() < entity.size())
    list.entity_id = entity.substr(list.entity_type.size() + 1);
  const auto time = [&](std::string_view field) {
    return fields.Parsed(field, kMaxTimeBytes, kTimeRule, base::ParseRfc3339Ms);
  };
  list.since_ms = time("since").value_or(list.since_ms);
  list.until_ms = time("until").value_or(list.until_ms);
  list.below =
      fields.Parsed("cursor", kMaxCursorBytes, http::kNoCursor, ParseNumber).value_or(list.below);
  list.limit = fields.PageLimit();
  fields.Finish();
  return list;
}

void ListEvents(const RouteParts& parts, const ExchangePtr& exchange) {
  parts.webhooks.ListEvents(DecodeList(exchange), &exchange->executor(),
                            Answering(exchange, EventsJson));
}

void GetEvent(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.webhooks.Find({http::TenantOf(exchange), EventIdOf(exchange)}, &exchange->executor(),
                      Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                        if (!reply.event) return to->Reply(UnknownEvent());
                        to->ReplyJson(FoundJson(reply));
                      }));
}

/// Byte for byte, unless only a form's payload is wanted. What a stranger sent is never taken for a
/// page.
void GetPayload(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  const auto as = fields.Text("as", kMaxTimeBytes);
  fields.Finish();
  if (as && *as != "json") http::RefuseField("as", "must be json, or left out");
  parts.webhooks.Payload(
      {http::TenantOf(exchange), EventIdOf(exchange), as.has_value()}, &exchange->executor(),
      Answering(exchange, [](const ExchangePtr& to, PayloadReply reply) {
        if (!reply.found) return to->Reply(UnknownEvent());
        http::Response response{.status = 200,
                                .body = std::move(reply.body),
                                .content_type = IsForm(reply.content_type)
                                                    ? "application/x-www-form-urlencoded"
                                                    : "application/json",
                                .headers = {{"X-Content-Type-Options", "nosniff"}}};
        if (!reply.signature.empty())
          response.headers.emplace_back("X-Hub-Signature-256", std::move(reply.signature));
        to->Reply(std::move(response));
      }));
}

void ListSources(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  Webhooks& webhooks = parts.webhooks;
  WithBots(parts, exchange, [&webhooks](const ExchangePtr& to, const TenantBots* bots) {
    auto file = std::make_shared<const bots::File>(bots ? bots->file : bots::File());
    HooksRequest request;
    for (const bots::Source& source : file->sources) request.sources.push_back(source.name);
    webhooks.Hooks(std::move(request), &to->executor(),
                   Answering(to, [&webhooks, file](const HooksReply& seen) {
                     return SourcesJson(*file, webhooks.secrets(), seen);
                   }));
  });
}

/// What is asked to be explained.
struct Question {
  std::string source;
  std::string event;
  std::string hook;
  std::string payload;
};

Question ReadQuestion(const RouteParts& parts, const ExchangePtr& exchange) {
  Question question;
  http::JsonFields fields(exchange->request().body);
  question.source = fields.OptionalText("source", kMaxWhoBytes).value_or("");
  question.event = fields.NonEmptyText("event", kMaxWhoBytes);
  question.payload = fields.OptionalJson("payload", parts.max_body_bytes).value_or("");
  if (fields.OptionalObject("headers", kMaxFilterBytes * 10))
    question.hook = fields.TextInside("headers", "X-GitHub-Hook-ID");
  if (!question.payload.starts_with('{')) fields.Refuse("payload", "must be a JSON object");
  fields.Finish();
  return question;
}

/// The source that is named, else the only one, else one that nobody has named.
bots::Source SourceOf(const Question& question, const TenantBots* bots) {
  if (bots)
    for (const bots::Source& source : bots->file.sources)
      if (question.source == source.name || question.source.empty()) return source;
  if (!question.source.empty())
    http::RefuseField("source", "is none of the sources of this tenant");
  bots::Source source;
  source.name = "github";
  return source;
}

void Explain(const RouteParts& parts, const ExchangePtr& exchange) {
  auto question = std::make_shared<const Question>(ReadQuestion(parts, exchange));
  WithBots(parts, exchange, [question](const ExchangePtr& to, const TenantBots* bots) {
    const auto payload = rules::Payload::Parse(question->payload);
    if (!payload) return to->Reply(http::InvalidRequest({{"payload", "must be a JSON object"}}));
    try {
      const bots::Source source = SourceOf(*question, bots);
      const rules::Origin origin{.source = source.name,
                                 .host = source.host,
                                 .hook = question->hook,
                                 .event = question->event};
      to->ReplyJson(ExplainedJson(rules::Event(origin, *payload), bots));
    } catch (const http::ProblemError& error) {
      to->Reply(error.problem());
    }
  });
}

}  // namespace

void AddRoutes(http::Router& router, const RouteParts& parts) {
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/bots", .rate_class = "webhooks"})
      .Add({{Method::kGet, "", "getBots", kRead, GetBots},
            {Method::kPut, "", "putBots", "admin", PutBots, "", {kApplyAct}}});
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/queues", .rate_class = "queues"})
      .Add({{Method::kPost,
             "/{queue}/replay",
             "replaySession",
             "queues:operate",
             ReplayIntoQueue,
             "",
             {kQueueReplayAct}}});
  http::RouteGroup<RouteParts>(router, parts,
                               {.path = "/api/v1/webhooks", .rate_class = "webhooks"})
      .Add({{Method::kGet, "/sources", "listWebhookSources", kRead, ListSources},
            {Method::kPost, "/replay", "replayEvents", "queues:operate", Replay, "", {kReplayAct}},
            {Method::kGet, "/events", "listWebhookEvents", kRead, ListEvents},
            {Method::kGet, "/events/{id}", "getWebhookEvent", kRead, GetEvent},
            {Method::kGet, "/events/{id}/payload", "getWebhookPayload", kRead, GetPayload}});
  http::RouteGroup<RouteParts>(router, parts,
                               {.path = "/api/v1/webhooks",
                                .rate_class = "webhooks",
                                .max_body_bytes = parts.max_body_bytes + 64 * 1024})
      .Add({{Method::kPost, "/explain", "explainWebhook", kRead, Explain}});
}

}  // namespace tenure::webhooks
