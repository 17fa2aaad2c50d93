// Sending, accepting sessions, and what their holders say.
#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "http/fences.hpp"
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
using http::JsonObject;
using http::Method;

constexpr const char* kQueueWrite = "queues:write";

/// A name that people read: no control characters.
std::string NameIn(JsonObject& object, std::string_view field) {
  std::string name = object.NonEmptyText(field, kMaxKeyBytes);
  if (base::HasControls(name)) object.Refuse(field, "must have no control characters");
  return name;
}

NewMessage ReadSent(JsonObject& object, std::size_t payload_max) {
  NewMessage message;
  message.key = NameIn(object, "session_key");
  const bool has_json = object.Has("payload");
  const bool has_bytes = object.Has("payload_base64");
  if (has_json) message.payload = object.OptionalJson("payload", payload_max).value_or("");
  if (has_bytes) {
    message.kind = PayloadKind::kBytes;
    message.payload = object.OptionalBytes("payload_base64", payload_max).value_or("");
  }
  if (has_json && has_bytes)
    object.Refuse("payload_base64", "must not be given together with payload");
  if (!has_json && !has_bytes)
    object.Refuse("payload", "is missing; any JSON value, or payload_base64, is expected");
  message.correlation_id =
      object.OptionalText("correlation_id", messages::kMaxCorrelationBytes).value_or("");
  message.headers = object.OptionalObject("headers", messages::kMaxHeadersBytes).value_or("");
  message.trace = object.TextInside("headers", "traceparent").substr(0, 55);
  if (object.Has("dedup_key"))
    message.dedup_key = object.NonEmptyText("dedup_key", messages::kMaxDedupKeyBytes);
  message.ttl_ms = object.OptionalInteger("ttl_ms", 0, kMaxRetryMs);
  if (object.Has("share")) message.share = NameIn(object, "share");
  return message;
}

void ReplySent(const ExchangePtr& to, const SendReply& reply) {
  switch (reply.kind) {
    case SendReply::Kind::kSent:
      return to->ReplyJson(SentJson(reply), SentStatus(reply));
    case SendReply::Kind::kNoQueue:
      return to->Reply(UnknownQueue(to));
    case SendReply::Kind::kUnordered:
      return to->Reply(UnorderedQueue(to));
    case SendReply::Kind::kDraining:
      return to->Reply(DrainingQueue(to));
    case SendReply::Kind::kFull:
      return to->Reply(FullQueue(to));
  }
}

void Send(const RouteParts& parts, const ExchangePtr& exchange) {
  SendRequest request{http::TenantOf(exchange), QueueOf(exchange), {}};
  {
    JsonFields fields(exchange->request().body);
    request.is_list = fields.Has("messages");
    if (request.is_list)
      fields.Objects("messages", messages::kMaxBatch, [&](JsonObject& object) {
        request.messages.push_back(ReadSent(object, parts.payload_max));
      });
    else
      request.messages.push_back(ReadSent(fields, parts.payload_max));
    fields.Finish();
  }
  if (request.messages.empty()) http::RefuseField("messages", "must not be empty");
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.queues.SendOnce({std::move(request), *std::move(key)}, exchange->caller(),
                                 http::AnsweringOnce(exchange, ReplySent));
  parts.queues.Send(std::move(request), exchange->caller(), Answering(exchange, ReplySent));
}

http::Problem LeaseTooLong(std::int64_t most_ms) {
  return http::InvalidRequest(
      {{"lease_ms", fmt::format("must be an integer from {} to {}, the queue's session_timeout",
                                kMinLeaseMs, most_ms)}});
}

void ReplyAccepted(const ExchangePtr& to, const AcceptReply& reply) {
  if (reply.kind == AcceptReply::Kind::kLeaseTooLong)
    return to->Reply(LeaseTooLong(reply.most_lease_ms));
  if (reply.kind == AcceptReply::Kind::kNoQueue) return to->Reply(UnknownQueue(to));
  if (reply.kind == AcceptReply::Kind::kUnordered) return to->Reply(UnorderedQueue(to));
  if (!reply.unavailable) return to->ReplyJson(AcceptJson(reply));
  if (reply.unavailable->reason == NotToBeHad::Reason::kUnknown)
    return to->Reply(UnknownQueueSession());
  to->Reply(SessionUnavailable(*reply.unavailable));
}

