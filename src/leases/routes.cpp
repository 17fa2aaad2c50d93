#include "leases/routes.hpp"

#include <unordered_set>

#include <fmt/format.h>

#include "base/log.hpp"
#include "http/fences.hpp"
#include "http/idempotency.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "leases/json.hpp"
#include "leases/spans.hpp"

namespace tenure::leases {
namespace {

using http::ExchangePtr;
using http::JsonFields;
using http::JsonObject;
using http::kMaxFence;
using http::Problem;
using http::ProblemError;

constexpr std::int64_t kMaxDrainMs = kMaxTtl.count();
/// Of one heartbeat. The body's limit comes first with the defaults.
constexpr std::size_t kMaxRenewals = 10'000;
constexpr std::int64_t kHistoryShown = 50;
constexpr const char* kBreakAct = "lease.break";
constexpr std::string_view kNameRule = "must be 1 to 200 of A-Z a-z 0-9 . _ : / @ -";

LeaseKey KeyOf(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (!IsLeaseName(name))
    throw ProblemError(http::InvalidRequest({{"name", std::string(kNameRule)}}));
  return {http::TenantOf(exchange), name};
}

Problem UnknownLease(const ExchangePtr& exchange) {
  return http::NotFound(fmt::format("The lease {} was never granted, or was not used for long.",
                                    exchange->request().path_parameters[0]));
}

/// Replies with the fault, or goes on with the value.
template <class Reply, class Then>
auto Answering(const ExchangePtr& exchange, Then then) {
  return [exchange, then = std::move(then)](db::Result<Reply> result) mutable {
    if (!result.ok()) {
      Conclude(exchange->span(), result.fault());
      return exchange->Reply(result.fault());
    }
    then(exchange, std::move(result.value()));
  };
}

void ReplyAcquired(const ExchangePtr& exchange, const AcquireOutcome& outcome) {
  Conclude(exchange->span(), outcome);
  if (const auto* grant = std::get_if<Grant>(&outcome))
    return exchange->Reply(http::JsonResponse(200, GrantJson(*grant)));
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
  auto done = Answering<AcquireOutcome>(exchange, ReplyAcquired);
  if (wait_ms == 0) return leases.Acquire(std::move(command), exchange->caller(), std::move(done));
  const auto id =
      leases.AcquireWaiting(std::move(command), wait_ms, exchange->caller(), std::move(done));
  // Who has gone would be granted a lease that nobody renews.
  exchange->OnClientGone([&leases, id, exchange] {
    Abandoned(exchange->span());
    leases.Abandon(id);
  });
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
               Answering<std::vector<RenewOutcome>>(
                   exchange, [](const ExchangePtr& to, const std::vector<RenewOutcome>& outcomes) {
                     Conclude(to->span(), outcomes.front());
                     if (const auto* grant = std::get_if<Grant>(&outcomes.front()))
                       return to->Reply(http::JsonResponse(200, GrantJson(*grant)));
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
  if (commands->empty()) return exchange->Reply(http::JsonResponse(200, R"({"leases":[]})"));
  leases.Renew(
      *commands, exchange->caller(),
      Answering<std::vector<RenewOutcome>>(
          exchange, [commands](const ExchangePtr& to, const std::vector<RenewOutcome>& outcomes) {
            Conclude(to->span(), *commands, outcomes);
            to->Reply(http::JsonResponse(200, RenewalsJson(*commands, outcomes)));
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
  leases.Release(
      std::move(command), exchange->caller(),
      Answering<ReleaseOutcome>(exchange, [](const ExchangePtr& to, const ReleaseOutcome& outcome) {
        Conclude(to->span(), outcome);
        to->Reply(http::JsonResponse(200, ReleaseJson(outcome)));
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

void ReplyBroken(const ExchangePtr& exchange, const ChangeReply& reply) {
  const auto& outcome = std::get<BreakOutcome>(reply.outcome);
  if (outcome.guarded) return exchange->Reply(GuardedProblem(outcome));
  if (outcome.fence == 0) return exchange->Reply(UnknownLease(exchange));
  exchange->Reply(http::JsonResponse(200, BreakAnswer(reply).body));
}

void ReplyBrokenOnce(const ExchangePtr& exchange, db::OnceReply reply) {
  switch (reply.status) {
    case db::OnceStatus::kAnswered:
      if (reply.carried_out) {
        const auto* item = static_cast<const ChangeHandler::ItemType*>(reply.carried_out.get());
        return ReplyBroken(exchange, *item->reply);
      }
      return exchange->Reply(
          http::JsonResponse(static_cast<int>(reply.answer.status), std::move(reply.answer.body)));
    case db::OnceStatus::kOtherBody:
      return exchange->Reply(http::KeyOfAnotherRequest());
    case db::OnceStatus::kUnderWay:
      return exchange->Reply(http::KeyUnderWay());
  }
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
  if (auto key = http::FindIdempotencyKey(exchange->request(), "breakLease"))
    return leases.BreakOnce(std::move(command), {std::move(key->name), std::move(key->body_hash)},
                            http::Acting(exchange, kBreakAct),
                            Answering<db::OnceReply>(exchange, ReplyBrokenOnce));
  leases.Break(std::move(command), http::Acting(exchange, kBreakAct),
               Answering<ChangeReply>(exchange, ReplyBroken));
}

void Get(Leases& leases, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  leases.Find({KeyOf(exchange), kHistoryShown}, exchange->caller(),
              Answering<FindReply>(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                if (!reply.lease) return to->Reply(UnknownLease(to));
                to->Reply(http::JsonResponse(200, ViewJson(*reply.lease)));
              }));
}

std::optional<LeaseState> ParseState(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  for (const auto state : {LeaseState::kFree, LeaseState::kHeld, LeaseState::kBroken})
    if (*text == ToText(state)) return state;
  throw ProblemError(http::InvalidRequest({{"state", "must be free, held or broken"}}));
}

void List(Leases& leases, const ExchangePtr& exchange) {
  PageRequest request;
  request.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.list.prefix = fields.Text("prefix", kMaxNameBytes).value_or("");
  request.list.holder = fields.Text("holder", kMaxHolderBytes).value_or("");
  const auto state = fields.Text("state", 10);
  request.list.after = fields.Text("cursor", kMaxNameBytes).value_or("");
  request.list.limit = static_cast<std::size_t>(fields.Integer("limit", 1, 1'000).value_or(100));
  fields.Finish();
  request.list.state = ParseState(state);
  for (const auto& [field, value] :
       {std::pair{"prefix", &request.list.prefix}, std::pair{"cursor", &request.list.after}})
    if (!value->empty() && !IsLeaseName(*value))
      throw ProblemError(http::InvalidRequest({{field, std::string(kNameRule)}}));
  leases.List(std::move(request), exchange->caller(),
              Answering<PageReply>(exchange, [](const ExchangePtr& to, const PageReply& page) {
                to->Reply(http::JsonResponse(200, PageJson(page)));
              }));
}

}  // namespace

void AddRoutes(http::Router& router, Leases& leases) {
  using http::Method;
  const auto add = [&](Method method, const std::string& path, std::string operation,
                       std::string scope, void (*handle)(Leases&, const ExchangePtr&),
                       std::string span = "", std::vector<std::string> acts = {}) {
    router.Add({.method = method,
                .pattern = "/api/v1/leases" + path,
                .operation = std::move(operation),
                .scope = std::move(scope),
                .handler =
                    [&leases, handle](const ExchangePtr& exchange) {
                      Begin(exchange->span());
                      handle(leases, exchange);
                    },
                .encoded_slash = true,
                .span = std::move(span),
                .acts = std::move(acts)});
  };
  add(Method::kGet, "", "listLeases", "leases:read", List);
  add(Method::kPost, "/renew", "renewLeases", "leases:write", RenewMany, "Lease.Renew");
  add(Method::kGet, "/{name}", "getLease", "leases:read", Get);
  add(Method::kPost, "/{name}/acquire", "acquireLease", "leases:write", Acquire, "Lease.Acquire");
  add(Method::kPost, "/{name}/renew", "renewLease", "leases:write", Renew, "Lease.Renew");
  add(Method::kPost, "/{name}/release", "releaseLease", "leases:write", Release, "Lease.Release");
  add(Method::kPost, "/{name}/break", "breakLease", "admin", Break, "", {kBreakAct});
}

}  // namespace tenure::leases
