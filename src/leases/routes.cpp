#include "leases/routes.hpp"

#include <unordered_set>

#include <fmt/format.h>

#include "base/log.hpp"
#include "http/answering.hpp"
#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "leases/explain.hpp"
#include "leases/json.hpp"
#include "leases/spans.hpp"

namespace tenure::leases {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::JsonObject;
using http::kMaxFence;
using http::Problem;

constexpr std::int64_t kMaxDrainMs = kMaxTtl.count();
/// Of one heartbeat. The body's limit comes first with the defaults.
constexpr std::size_t kMaxRenewals = 10'000;
constexpr std::int64_t kHistoryShown = 50;
constexpr const char* kRead = "leases:read";
constexpr const char* kWrite = "leases:write";
constexpr const char* kBreakAct = "lease.break";
constexpr std::string_view kNameRule = "must be 1 to 200 of A-Z a-z 0-9 . _ : / @ -";

LeaseKey KeyOf(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (!IsLeaseName(name)) http::RefuseField("name", std::string(kNameRule));
  return {http::TenantOf(exchange), name};
}

Problem UnknownLease(const ExchangePtr& exchange) {
  return http::NotFound(fmt::format("The lease {} was never granted, or was not used for long.",
                                    exchange->request().path_parameters[0]));
}

void ReplyAcquired(const ExchangePtr& exchange, const AcquireOutcome& outcome) {
  Conclude(exchange->span(), outcome);
  if (const auto* grant = std::get_if<Grant>(&outcome))
    return exchange->ReplyJson(GrantJson(*grant));
  if (const auto* held = std::get_if<HeldByAnother>(&outcome))
    return exchange->Reply(HeldProblem(*held));
  exchange->Reply(LostProblem(std::get<TermEnded>(outcome).reason));
}

void Acquire(Leases& leases, const ExchangePtr& exchange) {
  AcquireCommand command;
  command.received_boot_ms = leases.clock().BootMs();
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.term = fields.Uuid("term");
  command.ttl_ms = fields.Integer("ttl_ms", kMinTtl.count(), kMaxTtl.count());
  command.holder = fields.Text("holder", kMaxHolderBytes);
  command.metadata = fields.OptionalObject("metadata", kMaxMetadataBytes).value_or("");
  const std::int64_t wait_ms = fields.OptionalInteger("wait_ms", 0, kMaxWait.count()).value_or(0);
  fields.Finish();
  Describe(exchange->span(), command.key, command.term);
  auto done = Answering(exchange, ReplyAcquired);
  if (wait_ms == 0) return leases.Acquire(std::move(command), exchange->caller(), std::move(done));
  const auto id =
      leases.AcquireWaiting(std::move(command), wait_ms, exchange->caller(),
                            http::KeepingShare(exchange->BeginWait(1), std::move(done)));
  // Who has gone would be granted a lease that nobody renews.
  http::AbandonWhenGone(exchange, [&leases, id] { leases.Abandon(id); });
}

void Renew(Leases& leases, const ExchangePtr& exchange) {
  RenewCommand command;
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.fence = fields.Integer("fence", 1, kMaxFence);
  command.term = fields.Uuid("term");
  command.ttl_ms = fields.OptionalInteger("ttl_ms", kMinTtl.count(), kMaxTtl.count());
  fields.Finish();
  Describe(exchange->span(), command.key, command.term);
  leases.Renew({std::move(command)}, exchange->caller(),
               Answering(exchange, [](const ExchangePtr& to, const auto& outcomes) {
                 Conclude(to->span(), outcomes.front());
                 if (const auto* grant = std::get_if<Grant>(&outcomes.front()))
                   return to->ReplyJson(GrantJson(*grant));
                 to->Reply(LostProblem(std::get<Loss>(outcomes.front()).reason));
               }));
}

RenewCommand DecodeRenewal(JsonObject& item, const std::string& tenant,
                           std::unordered_set<std::string>& names) {
  RenewCommand command;
  command.key = {tenant, item.Text("name", kMaxNameBytes)};
  command.fence = item.Integer("fence", 1, kMaxFence);
  command.term = item.Uuid("term");
  command.ttl_ms = item.OptionalInteger("ttl_ms", kMinTtl.count(), kMaxTtl.count());
  if (!command.key.name.empty() && !IsLeaseName(command.key.name))
    item.Refuse("name", std::string(kNameRule));
  else if (!names.insert(command.key.name).second)
    item.Refuse("name", "stands in the list twice");
  return command;
}

void RenewMany(Leases& leases, const ExchangePtr& exchange) {
  auto commands = std::make_shared<std::vector<RenewCommand>>();
  {
    const std::string tenant = http::TenantOf(exchange);
    std::unordered_set<std::string> names;
    JsonFields fields(exchange->request().body);
    fields.Objects("leases", kMaxRenewals, [&](JsonObject& item) {
      commands->push_back(DecodeRenewal(item, tenant, names));
    });
    fields.Finish();
  }
  if (commands->empty()) return exchange->ReplyJson(R"({"leases":[]})");
  leases.Renew(*commands, exchange->caller(),
               Answering(exchange, [commands](const ExchangePtr& to, const auto& outcomes) {
                 Conclude(to->span(), *commands, outcomes);
                 to->ReplyJson(RenewalsJson(*commands, outcomes));
               }));
}

void Release(Leases& leases, const ExchangePtr& exchange) {
  ReleaseCommand command;
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.term = fields.Uuid("term");
  command.fence = fields.OptionalInteger("fence", 1, kMaxFence);
  fields.Finish();
  Describe(exchange->span(), command.key, command.term);
  leases.Release(std::move(command), exchange->caller(),
                 Answering(exchange, [](const ExchangePtr& to, const ReleaseOutcome& outcome) {
                   Conclude(to->span(), outcome);
                   to->ReplyJson(ReleaseJson(outcome));
                 }));
}

BreakCommand DecodeBreak(const ExchangePtr& exchange) {
  BreakCommand command;
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.reason = fields.Text("reason", kMaxReasonBytes);
  command.drain_ms = fields.OptionalInteger("drain_ms", 0, kMaxDrainMs).value_or(0);
  command.force = fields.OptionalFlag("force").value_or(false);
  command.fence = fields.OptionalInteger("fence", 1, kMaxFence);
  if (command.reason.empty()) fields.Refuse("reason", "must say why: it is kept in the history");
  fields.Finish();
  return command;
}

void ReplyBroken(const ExchangePtr& exchange, const BreakOutcome& outcome) {
  if (outcome.guarded) return exchange->Reply(GuardedProblem(outcome));
  if (outcome.fence == 0) return exchange->Reply(UnknownLease(exchange));
  http::ReplyMade(exchange, *BreakAnswer(outcome));
}

void Break(Leases& leases, const ExchangePtr& exchange) {
  BreakCommand command = DecodeBreak(exchange);
  base::LogWarn("leases.break", "an operator breaks a lease",
                {{"tenant", command.key.tenant},
                 {"lease", command.key.name},
                 {"person", exchange->request().principal->person},
                 {"force", command.force},
                 {"reason", command.reason},
                 {"request_id", exchange->request().request_id}});
  if (auto key = http::FindIdempotencyKey(exchange))
    return leases.BreakOnce(
        std::move(command), *std::move(key), http::Acting(exchange, kBreakAct),
        http::AnsweringOnce(exchange, [](const ExchangePtr& to, const Outcome& outcome) {
          ReplyBroken(to, std::get<BreakOutcome>(outcome));
        }));
  leases.Break(std::move(command), http::Acting(exchange, kBreakAct),
               Answering(exchange, ReplyBroken));
}

void Get(Leases& leases, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  leases.Find({KeyOf(exchange), kHistoryShown}, exchange->caller(),
              Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                if (!reply.lease) return to->Reply(UnknownLease(to));
                to->ReplyJson(ViewJson(*reply.lease));
              }));
}

