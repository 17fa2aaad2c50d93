// Topics: how full they are, how their messages are treated, and whether they are paused.
#include <type_traits>

#include "base/log.hpp"
#include "messages/explain.hpp"
#include "messages/http/json.hpp"
#include "messages/http/routes.hpp"

namespace tenure::messages {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Method;

constexpr const char* kChangeAct = "topic.change";
constexpr const char* kPauseAct = "topic.pause";
constexpr const char* kResumeAct = "topic.resume";

std::string TopicOf(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (name.empty() || name.size() > kMaxTopicBytes)
    http::RefuseField("topic", fmt::format("must be 1 to {} bytes in UTF-8", kMaxTopicBytes));
  return name;
}

void ListTopics(const RouteParts& parts, const ExchangePtr& exchange) {
  TopicsRequest request;
  request.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.after = fields.Text("cursor", kMaxTopicBytes).value_or("");
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.messages.ListTopics(std::move(request), exchange->caller(),
                            Answering(exchange, TopicsJson));
}

/// Goes on with `json` of the topic that the path names.
template <class ToJson>
void ReplyTopicAs(const RouteParts& parts, const ExchangePtr& exchange, ToJson json) {
  TopicsRequest request;
  request.tenant = http::TenantOf(exchange);
  request.name = TopicOf(exchange);
  request.limit = 1;
  parts.messages.ListTopics(
      std::move(request), exchange->caller(),
      Answering(exchange, [json](const ExchangePtr& to, const TopicsReply& reply) {
        if (!reply.rows.empty()) return to->ReplyJson(json(to, reply.rows.front()));
        to->Reply(http::NotFound(fmt::format("There is no topic {}: nothing was ever sent to it.",
                                             to->request().path_parameters[0])));
      }));
}

void ReplyTopic(const RouteParts& parts, const ExchangePtr& exchange) {
  ReplyTopicAs(parts, exchange,
               [](const ExchangePtr&, const TopicView& topic) { return TopicJson(topic); });
}

void SayWhyTopic(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  ReplyTopicAs(parts, exchange, [](const ExchangePtr& to, const TopicView& topic) {
    return explain::ToJson(Explain(topic), *to->request().principal);
  });
}

void GetTopic(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  ReplyTopic(parts, exchange);
}

TopicChange ReadChange(const ExchangePtr& exchange) {
  TopicChange change;
  change.tenant = http::TenantOf(exchange);
  change.name = TopicOf(exchange);
  JsonFields fields(exchange->request().body);
  for (const TopicSetting& each : kTopicSettings)
    change.*each.change = fields.IsNull(each.name)
                              ? std::optional(kDefaultOfTopic)
                              : fields.OptionalInteger(each.name, each.least, each.most);
  change.paused = fields.OptionalFlag("paused");
  http::ReadReason(exchange, fields);
  if (change.paused.value_or(false)) change.paused_reason = exchange->reason();
  if (change.paused.value_or(false) && change.paused_reason.empty() && !fields.Has("reason"))
    fields.Refuse("reason", "must say why: whoever waits will ask");
  fields.Finish();
  return change;
}

void ChangeTopic(const RouteParts& parts, const ExchangePtr& exchange) {
  TopicChange change = ReadChange(exchange);
  if (change.paused)
    base::LogWarn("messages.pause",
                  *change.paused ? "an operator pauses a topic" : "an operator resumes a topic",
                  {{"tenant", change.tenant},
                   {"topic", change.name},
                   {"person", exchange->request().principal->person},
                   {"reason", change.paused_reason},
                   {"request_id", exchange->request().request_id}});
  const base::Actor actor = http::ActorOf(exchange, !change.paused   ? kChangeAct
                                                    : *change.paused ? kPauseAct
                                                                     : kResumeAct);
  // Anybody may change topics of his own as often as he likes: the audit must not grow with it.
  const bool on_record = parts.sums.Begin(actor);
  base::Caller caller = on_record ? http::Acting(exchange, actor.act) : exchange->caller();
  // A repetition changes nothing, and is told what the topic is like by now.
  const auto answer = [parts, actor, on_record](const ExchangePtr& to, const auto& reply) {
    if constexpr (std::is_same_v<std::decay_t<decltype(reply)>, TopicChangeReply>) {
      if (on_record && !reply.event) parts.sums.Withdraw(actor);
      if (!on_record && reply.event) parts.sums.Count(actor, *reply.event);
    }
    ReplyTopic(parts, to);
  };
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.messages.ChangeTopicOnce({std::move(change), *std::move(key)}, std::move(caller),
                                          http::AnsweringOnce(exchange, answer, answer));
  parts.messages.ChangeTopic(std::move(change), std::move(caller), Answering(exchange, answer));
}

}  // namespace

void AddTopicRoutes(http::Router& router, const RouteParts& parts) {
  GroupAt(router, parts, "/api/v1/topics")
      .Add({{Method::kGet, "", "listTopics", kRead, ListTopics},
            {Method::kGet, "/{topic}", "getTopic", kRead, GetTopic},
            {Method::kPatch,
             "/{topic}",
             "changeTopic",
             kWrite,
             ChangeTopic,
             "",
             {kChangeAct, kPauseAct, kResumeAct}}});
  GroupAt(router, parts, "/api/v1/why/topic")
      .Add({{Method::kGet, "/{topic}", "whyTopic", kRead, SayWhyTopic}});
}

}  // namespace tenure::messages
