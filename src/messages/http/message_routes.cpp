// Putting messages in, also for later, taking them out, and saying what became of them.
#include <algorithm>
#include <set>

#include "http/fences.hpp"
#include "messages/explain.hpp"
#include "messages/http/json.hpp"
#include "messages/http/routes.hpp"

namespace tenure::messages {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::JsonObject;
using http::Method;

constexpr const char* kCancelAct = "timer.cancel";

/// What a request to enqueue is held to.
struct NewMessageRules {
  std::size_t payload_max = 0;  ///< messages.payload_max
  bool is_timer = false;        ///< it must say when, and has no dedup_key
  std::string trace{};          ///< where it hangs when its headers do not say
};

void ReadPayload(JsonObject& object, std::size_t most, NewMessage& message) {
  const bool has_json = object.Has("payload");
  const bool has_bytes = object.Has("payload_base64");
  if (has_json) message.payload = object.OptionalJson("payload", most).value_or("");
  if (has_bytes) {
    message.kind = PayloadKind::kBytes;
    message.payload = object.OptionalBytes("payload_base64", most).value_or("");
  }
  if (has_json && has_bytes)
    object.Refuse("payload_base64", "must not be given together with payload");
  if (!has_json && !has_bytes)
    object.Refuse("payload", "is missing; any JSON value, or payload_base64, is expected");
}

void ReadDue(JsonObject& object, bool must, NewMessage& message) {
  message.due_at_ms = object.OptionalTime("due_at");
  message.delay_ms = object.OptionalInteger("delay_ms", 0, kMaxDelayMs);
  const bool has_time = object.Has("due_at");
  const bool has_delay = object.Has("delay_ms");
  if (has_time && has_delay) object.Refuse("delay_ms", "must not be given together with due_at");
  if (must && !has_time && !has_delay)
    object.Refuse("due_at", "is missing; a time, or delay_ms, is expected");
}

std::string TraceIn(const JsonObject& object, const NewMessageRules& rules) {
  std::string own = object.TextInside("headers", "traceparent");
  return telemetry::ParseTraceParent(own) ? own : rules.trace;
}

NewMessage ReadMessage(JsonObject& object, const NewMessageRules& rules) {
  NewMessage message;
  message.topic = object.NonEmptyText("topic", kMaxTopicBytes);
  ReadPayload(object, rules.payload_max, message);
  ReadDue(object, rules.is_timer, message);
  message.priority = static_cast<int>(
      object.OptionalInteger("priority", 0, kPriorities - 1).value_or(kDefaultPriority));
  message.correlation_id = object.OptionalText("correlation_id", kMaxCorrelationBytes).value_or("");
  message.headers = object.OptionalObject("headers", kMaxHeadersBytes).value_or("");
  message.trace = TraceIn(object, rules);
  if (!rules.is_timer && object.Has("dedup_key"))
    message.dedup_key = object.NonEmptyText("dedup_key", kMaxDedupKeyBytes);
  return message;
}

/// Reads one message, or a list of them under `list`. Throws a 400 that names every field that is
/// wrong ("messages[3].topic").
EnqueueRequest ReadEnqueue(const http::ExchangePtr& exchange, std::string_view list,
                           const NewMessageRules& rules) {
  EnqueueRequest request;
  request.tenant = http::TenantOf(exchange);
  JsonFields fields(exchange->request().body);
  request.is_list = fields.Has(list);
  if (request.is_list) {
    fields.Objects(list, kMaxBatch, [&](JsonObject& object) {
      request.messages.push_back(ReadMessage(object, rules));
    });
  } else {
    request.messages.push_back(ReadMessage(fields, rules));
  }
  fields.Finish();
  if (request.messages.empty()) http::RefuseField(std::string(list), "must not be empty");
  return request;
}

/// The id in the path. Throws a 400 when it is none.
base::Uuid IdOf(const http::ExchangePtr& exchange) {
  if (const auto id = base::Uuid::Parse(exchange->request().path_parameters[0])) return *id;
  http::RefuseField("id", "must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071");
}

void ReplyEnqueued(const ExchangePtr& exchange, const EnqueueReply& reply) {
  Conclude(exchange->span(), reply);
  exchange->ReplyJson(EnqueuedJson(reply), EnqueuedStatus(reply));
}

/// Enqueues what the body says, as one or as a list under `list`.
void EnqueueFrom(const RouteParts& parts, const ExchangePtr& exchange, std::string_view list,
                 bool is_timer) {
  EnqueueRequest request =
      ReadEnqueue(exchange, list, {parts.payload_max, is_timer, TraceOf(exchange)});
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.messages.EnqueueOnce({std::move(request), *std::move(key)}, exchange->caller(),
                                      http::AnsweringOnce(exchange, ReplyEnqueued));
  parts.messages.Enqueue(std::move(request), exchange->caller(),
                         Answering(exchange, ReplyEnqueued));
}

void Enqueue(const RouteParts& parts, const ExchangePtr& exchange) {
  EnqueueFrom(parts, exchange, "messages", false);
}

ClaimRequest ReadClaim(const ExchangePtr& exchange, std::int64_t& wait_ms) {
  ClaimRequest request;
  request.tenant = http::TenantOf(exchange);
  JsonFields fields(exchange->request().body);
  request.topics = fields.Texts("topics", kMaxClaimTopics, kMaxTopicBytes);
  request.max = fields.OptionalInteger("max", 1, kMaxBatch).value_or(kDefaultClaim);
  request.lease_ms = fields.OptionalInteger("lease_ms", kMinLeaseMs, kMaxLeaseMs);
  request.owner = fields.NonEmptyText("owner", kMaxOwnerBytes);
  request.claim_id = fields.OptionalUuid("claim_id");
  wait_ms = fields.OptionalInteger("wait_ms", 0, kMaxWaitMs).value_or(0);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < request.topics.size(); ++i)
    if (!seen.insert(request.topics[i]).second)
      fields.Refuse(fmt::format("topics[{}]", i), "stands in the list twice");
  fields.Finish();
  return request;
}

