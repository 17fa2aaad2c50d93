#include "tenure/leases/manager.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/host.hpp"
#include "base/log.hpp"
#include "client/leases/lease_runtime.hpp"

namespace tenure::leases {
namespace {

LeaseOptions WithHolder(LeaseOptions options) {
  if (options.holder.empty()) options.holder = base::HostAndPid();
  return options;
}

}  // namespace

class Manager::Impl {
 public:
  Impl(std::unique_ptr<Provider> provider, const ManagerOptions& options)
      : runtime(std::make_shared<client::LeaseRuntime>(std::move(provider), options)) {
    runtime->Start();
  }
  ~Impl() { runtime->Stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<client::LeaseRuntime> runtime;
};

Manager::Manager(std::unique_ptr<Provider> provider, ManagerOptions options) {
  const Guarantees wanted{.durable_fence = options.require_durable_fence,
                          .durable_grant = options.require_durable_grant,
                          .store_time = options.require_store_time};
  Require(provider->guarantees(), wanted, provider->name(), provider->advice());
  if (!provider->guarantees().durable_grant)
    base::LogWarn(
        "leases.may_forget",
        "The store of the leases may forget grants when it crashes; it then grants nothing "
        "for a while.",
        {{"provider", provider->name()}});
  impl_ = std::make_unique<Impl>(std::move(provider), options);
}

Manager::~Manager() = default;

Manager::TryOutcome Manager::TryAcquire(std::string_view name, const LeaseOptions& options,
                                        Events events) {
  return TryAcquireFor(name, Milliseconds(0), options, std::move(events));
}

Manager::TryOutcome Manager::TryAcquireFor(std::string_view name, Milliseconds timeout,
                                           const LeaseOptions& options, Events events,
                                           std::stop_token stop) {
  auto outcome = impl_->runtime->Acquire({.name = std::string(name),
                                          .options = WithHolder(options),
                                          .timeout = timeout,
                                          .events = std::move(events),
                                          .stop = std::move(stop)});
  if (auto* held = std::get_if<HeldByAnother>(&outcome)) return std::move(*held);
  return Lease(std::get<client::HoldPtr>(std::move(outcome)));
}

Lease Manager::Acquire(std::string_view name, Milliseconds timeout, const LeaseOptions& options,
                       Events events, std::stop_token stop) {
  auto outcome = TryAcquireFor(name, timeout, options, std::move(events), std::move(stop));
  if (auto* lease = std::get_if<Lease>(&outcome)) return std::move(*lease);
  const auto& held = std::get<HeldByAnother>(outcome);
  throw ConflictError(fmt::format("lease {} was not granted in time: {} (holder {})", name,
                                  ToText(held.reason), held.holder),
                      {.lease = std::string(name), .fence = held.fence});
}

Lease Manager::Adopt(const Grant& grant, std::int64_t sent_ms, const LeaseOptions& options,
                     Events events) {
  client::CheckOptions(options);
  const client::CallTimes times{.sent_ms = sent_ms, .received_ms = clock().NowMs()};
  auto hold = impl_->runtime->Keep(grant, times, options, std::move(events));
  return hold ? Lease(std::move(hold)) : Lease();
}

std::optional<BreakOutcome> Manager::Break(const BreakRequest& request) {
  return impl_->runtime->Use([&](Connection& connection) {
    return connection.Break(request, impl_->runtime->options().call_timeout);
  });
}

std::optional<LeaseView> Manager::Get(std::string_view name) {
  return impl_->runtime->Use([&](Connection& connection) {
    return connection.Get(name, impl_->runtime->options().call_timeout);
  });
}

std::vector<LeaseView> Manager::List(const ListRequest& request) {
  return impl_->runtime->Use([&](Connection& connection) {
    return connection.List(request, impl_->runtime->options().call_timeout);
  });
}

ClaimOutcome Manager::ClaimTask(const TaskClaim& claim) {
  return impl_->runtime->Use([&](Connection& connection) {
    return connection.ClaimTask(claim, impl_->runtime->options().call_timeout);
  });
}

FinishOutcome Manager::FinishTask(const TaskFinish& finish) {
  return impl_->runtime->Use([&](Connection& connection) {
    return connection.FinishTask(finish, impl_->runtime->options().call_timeout);
  });
}

void Manager::OnStall(std::function<void(const Stalled&)> handler) {
  impl_->runtime->OnStall(std::move(handler));
}

void Manager::OnAutoRenewal(std::function<void(const AutoRenewal&)> handler) {
  impl_->runtime->OnAutoRenewal(std::move(handler));
}

void Manager::TellTrouble(std::string_view doing, const std::exception& error) {
  impl_->runtime->troubles().Tell(doing, error);
}

std::int64_t Manager::RunDue() { return impl_->runtime->RunDue(); }

ManagerStats Manager::stats() const { return impl_->runtime->table().stats(); }
Provider& Manager::provider() { return impl_->runtime->provider(); }
const Clock& Manager::clock() const { return impl_->runtime->clock(); }
bool Manager::threads() const { return impl_->runtime->options().threads; }

void Require(const Guarantees& given, const Guarantees& wanted, std::string_view provider,
             std::string_view advice) {
  struct Item {
    bool given;
    bool wanted;
    std::string_view text;
  };
  const Item items[] = {
      {given.durable_fence, wanted.durable_fence, "fences that rise for ever"},
      {given.durable_grant, wanted.durable_grant, "grants that outlive a crash of the store"},
      {given.store_time, wanted.store_time, "deadlines by the store's clock"},
      {given.fifo, wanted.fifo, "first come first served"},
      {given.push, wanted.push, "being told of a release"},
      {given.enforced_fence, wanted.enforced_fence, "refusing a stale fence"},
      {given.tasks, wanted.tasks, "reliable tasks"},
      {given.crosses_hosts, wanted.crosses_hosts, "holders on several machines"},
  };
  std::string missing;
  for (const Item& item : items) {
    if (!item.wanted || item.given) continue;
    if (!missing.empty()) missing += ", ";
    missing += item.text;
  }
  if (!missing.empty())
    throw UnfitStore(fmt::format("the provider {} lacks: {}{}{}", provider, missing,
                                 advice.empty() ? "" : "; ", advice),
                     {});
}

}  // namespace tenure::leases
