#include "providers/http_provider.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "http/client.hpp"
#include "providers/http_answers.hpp"

namespace tenure::providers {
namespace {

using base::JsonWriter;
using leases::LeaseError;
using leases::Milliseconds;

/// As a segment of a path, or a value of a query.
std::string Encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

class HttpSession final : public leases::Session {
 public:
  explicit HttpSession(const ServerAddress& address)
      : client_(
            {.base_url = address.base_url, .token = address.token, .ca_file = address.ca_file}) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 Milliseconds timeout) override {
    std::string body;
    JsonWriter json(body);
    json.BeginObject()
        .Field("term", std::string_view(request.term))
        .Field("ttl_ms", request.ttl.count())
        .Field("holder", std::string_view(request.holder))
        .Field("wait_ms", request.wait.count());
    if (!request.metadata.empty()) json.Key("metadata").Raw(request.metadata);
    json.EndObject();
    const LeaseError::About about{request.name, 0, false};
    return ReadAcquired(
        Post(LeasePath(request.name, "/acquire"), body, about, timeout + request.wait), about);
  }

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Milliseconds timeout) override {
    if (requests.empty()) return {};
    std::string body;
    JsonWriter json(body);
    json.BeginObject().Key("leases").BeginArray();
    for (const auto& request : requests) {
      json.BeginObject()
          .Field("name", std::string_view(request.name))
          .Field("fence", request.fence)
          .Field("term", std::string_view(request.term));
      if (request.ttl) json.Field("ttl_ms", request.ttl->count());
      json.EndObject();
    }
    json.EndArray().EndObject();
    const LeaseError::About about{requests.front().name, requests.front().fence, false};
    return ReadRenewals(Post("/api/v1/leases/renew", body, about, timeout), requests.size(), about);
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 Milliseconds timeout) override {
    std::string body;
    JsonWriter json(body);
    json.BeginObject().Field("term", std::string_view(request.term));
    if (request.fence) json.Field("fence", *request.fence);
    json.EndObject();
    const LeaseError::About about{request.name, request.fence.value_or(0), false};
    return ReadReleased(Post(LeasePath(request.name, "/release"), body, about, timeout), about);
  }

  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            Milliseconds timeout) override {
    std::string body;
    JsonWriter json(body);
    json.BeginObject()
        .Field("reason", std::string_view(request.reason))
        .Field("drain_ms", request.drain.count())
        .Field("force", request.force);
    if (request.fence) json.Field("fence", *request.fence);
    json.EndObject();
    const LeaseError::About about{request.name, request.fence.value_or(0), false};
    return ReadBroken(Post(LeasePath(request.name, "/break"), body, about, timeout), about);
  }

  std::optional<leases::LeaseView> Get(std::string_view name, Milliseconds timeout) override {
    const LeaseError::About about{std::string(name), 0, false};
    return ReadLease(Send(http::Method::kGet, LeasePath(name, ""), {}, about, timeout), about);
  }

  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      Milliseconds timeout) override {
    std::string path = fmt::format("/api/v1/leases?limit={}", request.limit);
    if (!request.prefix.empty()) path += "&prefix=" + Encoded(request.prefix);
    if (!request.holder.empty()) path += "&holder=" + Encoded(request.holder);
    if (!request.after.empty()) path += "&cursor=" + Encoded(request.after);
    if (request.state) path += fmt::format("&state={}", leases::ToText(*request.state));
    return ReadLeases(Send(http::Method::kGet, path, {}, {}, timeout));
  }

  leases::ClaimOutcome ClaimTask(const leases::TaskClaim& claim, Milliseconds timeout) override {
    std::string body;
    JsonWriter json(body);
    json.BeginObject()
        .Field("term", std::string_view(claim.term))
        .Field("holder", std::string_view(claim.holder))
        .Field("interval_ms", claim.interval.count())
        .Field("lock_timeout_ms", claim.lock_timeout.count())
        .EndObject();
    const LeaseError::About about{"task/" + claim.name, 0, false};
    return ReadClaimed(Post(TaskPath(claim.name, "/claim"), body, about, timeout), about);
  }

  leases::FinishOutcome FinishTask(const leases::TaskFinish& finish,
                                   Milliseconds timeout) override {
    std::string body;
    JsonWriter json(body);
    json.BeginObject().Field("fence", finish.fence).Field("term", std::string_view(finish.term));
    if (finish.error) json.Field("error", std::string_view(*finish.error).substr(0, 500));
    json.EndObject();
    const LeaseError::About about{"task/" + finish.name, finish.fence, false};
    return ReadFinished(Post(TaskPath(finish.name, "/finish"), body, about, timeout), about);
  }

  void Cancel() noexcept override { client_.Cancel(); }

 private:
  static std::string LeasePath(std::string_view name, std::string_view verb) {
    if (!leases::IsLeaseName(name))
      throw std::invalid_argument("name must be 1 to 200 of A-Z a-z 0-9 . _ : / @ -");
    return fmt::format("/api/v1/leases/{}{}", Encoded(name), verb);
  }
  static std::string TaskPath(std::string_view name, std::string_view verb) {
    if (!leases::IsLeaseName(name))
      throw std::invalid_argument("name must be 1 to 195 of A-Z a-z 0-9 . _ : / @ -");
    return fmt::format("/api/v1/tasks/{}{}", Encoded(name), verb);
  }

  http::ClientResponse Post(const std::string& path, const std::string& body,
                            const LeaseError::About& about, Milliseconds timeout) {
    return Send(http::Method::kPost, path, body, about, timeout);
  }
  http::ClientResponse Send(http::Method method, const std::string& path,
                            const std::optional<std::string>& body, const LeaseError::About& about,
                            Milliseconds timeout) {
    try {
      return client_.Send(method, path, body, {}, timeout.count());
    } catch (const base::Fault& fault) {
      LeaseError::About told = about;
      told.outcome_unknown = fault.outcome_unknown();
      throw leases::ProviderUnavailable(fault.what(), std::move(told));
    }
  }

  http::Client client_;
};

class HttpProvider final : public leases::Provider {
 public:
  explicit HttpProvider(ServerAddress address) : address_(std::move(address)) {}

  std::string_view name() const override { return "http"; }
  leases::Guarantees guarantees() const override {
    return {.durable_fence = true,
            .store_time = true,
            .fifo = true,
            .push = true,
            .enforced_fence = true,
            .tasks = true,
            .crosses_hosts = true};
  }
  std::unique_ptr<leases::Session> Connect() override {
    return std::make_unique<HttpSession>(address_);
  }

 private:
  const ServerAddress address_;
};

}  // namespace

std::unique_ptr<leases::Provider> OpenHttp(ServerAddress address) {
  return std::make_unique<HttpProvider>(std::move(address));
}

}  // namespace tenure::providers
