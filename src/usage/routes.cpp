#include "usage/routes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/log.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "tasks/task.hpp"
#include "usage/json.hpp"

namespace tenure::usage {
namespace {

using http::ExchangePtr;
using http::JsonFields;
using http::Method;
using http::Problem;
using http::ProblemError;
using http::QueryFields;

constexpr std::int64_t kMaxNumber = (std::int64_t{1} << 53) - 1;
constexpr std::size_t kMaxFactorBytes = 20;
constexpr std::size_t kMaxCursorBytes = 300;
constexpr const char* kFactorAct = "usage.factor";
constexpr const char* kSendAct = "usage.send";
constexpr const char* kResendAct = "usage.resend";

/// Without a token, and with the scope `admin`, everybody's usage is to be seen.
bool SeesAll(const ExchangePtr& exchange) {
  const http::Principal& principal = *exchange->request().principal;
  return !principal.tenant || principal.Has("admin");
}

/// Everybody else is confined to the token's tenant: what is not of it is not there.
std::optional<base::Uuid> VisibleTenant(const ExchangePtr& exchange,
                                        const std::optional<base::Uuid>& asked) {
  if (SeesAll(exchange)) return asked;
  const auto own = base::Uuid::Parse(*exchange->request().principal->tenant).value_or(base::Uuid());
  return !asked || *asked == own ? own : base::Uuid();
}

template <class Reply, class Then>
auto Answering(const ExchangePtr& exchange, Then then) {
  return [exchange, then = std::move(then)](db::Result<Reply> result) mutable {
    if (!result.ok()) return exchange->Reply(result.fault());
    then(exchange, std::move(result.value()));
  };
}

Problem UnknownWindow() {
  return http::NotFound(
      "There is no such usage window: it is not closed yet, or was removed after its retention. "
      "GET /usage/windows lists them.");
}

void ListWindows(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  WindowsRequest request;
  request.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  request.before = fields.Integer("cursor", 1, kMaxNumber).value_or(request.before);
  fields.Finish();
  usage.ListWindows(request, &exchange->executor(),
                    Answering<WindowsReply>(exchange, [](const ExchangePtr& to, const auto& reply) {
                      to->Reply(http::JsonResponse(200, WindowsJson(reply, SeesAll(to))));
                    }));
}

void ListRecords(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  RecordsRequest request;
  request.user = fields.Uuid("userObjectId");
  request.tenant = VisibleTenant(exchange, fields.Uuid("tenantObjectId"));
  request.capacity = fields.Uuid("capacityId");
  request.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  request.after = fields.Uuid("cursor");
  fields.Finish();
  const std::string& number = exchange->request().path_parameters[0];
  // What is no number is no window's number.
  if (number.empty() || number.size() > 15 ||
      !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
    throw ProblemError(UnknownWindow());
  request.number = std::stoll(number);
  usage.ListRecords(
      request, &exchange->executor(),
      Answering<RecordsReply>(exchange, [](const ExchangePtr& to, const RecordsReply& reply) {
        if (!reply.material) return to->Reply(UnknownWindow());
        if (reply.is_removed)
          return to->Reply(Problem{
              .status = 410,
              .type = "sessions-removed",
              .title = "Its sessions were removed",
              .detail =
                  "Sessions that were active in this window were removed after their retention "
                  "(sessions.retention): its records can no longer be told in full."});
        to->Reply(http::JsonResponse(200, RecordsPageJson(reply)));
      }));
}

void GetTotals(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  TotalsRequest request;
  request.user = fields.Uuid("userObjectId");
  request.tenant = VisibleTenant(exchange, fields.Uuid("tenantObjectId"));
  request.capacity = fields.Uuid("capacityId");
  request.span.from = fields.Integer("fromWindow", 1, kMaxNumber);
  request.span.to = fields.Integer("toWindow", 1, kMaxNumber);
  fields.Finish();
  if (request.span.from && request.span.to && *request.span.from > *request.span.to)
    throw ProblemError(http::InvalidRequest({{"toWindow", "must not be below fromWindow"}}));
  usage.Total(request, &exchange->executor(),
              Answering<TotalsReply>(exchange, [](const ExchangePtr& to, const TotalsReply& reply) {
                if (!reply.span.from || !reply.span.to) return to->Reply(UnknownWindow());
                to->Reply(http::JsonResponse(200, TotalsJson(reply)));
              }));
}

void ListFactors(Usage& usage, const ExchangePtr& exchange) {
  QueryFields(exchange->request().query).Finish();
  usage.ListFactors(&exchange->executor(),
                    Answering<FactorsReply>(exchange, [](const ExchangePtr& to, const auto& reply) {
                      to->Reply(http::JsonResponse(200, FactorsJson(reply)));
                    }));
}

void SetFactor(Usage& usage, const ExchangePtr& exchange) {
  JsonFields fields(exchange->request().body);
  const int kind = static_cast<int>(fields.Integer("sessionKind", 1, kKinds));
  const std::string text = fields.NonEmptyText("factor", kMaxFactorBytes);
  const auto factor = base::ParseMillionths(text);
  if (!text.empty() && (!factor || *factor > kMaxFactor))
    fields.Refuse("factor",
                  "must be a decimal with at most six places, up to 1000000000, as text: \"1.5\"");
  fields.Finish();
  usage.SetFactor(
      kind, *factor, http::Acting(exchange, kFactorAct),
      Answering<SetFactorReply>(exchange, [](const ExchangePtr& to, const SetFactorReply& reply) {
        const base::LogScope scope(*to);
        base::LogInfo("usage.factor", "a factor of usage was set",
                      {{"kind", reply.factor.kind},
                       {"factor", base::MillionthsText(reply.factor.millionths)}});
        to->Reply(http::JsonResponse(200, FactorJson(reply.factor)));
      }));
}

void Send(Usage& usage, const ExchangePtr& exchange) {
  JsonFields fields(exchange->request().body);
  const SendRequest request{fields.Integer("fromWindow", 1, kMaxNumber)};
  fields.Finish();
  if (!usage.options().send)
    throw ProblemError(
        {.status = 409,
         .type = "no-usage-endpoint",
         .title = "Nobody to send to",
         .detail = "This server has no usage.endpoint; set it, and start the server again."});
  usage.Send(request, http::Acting(exchange, kSendAct),
             Answering<SendReply>(exchange, [](const ExchangePtr& to, const SendReply& reply) {
               to->Reply(http::JsonResponse(200, fmt::format("{{\"windows\":{}}}", reply.windows)));
             }));
}

void ListRefused(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  RefusedRequest request;
  request.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  const auto cursor = fields.Text("cursor", kMaxCursorBytes);
  fields.Finish();
  if (cursor) {
    const auto after = ParseChunkName(*cursor);
    if (!after) throw ProblemError(http::InvalidRequest({{"cursor", "is not one of this list"}}));
    request.after = *after;
  }
  usage.ListRefused(request, &exchange->executor(),
                    Answering<RefusedReply>(exchange, [](const ExchangePtr& to, const auto& reply) {
                      to->Reply(http::JsonResponse(200, RefusedJson(reply)));
                    }));
}

/// Refused records are dead letters of Tenure's own topic; this sends a thousand of them again.
void Resend(messages::Messages& messages, const ExchangePtr& exchange) {
  JsonFields(exchange->request().body).Finish();
  messages::DeadChangeRequest request;
  request.filter.tenant = tasks::kOwnTenant;
  request.filter.topic = kTopic;
  messages.ChangeDead(
      std::move(request), http::Acting(exchange, kResendAct),
      Answering<messages::DeadChangeReply>(
          exchange, [](const ExchangePtr& to, const messages::DeadChangeReply& reply) {
            to->Reply(http::JsonResponse(200, fmt::format("{{\"records\":{}}}", reply.ids.size())));
          }));
}

}  // namespace

void AddRoutes(http::Router& router, Usage& usage, messages::Messages& messages) {
  const auto add = [&](Method method, std::string pattern, std::string operation, std::string scope,
                       void (*handle)(Usage&, const ExchangePtr&),
                       std::vector<std::string> acts = {}) {
    router.Add(
        {.method = method,
         .pattern = std::move(pattern),
         .operation = std::move(operation),
         .scope = std::move(scope),
         .handler = [&usage, handle](const ExchangePtr& exchange) { handle(usage, exchange); },
         .acts = std::move(acts)});
  };
  add(Method::kGet, "/usage/windows", "listUsageWindows", "usage:read", ListWindows);
  add(Method::kGet, "/usage/windows/{window}/records", "listUsageRecords", "usage:read",
      ListRecords);
  add(Method::kGet, "/usage/totals", "getUsageTotals", "usage:read", GetTotals);
  add(Method::kGet, "/usage/factors", "listUsageFactors", "usage:read", ListFactors);
  add(Method::kPost, "/usage/factors", "setUsageFactor", "admin", SetFactor, {kFactorAct});
  add(Method::kPost, "/usage/send", "sendUsage", "admin", Send, {kSendAct});
  add(Method::kGet, "/usage/refused", "listRefusedUsage", "admin", ListRefused);
  router.Add({.method = Method::kPost,
              .pattern = "/usage/refused/resend",
              .operation = "resendRefusedUsage",
              .scope = "admin",
              .handler = [&messages](const ExchangePtr& exchange) { Resend(messages, exchange); },
              .acts = {kResendAct}});
}

}  // namespace tenure::usage
