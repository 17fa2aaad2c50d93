#include <type_traits>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "client/backends.hpp"
#include "client/checks.hpp"
#include "client/failure.hpp"
#include "client/http/answer.hpp"
#include "client/http/transport.hpp"

namespace tenure::client {
namespace {

using base::JsonWriter;
using About = leases::LeaseError::About;

// What the server answered, read into the library's types. Throws CallFailed.

leases::LossReason LossOf(std::string_view text) {
  return leases::ParseLossReason(text).value_or(leases::LossReason::kUnknown);
}

leases::Grant GrantOf(json::object root) {
  leases::Grant grant;
  grant.name = Text(root, "name");
  grant.fence = Integer(root, "fence");
  grant.term = Text(root, "term");
  grant.holder = Text(root, "holder");
  grant.metadata = OptionalRaw(root, "metadata");
  grant.ttl = Milliseconds(Integer(root, "ttl_ms"));
  grant.remaining = Milliseconds(Integer(root, "remaining_ms"));
  grant.waited = Milliseconds(Integer(root, "waited_ms"));
  grant.granted_at_ms = Time(root, "granted_at");
  grant.expires_at_ms = Time(root, "expires_at");
  grant.now_ms = Time(root, "now");
  return grant;
}

leases::HeldByAnother HeldOf(json::object root) {
  leases::HeldByAnother held;
  held.reason = leases::ParseHeldReason(Text(root, "reason")).value_or(leases::HeldReason::kHeld);
  held.holder = Text(root, "holder");
  held.fence = Integer(root, "fence");
  held.expires_at_ms = Time(root, "expires_at");
  held.retry_after = Milliseconds(Integer(root, "retry_after_ms"));
  return held;
}

leases::LeaseState StateOf(std::string_view text) {
  for (const auto state : {leases::LeaseState::kHeld, leases::LeaseState::kBroken})
    if (text == leases::ToText(state)) return state;
  return leases::LeaseState::kFree;
}

leases::PastGrant PastGrantOf(json::object past) {
  leases::PastGrant grant;
  grant.fence = Integer(past, "fence");
  grant.term = Text(past, "term");
  grant.holder = Text(past, "holder");
  grant.granted_at_ms = Time(past, "granted_at");
  grant.ended_at_ms = Time(past, "ended_at");
  grant.reason = LossOf(Text(past, "reason"));
  grant.detail = OptionalText(past, "detail");
  return grant;
}

leases::LeaseView ViewOf(json::object root) {
  leases::LeaseView view;
  view.name = Text(root, "name");
  view.state = StateOf(Text(root, "state"));
  view.fence = Integer(root, "fence");
  view.term = OptionalText(root, "term");
  view.holder = OptionalText(root, "holder");
  view.metadata = OptionalRaw(root, "metadata");
  view.ttl = Milliseconds(OptionalInteger(root, "ttl_ms"));
  view.granted_at_ms = Time(root, "granted_at");
  view.renewed_at_ms = Time(root, "renewed_at");
  view.expires_at_ms =
      Time(root, view.state == leases::LeaseState::kFree ? "ended_at" : "expires_at");
  view.break_reason = OptionalText(root, "break_reason");
  view.waiters = Integer(root, "waiters");
  view.frozen_until_ms = Time(root, "frozen_until");
  view.now_ms = Time(root, "now");
  json::array history;
  if (root["history"].get_array().get(history)) return view;
  for (auto past : history) view.history.push_back(PastGrantOf(past.get_object()));
  return view;
}

leases::AcquireOutcome ReadAcquired(const http::ClientResponse& response) {
  return Reading(response, {200, 409}, [&](json::object root) -> leases::AcquireOutcome {
    if (response.status == 200) return GrantOf(root);
    if (ProblemOf(root) == "lease-lost") return leases::TermEnded{LossOf(Text(root, "reason"))};
    return HeldOf(root);
  });
}

std::vector<leases::RenewOutcome> ReadRenewals(const http::ClientResponse& response,
                                               std::size_t count) {
  return Reading(response, {200}, [&](json::object root) {
    std::vector<leases::RenewOutcome> outcomes;
    for (auto item : root["leases"].get_array()) {
      json::object lease = item.get_object();
      const std::string lost = OptionalText(lease, "lost");
      if (lost.empty())
        outcomes.emplace_back(GrantOf(lease));
      else
        outcomes.emplace_back(leases::Loss{LossOf(lost)});
    }
    if (outcomes.size() != count) RefuseUnreadable(response, "not an answer for each lease");
    return outcomes;
  });
}

leases::ReleaseOutcome ReadReleased(const http::ClientResponse& response) {
  return Reading(response, {200}, [](json::object root) {
    leases::ReleaseOutcome outcome;
    outcome.released = Flag(root, "released");
    if (!outcome.released) outcome.reason = LossOf(Text(root, "reason"));
    return outcome;
  });
}

std::optional<leases::BreakOutcome> ReadBroken(const http::ClientResponse& response) {
  if (response.status == 404) return std::nullopt;
  return Reading(response, {200, 409}, [&](json::object root) {
    leases::BreakOutcome outcome;
    outcome.guarded = response.status == 409;
    outcome.broken = !outcome.guarded && Flag(root, "broken");
    outcome.holder = Text(root, "holder");
    outcome.fence = Integer(root, "fence");
    outcome.free_at_ms = Time(root, outcome.guarded ? "expires_at" : "free_at");
    return std::optional(outcome);
  });
}

std::optional<leases::LeaseView> ReadLease(const http::ClientResponse& response) {
  if (response.status == 404) return std::nullopt;
  return Reading(response, {200}, [](json::object root) { return std::optional(ViewOf(root)); });
}

std::vector<leases::LeaseView> ReadLeases(const http::ClientResponse& response) {
  return Reading(response, {200}, [](json::object root) {
    std::vector<leases::LeaseView> views;
    for (auto item : root["items"].get_array()) views.push_back(ViewOf(item.get_object()));
    return views;
  });
}

leases::ClaimOutcome ReadTaskClaim(const http::ClientResponse& response) {
  return Reading(response, {200}, [](json::object root) -> leases::ClaimOutcome {
    if (!Flag(root, "due"))
      return leases::TaskNotDue{Milliseconds(Integer(root, "retry_after_ms"))};
    leases::TaskRun run;
    run.nominal_ms = Integer(root, "nominal_ms");
    run.skipped = Integer(root, "skipped");
    run.reclaimed = Flag(root, "reclaimed");
    run.lock = GrantOf(root["lock"].get_object());
    return run;
  });
}

leases::FinishOutcome ReadFinished(const http::ClientResponse& response) {
  return Reading(response, {200}, [](json::object root) {
    leases::FinishOutcome outcome;
    outcome.accepted = Flag(root, "accepted");
    if (!outcome.accepted) outcome.reason = LossOf(Text(root, "reason"));
    outcome.next_ms = Time(root, "next_run_at");
    return outcome;
  });
}

std::string LeasePath(std::string_view name, std::string_view verb) {
  CheckLeaseName(name);
  return fmt::format("/api/v1/leases/{}{}", Encoded(name), verb);
}
std::string TaskPath(std::string_view name, std::string_view verb) {
  CheckTaskName(name);
  return fmt::format("/api/v1/tasks/{}{}", Encoded(name), verb);
}

class HttpConnection final : public leases::Connection {
 public:
  explicit HttpConnection(const ServerAddress& address) : transport_(address) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 Milliseconds timeout) override {
    CheckRequest(request);
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Field("term", std::string_view(request.term))
          .Field("ttl_ms", request.ttl.count())
          .Field("holder", std::string_view(request.holder))
          .Field("wait_ms", request.wait.count());
      if (!request.metadata.empty()) json.Key("metadata").Raw(request.metadata);
    });
    return Post({request.name}, LeasePath(request.name, "/acquire"), body, timeout + request.wait,
                ReadAcquired);
  }

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Milliseconds timeout) override {
    if (requests.empty()) return {};
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Key("leases").BeginArray();
      for (const auto& request : requests) {
        CheckRequest(request);
        json.BeginObject()
            .Field("name", std::string_view(request.name))
            .Field("fence", request.fence)
            .Field("term", std::string_view(request.term));
        if (request.ttl) json.Field("ttl_ms", request.ttl->count());
        json.EndObject();
      }
      json.EndArray();
    });
    return Post({requests.front().name, requests.front().fence}, "/api/v1/leases/renew", body,
                timeout, [&](const http::ClientResponse& response) {
                  return ReadRenewals(response, requests.size());
                });
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 Milliseconds timeout) override {
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Field("term", std::string_view(request.term));
      if (request.fence) json.Field("fence", *request.fence);
    });
    return Post({request.name, request.fence.value_or(0)}, LeasePath(request.name, "/release"),
                body, timeout, ReadReleased);
  }

  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            Milliseconds timeout) override {
    CheckRequest(request);
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Field("reason", std::string_view(request.reason))
          .Field("drain_ms", request.drain.count())
          .Field("force", request.force);
      if (request.fence) json.Field("fence", *request.fence);
    });
    return Post({request.name, request.fence.value_or(0)}, LeasePath(request.name, "/break"), body,
                timeout, ReadBroken);
  }

  std::optional<leases::LeaseView> Get(std::string_view name, Milliseconds timeout) override {
    return Look({std::string(name)}, LeasePath(name, ""), timeout, ReadLease);
  }

  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      Milliseconds timeout) override {
    CheckRequest(request);
    std::string path = fmt::format("/api/v1/leases?limit={}", request.limit);
    if (!request.prefix.empty()) path += "&prefix=" + Encoded(request.prefix);
    if (!request.holder.empty()) path += "&holder=" + Encoded(request.holder);
    if (!request.after.empty()) path += "&cursor=" + Encoded(request.after);
    if (request.state) path += fmt::format("&state={}", leases::ToText(*request.state));
    return Look({}, path, timeout, ReadLeases);
  }

  leases::ClaimOutcome ClaimTask(const leases::TaskClaim& claim, Milliseconds timeout) override {
    CheckRequest(claim);
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Field("term", std::string_view(claim.term))
          .Field("holder", std::string_view(claim.holder))
          .Field("interval_ms", claim.interval.count())
          .Field("lock_timeout_ms", claim.lock_timeout.count());
    });
    return Post({"task/" + claim.name}, TaskPath(claim.name, "/claim"), body, timeout,
                ReadTaskClaim);
  }

  leases::FinishOutcome FinishTask(const leases::TaskFinish& finish,
                                   Milliseconds timeout) override {
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Field("fence", finish.fence).Field("term", std::string_view(finish.term));
      if (finish.error)
        json.Field("error",
                   std::string_view(StorableError(*finish.error, leases::kMaxTaskErrorBytes)));
    });
    return Post({"task/" + finish.name, finish.fence}, TaskPath(finish.name, "/finish"), body,
                timeout, ReadFinished);
  }

  void Cancel() noexcept override { cancelled_.request_stop(); }

 private:
  template <class Read>
  using Outcome = std::invoke_result_t<const Read&, const http::ClientResponse&>;

  template <class Read>
  Outcome<Read> Post(About about, std::string_view path, const std::string& body,
                     Milliseconds timeout, const Read& read) {
    return LeaseCall(std::move(about), [&] {
      return read(transport_.Post(path, body, timeout, cancelled_.get_token()));
    });
  }
  template <class Read>
  Outcome<Read> Look(About about, std::string_view path, Milliseconds timeout, const Read& read) {
    return LeaseCall(std::move(about), [&] {
      return read(transport_.Send(http::Method::kGet, path, {}, timeout, cancelled_.get_token()));
    });
  }

  Transport transport_;
  std::stop_source cancelled_;
};

class HttpProvider final : public leases::Provider {
 public:
  explicit HttpProvider(ServerAddress address) : address_(std::move(address)) {}

  std::string_view name() const override { return "http"; }
  leases::Guarantees guarantees() const override { return leases::kAllGuarantees; }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<HttpConnection>(address_);
  }

 private:
  const ServerAddress address_;
};

}  // namespace

std::unique_ptr<leases::Provider> MakeHttpProvider(ServerAddress address) {
  return std::make_unique<HttpProvider>(std::move(address));
}

}  // namespace tenure::client