void SayWhy(Leases& leases, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  leases.Find({KeyOf(exchange), 1}, exchange->caller(),
              Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                if (!reply.lease) return to->Reply(UnknownLease(to));
                to->ReplyJson(explain::ToJson(Explain(*reply.lease), *to->request().principal));
              }));
}

void List(Leases& leases, const ExchangePtr& exchange) {
  PageRequest request;
  request.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  const auto name = [&](std::string_view field) {
    return fields.Parsed(field, kMaxNameBytes, kNameRule, [](std::string text) {
      return text.empty() || IsLeaseName(text) ? std::optional(std::move(text)) : std::nullopt;
    });
  };
  request.prefix = name("prefix").value_or("");
  request.holder = fields.Text("holder", kMaxHolderBytes).value_or("");
  request.state =
      fields.Parsed("state", 10, "must be free, held or broken", [](const std::string& text) {
        return http::OneOf(text, {LeaseState::kFree, LeaseState::kHeld, LeaseState::kBroken});
      });
  request.after = name("cursor").value_or("");
  request.limit = static_cast<std::size_t>(fields.PageLimit());
  fields.Finish();
  leases.List(std::move(request), exchange->caller(), Answering(exchange, PageJson));
}

}  // namespace

void AddRoutes(http::Router& router, Leases& leases) {
  using http::Method;
  http::RouteGroup<Leases&>(router, leases,
                            {.path = "/api/v1/leases",
                             .rate_class = "leases",
                             .encoded_slash = true,
                             .span_result = kSpanResult,
                             .span_attributes = {{"lease.provider", "server"}}})
      .Add({{Method::kGet, "", "listLeases", kRead, List},
            {Method::kPost, "/renew", "renewLeases", kWrite, RenewMany, "Lease.Renew"},
            {Method::kGet, "/{name}", "getLease", kRead, Get},
            {Method::kPost, "/{name}/acquire", "acquireLease", kWrite, Acquire, "Lease.Acquire"},
            {Method::kPost, "/{name}/renew", "renewLease", kWrite, Renew, "Lease.Renew"},
            {Method::kPost, "/{name}/release", "releaseLease", kWrite, Release, "Lease.Release"},
            {Method::kPost, "/{name}/break", "breakLease", "admin", Break, "", {kBreakAct}}});
  http::RouteGroup<Leases&>(
      router, leases, {.path = "/api/v1/why/lease", .rate_class = "leases", .encoded_slash = true})
      .Add({{Method::kGet, "/{name}", "whyLease", kRead, SayWhy}});
}

}  // namespace tenure::leases