void AcceptNow(const RouteParts& parts, const ExchangePtr& exchange, AcceptRequest request,
               std::int64_t wait_ms) {
  auto done = Answering(exchange, ReplyAccepted);
  if (wait_ms == 0)
    return parts.queues.Accept(std::move(request), exchange->caller(), std::move(done));
  http::Waits::Share share = exchange->BeginWait(2);
  const auto id = parts.queues.AcceptWaiting(std::move(request), wait_ms, exchange->caller(),
                                             http::KeepingShare(std::move(share), std::move(done)));
  // Who has gone would hold sessions that nobody works on.
  http::AbandonWhenGone(exchange, [parts, id] { parts.queues.Abandon(id); });
}

/// Whoever chooses a session may say its key, or what is printed of it; a key comes first.
void AcceptNamed(const RouteParts& parts, const ExchangePtr& exchange, AcceptRequest request,
                 std::int64_t wait_ms) {
  SessionsRequest named;
  named.tenant = request.tenant;
  named.queue = request.queue;
  named.key = request.key;
  parts.queues.ListSessions(
      std::move(named), exchange->caller(),
      Answering(exchange, [parts, request = std::move(request), wait_ms](
                              const ExchangePtr& to, const db::Page<SessionView>& page) mutable {
        const bool is_key = std::ranges::any_of(
            page.rows, [&](const SessionView& each) { return each.session.key == request.key; });
        if (!is_key && !page.rows.empty()) {
          request.session = page.rows.back().session.id;
          request.key.clear();
        }
        AcceptNow(parts, to, std::move(request), wait_ms);
      }));
}

/// Returns for how long it may wait.
std::int64_t ReadAccept(const ExchangePtr& exchange, AcceptRequest& request) {
  request.tenant = http::TenantOf(exchange);
  request.queue = QueueOf(exchange);
  JsonFields fields(exchange->request().body);
  request.consumer = NameIn(fields, "consumer");
  request.max_sessions =
      fields.OptionalInteger("max_sessions", 1, static_cast<std::int64_t>(kMaxSessions))
          .value_or(1);
  request.max_messages =
      fields.OptionalInteger("max_messages", 1, kMaxSlice).value_or(kDefaultSlice);
  request.lease_ms = fields.OptionalInteger("lease_ms", kMinLeaseMs, messages::kMaxLeaseMs);
  request.accept_id = fields.OptionalUuid("accept_id");
  request.session = fields.OptionalUuid("session");
  if (fields.Has("key")) request.key = fields.NonEmptyText("key", kMaxKeyBytes);
  if (request.session && !request.key.empty())
    fields.Refuse("key", "must not be given together with session");
  if (request.accept_id == base::Uuid()) fields.Refuse("accept_id", "must not be the nil UUID");
  if (request.is_chosen() && request.max_sessions > 1)
    fields.Refuse("max_sessions", "is 1 for a session that is chosen");
  const std::int64_t wait_ms = fields.OptionalInteger("wait_ms", 0, kMaxWaitMs).value_or(0);
  fields.Finish();
  return wait_ms;
}

void Accept(const RouteParts& parts, const ExchangePtr& exchange) {
  AcceptRequest request;
  const std::int64_t wait_ms = ReadAccept(exchange, request);
  if (!request.key.empty()) return AcceptNamed(parts, exchange, std::move(request), wait_ms);
  AcceptNow(parts, exchange, std::move(request), wait_ms);
}

/// The fields that every report has.
Report ReadHeld(JsonObject& object, Report::Kind kind) {
  Report report;
  report.kind = kind;
  report.session = object.Uuid("session");
  report.fence = object.Integer("fence", 1, http::kMaxFence);
  return report;
}

std::int64_t SequenceIn(JsonObject& object) {
  return object.Integer("sequence", 1, http::kMaxFence);
}

void ReadThrough(JsonObject& object, Report& report) {
  report.complete_through = object.OptionalInteger("complete_through", 1, http::kMaxFence);
}

void ReadState(JsonObject& object, Report& report) {
  if (object.Has("state") && object.Has("state_base64"))
    object.Refuse("state_base64", "must not be given together with state");
  report.state = object.OptionalText("state", kMaxStateBytes);
  if (object.Has("state_base64"))
    report.state = object.OptionalBytes("state_base64", kMaxStateBytes);
}

