// Dead letters: listed, put back into their lines, put away for good.
#include "base/log.hpp"
#include "http/order.hpp"
#include "messages/http/json.hpp"
#include "messages/http/routes.hpp"

namespace tenure::messages {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Method;
using Kind = DeadChangeRequest::Kind;

constexpr std::int64_t kMaxRate = 100'000;
constexpr std::int64_t kMaxRedriveDelayMs = 366LL * 86'400'000;
constexpr std::size_t kMaxDeathReasonBytes = 20;
constexpr const char* kRedriveAct = "message.redrive";
constexpr const char* kDiscardAct = "message.discard";

constexpr const char* kReasonRule = "must be failed, attempts or crashes";

std::optional<DeathReason> ParseReason(const std::string& text) {
  return http::OneOf(text, {DeathReason::kFailed, DeathReason::kAttempts, DeathReason::kCrashes});
}

void ListLetters(const RouteParts& parts, const ExchangePtr& exchange) {
  DeadRequest request;
  request.filter.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.filter.topic = fields.Text("topic", kMaxTopicBytes).value_or("");
  request.filter.reason = fields.Parsed("reason", kMaxDeathReasonBytes, kReasonRule, ParseReason);
  request.after = fields.Uuid("cursor");
  request.newest_first = http::ReadDescending(fields);
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.messages.ListDead(std::move(request), exchange->caller(),
                          Answering(exchange, DeadLettersJson));
}

void ListGroups(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  GroupsRequest request{http::TenantOf(exchange),
                        fields.Text("topic", kMaxTopicBytes).value_or("")};
  fields.Finish();
  parts.messages.GroupDead(std::move(request), exchange->caller(),
                           Answering(exchange, DeadGroupsJson));
}

/// All of a letter, its payload too.
void GetLetter(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const auto id = base::Uuid::Parse(exchange->request().path_parameters[0]);
  if (!id) http::RefuseField("id", "must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071");
  parts.messages.Find({http::TenantOf(exchange), *id}, exchange->caller(),
                      Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                        if (reply.message && reply.message->state == MessageState::kDead)
                          return to->ReplyJson(MessageJson(*reply.message));
                        to->Reply(http::NotFound(fmt::format(
                            "There is no dead letter {0}: it never died, was redriven, or was "
                            "discarded. `tenure why message {0}` tells what became of it.",
                            to->request().path_parameters[0])));
                      }));
}

DeadChangeRequest ReadChange(Kind kind, const ExchangePtr& exchange) {
  DeadChangeRequest request;
  request.kind = kind;
  request.filter.tenant = http::TenantOf(exchange);
  JsonFields fields(exchange->request().body);
  request.filter.topic = fields.OptionalText("topic", kMaxTopicBytes).value_or("");
  const auto reason = fields.OptionalText("reason", kMaxDeathReasonBytes);
  if (reason) request.filter.reason = ParseReason(*reason);
  if (reason && !request.filter.reason) fields.Refuse("reason", kReasonRule);
  request.filter.ids = fields.OptionalUuids("ids", kMaxBatch);
  request.limit = fields.OptionalInteger("max", 1, kMaxBatch).value_or(kMaxBatch);
  request.dry_run = fields.OptionalFlag("dry_run").value_or(false);
  if (kind == Kind::kRedrive) {
    request.rate = fields.OptionalInteger("rate", 1, kMaxRate).value_or(0);
    request.delay_ms = fields.OptionalInteger("delay_ms", 0, kMaxRedriveDelayMs).value_or(0);
  }
  // An empty list means "any" further down; here it would be a script's mistake.
  if (fields.Has("ids") && request.filter.ids.empty()) fields.Refuse("ids", "must not be empty");
  if (fields.Has("ids") && (fields.Has("topic") || reason || fields.Has("max")))
    fields.Refuse("ids", "must not be given together with topic, reason or max");
  if (kind == Kind::kDiscard && !fields.Has("topic") && !reason && !fields.Has("ids"))
    fields.Refuse("topic", "is missing: what is discarded is named by topic, reason or ids");
  // Here `reason` is of what they died.
  http::ReadReason(exchange, fields, "because");
  fields.Finish();
  return request;
}

void LogChange(const DeadChangeRequest& request, const ExchangePtr& exchange) {
  const bool redrive = request.kind == Kind::kRedrive;
  base::LogWarn(redrive ? "messages.redrive" : "messages.discard",
                redrive ? "an operator redrives dead letters" : "an operator discards dead letters",
                {{"tenant", request.filter.tenant},
                 {"topic", request.filter.topic},
                 {"ids", static_cast<std::int64_t>(request.filter.ids.size())},
                 {"person", exchange->request().principal->person},
                 {"request_id", exchange->request().request_id}});
}

void ChangeLetters(Kind kind, const RouteParts& parts, const ExchangePtr& exchange) {
  DeadChangeRequest request = ReadChange(kind, exchange);
  if (!request.dry_run) LogChange(request, exchange);
  const bool redrive = kind == Kind::kRedrive;
  base::Caller caller = http::Acting(exchange, redrive ? kRedriveAct : kDiscardAct);
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.messages.ChangeDeadOnce({std::move(request), *std::move(key)}, std::move(caller),
                                         http::AnsweringOnce(exchange, DeadChangeJson));
  parts.messages.ChangeDead(std::move(request), std::move(caller),
                            Answering(exchange, DeadChangeJson));
}

void Redrive(const RouteParts& parts, const ExchangePtr& exchange) {
  ChangeLetters(Kind::kRedrive, parts, exchange);
}
void Discard(const RouteParts& parts, const ExchangePtr& exchange) {
  ChangeLetters(Kind::kDiscard, parts, exchange);
}

}  // namespace

void AddDeadLetterRoutes(http::Router& router, const RouteParts& parts) {
  GroupAt(router, parts, "/api/v1/dead-letters")
      .Add({{Method::kGet, "", "listDeadLetters", kRead, ListLetters},
            {Method::kGet, "/groups", "listDeadLetterGroups", kRead, ListGroups},
            {Method::kGet, "/{id}", "getDeadLetter", kRead, GetLetter},
            {Method::kPost, "/redrive", "redriveDeadLetters", kWrite, Redrive, "", {kRedriveAct}},
            {Method::kPost, "/discard", "discardDeadLetters", kWrite, Discard, "", {kDiscardAct}}});
}

}  // namespace tenure::messages
