#include <algorithm>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "tasks/task.hpp"
#include "usage/capability.hpp"
#include "usage/explain.hpp"
#include "usage/usage.hpp"

namespace tenure::usage {
namespace {

using base::JsonWriter;
using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Method;
using http::Problem;
using http::ProblemError;
using http::QueryFields;

constexpr std::int64_t kMaxNumber = (std::int64_t{1} << 53) - 1;
constexpr std::size_t kMaxFactorBytes = 20;
constexpr std::size_t kMaxCursorBytes = 300;
constexpr const char* kRead = "usage:read";
constexpr const char* kFactorAct = "usage.factor";
constexpr const char* kSendAct = "usage.send";
constexpr const char* kResendAct = "usage.resend";

// What the API says of usage; camelCase, as the document it comes from.

constexpr std::string_view kCursor = "nextCursor";

void WriteFactor(JsonWriter& json, const Factor& factor) {
  json.BeginObject().Field("sessionKind", factor.kind);
  json.Field("factor", std::string_view(base::MillionthsText(factor.millionths)));
  json.Key("fromUtc").Time(factor.from_ms);
  json.EndObject();
}

/// `with_counts`: how many records there are, which is for those who may see all tenants.
std::string WindowsJson(const WindowsReply& reply, bool with_counts) {
  const auto write = [&](JsonWriter& json, const WindowView& view) {
    json.BeginObject().Field("window", view.window.number);
    json.Key("windowStartUtc").Time(view.window.start_ms);
    json.Key("windowEndUtc").Time(view.window.end_ms);
    json.Key("sealedUtc").Time(view.window.sealed_ms);
    json.Field("state", StateOf(view));
    if (with_counts) {
      json.Key("records");
      if (view.window.state == WindowState::kEmitted)
        json.Value(view.window.records);
      else
        json.Null();
      json.Field("unsentRecords", view.unsent_records)
          .Field("refusedRecords", view.refused_records);
    }
    json.EndObject();
  };
  return base::PageJson(
      reply.rows, reply.has_more, write,
      [](const WindowView& last) { return fmt::to_string(last.window.number); }, kCursor);
}

/// REQUIRES: there is a window.
std::string RecordsPageJson(const RecordsReply& reply) {
  const Material& material = *reply.material;
  std::string out = "{\"items\":";
  out += RecordsJson(material);
  out += ",\"nextCursor\":";
  if (reply.has_more)
    JsonWriter(out).Value(material.sessions.back().id);
  else
    out += "null";
  out += '}';
  return out;
}

/// REQUIRES: there are windows.
std::string TotalsJson(const TotalsReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject()
      .Field("fromWindow", reply.span.from->number)
      .Field("toWindow", reply.span.to->number);
  json.Key("fromUtc").Time(reply.span.from->start_ms);
  json.Key("toUtc").Time(reply.span.to->end_ms);
  json.Field("sessions", reply.sessions);
  json.Key("usage").Raw(base::MillionthsText(reply.micros));
  json.Field("complete", reply.is_complete).EndObject();
  return out;
}

std::string FactorsJson(const FactorsReply& reply) {
  return base::PageJson(
      reply.factors, false, WriteFactor, [](const Factor&) { return ""; }, kCursor);
}

std::string FactorJson(const Factor& factor) {
  std::string out;
  JsonWriter json(out);
  WriteFactor(json, factor);
  return out;
}

std::string RefusedJson(const RefusedReply& reply) {
  const auto write = [](JsonWriter& json, const Refused& refused) {
    json.BeginObject()
        .Field("recordId", fmt::format("{}-{}", refused.name.number, refused.session.ToString()))
        .Field("window", refused.name.number)
        .Field("sessionId", refused.session);
    json.Key("refusedUtc").Time(refused.refused_ms);
    json.Field("answer", std::string_view(refused.answer)).EndObject();
  };
  return base::PageJson(
      reply.rows, reply.has_more, write, [](const Refused& last) { return ToText(last.name); },
      kCursor);
}

/// Without a token, and with the scope `admin`, everybody's usage is to be seen.
bool SeesAll(const ExchangePtr& exchange) {
  const http::Principal& principal = *exchange->request().principal;
  return !principal.tenant || principal.Has("admin");
}

/// Everybody else is confined to the token's tenant: what is not of it is not there.
template <class Request>
void Confine(const ExchangePtr& exchange, Request& request) {
  if (SeesAll(exchange)) return;
  const auto own = base::Uuid::Parse(*exchange->request().principal->tenant);
  request.of_nobody = !own || (request.tenant && request.tenant != own);
  request.tenant = own;
}

Problem UnknownWindow() {
  return http::NotFound(
      "There is no such usage window: it is not closed yet, or was removed after its retention. "
      "GET /usage/windows lists them.");
}

void ListWindows(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  WindowsRequest request;
  request.limit = fields.PageLimit();
  request.before = fields.Integer("cursor", 1, kMaxNumber).value_or(request.before);
  fields.Finish();
  usage.ListWindows(request, &exchange->executor(),
                    Answering(exchange, [](const ExchangePtr& to, const auto& reply) {
                      to->ReplyJson(WindowsJson(reply, SeesAll(to)));
                    }));
}

std::int64_t WindowOf(const ExchangePtr& exchange) {
  const std::string& number = exchange->request().path_parameters[0];
  // What is no number is no window's number.
  if (number.empty() || number.size() > 15 ||
      !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
    throw ProblemError(UnknownWindow());
  return std::stoll(number);
}

void SayWhy(Usage& usage, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const std::int64_t number = WindowOf(exchange);
  usage.ListWindows({.before = number + 1, .limit = 1}, &exchange->executor(),
                    Answering(exchange, [number](const ExchangePtr& to, const auto& reply) {
                      if (reply.rows.empty() || reply.rows.front().window.number != number)
                        return to->Reply(UnknownWindow());
                      to->ReplyJson(explain::ToJson(Explain(reply.rows.front(), SeesAll(to)),
                                                    *to->request().principal));
                    }));
}

void ListRecords(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  RecordsRequest request;
  request.user = fields.Uuid("userObjectId");
  request.tenant = fields.Uuid("tenantObjectId");
  Confine(exchange, request);
  request.capacity = fields.Uuid("capacityId");
  request.limit = fields.PageLimit();
  request.after = fields.Uuid("cursor");
  fields.Finish();
  request.number = WindowOf(exchange);
  usage.ListRecords(
      request, &exchange->executor(),
      Answering(exchange, [](const ExchangePtr& to, const RecordsReply& reply) {
        if (!reply.material) return to->Reply(UnknownWindow());
        if (reply.is_removed)
          return to->Reply(Problem{
              .status = 410,
              .type = "sessions-removed",
              .title = "Its sessions were removed",
              .detail =
                  "Sessions that were active in this window were removed after their retention "
                  "(sessions.retention): its records can no longer be told in full."});
        to->ReplyJson(RecordsPageJson(reply));
      }));
}

void GetTotals(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  TotalsRequest request;
  request.user = fields.Uuid("userObjectId");
  request.tenant = fields.Uuid("tenantObjectId");
  Confine(exchange, request);
  request.capacity = fields.Uuid("capacityId");
  request.span.from = fields.Integer("fromWindow", 1, kMaxNumber);
  request.span.to = fields.Integer("toWindow", 1, kMaxNumber);
  fields.Finish();
  if (request.span.from && request.span.to && *request.span.from > *request.span.to)
    http::RefuseField("toWindow", "must not be below fromWindow");
  usage.Total(request, &exchange->executor(),
              Answering(exchange, [](const ExchangePtr& to, const TotalsReply& reply) {
                if (!reply.span.from || !reply.span.to) return to->Reply(UnknownWindow());
                to->ReplyJson(TotalsJson(reply));
              }));
}

void ListFactors(Usage& usage, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  usage.ListFactors({}, &exchange->executor(), Answering(exchange, FactorsJson));
}

void SetFactor(Usage& usage, const ExchangePtr& exchange) {
  JsonFields fields(exchange->request().body);
  const int kind = static_cast<int>(fields.Integer("sessionKind", 1, kKinds));
  const std::string text = fields.NonEmptyText("factor", kMaxFactorBytes);
  const auto factor = base::ParseMillionths(text);
  if (!text.empty() && (!factor || *factor > kMaxFactor))
    fields.Refuse("factor",
                  "must be a decimal with at most six places, up to 1000000000, as text: \"1.5\"");
  http::ReadReason(exchange, fields);
  fields.Finish();
  usage.SetFactor(kind, *factor, http::Acting(exchange, kFactorAct),
                  Answering(exchange, [](const ExchangePtr& to, const SetFactorReply& reply) {
                    const base::LogScope scope(*to);
                    base::LogInfo("usage.factor", "a factor of usage was set",
                                  {{"kind", reply.factor.kind},
                                   {"factor", base::MillionthsText(reply.factor.millionths)}});
                    to->ReplyJson(FactorJson(reply.factor));
                  }));
}

void Send(Usage& usage, const ExchangePtr& exchange) {
  JsonFields fields(exchange->request().body);
  const SendRequest request{fields.Integer("fromWindow", 1, kMaxNumber)};
  http::ReadReason(exchange, fields);
  fields.Finish();
  if (!usage.options().send)
    throw ProblemError(
        {.status = 409,
         .type = "no-usage-endpoint",
         .title = "Nobody to send to",
         .detail = "This server has no usage.endpoint; set it, and start the server again."});
  usage.Send(request, http::Acting(exchange, kSendAct),
             Answering(exchange, [](const SendReply& reply) {
               return fmt::format("{{\"windows\":{}}}", reply.windows);
             }));
}

void ListRefused(Usage& usage, const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  RefusedRequest request;
  request.limit = fields.PageLimit();
  if (auto after = fields.Parsed("cursor", kMaxCursorBytes, http::kNoCursor, ParseChunkName))
    request.after = *std::move(after);
  fields.Finish();
  usage.ListRefused(request, &exchange->executor(), Answering(exchange, RefusedJson));
}

/// Refused records are dead letters of Tenure's own topic; this sends a thousand of them again.
void Resend(messages::Messages& messages, const ExchangePtr& exchange) {
  http::ExpectReasonAlone(exchange);
  messages::DeadChangeRequest request;
  request.filter.tenant = tasks::kOwnTenant;
  request.filter.topic = kTopic;
  messages.ChangeDead(std::move(request), http::Acting(exchange, kResendAct),
                      Answering(exchange, [](const messages::DeadChangeReply& reply) {
                        return fmt::format("{{\"records\":{}}}", reply.ids.size());
                      }));
}

}  // namespace

void AddRoutes(http::Router& router, Usage& usage, messages::Messages& messages) {
  http::RouteGroup<Usage&>(router, usage, {.path = "/usage", .rate_class = "usage"})
      .Add({{Method::kGet, "/windows", "listUsageWindows", kRead, ListWindows},
            {Method::kGet, "/windows/{window}/records", "listUsageRecords", kRead, ListRecords},
            {Method::kGet, "/totals", "getUsageTotals", kRead, GetTotals},
            {Method::kGet, "/factors", "listUsageFactors", kRead, ListFactors},
            {Method::kPost, "/factors", "setUsageFactor", "admin", SetFactor, "", {kFactorAct}},
            {Method::kPost, "/send", "sendUsage", "admin", Send, "", {kSendAct}},
            {Method::kGet, "/refused", "listRefusedUsage", "admin", ListRefused}});
  http::RouteGroup<Usage&>(router, usage, {.path = "/api/v1/why/usage", .rate_class = "usage"})
      .Add({{Method::kGet, "/{window}", "whyUsage", kRead, SayWhy}});
  http::RouteGroup<messages::Messages&>(router, messages,
                                        {.path = "/usage/refused", .rate_class = "usage"})
      .Add({{Method::kPost, "/resend", "resendRefusedUsage", "admin", Resend, "", {kResendAct}}});
}

}  // namespace tenure::usage