/// Reports of one kind on many sessions: answered each by itself, in their order. `read` reads what
/// is particular to a call.
template <class Read>
void ReportAll(const RouteParts& parts, const ExchangePtr& exchange, Report::Kind kind,
               const Read& read) {
  ReportRequest request{http::TenantOf(exchange), QueueOf(exchange), {}};
  {
    JsonFields fields(exchange->request().body);
    read(fields, [&](const auto& read_item) {
      fields.Objects("sessions", kMaxItems, [&](JsonObject& object) {
        Report report = ReadHeld(object, kind);
        read_item(object, report);
        request.items.push_back(std::move(report));
      });
    });
    fields.Finish();
  }
  if (request.items.empty()) http::RefuseField("sessions", "must not be empty");
  auto done = Answering(exchange, [kind, request](const ExchangePtr& to, const ReportReply& reply) {
    for (const ReportOutcome& each : reply.outcomes)
      if (each.kind == ReportOutcome::Kind::kLeaseTooLong)
        return to->Reply(LeaseTooLong(each.most_lease_ms));
    if (std::ranges::all_of(reply.outcomes, [](const ReportOutcome& each) {
          return each.kind == ReportOutcome::Kind::kUnknown;
        }))
      return to->Reply(UnknownQueueSession());
    to->ReplyJson(ReportJson(kind, request, reply));
  });
  parts.queues.Report(std::move(request), exchange->caller(), std::move(done));
}

void Renew(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportAll(parts, exchange, Report::Kind::kRenew, [](JsonFields& fields, const auto& each) {
    const std::int64_t lease_ms =
        fields.OptionalInteger("lease_ms", kMinLeaseMs, messages::kMaxLeaseMs).value_or(0);
    each([lease_ms](JsonObject&, Report& report) { report.lease_ms = lease_ms; });
  });
}

void Complete(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportAll(parts, exchange, Report::Kind::kComplete, [](JsonFields&, const auto& each) {
    each([](JsonObject& object, Report& report) {
      report.sequence = SequenceIn(object);
      ReadState(object, report);
      report.keep = object.OptionalFlag("keep").value_or(true);
      report.linger = object.OptionalFlag("linger").value_or(false);
      report.max_messages =
          object.OptionalInteger("max_messages", 1, kMaxSlice).value_or(kDefaultSlice);
    });
  });
}

/// It failed: again later, or never.
void FailAll(const RouteParts& parts, const ExchangePtr& exchange, bool rejected) {
  ReportAll(parts, exchange, Report::Kind::kFail, [rejected](JsonFields&, const auto& each) {
    each([rejected](JsonObject& object, Report& report) {
      report.sequence = SequenceIn(object);
      report.rejected = rejected;
      ReadThrough(object, report);
      report.error = object.OptionalText("error", kMaxErrorBytes).value_or("");
      report.error_class = object.OptionalText("error_class", kMaxKeyBytes).value_or("");
      if (!rejected)
        report.retry_after_ms = object.OptionalInteger("retry_after_ms", 0, kMaxRetryMs);
    });
  });
}

void Abandon(const RouteParts& parts, const ExchangePtr& exchange) {
  FailAll(parts, exchange, false);
}

void DeadLetter(const RouteParts& parts, const ExchangePtr& exchange) {
  FailAll(parts, exchange, true);
}

void Release(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportAll(parts, exchange, Report::Kind::kRelease,
            [](JsonFields&, const auto& each) { each(ReadThrough); });
}

void Transfer(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportAll(parts, exchange, Report::Kind::kTransfer, [](JsonFields& fields, const auto& each) {
    const std::string to = NameIn(fields, "to");
    const std::int64_t for_ms =
        fields.OptionalInteger("for_ms", 1, kMaxReserveMs).value_or(kDefaultReserveMs);
    each([&to, for_ms](JsonObject& object, Report& report) {
      ReadThrough(object, report);
      report.to = to;
      report.for_ms = for_ms;
    });
  });
}

void ReplyReceived(const ExchangePtr& to, const ReportReply& reply) {
  const ReportOutcome& outcome = reply.outcomes.front();
  if (outcome.kind == ReportOutcome::Kind::kUnknown) return to->Reply(UnknownQueueSession());
  if (outcome.kind != ReportOutcome::Kind::kDone || outcome.hold != Hold::kHeld)
    return to->Reply(SessionLost(outcome));
  to->ReplyJson(ReceiveJson(outcome, reply.now_ms));
}