void Claim(const RouteParts& parts, const ExchangePtr& exchange) {
  std::int64_t wait_ms = 0;
  ClaimRequest request = ReadClaim(exchange, wait_ms);
  auto done = Answering(exchange, [](const ExchangePtr& to, const ClaimReply& reply) {
    Conclude(to->span(), reply);
    to->ReplyJson(ClaimJson(reply));
  });
  if (wait_ms == 0)
    return parts.messages.Claim(std::move(request), exchange->caller(), std::move(done));
  http::Waits::Share share = exchange->BeginWait(request.topics.size());
  const auto id =
      parts.messages.ClaimWaiting(std::move(request), wait_ms, exchange->caller(),
                                  http::KeepingShare(std::move(share), std::move(done)));
  // Who has gone would be handed messages that nobody works on.
  http::AbandonWhenGone(exchange, [parts, id] { parts.messages.Abandon(id); });
}

/// The fields of a claim that every settlement has.
Settlement ReadClaimed(JsonObject& object) {
  Settlement settlement;
  settlement.id = object.Uuid("id");
  settlement.fence = object.Integer("fence", 1, http::kMaxFence);
  return settlement;
}

/// A settlement on claims, as it is put together: those of one disposition are one request.
struct Settling {
  std::vector<Settlement> settlements{};                 // in the order of the body
  std::vector<std::optional<SettleOutcome>> outcomes{};  // by settlement
  std::vector<SettleRequest> requests{};                 // what is left to be sent
  std::vector<std::vector<std::size_t>> places{};        // by request: where its settlements stand
  bool changed = false;                                  // something is committed
};
using SettlingPtr = std::shared_ptr<Settling>;

/// Sends one request after the other; then everything is known. A fault in between is the answer.
/// When something was committed before it, the answer is that the outcome is unknown: a repetition
/// tells, as after a lost reply.
void SettleNext(const RouteParts& parts, const ExchangePtr& exchange, const SettlingPtr& all) {
  if (all->requests.empty()) {
    SettleReply reply;
    for (const auto& outcome : all->outcomes) reply.outcomes.push_back(*outcome);
    Conclude(exchange->span(), reply);
    return exchange->ReplyJson(SettleJson(all->settlements, reply.outcomes));
  }
  SettleRequest request = std::move(all->requests.back());
  all->requests.pop_back();
  const Disposition disposition = request.disposition;
  auto then = Answering(
      exchange, [parts, all, disposition](const ExchangePtr& to, const SettleResult& result) {
        RecordHandling(parts.tracer, disposition, result);
        all->changed = all->changed || ChangedSomething(result);
        const auto& places = all->places.back();
        for (std::size_t i = 0; i < places.size(); ++i)
          all->outcomes[places[i]] = result.reply.outcomes[i];
        all->places.pop_back();
        SettleNext(parts, to, all);
      });
  parts.messages.Settle(std::move(request), exchange->caller(),
                        [all, then = std::move(then)](db::Result<SettleResult> result) mutable {
                          if (!result.ok() && all->changed)
                            return then(db::Result<SettleResult>(FaultAfterChange(result.fault())));
                          then(std::move(result));
                        });
}

