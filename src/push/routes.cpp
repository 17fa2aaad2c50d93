#include "push/routes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "http/answering.hpp"
#include "http/expected_revision.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "push/explain.hpp"
#include "push/json.hpp"
#include "push/put_body.hpp"

namespace tenure::push {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Problem;
using http::ProblemError;

constexpr const char* kCreateAct = "subscription.create";
constexpr const char* kChangeAct = "subscription.change";
constexpr const char* kDeleteAct = "subscription.delete";
constexpr const char* kRotateAct = "subscription.rotate";
constexpr const char* kTestAct = "subscription.test";

Problem UnknownSubscription(const std::string& name) {
  return http::NotFound(fmt::format("There is no subscription {}.", name));
}

Problem Sealed() {
  return {.status = 409,
          .type = "push-off",
          .title = "This server does not push",
          .detail =
              "The key that the subscription's secrets were encrypted with is not in "
              "secrets.key_file."};
}

void RequirePush(const RouteParts& parts) {
  if (parts.courier) return;
  throw ProblemError({.status = 409,
                      .type = "push-off",
                      .title = "This server does not push",
                      .detail = parts.off});
}

SubscriptionKey KeyOf(const ExchangePtr& exchange) {
  SubscriptionKey key{http::TenantOf(exchange), exchange->request().path_parameters[0]};
  // What no subscription can be called there is none of.
  if (!IsSubscriptionName(key.name)) throw ProblemError(UnknownSubscription(key.name));
  return key;
}

bool Has(const ExchangePtr& exchange, std::string_view scope) {
  const http::Principal& who = *exchange->request().principal;
  return !who.tenant || who.Has(scope);
}

/// PUT hands messages to whoever listens there, so it asks for the scope of who takes them as well.
void RequireScope(const ExchangePtr& exchange, std::string_view scope) {
  if (Has(exchange, scope)) return;
  throw ProblemError({.status = 403,
                      .type = "forbidden",
                      .title = "The token does not allow this",
                      .detail = fmt::format("It lacks the scope {}, which a subscription needs "
                                            "besides subscriptions:write.",
                                            scope)});
}

constexpr std::string_view kMessagesScope = "messages:write";
constexpr std::string_view kQueuesScope = "queues:write";

PutCommand ReadPut(const RouteParts& parts, const ExchangePtr& exchange) {
  const auto revision = http::ExpectedRevision(exchange->request());
  PutCommand put = ReadPutBody(exchange->request().body,
                               {http::TenantOf(exchange), exchange->request().path_parameters[0]},
                               parts.courier->allowed());
  put.revision = revision;
  RequireScope(exchange, QueueOf(put.topic).empty() ? kMessagesScope : kQueuesScope);
  return put;
}

/// A queue is there before it is subscribed: nobody waits for what a misspelt name brings.
Problem UnknownQueue(std::string_view queue) {
  return NoSuchMeaning({{"queue", fmt::format("is none: {}. A bot of that name makes one "
                                              "(docs/queues.md)",
                                              queue)}});
}

void ReplyPut(const ExchangePtr& to, const PutCommand& put, const Outcome& outcome) {
  switch (outcome.kind) {
    case ChangeKind::kTopicTaken:
      return to->Reply(Problem{
          .status = 409,
          .type = "topic-subscribed",
          .title = "The topic has a subscription",
          .detail = fmt::format("A topic has one subscription, and that of {} is {}. Use another "
                                "topic for another endpoint.",
                                put.topic, outcome.taken_by)});
    case ChangeKind::kOtherRevision:
      return to->Reply(
          Problem{.status = 412,
                  .type = "subscription-changed",
                  .title = "The subscription has another revision",
                  .detail = fmt::format("Its revision is {}.", outcome.subscription.revision)});
    default:
      return to->ReplyJson(SubscriptionJson(outcome.subscription, outcome.now_ms, outcome.secret),
                           outcome.kind == ChangeKind::kCreated ? 201 : 200);
  }
}

void PutAs(const RouteParts& parts, const ExchangePtr& exchange, PutCommand put, bool exists,
           int tries);

/// Looks whether it is there, since the record tells a creation from a change; the transaction holds the
/// look to it.
void LookAndPut(const RouteParts& parts, const ExchangePtr& exchange, PutCommand put, int tries) {
  const SubscriptionKey key = put.key;
  parts.subscriptions.Find(key, base::Caller(&exchange->executor()),
                           Answering(exchange, [parts, put = std::move(put), tries](
                                                   const ExchangePtr& to, const FindReply& found) {
                             PutAs(parts, to, put, found.subscription.has_value(), tries);
                           }));
}

void PutAs(const RouteParts& parts, const ExchangePtr& exchange, PutCommand put, bool exists,
           int tries) {
  put.exists = exists;
  parts.subscriptions.Change(
      put, http::Acting(exchange, exists ? kChangeAct : kCreateAct),
      Answering(exchange, [parts, put, tries](const ExchangePtr& to, const Outcome& outcome) {
        if (outcome.kind != ChangeKind::kOtherwise) return ReplyPut(to, put, outcome);
        if (tries > 1) return LookAndPut(parts, to, put, tries - 1);
        to->Reply(base::Fault(base::FaultKind::kContended,
                              "somebody else makes and deletes this subscription at once"));
      }));
}

void Put(const RouteParts& parts, const ExchangePtr& exchange) {
  constexpr int kTries = 3;
  // Which of the two it takes stands in the body.
  if (!Has(exchange, kQueuesScope)) RequireScope(exchange, kMessagesScope);
  RequirePush(parts);
  http::ExpectQueryReasonAlone(exchange);
  PutCommand put = ReadPut(parts, exchange);
  const std::string queue(QueueOf(put.topic));
  if (queue.empty()) return LookAndPut(parts, exchange, std::move(put), kTries);
  const std::string tenant = put.key.tenant;
  parts.queues.List(
      {.tenant = tenant, .name = queue, .limit = 1}, base::Caller(&exchange->executor()),
      Answering(exchange, [parts, put = std::move(put), queue](
                              const ExchangePtr& to, const db::Page<queues::QueueView>& page) {
        const auto is_there = [](const queues::QueueView& each) {
          return each.queue.state != queues::QueueState::kDropped;
        };
        if (!std::ranges::any_of(page.rows, is_there)) return to->Reply(UnknownQueue(queue));
        LookAndPut(parts, to, put, kTries);
      }));
}

/// Goes on with `json` of the subscription that the path names.
template <class ToJson>
void ReplyFound(const RouteParts& parts, const ExchangePtr& exchange, ToJson json) {
  http::ExpectNoQuery(exchange->request());
  const SubscriptionKey key = KeyOf(exchange);
  parts.subscriptions.Find(
      key, exchange->caller(),
      Answering(exchange, [name = key.name, json](const ExchangePtr& to, const FindReply& found) {
        if (!found.subscription) return to->Reply(UnknownSubscription(name));
        to->ReplyJson(json(to, *found.subscription, found.now_ms));
      }));
}

void Get(const RouteParts& parts, const ExchangePtr& exchange) {
  ReplyFound(parts, exchange,
             [](const ExchangePtr&, const Subscription& subscription, std::int64_t now_ms) {
               return SubscriptionJson(subscription, now_ms);
             });
}

void SayWhy(const RouteParts& parts, const ExchangePtr& exchange) {
  ReplyFound(parts, exchange,
             [](const ExchangePtr& to, const Subscription& subscription, std::int64_t now_ms) {
               return explain::ToJson(Explain(subscription, now_ms), *to->request().principal);
             });
}

void List(const RouteParts& parts, const ExchangePtr& exchange) {
  ListRequest request{.tenant = http::TenantOf(exchange)};
  http::QueryFields fields(exchange->request().query);
  request.after = fields.Text("cursor", kMaxNameBytes).value_or("");
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.subscriptions.List(
      std::move(request), exchange->caller(),
      Answering(exchange, [](const db::Page<Subscription>& page) {
        return base::PageJson(
            page.rows, page.has_more,
            [&](base::JsonWriter& json, const Subscription& each) {
              WriteSubscription(json, each, page.now_ms);
            },
            [](const Subscription& last) { return std::string_view(last.name); });
      }));
}

void Delete(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectQueryReasonAlone(exchange);
  const SubscriptionKey key = KeyOf(exchange);
  parts.subscriptions.Change(
      RemoveCommand{key}, http::Acting(exchange, kDeleteAct),
      Answering(exchange, [name = key.name](const ExchangePtr& to, const Outcome& outcome) {
        if (outcome.kind == ChangeKind::kUnknown) return to->Reply(UnknownSubscription(name));
        to->Reply(http::Response{.status = 204});
      }));
}

void Rotate(const RouteParts& parts, const ExchangePtr& exchange) {
  RequirePush(parts);
  RotateCommand rotate{.key = KeyOf(exchange)};
  std::vector<http::FieldError> impossible;
  JsonFields fields(exchange->request().body);
  rotate.secret = ReadSecret(fields, impossible);
  http::ReadReason(exchange, fields);
  fields.Finish();
  RefuseMeaning(std::move(impossible));
  const auto reply = [name = rotate.key.name](const ExchangePtr& to, const Outcome& outcome) {
    if (outcome.kind == ChangeKind::kSealed) return to->Reply(Sealed());
    if (outcome.kind != ChangeKind::kChanged) return to->Reply(UnknownSubscription(name));
    std::string body;
    base::JsonWriter(body)
        .BeginObject()
        .Field("secret", std::string_view(outcome.secret))
        .EndObject();
    to->ReplyJson(std::move(body));
  };
  if (auto once = http::FindIdempotencyKey(exchange))
    return parts.subscriptions.RotateOnce({Command(rotate), *std::move(once)},
                                          http::Acting(exchange, kRotateAct),
                                          http::AnsweringOnce(exchange, reply));
  parts.subscriptions.Change(rotate, http::Acting(exchange, kRotateAct),
                             Answering(exchange, reply));
}

/// What came back of a ping; of the body as much as a tenant may see.
std::string PingJson(const Delivered& delivered) {
  std::string body;
  base::JsonWriter json(body);
  const http::OutgoingReply& reply = delivered.reply;
  json.BeginObject().Key("status");
  reply.status > 0 ? json.Value(reply.status) : json.Null();
  json.Field("ms", delivered.took_ms);
  json.Field("body", std::string_view(reply.body).substr(0, kMaxShownError));
  json.Key("error");
  reply.error.empty() ? json.Null()
                      : json.Value(std::string_view(reply.error).substr(0, kMaxShownError));
  json.EndObject();
  return body;
}

void Ping(const RouteParts& parts, const ExchangePtr& exchange, SubscriptionKey key,
          http::Waits::Share share) {
  const std::string name = key.name;
  parts.subscriptions.FindFenced(
      std::move(key), exchange->caller(),
      Answering(exchange, [parts, name, share = std::move(share)](const ExchangePtr& to,
                                                                  const FindReply& found) mutable {
        if (!found.subscription) return to->Reply(UnknownSubscription(name));
        const auto endpoint = EndpointOf(*found.subscription, *parts.vault, found.now_ms, 0);
        if (!endpoint) return to->Reply(Sealed());
        parts.courier->Ping(
            *endpoint, [to, endpoint, share = std::move(share)](Delivered delivered) mutable {
              to->executor().Post([to, delivered = std::move(delivered), share = std::move(share)] {
                to->ReplyJson(PingJson(delivered));
              });
            });
      }));
}

/// A program may try its endpoint as often as it likes. Who says why is a person, and on record before
/// anything is sent.
void Test(const RouteParts& parts, const ExchangePtr& exchange) {
  RequirePush(parts);
  http::ExpectReasonAlone(exchange);
  SubscriptionKey key = KeyOf(exchange);
  http::Waits::Share share = exchange->BeginWait(1);
  if (exchange->reason().empty()) return Ping(parts, exchange, std::move(key), std::move(share));
  db::AuditEvent event{key.name, "{}"};
  parts.audit.Note(http::ActorOf(exchange, kTestAct), std::move(event),
                   [parts, exchange, key = std::move(key),
                    share = std::move(share)](const db::Result<audit::NoteReply>& noted) mutable {
                     exchange->executor().Post([parts, exchange, key = std::move(key),
                                                share = std::move(share), noted]() mutable {
                       if (!noted.ok()) return exchange->Reply(noted.fault());
                       Ping(parts, exchange, std::move(key), std::move(share));
                     });
                   });
}

}  // namespace

void AddRoutes(http::Router& router, const RouteParts& parts) {
  using http::Method;
  const std::string read = "subscriptions:read";
  const std::string write = "subscriptions:write";
  http::RouteGroup<RouteParts>(router, parts,
                               {.path = "/api/v1/subscriptions", .rate_class = "push"})
      .Add({{Method::kGet, "", "listSubscriptions", read, List},
            {Method::kPut, "/{name}", "putSubscription", write, Put, "", {kCreateAct, kChangeAct}},
            {Method::kGet, "/{name}", "getSubscription", read, Get},
            {Method::kDelete, "/{name}", "deleteSubscription", write, Delete, "", {kDeleteAct}},
            {Method::kPost,
             "/{name}/rotate",
             "rotateSubscriptionSecret",
             write,
             Rotate,
             "",
             {kRotateAct}},
            {Method::kPost, "/{name}/test", "testSubscription", write, Test, "", {kTestAct}}});
  http::RouteGroup<RouteParts>(router, parts,
                               {.path = "/api/v1/why/subscription", .rate_class = "push"})
      .Add({{Method::kGet, "/{name}", "whySubscription", read, SayWhy}});
}

}  // namespace tenure::push
