// Dead letters: listed, put back into their lines, put away for good.
#include "base/log.hpp"
#include "messages/json.hpp"
#include "messages/route_support.hpp"

namespace tenure::messages {
namespace {

using http::ExchangePtr;
using http::JsonFields;
using http::Method;
using Kind = DeadChangeRequest::Kind;

constexpr std::int64_t kMaxRate = 100'000;
constexpr std::int64_t kMaxDelayMs = 366LL * 86'400'000;
constexpr std::size_t kMaxReasonBytes = 20;
constexpr const char* kRedriveAct = "message.redrive";
constexpr const char* kDiscardAct = "message.discard";

/// Throws a 400 when it is none of them.
std::optional<DeathReason> ParseReason(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  for (const auto reason : {DeathReason::kFailed, DeathReason::kAttempts, DeathReason::kCrashes})
    if (*text == ToText(reason)) return reason;
  throw http::ProblemError(
      http::InvalidRequest({{"reason", "must be failed, attempts or crashes"}}));
}

void List(const RouteParts& parts, const ExchangePtr& exchange) {
  DeadRequest request;
  request.filter.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.filter.topic = fields.Text("topic", kMaxTopicBytes).value_or("");
  const auto reason = fields.Text("reason", kMaxReasonBytes);
  request.after = fields.Uuid("cursor");
  request.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  fields.Finish();
  request.filter.reason = ParseReason(reason);
  parts.messages.ListDead(
      std::move(request), exchange->caller(),
      Answering<DeadReply>(exchange, [](const ExchangePtr& to, const DeadReply& reply) {
        to->Reply(http::JsonResponse(200, DeadLettersJson(reply)));
      }));
}

DeadChangeRequest ReadChange(Kind kind, const ExchangePtr& exchange) {
  DeadChangeRequest request;
  request.kind = kind;
  request.filter.tenant = http::TenantOf(exchange);
  JsonFields fields(exchange->request().body);
  request.filter.topic = fields.OptionalText("topic", kMaxTopicBytes).value_or("");
  const auto reason = fields.OptionalText("reason", kMaxReasonBytes);
  request.filter.ids = fields.OptionalUuids("ids", kMaxBatch);
  request.limit = fields.OptionalInteger("max", 1, kMaxBatch).value_or(kMaxBatch);
  request.dry_run = fields.OptionalFlag("dry_run").value_or(false);
  if (kind == Kind::kRedrive) {
    request.rate = fields.OptionalInteger("rate", 1, kMaxRate).value_or(0);
    request.delay_ms = fields.OptionalInteger("delay_ms", 0, kMaxDelayMs).value_or(0);
  }
  // An empty list means "any" further down; here it would be a script's mistake.
  if (fields.Has("ids") && request.filter.ids.empty()) fields.Refuse("ids", "must not be empty");
  if (fields.Has("ids") && (fields.Has("topic") || reason || fields.Has("max")))
    fields.Refuse("ids", "must not be given together with topic, reason or max");
  if (kind == Kind::kDiscard && !fields.Has("topic") && !reason && !fields.Has("ids"))
    fields.Refuse("topic", "is missing: what is discarded is named by topic, reason or ids");
  fields.Finish();
  request.filter.reason = ParseReason(reason);
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

void Change(Kind kind, const RouteParts& parts, const ExchangePtr& exchange) {
  DeadChangeRequest request = ReadChange(kind, exchange);
  if (!request.dry_run) LogChange(request, exchange);
  const bool redrive = kind == Kind::kRedrive;
  base::Caller caller = http::Acting(exchange, redrive ? kRedriveAct : kDiscardAct);
  if (auto key = OnceKeyOf(exchange, redrive ? "redriveDeadLetters" : "discardDeadLetters"))
    return parts.messages.ChangeDeadOnce(
        std::move(request), std::move(*key), std::move(caller),
        AnsweringOnce(exchange, [](const ExchangePtr& to, db::OnceReply reply) {
          to->Reply(http::JsonResponse(200, std::move(reply.answer.body)));
        }));
  parts.messages.ChangeDead(
      std::move(request), std::move(caller),
      Answering<DeadChangeReply>(exchange, [](const ExchangePtr& to, const DeadChangeReply& reply) {
        to->Reply(http::JsonResponse(200, DeadChangeJson(reply)));
      }));
}

void Redrive(const RouteParts& parts, const ExchangePtr& exchange) {
  Change(Kind::kRedrive, parts, exchange);
}
void Discard(const RouteParts& parts, const ExchangePtr& exchange) {
  Change(Kind::kDiscard, parts, exchange);
}

}  // namespace

void AddDeadLetterRoutes(http::Router& router, const RouteParts& parts) {
  RouteAdder add(router, parts, "/api/v1/dead-letters");
  add(Method::kGet, "", {"listDeadLetters", "messages:read"}, List);
  add(Method::kPost, "/redrive", {"redriveDeadLetters", "messages:write", "", {kRedriveAct}},
      Redrive);
  add(Method::kPost, "/discard", {"discardDeadLetters", "messages:write", "", {kDiscardAct}},
      Discard);
}

}  // namespace tenure::messages
