// Topics: how full they are, how their messages are treated, and whether they are paused.
#include "base/log.hpp"
#include "messages/json.hpp"
#include "messages/route_support.hpp"

namespace tenure::messages {
namespace {

using http::ExchangePtr;
using http::JsonFields;
using http::Method;

constexpr std::int64_t kMaxBudget = 1'000'000;
constexpr std::int64_t kMaxKeptMs = 3'650LL * 86'400'000;
constexpr std::int64_t kMaxBackoffMs = 366LL * 86'400'000;
constexpr std::size_t kMaxReasonBytes = 500;
constexpr std::int64_t kDefaultOfTopic = -1;  // TopicChange: as the default is
constexpr const char* kChangeAct = "topic.change";
constexpr const char* kPauseAct = "topic.pause";
constexpr const char* kResumeAct = "topic.resume";

std::string TopicOf(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (name.empty() || name.size() > kMaxTopicBytes)
    throw http::ProblemError(http::InvalidRequest(
        {{"topic", fmt::format("must be 1 to {} bytes in UTF-8", kMaxTopicBytes)}}));
  return name;
}

void List(const RouteParts& parts, const ExchangePtr& exchange) {
  TopicsRequest request;
  request.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.after = fields.Text("cursor", kMaxTopicBytes).value_or("");
  request.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  fields.Finish();
  parts.messages.ListTopics(
      std::move(request), exchange->caller(),
      Answering<TopicsReply>(exchange, [](const ExchangePtr& to, const TopicsReply& reply) {
        to->Reply(http::JsonResponse(200, TopicsJson(reply)));
      }));
}

void ReplyTopic(const RouteParts& parts, const ExchangePtr& exchange) {
  TopicsRequest request;
  request.tenant = http::TenantOf(exchange);
  request.name = TopicOf(exchange);
  request.limit = 1;
  parts.messages.ListTopics(
      std::move(request), exchange->caller(),
      Answering<TopicsReply>(exchange, [](const ExchangePtr& to, const TopicsReply& reply) {
        if (!reply.topics.empty())
          return to->Reply(http::JsonResponse(200, TopicJson(reply.topics.front())));
        to->Reply(http::NotFound(fmt::format("There is no topic {}: nothing was ever sent to it.",
                                             to->request().path_parameters[0])));
      }));
}

void Get(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  ReplyTopic(parts, exchange);
}

TopicChange ReadChange(const ExchangePtr& exchange) {
  TopicChange change;
  change.tenant = http::TenantOf(exchange);
  change.name = TopicOf(exchange);
  JsonFields fields(exchange->request().body);
  const auto read = [&](std::string_view name, std::int64_t least,
                        std::int64_t most) -> std::optional<std::int64_t> {
    if (fields.IsNull(name)) return kDefaultOfTopic;
    return fields.OptionalInteger(name, least, most);
  };
  change.max_attempts = read("max_attempts", 0, kMaxBudget);
  change.max_crashes = read("max_crashes", 0, kMaxBudget);
  change.lease_ms = read("lease_ms", kMinLeaseMs, kMaxLeaseMs);
  change.retention_ms = read("retention_ms", 0, kMaxKeptMs);
  change.backoff_ms = read("backoff_ms", 0, kMaxBackoffMs);
  change.backoff_max_ms = read("backoff_max_ms", 0, kMaxBackoffMs);
  change.dedup_ms = read("dedup_ms", 0, kMaxKeptMs);
  change.paused = fields.OptionalFlag("paused");
  change.paused_reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  if (fields.Has("reason") && !change.paused.value_or(false))
    fields.Refuse("reason", "is for a pause: it goes with \"paused\": true");
  if (change.paused.value_or(false) && change.paused_reason.empty() && !fields.Has("reason"))
    fields.Refuse("reason", "must say why: whoever waits will ask");
  fields.Finish();
  return change;
}

void Change(const RouteParts& parts, const ExchangePtr& exchange) {
  TopicChange change = ReadChange(exchange);
  if (change.paused)
    base::LogWarn("messages.pause",
                  *change.paused ? "an operator pauses a topic" : "an operator resumes a topic",
                  {{"tenant", change.tenant},
                   {"topic", change.name},
                   {"person", exchange->request().principal->person},
                   {"reason", change.paused_reason},
                   {"request_id", exchange->request().request_id}});
  base::Caller caller = http::Acting(exchange, !change.paused   ? kChangeAct
                                               : *change.paused ? kPauseAct
                                                                : kResumeAct);
  // A repetition changes nothing, and is told what the topic is like by now.
  if (auto key = OnceKeyOf(exchange, "changeTopic"))
    return parts.messages.ChangeTopicOnce(
        std::move(change), std::move(*key), std::move(caller),
        AnsweringOnce(exchange, [parts](const ExchangePtr& to, const db::OnceReply&) {
          ReplyTopic(parts, to);
        }));
  parts.messages.ChangeTopic(std::move(change), std::move(caller),
                             Answering<TopicChangeReply>(
                                 exchange, [parts](const ExchangePtr& to, const TopicChangeReply&) {
                                   ReplyTopic(parts, to);
                                 }));
}

}  // namespace

void AddTopicRoutes(http::Router& router, const RouteParts& parts) {
  RouteAdder add(router, parts, "/api/v1/topics");
  add(Method::kGet, "", {"listTopics", "messages:read"}, List);
  add(Method::kGet, "/{topic}", {"getTopic", "messages:read"}, Get);
  add(Method::kPatch, "/{topic}",
      {"changeTopic", "messages:write", "", {kChangeAct, kPauseAct, kResumeAct}}, Change);
}

}  // namespace tenure::messages