void Receive(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportRequest request{http::TenantOf(exchange), QueueOf(exchange), {}};
  std::int64_t wait_ms = 0;
  {
    JsonFields fields(exchange->request().body);
    Report& report = request.items.emplace_back(ReadHeld(fields, Report::Kind::kReceive));
    report.max_messages =
        fields.OptionalInteger("max_messages", 1, kMaxSlice).value_or(kDefaultSlice);
    wait_ms = fields.OptionalInteger("wait_ms", 0, kMaxWaitMs).value_or(0);
    fields.Finish();
  }
  auto done = Answering(exchange, ReplyReceived);
  if (wait_ms == 0)
    return parts.queues.Report(std::move(request), exchange->caller(), std::move(done));
  http::Waits::Share share = exchange->BeginWait(1);
  const auto id =
      parts.queues.ReceiveWaiting(std::move(request), wait_ms, exchange->caller(),
                                  http::KeepingShare(std::move(share), std::move(done)));
  http::AbandonWhenGone(exchange, [parts, id] { parts.queues.Abandon(id); });
}

void GetState(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.queues.FindState({http::TenantOf(exchange), QueueOf(exchange), SessionOf(exchange)},
                         exchange->caller(),
                         Answering(exchange, [](const ExchangePtr& to, const StateReply& reply) {
                           if (!reply.found) return to->Reply(UnknownQueueSession());
                           to->ReplyJson(StateJson(reply));
                         }));
}

void PutState(const RouteParts& parts, const ExchangePtr& exchange) {
  Report report{.kind = Report::Kind::kState, .session = SessionOf(exchange)};
  {
    JsonFields fields(exchange->request().body);
    report.fence = fields.Integer("fence", 1, http::kMaxFence);
    ReadState(fields, report);
    if (!fields.Has("state") && !fields.Has("state_base64"))
      fields.Refuse("state", "is missing; a text, or state_base64, is expected");
    fields.Finish();
  }
  const StateReply kept{true, report.state, report.fence, 0};
  ReportRequest request{http::TenantOf(exchange), QueueOf(exchange), {std::move(report)}};
  parts.queues.Report(std::move(request), exchange->caller(),
                      Answering(exchange, [kept](const ExchangePtr& to, const ReportReply& reply) {
                        const ReportOutcome& outcome = reply.outcomes.front();
                        if (outcome.kind == ReportOutcome::Kind::kUnknown)
                          return to->Reply(UnknownQueueSession());
                        if (outcome.kind != ReportOutcome::Kind::kDone)
                          return to->Reply(SessionLost(outcome));
                        StateReply now = kept;
                        now.written_ms = reply.now_ms;
                        to->ReplyJson(StateJson(now));
                      }));
}

}  // namespace

void AddConsumerRoutes(http::Router& router, const RouteParts& parts) {
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/queues", .rate_class = "queues"})
      .Add({{Method::kPost, "/{queue}/messages", "sendToQueue", kQueueWrite, Send, "Queue.Send"},
            {Method::kPost, "/{queue}/accept", "acceptSessions", kQueueWrite, Accept,
             "Queue.Accept"},
            {Method::kPost, "/{queue}/renew", "renewSessions", kQueueWrite, Renew},
            {Method::kPost, "/{queue}/complete", "completeMessages", kQueueWrite, Complete,
             "Queue.Complete"},
            {Method::kPost, "/{queue}/receive", "receiveMessages", kQueueWrite, Receive},
            {Method::kPost, "/{queue}/abandon", "abandonSessions", kQueueWrite, Abandon,
             "Queue.Abandon"},
            {Method::kPost, "/{queue}/dead-letter", "deadLetterSessions", kQueueWrite, DeadLetter,
             "Queue.DeadLetter"},
            {Method::kPost, "/{queue}/release", "releaseSessions", kQueueWrite, Release},
            {Method::kPost, "/{queue}/transfer", "transferSessions", kQueueWrite, Transfer},
            {Method::kGet, "/{queue}/sessions/{id}/state", "getSessionState", "queues:read",
             GetState},
            {Method::kPut, "/{queue}/sessions/{id}/state", "putSessionState", kQueueWrite,
             PutState}});
}

}  // namespace tenure::queues