/// Of each claim in the body the disposition and the rest. `read` reads what is particular to a route.
template <class Read>
void SettleClaims(const RouteParts& parts, const ExchangePtr& exchange, const Read& read) {
  auto all = std::make_shared<Settling>();
  {
    JsonFields fields(exchange->request().body);
    SettleRequest empty;
    empty.tenant = http::TenantOf(exchange);
    const auto add = [&](Disposition disposition, Settlement settlement) {
      auto request = std::ranges::find(all->requests, disposition, &SettleRequest::disposition);
      if (request == all->requests.end()) {
        all->requests.push_back(empty);
        all->places.emplace_back();
        request = all->requests.end() - 1;
        request->disposition = disposition;
      }
      all->places[static_cast<std::size_t>(request - all->requests.begin())].push_back(
          all->settlements.size());
      all->settlements.push_back(settlement);
      request->settlements.push_back(std::move(settlement));
    };
    read(fields, empty, add);
    fields.Finish();
  }
  all->outcomes.resize(all->settlements.size());
  SettleNext(parts, exchange, all);
}

void Acknowledge(const RouteParts& parts, const ExchangePtr& exchange) {
  SettleClaims(parts, exchange, [](JsonFields& fields, SettleRequest&, const auto& add) {
    fields.Objects("claims", kMaxBatch, [&](JsonObject& object) {
      Settlement settlement = ReadClaimed(object);
      settlement.output = object.OptionalJson("output", kMaxOutputBytes).value_or("");
      add(Disposition::kDone, std::move(settlement));
    });
  });
}

void Extend(const RouteParts& parts, const ExchangePtr& exchange) {
  SettleClaims(parts, exchange, [](JsonFields& fields, SettleRequest& request, const auto& add) {
    request.lease_ms = fields.OptionalInteger("lease_ms", kMinLeaseMs, kMaxLeaseMs);
    fields.Objects("claims", kMaxBatch,
                   [&](JsonObject& object) { add(Disposition::kExtend, ReadClaimed(object)); });
  });
}

/// "It failed; again later", or with `started: false` "I have not begun it".
void Abandon(const RouteParts& parts, const ExchangePtr& exchange) {
  SettleClaims(parts, exchange, [](JsonFields& fields, SettleRequest&, const auto& add) {
    fields.Objects("claims", kMaxBatch, [&](JsonObject& object) {
      Settlement settlement = ReadClaimed(object);
      settlement.error = object.OptionalText("error", kMaxErrorBytes).value_or("");
      settlement.retry_after_ms = object.OptionalInteger("retry_after_ms", 0, kMaxRetryMs);
      const bool started = object.OptionalFlag("started").value_or(true);
      if (!started && object.Has("retry_after_ms"))
        object.Refuse("retry_after_ms", "has no meaning for what was not begun");
      add(started ? Disposition::kRetry : Disposition::kUntouched, std::move(settlement));
    });
  });
}

void Fail(const RouteParts& parts, const ExchangePtr& exchange) {
  SettleClaims(parts, exchange, [](JsonFields& fields, SettleRequest&, const auto& add) {
    fields.Objects("claims", kMaxBatch, [&](JsonObject& object) {
      Settlement settlement = ReadClaimed(object);
      settlement.error = object.OptionalText("error", kMaxErrorBytes).value_or("");
      add(Disposition::kDead, std::move(settlement));
    });
  });
}

