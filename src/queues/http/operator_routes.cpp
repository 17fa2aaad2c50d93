// What operators and owners of queues ask and do.
#include <algorithm>
#include <charconv>

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

/// "1:key": behind the key, of this generation.
void ReadCursor(http::QueryFields& fields, SessionsRequest& request) {
  const auto parse = [](const std::string& text) -> std::optional<SessionsRequest> {
    const std::size_t colon = text.find(':');
    SessionsRequest after;
    const auto end = text.data() + std::min(colon, text.size());
    const auto [stop, error] = std::from_chars(text.data(), end, after.after_generation);
    if (colon == std::string::npos || error != std::errc() || stop != end) return std::nullopt;
    after.after_key = text.substr(colon + 1);
    return after;
  };
  auto after = fields.Parsed("cursor", kMaxKeyBytes + 20, http::kNoCursor, parse);
  if (!after) return;
  request.after_key = std::move(after->after_key);
  request.after_generation = after->after_generation;
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
  parts.queues.List(
      std::move(request), exchange->caller(),
      Answering(exchange, [parts](const ExchangePtr& to, const db::Page<QueueView>& page) {
        if (page.rows.empty()) return to->Reply(UnknownQueue(to));
        parts.queues.ListConsumers(
            {http::TenantOf(to), QueueOf(to)}, to->caller(),
            Answering(to, [view = page.rows.front()](const ExchangePtr& answer,
                                                     const db::Page<ConsumerView>& consumers) {
              answer->ReplyJson(QueueJson(view, consumers.rows));
            }));
      }));
}

void GetQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  ReplyQueue(parts, exchange);
}

void PatchQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  PauseRequest request{http::TenantOf(exchange), QueueOf(exchange)};
  {
    JsonFields fields(exchange->request().body);
    request.paused = fields.OptionalFlag("paused").value_or(true);
    if (!fields.Has("paused")) fields.Refuse("paused", "is missing; true or false is expected");
    request.reason = fields.NonEmptyText("reason", kMaxReasonBytes);
    fields.Finish();
  }
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
  if (!request.key.empty() && request.state) http::RefuseField("state", "is not taken with key");
  request.consumer = fields.Text("consumer", kMaxKeyBytes).value_or("");
  request.share = fields.Text("share", kMaxKeyBytes).value_or("");
  request.min_depth = fields.Integer("min_depth", 0, http::kMaxFence).value_or(0);
  ReadCursor(fields, request);
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.queues.ListSessions(
      std::move(request), exchange->caller(),
      Answering(exchange, [parts](const ExchangePtr& to, const db::Page<SessionView>& page) {
        if (page.rows.empty()) return ReplyUnlessUnknown(parts, to, SessionsJson(page));
        to->ReplyJson(SessionsJson(page));
      }));
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
  request.from = std::max(fields.Integer("cursor", 0, http::kMaxFence - 1).value_or(-1) + 1,
                          fields.Integer("from", 1, http::kMaxFence).value_or(0));
  request.state = fields
                      .Parsed("state", 10, "must be waiting, parked, done or dead",
                              [](std::string_view text) {
                                using enum PeekedState;
                                return http::OneOf(text, {kWaiting, kParked, kDone, kDead});
                              })
                      .value_or(PeekedState::kAny);
  const bool shows_payload = fields.Flag("payload").value_or(true);
  request.limit = fields.PageLimit();
  fields.Finish();
  SessionsRequest session;
  session.tenant = request.tenant;
  session.queue = request.queue;
  session.id = request.session;
  session.limit = 1;
  parts.queues.Peek(
      std::move(request), exchange->caller(),
      Answering(exchange, [parts, session, shows_payload](const ExchangePtr& to,
                                                          const db::Page<PeekedMessage>& page) {
        if (!page.rows.empty()) return to->ReplyJson(PeekJson(page, shows_payload));
        parts.queues.ListSessions(
            session, to->caller(),
            Answering(to, [](const ExchangePtr& answer, const db::Page<SessionView>& found) {
              if (found.rows.empty()) return answer->Reply(UnknownQueueSession());
              answer->ReplyJson(PeekJson({}, true));
            }));
      }));
}

void ReplyActed(const ExchangePtr& to, const ReportReply& reply) {
  const ReportOutcome& outcome = reply.outcomes.front();
  switch (outcome.kind) {
    case ReportOutcome::Kind::kDone:
      return to->ReplyJson(SessionJson(outcome.row, reply.now_ms));
    case ReportOutcome::Kind::kUnknown:
      return to->Reply(UnknownQueueSession());
    case ReportOutcome::Kind::kContended:
      return to->Reply(base::Fault(base::FaultKind::kContended,
                                   "a transaction that completes a message of this session is "
                                   "under way"));
    default:
      return to->Reply(SessionUnavailable(outcome.row));
  }
}

/// An operator's act on one session; the answer is the session as it is then.
void Act(const RouteParts& parts, const ExchangePtr& exchange, Report::Kind kind, const char* act) {
  Report report{.kind = kind, .session = SessionOf(exchange)};
  {
    JsonFields fields(exchange->request().body);
    report.error = fields.NonEmptyText("reason", kMaxReasonBytes);
    if (kind == Report::Kind::kSkip)
      report.sequence = fields.Integer("sequence", 1, http::kMaxFence);
    fields.Finish();
  }
  ReportRequest request{http::TenantOf(exchange), QueueOf(exchange), {std::move(report)}};
  base::Caller caller = http::Acting(exchange, act);
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.queues.ActOnce({std::move(request), *std::move(key)}, std::move(caller),
                                http::AnsweringOnce(exchange, ReplyActed));
  parts.queues.Report(std::move(request), std::move(caller), Answering(exchange, ReplyActed));
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

void ReplyUnlessUnknown(const RouteParts& parts, const ExchangePtr& to, std::string body) {
  QueuesRequest request;
  request.tenant = http::TenantOf(to);
  request.name = QueueOf(to);
  request.limit = 1;
  parts.queues.List(std::move(request), to->caller(),
                    Answering(to, [body = std::move(body)](const ExchangePtr& answer,
                                                           const db::Page<QueueView>& page) {
                      if (page.rows.empty()) return answer->Reply(UnknownQueue(answer));
                      answer->ReplyJson(body);
                    }));
}

void AddRoutes(http::Router& router, const RouteParts& parts) {
  AddConsumerRoutes(router, parts);
  AddOperatorRoutes(router, parts);
  AddLetterRoutes(router, parts);
  AddDropRoute(router, parts);
  AddWhyRoutes(router, parts);
}

}  // namespace tenure::queues
