#include "leases/json.hpp"

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::leases {
namespace {

using base::JsonWriter;

/// Metadata is a JSON object that was checked when it came in.
void WriteMetadata(JsonWriter& json, const std::string& metadata) {
  if (!metadata.empty()) json.Key("metadata").Raw(base::ObjectOrEmpty(metadata));
}

std::string Quoted(std::string_view text) {
  std::string json;
  JsonWriter(json).Value(text);
  return json;
}

std::string TimeJson(std::int64_t ms) {
  std::string json;
  JsonWriter(json).Time(ms);
  return json;
}

/// What is not known is left out.
void WriteGuard(JsonWriter& json, const LeaseGuard& guard) {
  json.BeginObject();
  if (guard.pid != 0) json.Field("pid", guard.pid);
  if (!guard.user.empty()) json.Field("user", std::string_view(guard.user));
  if (guard.since_ms > 0) json.Key("since").Time(guard.since_ms);
  json.EndObject();
}

void WriteView(JsonWriter& json, const LeaseView& view) {
  json.BeginObject()
      .Field("name", std::string_view(view.name))
      .Field("state", ToText(view.state))
      .Field("fence", view.fence);
  if (view.state != LeaseState::kFree) {
    json.Field("holder", std::string_view(view.holder)).Field("term", std::string_view(view.term));
    WriteMetadata(json, view.metadata);
    json.Field("ttl_ms", view.ttl.count());
    json.Key("granted_at").Time(view.granted_at_ms);
    json.Key("renewed_at").Time(view.renewed_at_ms);
  }
  if (view.state == LeaseState::kBroken)
    json.Field("break_reason", std::string_view(view.break_reason));
  if (view.fence > 0)
    json.Key(view.state == LeaseState::kFree ? "ended_at" : "expires_at").Time(view.expires_at_ms);
  json.Field("waiters", view.waiters);
  if (view.frozen_until_ms > 0) json.Key("frozen_until").Time(view.frozen_until_ms);
  if (view.guard) WriteGuard(json.Key("guard"), *view.guard);
}

void WritePast(JsonWriter& json, const PastGrant& past) {
  json.BeginObject()
      .Field("fence", past.fence)
      .Field("holder", std::string_view(past.holder))
      .Field("term", std::string_view(past.term));
  json.Key("granted_at").Time(past.granted_at_ms);
  json.Key("ended_at").Time(past.ended_at_ms);
  json.Field("reason", ToText(past.reason));
  if (!past.detail.empty()) json.Field("detail", std::string_view(past.detail));
  json.EndObject();
}

std::string Explain(const HeldByAnother& held) {
  switch (held.reason) {
    case HeldReason::kHeld:
      return fmt::format("{} holds it until {}.",
                         held.holder.empty() ? std::string("Somebody else") : held.holder,
                         base::UtcText(held.expires_at_ms));
    case HeldReason::kQueued:
      return "It is free, and others have waited for it longer. Wait for it with wait_ms.";
    case HeldReason::kGuarded:
      return "A database transaction that checked the last fence is still open; a takeover has to "
             "wait for its end.";
    case HeldReason::kFrozen:
      return fmt::format(
          "The store was restored or promoted, and may have forgotten who holds what: this lease "
          "is "
          "renewed and not granted until {}. `tenure admin thaw` ends that early.",
          base::UtcText(held.expires_at_ms));
  }
  return "";
}

}  // namespace

void WriteGrant(JsonWriter& json, const Grant& grant) {
  json.BeginObject()
      .Field("name", std::string_view(grant.name))
      .Field("fence", grant.fence)
      .Field("term", std::string_view(grant.term))
      .Field("holder", std::string_view(grant.holder));
  WriteMetadata(json, grant.metadata);
  json.Key("granted_at").Time(grant.granted_at_ms);
  json.Key("expires_at").Time(grant.expires_at_ms);
  json.Field("ttl_ms", grant.ttl.count())
      .Field("remaining_ms", grant.remaining.count())
      .Field("waited_ms", grant.waited.count());
  json.Key("now").Time(grant.now_ms);
  json.EndObject();
}

std::string GrantJson(const Grant& grant) {
  std::string body;
  body.reserve(400);
  JsonWriter json(body);
  WriteGrant(json, grant);
  return body;
}

std::string ViewJson(const LeaseView& view) {
  std::string body;
  JsonWriter json(body);
  WriteView(json, view);
  json.Key("now").Time(view.now_ms);
  json.Key("history").BeginArray();
  for (const PastGrant& past : view.history) WritePast(json, past);
  json.EndArray().EndObject();
  return body;
}

std::string PageJson(const PageReply& page) {
  const auto write = [](JsonWriter& json, const LeaseView& view) {
    WriteView(json, view);
    json.EndObject();
  };
  return base::PageJson(page.rows, page.has_more, write,
                        [](const LeaseView& last) { return std::string_view(last.name); });
}

std::string RenewalsJson(const std::vector<RenewCommand>& commands,
                         const std::vector<RenewOutcome>& outcomes) {
  std::string body;
  body.reserve(outcomes.size() * 300);
  JsonWriter json(body);
  json.BeginObject().Key("leases").BeginArray();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (const auto* grant = std::get_if<Grant>(&outcomes[i])) {
      WriteGrant(json, *grant);
      continue;
    }
    json.BeginObject()
        .Field("name", std::string_view(commands[i].key.name))
        .Field("lost", ToText(std::get<Loss>(outcomes[i]).reason))
        .EndObject();
  }
  json.EndArray().EndObject();
  return body;
}

std::string ReleaseJson(const ReleaseOutcome& outcome) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Field("released", outcome.released);
  if (!outcome.released) json.Field("reason", ToText(outcome.reason));
  json.EndObject();
  return body;
}

http::Problem HeldProblem(const HeldByAnother& held) {
  http::Problem problem{.status = 409, .type = "lease-held", .title = "The lease is not free"};
  problem.detail = Explain(held);
  problem.extensions = {{"reason", Quoted(ToText(held.reason))},
                        {"holder", Quoted(held.holder)},
                        {"fence", std::to_string(held.fence)},
                        {"expires_at", TimeJson(held.expires_at_ms)},
                        {"retry_after_ms", std::to_string(held.retry_after.count())}};
  return problem;
}

http::Problem LostProblem(LossReason reason) {
  http::Problem problem{.status = 409, .type = "lease-lost", .title = "The lease is not held"};
  problem.detail = fmt::format(
      "This grant is over ({}). Stop what it protects; acquire the lease anew with a new term.",
      ToText(reason));
  problem.extensions = {{"reason", Quoted(ToText(reason))}};
  return problem;
}

http::Problem GuardedProblem(const BreakOutcome& outcome) {
  HeldByAnother held;
  held.reason = HeldReason::kGuarded;
  held.holder = outcome.holder;
  held.fence = outcome.fence;
  held.expires_at_ms = outcome.free_at_ms;
  held.retry_after = Milliseconds(100);
  return HeldProblem(held);
}

std::optional<base::StoredAnswer> BreakAnswer(const Outcome& change) {
  const auto& outcome = std::get<BreakOutcome>(change);
  if (outcome.guarded || outcome.fence == 0) return std::nullopt;
  base::StoredAnswer answer{.status = 200};
  JsonWriter json(answer.body);
  json.BeginObject()
      .Field("broken", outcome.broken)
      .Field("holder", std::string_view(outcome.holder))
      .Field("fence", outcome.fence);
  json.Key("free_at").Time(outcome.free_at_ms);
  json.EndObject();
  return answer;
}

}  // namespace tenure::leases
