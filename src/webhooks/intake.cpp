#include "webhooks/intake.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "http/answering.hpp"
#include "webhooks/problems.hpp"

namespace tenure::webhooks {
namespace {

constexpr int kSecretsAgainSeconds = 10;
constexpr std::size_t kSmallBytes = 64 * 1024;
constexpr const char* kRefusedAct = "webhook.refused";

/// The source of /webhooks/github, and of /webhooks/github/{source}.
std::string_view SourceOf(const http::Request& request) {
  return request.path_parameters.empty() ? std::string_view("github")
                                         : std::string_view(request.path_parameters.front());
}

http::Problem NoSource() { return http::NotFound("There is no source of webhooks of this name."); }

http::Problem NoSecrets() {
  return {.status = 503,
          .type = "secrets-unavailable",
          .title = "No secret of this source can be read",
          .detail =
              "The operator has to put one of its files in place, or its variable into the "
              "environment. Nothing was stored.",
          .retry_after_s = kSecretsAgainSeconds};
}

bool MaySend(const bots::Source& source, const std::string& address) {
  if (source.allow_from.empty()) return true;
  const auto from = base::IpAddress::Parse(address);
  return from && std::any_of(source.allow_from.begin(), source.allow_from.end(),
                             [&](const base::IpBlock& block) { return block.Contains(*from); });
}

http::Problem Forbidden() {
  return {.status = 403,
          .type = "source-forbidden",
          .title = "This address may not send to this source",
          .detail = "The source names the addresses that may (allow_from)."};
}

/// Whether its body is worth waiting for, whoever sends it: it says how long it is, and is short.
bool IsSmall(const http::Request& request) {
  const auto length = request.FindHeader("Content-Length");
  std::size_t bytes = 0;
  return length &&
         std::from_chars(length->data(), length->data() + length->size(), bytes).ec ==
             std::errc() &&
         bytes <= kSmallBytes;
}

std::string ReceivedJson(const ReceiveReply& reply) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject().Field("event_id", reply.event_id).Field("duplicate", reply.duplicate);
  if (!reply.duplicate) json.Field("messages", reply.messages);
  json.EndObject();
  return out;
}

}  // namespace

void Intake::AddRoutes(http::Router& router) {
  router.Add(RouteOf("/webhooks/github", "receiveGithubWebhook"));
  router.Add(RouteOf("/webhooks/github/{source}", "receiveGithubWebhookOfSource"));
}

http::Route Intake::RouteOf(std::string pattern, std::string operation) {
  return {.method = http::Method::kPost,
          .pattern = std::move(pattern),
          .operation = std::move(operation),
          .scope = http::kSigned,
          .handler = [this](const ExchangePtr& exchange) { Handle(exchange); },
          .rate_class = "webhooks",
          .span = "Webhook.Receive",
          .span_result = "webhook.outcome",
          .max_body_bytes = options_.max_body_bytes,
          .body_memory = memory_,
          .admit = [this](const http::Request& request) { Admit(request); },
          .content_types = {"application/json", "application/x-www-form-urlencoded"},
          .acts = {kRefusedAct}};
}

void Intake::Admit(const http::Request& request) const {
  if (IsSmall(request)) return;  // Handle asks the store before it says so
  const SnapshotPtr bots = webhooks_.bots().Get();
  const Snapshot::Door door = bots->FindSource(SourceOf(request));
  if (!door.source) throw http::ProblemError(NoSource());
  if (MaySend(*door.source, request.client_address)) return;
  Answered(request, door.source->name, Outcome::kForbidden);
  throw http::ProblemError(Forbidden());
}

void Intake::Handle(const ExchangePtr& exchange) {
  const http::Request& request = exchange->request();
  const SnapshotPtr bots = webhooks_.bots().Get();
  const Snapshot::Door door = bots->FindSource(SourceOf(request));
  const auto refuse = [&](Outcome outcome, http::Problem problem) {
    RefuseUnlessNewer(exchange, bots,
                      [this, exchange, bots, door, outcome, problem = std::move(problem)] {
                        if (door.source) Answered(exchange->request(), door.source->name, outcome);
                        exchange->Reply(problem);
                      });
  };
  if (!door.source) return refuse(Outcome::kForbidden, NoSource());
  if (!MaySend(*door.source, request.client_address))
    return refuse(Outcome::kForbidden, Forbidden());
  if (const auto often = CheckRate(exchange, *door.source)) return exchange->Reply(*often);
  auto secrets = webhooks_.secrets().Of(door.source->name);
  if (secrets->empty()) return refuse(Outcome::kNoSecrets, NoSecrets());
  auto knock = std::make_shared<Knock>(KnockOf(exchange, door.source->name, std::move(secrets)));
  knock->tenant = door.bots->tenant;
  knock->delivery->judged_by = bots;
  if (request.body.size() <= options_.on_loop_bytes)
    return Finish(exchange, knock, Examine(*knock));
  base::Executor* const home = &exchange->executor();
  worker_.Post([this, exchange, knock, home] {
    auto refusal = std::make_shared<std::optional<Refusal>>(Examine(*knock));
    home->Post([this, exchange, knock, refusal] { Finish(exchange, knock, *refusal); });
  });
}