/// Goes on with `json` of the message that the path names.
template <class ToJson>
void ReplyMessage(const RouteParts& parts, const ExchangePtr& exchange, ToJson json) {
  http::ExpectNoQuery(exchange->request());
  parts.messages.Find({http::TenantOf(exchange), IdOf(exchange)}, exchange->caller(),
                      Answering(exchange, [json](const ExchangePtr& to, const FindReply& reply) {
                        if (reply.message) return to->ReplyJson(json(to, *reply.message));
                        to->Reply(http::NotFound(fmt::format(
                            "There is no message {}: it was never enqueued, or it is done and its "
                            "topic keeps nothing of that.",
                            to->request().path_parameters[0])));
                      }));
}

void GetMessage(const RouteParts& parts, const ExchangePtr& exchange) {
  ReplyMessage(parts, exchange,
               [](const ExchangePtr&, const MessageView& message) { return MessageJson(message); });
}

void SayWhyMessage(const RouteParts& parts, const ExchangePtr& exchange) {
  ReplyMessage(parts, exchange, [](const ExchangePtr& to, const MessageView& message) {
    return explain::ToJson(Explain(message), *to->request().principal);
  });
}

// ---- timers: messages that are not due yet

void SetTimers(const RouteParts& parts, const ExchangePtr& exchange) {
  EnqueueFrom(parts, exchange, "timers", true);
}

http::Problem UnknownTimer(const ExchangePtr& exchange) {
  return http::NotFound(
      fmt::format("There is no timer {}: it was never set, was cancelled, or its message is done.",
                  exchange->request().path_parameters[0]));
}

http::Problem AlreadyFired() {
  return {.status = 409,
          .type = "timer-fired",
          .title = "The timer has fired",
          .detail =
              "Its message was handed to the workers of its topic, or stands in their line: "
              "it is too late to cancel it."};
}

void GetTimer(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.messages.Find({http::TenantOf(exchange), IdOf(exchange)}, exchange->caller(),
                      Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                        if (!reply.message) return to->Reply(UnknownTimer(to));
                        to->ReplyJson(TimerJson(*reply.message));
                      }));
}

/// A program takes back its own timers, as often as it likes. Who says why is a person, and on record.
void CancelTimer(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectQueryReasonAlone(exchange);
  base::Caller caller =
      exchange->reason().empty() ? exchange->caller() : http::Acting(exchange, kCancelAct);
  parts.messages.Cancel({http::TenantOf(exchange), IdOf(exchange)}, std::move(caller),
                        Answering(exchange, [](const ExchangePtr& to, const CancelReply& reply) {
                          switch (reply.outcome) {
                            case CancelOutcome::kCancelled:
                              return to->Reply(http::Response{.status = 204});
                            case CancelOutcome::kFired:
                              return to->Reply(AlreadyFired());
                            case CancelOutcome::kUnknown:
                              return to->Reply(UnknownTimer(to));
                          }
                        }));
}

}  // namespace

void AddMessageRoutes(http::Router& router, const RouteParts& parts) {
  GroupAt(router, parts, "/api/v1/messages")
      .Add({{Method::kPost, "", "enqueueMessages", kWrite, Enqueue, "Message.Enqueue"},
            {Method::kPost, "/claim", "claimMessages", kWrite, Claim, "Message.Claim"},
            {Method::kPost, "/ack", "acknowledgeMessages", kWrite, Acknowledge,
             "Message.Acknowledge"},
            {Method::kPost, "/extend", "extendMessages", kWrite, Extend, "Message.Extend"},
            {Method::kPost, "/abandon", "abandonMessages", kWrite, Abandon, "Message.Abandon"},
            {Method::kPost, "/fail", "failMessages", kWrite, Fail, "Message.Fail"},
            {Method::kGet, "/{id}", "getMessage", kRead, GetMessage}});
  GroupAt(router, parts, "/api/v1/timers")
      .Add({{Method::kPost, "", "setTimers", kWrite, SetTimers, "Message.Enqueue"},
            {Method::kGet, "/{id}", "getTimer", kRead, GetTimer},
            {Method::kDelete, "/{id}", "cancelTimer", kWrite, CancelTimer, "", {kCancelAct}}});
  GroupAt(router, parts, "/api/v1/why/message")
      .Add({{Method::kGet, "/{id}", "whyMessage", kRead, SayWhyMessage}});
}

void AddRoutes(http::Router& router, const RouteParts& parts) {
  AddMessageRoutes(router, parts);
  AddListRoutes(router, parts);
  AddTopicRoutes(router, parts);
  AddDeadLetterRoutes(router, parts);
}

}  // namespace tenure::messages
