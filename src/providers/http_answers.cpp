#include "providers/http_answers.hpp"

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/time_parse.hpp"

namespace tenure::providers {
namespace {

namespace dom = simdjson::dom;
using leases::LeaseError;
using leases::Milliseconds;
using leases::ProviderUnavailable;

constexpr std::string_view kTypePrefix = "urn:tenure:problem:";

/// The JSON of an answer. Throws simdjson's error for what is not there or is of another type.
class Document {
 public:
  explicit Document(const std::string& body) : root_(parser_.parse(body)) {}
  dom::element root() const { return root_; }

 private:
  dom::parser parser_;
  dom::element root_;
};

std::string Text(dom::element object, std::string_view field) {
  return std::string(std::string_view(object[field]));
}
std::string OptionalText(dom::element object, std::string_view field) {
  std::string_view text;
  return object[field].get(text) ? std::string() : std::string(text);
}
std::int64_t Int(dom::element object, std::string_view field) {
  return std::int64_t(object[field]);
}
std::int64_t OptionalInt(dom::element object, std::string_view field) {
  std::int64_t value = 0;
  return object[field].get(value) ? 0 : value;
}
/// 0 when it is not there, or null.
std::int64_t Time(dom::element object, std::string_view field) {
  std::string_view text;
  if (object[field].get(text)) return 0;
  return base::ParseUtcMs(text).value_or(0);
}
std::string Metadata(dom::element object) {
  dom::element metadata;
  return object["metadata"].get(metadata) ? std::string() : simdjson::minify(metadata);
}

leases::LossReason LossOf(std::string_view text) {
  return leases::ParseLossReason(text).value_or(leases::LossReason::kUnknown);
}

/// Runs `read` on the answer's JSON.
template <class Read>
auto Reading(const http::ClientResponse& response, const LeaseError::About& about, Read read) {
  try {
    const Document document(response.body);
    return read(document.root());
  } catch (const simdjson::simdjson_error& error) {
    LeaseError::About unknown = about;
    unknown.outcome_unknown = true;
    throw ProviderUnavailable(
        fmt::format("the server's answer cannot be read ({}): {}", response.status, error.what()),
        std::move(unknown));
  }
}

/// The slug of a problem; empty when it is none of Tenure's.
std::string ProblemOf(dom::element root) {
  const std::string type = OptionalText(root, "type");
  return type.starts_with(kTypePrefix) ? type.substr(kTypePrefix.size()) : std::string();
}

/// Everything that is no outcome.
[[noreturn]] void Refuse(const http::ClientResponse& response, LeaseError::About about) {
  const auto [type, detail] = Reading(response, about, [](dom::element root) {
    return std::pair(ProblemOf(root), OptionalText(root, "detail"));
  });
  if (response.status == 400 || response.status == 413 || response.status == 431)
    throw std::invalid_argument(detail);
  if (response.status == 401 || response.status == 403)
    throw leases::AccessDenied(fmt::format("access denied ({}): {}", response.status, detail),
                               std::move(about));
  // A 503 other than outcome-unknown says that nothing happened.
  about.outcome_unknown =
      type == "outcome-unknown" || (response.status >= 500 && response.status != 503);
  throw ProviderUnavailable(fmt::format("{}: {}", response.status, detail), std::move(about));
}

leases::Grant GrantOf(dom::element root) {
  leases::Grant grant;
  grant.name = Text(root, "name");
  grant.fence = Int(root, "fence");
  grant.term = Text(root, "term");
  grant.holder = Text(root, "holder");
  grant.metadata = Metadata(root);
  grant.ttl = Milliseconds(Int(root, "ttl_ms"));
  grant.remaining = Milliseconds(Int(root, "remaining_ms"));
  grant.waited = Milliseconds(Int(root, "waited_ms"));
  grant.granted_at_ms = Time(root, "granted_at");
  grant.expires_at_ms = Time(root, "expires_at");
  grant.now_ms = Time(root, "now");
  return grant;
}

leases::HeldByAnother HeldOf(dom::element root) {
  leases::HeldByAnother held;
  held.reason = leases::ParseHeldReason(Text(root, "reason")).value_or(leases::HeldReason::kHeld);
  held.holder = Text(root, "holder");
  held.fence = Int(root, "fence");
  held.expires_at_ms = Time(root, "expires_at");
  held.retry_after = Milliseconds(Int(root, "retry_after_ms"));
  return held;
}

leases::LeaseState StateOf(std::string_view text) {
  for (const auto state : {leases::LeaseState::kHeld, leases::LeaseState::kBroken})
    if (text == leases::ToText(state)) return state;
  return leases::LeaseState::kFree;
}

leases::LeaseView ViewOf(dom::element root) {
  leases::LeaseView view;
  view.name = Text(root, "name");
  view.state = StateOf(Text(root, "state"));
  view.fence = Int(root, "fence");
  view.term = OptionalText(root, "term");
  view.holder = OptionalText(root, "holder");
  view.metadata = Metadata(root);
  view.ttl = Milliseconds(OptionalInt(root, "ttl_ms"));
  view.granted_at_ms = Time(root, "granted_at");
  view.renewed_at_ms = Time(root, "renewed_at");
  view.expires_at_ms =
      view.state == leases::LeaseState::kFree ? Time(root, "ended_at") : Time(root, "expires_at");
  view.break_reason = OptionalText(root, "break_reason");
  view.waiters = Int(root, "waiters");
  view.now_ms = Time(root, "now");
  dom::array history;
  if (root["history"].get(history)) return view;
  for (const dom::element past : history) {
    leases::PastGrant& grant = view.history.emplace_back();
    grant.fence = Int(past, "fence");
    grant.term = Text(past, "term");
    grant.holder = Text(past, "holder");
    grant.granted_at_ms = Time(past, "granted_at");
    grant.ended_at_ms = Time(past, "ended_at");
    grant.reason = LossOf(Text(past, "reason"));
    grant.detail = OptionalText(past, "detail");
  }
  return view;
}

}  // namespace

leases::AcquireOutcome ReadAcquired(const http::ClientResponse& response,
                                    const LeaseError::About& about) {
  using Outcome = leases::AcquireOutcome;
  if (response.status == 200)
    return Reading(response, about, [](dom::element root) -> Outcome { return GrantOf(root); });
  if (response.status != 409) Refuse(response, about);
  return Reading(response, about, [](dom::element root) -> Outcome {
    if (ProblemOf(root) == "lease-lost") return leases::TermEnded{LossOf(Text(root, "reason"))};
    return HeldOf(root);
  });
}

std::vector<leases::RenewOutcome> ReadRenewals(const http::ClientResponse& response,
                                               std::size_t count, const LeaseError::About& about) {
  if (response.status != 200) Refuse(response, about);
  return Reading(response, about, [&](dom::element root) {
    std::vector<leases::RenewOutcome> outcomes;
    for (const dom::element item : dom::array(root["leases"])) {
      std::string_view lost;
      if (item["lost"].get(lost))
        outcomes.emplace_back(GrantOf(item));
      else
        outcomes.emplace_back(leases::Loss{LossOf(lost)});
    }
    if (outcomes.size() != count) throw simdjson::simdjson_error(simdjson::INDEX_OUT_OF_BOUNDS);
    return outcomes;
  });
}

leases::ReleaseOutcome ReadReleased(const http::ClientResponse& response,
                                    const LeaseError::About& about) {
  if (response.status != 200) Refuse(response, about);
  return Reading(response, about, [](dom::element root) {
    leases::ReleaseOutcome outcome;
    outcome.released = bool(root["released"]);
    if (!outcome.released) outcome.reason = LossOf(Text(root, "reason"));
    return outcome;
  });
}

std::optional<leases::BreakOutcome> ReadBroken(const http::ClientResponse& response,
                                               const LeaseError::About& about) {
  using Outcome = std::optional<leases::BreakOutcome>;
  if (response.status == 404) return std::nullopt;
  if (response.status != 200 && response.status != 409) Refuse(response, about);
  return Reading(response, about, [&](dom::element root) -> Outcome {
    leases::BreakOutcome outcome;
    outcome.guarded = response.status == 409;
    outcome.broken = !outcome.guarded && bool(root["broken"]);
    outcome.holder = Text(root, "holder");
    outcome.fence = Int(root, "fence");
    outcome.free_at_ms = Time(root, outcome.guarded ? "expires_at" : "free_at");
    return outcome;
  });
}

std::optional<leases::LeaseView> ReadLease(const http::ClientResponse& response,
                                           const LeaseError::About& about) {
  if (response.status == 404) return std::nullopt;
  if (response.status != 200) Refuse(response, about);
  return Reading(response, about, ViewOf);
}

std::vector<leases::LeaseView> ReadLeases(const http::ClientResponse& response) {
  if (response.status != 200) Refuse(response, {});
  return Reading(response, {}, [](dom::element root) {
    std::vector<leases::LeaseView> views;
    for (const dom::element item : dom::array(root["items"])) views.push_back(ViewOf(item));
    return views;
  });
}

leases::ClaimOutcome ReadClaimed(const http::ClientResponse& response,
                                 const LeaseError::About& about) {
  if (response.status != 200) Refuse(response, about);
  return Reading(response, about, [](dom::element root) -> leases::ClaimOutcome {
    if (!bool(root["due"])) return leases::TaskNotDue{Milliseconds(Int(root, "retry_after_ms"))};
    leases::TaskRun run;
    run.nominal_ms = Int(root, "nominal_ms");
    run.skipped = Int(root, "skipped");
    run.reclaimed = bool(root["reclaimed"]);
    run.lock = GrantOf(root["lock"]);
    return run;
  });
}

leases::FinishOutcome ReadFinished(const http::ClientResponse& response,
                                   const LeaseError::About& about) {
  if (response.status != 200) Refuse(response, about);
  return Reading(response, about, [](dom::element root) {
    leases::FinishOutcome outcome;
    outcome.accepted = bool(root["accepted"]);
    if (!outcome.accepted) outcome.reason = LossOf(Text(root, "reason"));
    outcome.next_ms = Time(root, "next_run_at");
    return outcome;
  });
}

}  // namespace tenure::providers
