// Putting messages in, taking them out, and saying what became of them.
#include <algorithm>
#include <set>

#include "http/fences.hpp"
#include "messages/json.hpp"
#include "messages/new_message.hpp"
#include "messages/route_support.hpp"

namespace tenure::messages {
namespace {

using http::ExchangePtr;
using http::JsonFields;
using http::JsonObject;
using http::Method;

constexpr std::size_t kMaxClaimTopics = 100;
constexpr std::int64_t kMaxWaitMs = 60'000;
constexpr std::int64_t kMaxRetryMs = 366LL * 86'400'000;

void ReplyEnqueued(const ExchangePtr& exchange, const EnqueueReply& reply) {
  Conclude(exchange->span(), reply);
  exchange->Reply(http::JsonResponse(EnqueuedStatus(reply), EnqueuedJson(reply)));
}

void ReplyEnqueuedOnce(const ExchangePtr& exchange, db::OnceReply reply) {
  if (reply.carried_out)
    Conclude(exchange->span(),
             static_cast<const EnqueueHandler::ItemType*>(reply.carried_out.get())->reply->reply);
  exchange->Reply(
      http::JsonResponse(static_cast<int>(reply.answer.status), std::move(reply.answer.body)));
}

void Enqueue(const RouteParts& parts, const ExchangePtr& exchange) {
  EnqueueFrom(parts, exchange, "messages", false, "enqueueMessages");
}

ClaimRequest ReadClaim(const ExchangePtr& exchange, std::int64_t& wait_ms) {
  ClaimRequest request;
  request.tenant = http::TenantOf(exchange);
  JsonFields fields(exchange->request().body);
  request.topics = fields.Texts("topics", kMaxClaimTopics, kMaxTopicBytes);
  request.max = fields.OptionalInteger("max", 1, kMaxBatch).value_or(kDefaultClaim);
  request.lease_ms = fields.OptionalInteger("lease_ms", kMinLeaseMs, kMaxLeaseMs);
  request.owner = RequiredText(fields, "owner", kMaxOwnerBytes);
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
  auto done = Answering<ClaimReply>(exchange, [](const ExchangePtr& to, const ClaimReply& reply) {
    Conclude(to->span(), reply);
    to->Reply(http::JsonResponse(200, ClaimJson(reply)));
  });
  if (wait_ms == 0)
    return parts.messages.Claim(std::move(request), exchange->caller(), std::move(done));
  const auto id =
      parts.messages.ClaimWaiting(std::move(request), wait_ms, exchange->caller(), std::move(done));
  // Who has gone would be handed messages that nobody works on.
  exchange->OnClientGone([&messages = parts.messages, id, exchange] {
    Abandoned(exchange->span());
    messages.Abandon(id);
  });
}

/// The fields of a claim that every report has.
Report ReadClaimed(JsonObject& object) {
  Report report;
  report.id = object.Uuid("id");
  report.fence = object.Integer("fence", 1, http::kMaxFence);
  return report;
}

/// A report on claims, as it is put together: those of one verdict are one request.
struct Reporting {
  std::vector<Report> reports{};                         // in the order of the body
  std::vector<std::optional<ReportOutcome>> outcomes{};  // by report
  std::vector<ReportRequest> requests{};                 // what is left to be sent
  std::vector<std::vector<std::size_t>> places{};        // by request: where its reports stand
};
using ReportingPtr = std::shared_ptr<Reporting>;

/// Sends one request after the other; then everything is known. A fault in between is the answer:
/// what was carried out before it is told by a repetition, as after a lost reply.
void ReportNext(const RouteParts& parts, const ExchangePtr& exchange, const ReportingPtr& all) {
  if (all->requests.empty()) {
    ReportReply reply;
    for (const auto& outcome : all->outcomes) reply.outcomes.push_back(*outcome);
    Conclude(exchange->span(), reply);
    return exchange->Reply(http::JsonResponse(200, ReportJson(all->reports, reply.outcomes)));
  }
  ReportRequest request = std::move(all->requests.back());
  all->requests.pop_back();
  const Verdict verdict = request.verdict;
  parts.messages.Report(
      std::move(request), exchange->caller(),
      Answering<ReportResult>(
          exchange, [parts, all, verdict](const ExchangePtr& to, const ReportResult& result) {
            RecordHandling(parts.tracer, verdict, result);
            const auto& places = all->places.back();
            for (std::size_t i = 0; i < places.size(); ++i)
              all->outcomes[places[i]] = result.reply.outcomes[i];
            all->places.pop_back();
            ReportNext(parts, to, all);
          }));
}

/// Of each claim in the body the verdict and the rest. `read` reads what is particular to a route.
template <class Read>
void ReportOn(const RouteParts& parts, const ExchangePtr& exchange, const Read& read) {
  auto all = std::make_shared<Reporting>();
  {
    JsonFields fields(exchange->request().body);
    ReportRequest empty;
    empty.tenant = http::TenantOf(exchange);
    const auto add = [&](Verdict verdict, Report report) {
      auto request = std::ranges::find(all->requests, verdict, &ReportRequest::verdict);
      if (request == all->requests.end()) {
        all->requests.push_back(empty);
        all->places.emplace_back();
        request = all->requests.end() - 1;
        request->verdict = verdict;
      }
      all->places[static_cast<std::size_t>(request - all->requests.begin())].push_back(
          all->reports.size());
      all->reports.push_back(report);
      request->reports.push_back(std::move(report));
    };
    read(fields, empty, add);
    fields.Finish();
  }
  all->outcomes.resize(all->reports.size());
  ReportNext(parts, exchange, all);
}

void Acknowledge(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportOn(parts, exchange, [](JsonFields& fields, ReportRequest&, const auto& add) {
    fields.Objects("claims", kMaxBatch, [&](JsonObject& object) {
      Report report = ReadClaimed(object);
      report.output = object.OptionalJson("output", kMaxOutputBytes).value_or("");
      add(Verdict::kDone, std::move(report));
    });
  });
}

void Extend(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportOn(parts, exchange, [](JsonFields& fields, ReportRequest& request, const auto& add) {
    request.lease_ms = fields.OptionalInteger("lease_ms", kMinLeaseMs, kMaxLeaseMs);
    fields.Objects("claims", kMaxBatch,
                   [&](JsonObject& object) { add(Verdict::kExtend, ReadClaimed(object)); });
  });
}

/// "It failed; again later", or with `started: false` "I have not begun it".
void Abandon(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportOn(parts, exchange, [](JsonFields& fields, ReportRequest&, const auto& add) {
    fields.Objects("claims", kMaxBatch, [&](JsonObject& object) {
      Report report = ReadClaimed(object);
      report.error = object.OptionalText("error", kMaxErrorBytes).value_or("");
      report.retry_after_ms = object.OptionalInteger("retry_after_ms", 0, kMaxRetryMs);
      const bool started = object.OptionalFlag("started").value_or(true);
      if (!started && object.Has("retry_after_ms"))
        object.Refuse("retry_after_ms", "has no meaning for what was not begun");
      add(started ? Verdict::kRetry : Verdict::kUntouched, std::move(report));
    });
  });
}

void Fail(const RouteParts& parts, const ExchangePtr& exchange) {
  ReportOn(parts, exchange, [](JsonFields& fields, ReportRequest&, const auto& add) {
    fields.Objects("claims", kMaxBatch, [&](JsonObject& object) {
      Report report = ReadClaimed(object);
      report.error = object.OptionalText("error", kMaxErrorBytes).value_or("");
      add(Verdict::kDead, std::move(report));
    });
  });
}

void Get(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  parts.messages.Find(
      {http::TenantOf(exchange), IdOf(exchange)}, exchange->caller(),
      Answering<FindReply>(exchange, [](const ExchangePtr& to, const FindReply& reply) {
        if (reply.message) return to->Reply(http::JsonResponse(200, MessageJson(*reply.message)));
        to->Reply(http::NotFound(
            fmt::format("There is no message {}: it was never enqueued, or it is done and its "
                        "topic keeps nothing of that.",
                        to->request().path_parameters[0])));
      }));
}

}  // namespace

void EnqueueFrom(const RouteParts& parts, const ExchangePtr& exchange, std::string_view list,
                 bool is_timer, std::string_view operation) {
  EnqueueRequest request =
      ReadEnqueue(exchange, list, {parts.payload_max, is_timer, TraceOf(exchange)});
  if (auto key = OnceKeyOf(exchange, operation))
    return parts.messages.EnqueueOnce(std::move(request), std::move(*key), exchange->caller(),
                                      AnsweringOnce(exchange, ReplyEnqueuedOnce));
  parts.messages.Enqueue(std::move(request), exchange->caller(),
                         Answering<EnqueueReply>(exchange, ReplyEnqueued));
}

void AddMessageRoutes(http::Router& router, const RouteParts& parts) {
  RouteAdder add(router, parts, "/api/v1/messages");
  const std::string write = "messages:write";
  add(Method::kPost, "", {"enqueueMessages", write, "Message.Enqueue"}, Enqueue);
  add(Method::kPost, "/claim", {"claimMessages", write, "Message.Claim"}, Claim);
  add(Method::kPost, "/ack", {"acknowledgeMessages", write, "Message.Acknowledge"}, Acknowledge);
  add(Method::kPost, "/extend", {"extendMessages", write, "Message.Extend"}, Extend);
  add(Method::kPost, "/abandon", {"abandonMessages", write, "Message.Abandon"}, Abandon);
  add(Method::kPost, "/fail", {"failMessages", write, "Message.Fail"}, Fail);
  add(Method::kGet, "/{id}", {"getMessage", "messages:read"}, Get);
}

}  // namespace tenure::messages
