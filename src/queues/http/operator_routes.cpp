// What operators and owners of queues ask and do.
#include <fmt/format.h>

#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "queues/http/json.hpp"
#include "queues/http/problems.hpp"
#include "queues/http/routes.hpp"

namespace tenure::queues {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Method;

constexpr const char* kQueueRead = "queues:read";
constexpr const char* kOperate = "queues:operate";
constexpr std::size_t kMaxReasonBytes = 500;

base::Uuid SessionOf(const ExchangePtr& exchange) {
  if (const auto id = base::Uuid::Parse(exchange->request().path_parameters[1])) return *id;
  http::RefuseField("id", "must be a UUID, such as 0190c2a0-5f3e-8c4d-8a1b-2c3d4e5f6071");
}

void ListQueues(const RouteParts& parts, const ExchangePtr& exchange) {
  QueuesRequest request;
  request.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.after = fields.Text("cursor", kMaxNameBytes).value_or("");
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.queues.List(std::move(request), exchange->caller(), Answering(exchange, QueuesJson));
}

void ReplyQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  QueuesRequest request;
  request.tenant = http::TenantOf(exchange);
  request.name = QueueOf(exchange);
  request.limit = 1;
  parts.queues.List(std::move(request), exchange->caller(),
                    Answering(exchange, [](const ExchangePtr& to, const db::Page<QueueView>& page) {
                      if (page.rows.empty()) return to->Reply(UnknownQueue(to));
                      to->ReplyJson(QueueJson(page.rows.front()));
                    }));
}

void GetQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  ReplyQueue(parts, exchange);
}

void PutQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  DeclareRequest request{http::TenantOf(exchange), QueueOf(exchange), {}};
  JsonFields fields(exchange->request().body);
  QueueSettings& settings = request.wish.settings;
  for (const QueueSetting& each : kQueueSettings)
    settings.*each.value =
        fields.OptionalInteger(each.name, each.least, each.most).value_or(settings.*each.value);
  if (const auto text = fields.OptionalText("on_dead_letter", 10)) {
    const auto policy = http::OneOf(
        *text, {DeadLetterPolicy::kPark, DeadLetterPolicy::kSkip, DeadLetterPolicy::kStop});
    if (policy)
      settings.on_dead_letter = *policy;
    else
      fields.Refuse("on_dead_letter", "must be park, skip or stop");
  }
  settings.scope = Scope::kCustom;  // whoever sends names the key
  fields.Finish();
  parts.queues.Declare(std::move(request), http::Acting(exchange, "queue.declare"),
                       Answering(exchange, [parts](const ExchangePtr& to, const DeclareReply&) {
                         ReplyQueue(parts, to);
                       }));
}

void PatchQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  PauseRequest request{http::TenantOf(exchange), QueueOf(exchange)};
  JsonFields fields(exchange->request().body);
  const auto paused = fields.OptionalFlag("paused");
  if (!paused) fields.Refuse("paused", "is missing; true or false is expected");
  request.paused = paused.value_or(true);
  request.reason = fields.NonEmptyText("reason", kMaxReasonBytes);
  fields.Finish();
  parts.queues.Pause(std::move(request), http::Acting(exchange, "queue.pause"),
                     Answering(exchange, [parts](const ExchangePtr& to, const PauseReply& reply) {
                       if (!reply.queue) return to->Reply(UnknownQueue(to));
                       ReplyQueue(parts, to);
                     }));
}

void ListSessions(const RouteParts& parts, const ExchangePtr& exchange) {
  SessionsRequest request;
  request.tenant = http::TenantOf(exchange);
  request.queue = QueueOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.key = fields.Text("key", kMaxKeyBytes).value_or("");
  request.state =
      fields.Parsed("state", 10, "must be idle, ready, held or parked", [](std::string_view text) {
        return http::OneOf(text, {State::kIdle, State::kReady, State::kHeld, State::kParked});
      });
  request.after = fields.Uuid("cursor").value_or(base::Uuid());
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.queues.ListSessions(std::move(request), exchange->caller(),
                            Answering(exchange, SessionsJson));
}