void Intake::RefuseUnlessNewer(const ExchangePtr& exchange, const SnapshotPtr& judged_by,
                               base::Task refuse) {
  newest_.Learn(exchange->executor(),
                [this, exchange, judged_by, refuse = std::move(refuse)]() mutable {
                  if (webhooks_.bots().Get()->revision == judged_by->revision) return refuse();
                  Handle(exchange);
                });
}

std::optional<http::Problem> Intake::CheckRate(const ExchangePtr& exchange,
                                               const bots::Source& source) {
  if (!source.rate.limits()) return std::nullopt;
  std::shared_ptr<Limit> limit;
  {
    const base::Lock lock(mutex_);
    auto& mine = limits_[source.name];
    if (!mine || !(mine->limiter.rate() == source.rate))
      mine = std::make_shared<Limit>(source.rate, clock_);
    limit = mine;
  }
  const auto decision = limit->limiter.Take(source.name);
  if (decision.allowed) return std::nullopt;
  Answered(exchange->request(), source.name, Outcome::kTooOften);
  const auto quota = http::QuotaOf(source.rate, decision);
  exchange->set_quota(quota);
  return http::RateLimited(quota);
}

void Intake::Finish(const ExchangePtr& exchange, const std::shared_ptr<Knock>& knock,
                    const std::optional<Refusal>& refusal) {
  const Delivery& delivery = *knock->delivery;
  if (refusal && refusal->outcome == Outcome::kBadSignature)
    return RefuseUnlessNewer(
        exchange, delivery.judged_by,
        [this, exchange, knock, refusal = *refusal] { Refuse(exchange, *knock, refusal); });
  if (refusal) return Refuse(exchange, *knock, *refusal);
  if (delivery.event == "ping") {
    Answered(exchange->request(), delivery.source, Outcome::kPing);
    webhooks_.hooks().Pinged(delivery.source, delivery.hook, clock_.WallMs());
    exchange->Conclude("ping");
    return exchange->ReplyJson(R"({"ping":true})");
  }
  Store(exchange, std::move(knock->delivery));
}

/// Whoever has no secret may try for ever: on record are the first time of a minute and its sum.
void Intake::Refuse(const ExchangePtr& exchange, const Knock& knock, const Refusal& refusal) {
  const std::string& source = knock.delivery->source;
  Answered(exchange->request(), source, refusal.outcome);
  exchange->Conclude(ToText(refusal.outcome));
  if (refusal.outcome == Outcome::kBadSignature) webhooks_.hooks().Refused(source);
  if (refusal.outcome != Outcome::kBadSignature || !options_.refusals)
    return exchange->Reply(refusal.problem);
  base::Actor actor = http::ActorOf(exchange, kRefusedAct);
  actor.tenant = knock.tenant;
  options_.refusals->Note(std::move(actor), {source, "{}"}, [exchange, problem = refusal.problem] {
    exchange->executor().Post([exchange, problem] { exchange->Reply(problem); });
  });
}

void Intake::Store(const ExchangePtr& exchange, const DeliveryPtr& delivery) {
  const std::int64_t began_us = base::MeasureMicros();
  // Events and their order do not depend on whether anybody waits for the answer.
  webhooks_.Receive(
      {delivery}, &exchange->executor(), [this, exchange, delivery, began_us](auto result) {
        const http::Request& request = exchange->request();
        if (!result.ok()) {
          const bool full = IsQueueFull(result.fault());
          Answered(request, delivery->source, full ? Outcome::kNoRoom : Outcome::kFailed);
          if (full) return exchange->Reply(QueueFull());
          return exchange->Reply(result.fault());
        }
        const ReceiveReply& reply = result.value();
        if (reply.kind == ReceiveReply::Kind::kNoSource) return exchange->Reply(NoSource());
        if (reply.kind == ReceiveReply::Kind::kJudgeAgain) return Handle(exchange);
        const Outcome outcome = reply.duplicate ? Outcome::kDuplicate : Outcome::kStored;
        Answered(request, delivery->source, outcome, began_us);
        webhooks_.hooks().Delivered(delivery->source, delivery->hook, clock_.WallMs());
        exchange->Conclude(ToText(outcome));
        exchange->ReplyJson(ReceivedJson(reply));
      });
}

void Intake::Answered(const http::Request& request, std::string_view source, Outcome outcome,
                      std::int64_t began_us) const {
  const std::int64_t took_us = began_us > 0 ? base::MeasureMicros() - began_us : 0;
  webhooks_.probe().Answered(source, request.FindHeader("X-GitHub-Event").value_or(""), outcome,
                             took_us);
}

}  // namespace tenure::webhooks