void GetSession(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  SessionsRequest request;
  request.tenant = http::TenantOf(exchange);
  request.queue = QueueOf(exchange);
  request.id = SessionOf(exchange);
  request.limit = 1;
  parts.queues.ListSessions(
      std::move(request), exchange->caller(),
      Answering(exchange, [](const ExchangePtr& to, const db::Page<SessionView>& page) {
        if (page.rows.empty()) return to->Reply(UnknownQueueSession());
        to->ReplyJson(SessionJson(page.rows.front()));
      }));
}

void Peek(const RouteParts& parts, const ExchangePtr& exchange) {
  PeekRequest request;
  request.tenant = http::TenantOf(exchange);
  request.queue = QueueOf(exchange);
  request.session = SessionOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.from = fields.Integer("cursor", 0, http::kMaxFence - 1).value_or(-1) + 1;
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.queues.Peek(std::move(request), exchange->caller(), Answering(exchange, PeekJson));
}

/// An operator's act on one session; the answer is the session as it is then.
void Act(const RouteParts& parts, const ExchangePtr& exchange, Report::Kind kind, const char* act) {
  Report report{.kind = kind, .session = SessionOf(exchange)};
  JsonFields fields(exchange->request().body);
  report.error = fields.NonEmptyText("reason", kMaxReasonBytes);
  if (kind == Report::Kind::kSkip) report.sequence = fields.Integer("sequence", 1, http::kMaxFence);
  fields.Finish();
  ReportRequest request{http::TenantOf(exchange), QueueOf(exchange), {std::move(report)}};
  parts.queues.Report(
      std::move(request), http::Acting(exchange, act),
      Answering(exchange, [](const ExchangePtr& to, const ReportReply& reply) {
        const ReportOutcome& outcome = reply.outcomes.front();
        switch (outcome.kind) {
          case ReportOutcome::Kind::kDone:
            return to->ReplyJson(SessionJson(outcome.row, reply.now_ms));
          case ReportOutcome::Kind::kUnknown:
            return to->Reply(UnknownQueueSession());
          case ReportOutcome::Kind::kContended:
            return to->Reply(base::Fault(base::FaultKind::kContended,
                                         "a transaction that completes a message of this session "
                                         "is under way"));
          default:
            return to->Reply(SessionUnavailable(outcome.row));
        }
      }));
}

void Resume(const RouteParts& parts, const ExchangePtr& exchange) {
  Act(parts, exchange, Report::Kind::kResume, "queue.resume");
}
void Skip(const RouteParts& parts, const ExchangePtr& exchange) {
  Act(parts, exchange, Report::Kind::kSkip, "queue.skip");
}
void Break(const RouteParts& parts, const ExchangePtr& exchange) {
  Act(parts, exchange, Report::Kind::kBreak, "queue.break");
}
void Discard(const RouteParts& parts, const ExchangePtr& exchange) {
  Act(parts, exchange, Report::Kind::kDiscard, "queue.discard");
}

}  // namespace

void AddOperatorRoutes(http::Router& router, const RouteParts& parts) {
  const std::string session = "/{queue}/sessions/{id}";
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/queues", .rate_class = "queues"})
      .Add({{Method::kGet, "", "listQueues", kQueueRead, ListQueues},
            {Method::kGet, "/{queue}", "getQueue", kQueueRead, GetQueue},
            {Method::kPut, "/{queue}", "putQueue", "admin", PutQueue, "", {"queue.declare"}},
            {Method::kPatch, "/{queue}", "pauseQueue", kOperate, PatchQueue, "", {"queue.pause"}},
            {Method::kGet, "/{queue}/sessions", "listQueueSessions", kQueueRead, ListSessions},
            {Method::kGet, session, "getQueueSession", kQueueRead, GetSession},
            {Method::kGet, session + "/messages", "peekMessages", kQueueRead, Peek},
            {Method::kPost,
             session + "/resume",
             "resumeSession",
             kOperate,
             Resume,
             "",
             {"queue.resume"}},
            {Method::kPost, session + "/skip", "skipMessage", kOperate, Skip, "", {"queue.skip"}},
            {Method::kPost,
             session + "/break",
             "breakSession",
             kOperate,
             Break,
             "",
             {"queue.break"}},
            {Method::kPost,
             session + "/discard",
             "discardMessages",
             kOperate,
             Discard,
             "",
             {"queue.discard"}}});
}

void AddRoutes(http::Router& router, const RouteParts& parts) {
  AddConsumerRoutes(router, parts);
  AddOperatorRoutes(router, parts);
}

}  // namespace tenure::queues
