#include "providers/store_session.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "http/json_fields.hpp"

namespace tenure::providers {
namespace {

using leases::LeaseError;
using leases::Milliseconds;
using leases::ProviderUnavailable;

void Check(bool good, std::string_view field, std::string_view rule) {
  if (!good) throw std::invalid_argument(fmt::format("{} {}", field, rule));
}

leases::LeaseKey KeyOf(const std::string& tenant, std::string_view name) {
  Check(leases::IsLeaseName(name), "name", "must be 1 to 200 of A-Z a-z 0-9 . _ : / @ -");
  return {tenant, std::string(name)};
}

base::Uuid TermOf(const std::string& term) {
  const auto parsed = base::Uuid::Parse(term);
  Check(parsed.has_value(), "term", "must be a UUID");
  return *parsed;
}

std::int64_t TtlOf(Milliseconds ttl, std::string_view field) {
  Check(ttl >= leases::kMinTtl && ttl <= leases::kMaxTtl, field, "must be from 100 ms to 24 h");
  return ttl.count();
}

std::string TextOf(const std::string& text, std::size_t max_bytes, std::string_view field) {
  Check(text.size() <= max_bytes && base::IsStorableText(text), field,
        fmt::format("must be UTF-8 of at most {} bytes", max_bytes));
  return text;
}

/// The server prints metadata as it is stored: it must be a JSON object, read as strictly as there.
std::string MetadataOf(const std::string& metadata) {
  if (metadata.empty()) return metadata;
  std::string body = fmt::format(R"({{"metadata":{}}})", metadata);
  const std::size_t size = body.size();
  body.append(http::Request::kBodyPadding, ' ');
  try {
    http::JsonFields fields(std::string_view(body).substr(0, size));
    std::string object = fields.Object("metadata", leases::kMaxMetadataBytes);
    fields.Finish();
    return object;
  } catch (const http::ProblemError& error) {
    throw std::invalid_argument(error.what());
  }
}

/// One call at a time: its answer, or that it was cancelled.
class Gate {
 public:
  template <class Reply>
  struct Call {
    std::optional<db::Result<Reply>> result;  // guarded by the gate's mutex
  };

  void Cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }

  template <class Reply>
  void Answer(Call<Reply>& call, db::Result<Reply> result) {
    const std::lock_guard lock(mutex_);
    call.result = std::move(result);
    changed_.notify_all();
  }

  /// Empty when the time is over or it was cancelled.
  template <class Reply>
  std::optional<db::Result<Reply>> Await(Call<Reply>& call, Milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return call.result.has_value() || cancelled_; });
    return std::move(call.result);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
};

class StoreSession final : public leases::Session {
 public:
  StoreSession(std::shared_ptr<Stack> stack, std::string tenant)
      : stack_(std::move(stack)), tenant_(std::move(tenant)) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 Milliseconds timeout) override {
    leases::AcquireCommand command;
    command.received_boot_ms = stack_->leases().clock().BootMs();
    command.key = KeyOf(tenant_, request.name);
    command.term = TermOf(request.term);
    command.ttl_ms = TtlOf(request.ttl, "ttl");
    command.holder = TextOf(request.holder, leases::kMaxHolderBytes, "holder");
    command.metadata = MetadataOf(request.metadata);
    Check(request.wait >= Milliseconds(0) && request.wait <= leases::kMaxWait, "wait",
          "must be at most 60 s");
    if (request.wait > Milliseconds(0)) return AcquireWaiting(std::move(command), request, timeout);
    return Ask<leases::AcquireOutcome>(About(request.name), timeout, [&](auto done) {
      stack_->leases().Acquire(std::move(command), nullptr, std::move(done));
    });
  }

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Milliseconds timeout) override {
    if (requests.empty()) return {};
    std::vector<leases::RenewCommand> commands;
    for (const auto& request : requests) {
      leases::RenewCommand command;
      command.key = KeyOf(tenant_, request.name);
      command.fence = request.fence;
      command.term = TermOf(request.term);
      if (request.ttl) command.ttl_ms = TtlOf(*request.ttl, "ttl");
      commands.push_back(std::move(command));
    }
    return Ask<std::vector<leases::RenewOutcome>>(
        About(requests.front().name, requests.front().fence), timeout,
        [&](auto done) { stack_->leases().Renew(std::move(commands), nullptr, std::move(done)); });
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 Milliseconds timeout) override {
    leases::ReleaseCommand command{KeyOf(tenant_, request.name), TermOf(request.term),
                                   request.fence};
    return Ask<leases::ReleaseOutcome>(About(request.name), timeout, [&](auto done) {
      stack_->leases().Release(std::move(command), nullptr, std::move(done));
    });
  }

  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            Milliseconds timeout) override {
    leases::BreakCommand command;
    command.key = KeyOf(tenant_, request.name);
    command.reason = TextOf(request.reason, leases::kMaxReasonBytes, "reason");
    Check(!command.reason.empty(), "reason", "must say why");
    Check(request.drain >= Milliseconds(0) && request.drain <= leases::kMaxTtl, "drain",
          "must be at most 24 h");
    command.drain_ms = request.drain.count();
    command.force = request.force;
    command.fence = request.fence;
    const auto reply = Ask<leases::ChangeReply>(About(request.name), timeout, [&](auto done) {
      stack_->leases().Break(std::move(command), nullptr, std::move(done));
    });
    const auto& outcome = std::get<leases::BreakOutcome>(reply.outcome);
    if (outcome.fence == 0) return std::nullopt;
    return outcome;
  }

  std::optional<leases::LeaseView> Get(std::string_view name, Milliseconds timeout) override {
    leases::FindRequest request{KeyOf(tenant_, name), 50};
    return Ask<leases::FindReply>(About(std::string(name)), timeout,
                                  [&](auto done) {
                                    stack_->leases().Find(std::move(request), nullptr,
                                                          std::move(done));
                                  })
        .lease;
  }

  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      Milliseconds timeout) override {
    Check(request.limit >= 1 && request.limit <= 1'000, "limit", "must be 1 to 1000");
    return Ask<leases::PageReply>(
               {}, timeout,
               [&](auto done) {
                 stack_->leases().List({tenant_, request}, nullptr, std::move(done));
               })
        .leases;
  }

  leases::ClaimOutcome ClaimTask(const leases::TaskClaim& claim, Milliseconds timeout) override {
    tasks::ClaimCommand command;
    command.received_boot_ms = stack_->tasks().clock().BootMs();
    command.key = TaskKeyOf(claim.name);
    Check(claim.interval >= Milliseconds(100), "interval", "must be at least 100 ms");
    command.interval_ms = claim.interval.count();
    command.lock_timeout_ms = TtlOf(claim.lock_timeout, "lock_timeout");
    command.term = TermOf(claim.term);
    command.holder = TextOf(claim.holder, leases::kMaxHolderBytes, "holder");
    return Ask<leases::ClaimOutcome>(About("task/" + claim.name), timeout, [&](auto done) {
      stack_->tasks().Claim(std::move(command), nullptr, std::move(done));
    });
  }

  leases::FinishOutcome FinishTask(const leases::TaskFinish& finish,
                                   Milliseconds timeout) override {
    tasks::FinishCommand command;
    command.key = TaskKeyOf(finish.name);
    command.fence = finish.fence;
    command.term = TermOf(finish.term);
    // Whatever an exception said: it must only be storable.
    if (finish.error)
      command.error = base::IsStorableText(*finish.error) ? *finish.error : "failed";
    return Ask<leases::FinishOutcome>(
        About("task/" + finish.name, finish.fence), timeout,
        [&](auto done) { stack_->tasks().Finish(std::move(command), nullptr, std::move(done)); });
  }

  void Cancel() noexcept override { gate_->Cancel(); }

 private:
  static LeaseError::About About(std::string lease, std::int64_t fence = 0) {
    return {std::move(lease), fence, false};
  }
  tasks::TaskKey TaskKeyOf(const std::string& name) const {
    KeyOf(tenant_, "task/" + name);
    Check(!name.empty(), "name", "must not be empty");
    return {tenant_, name};
  }

  template <class Reply, class Submit>
  Reply Ask(const LeaseError::About& about, Milliseconds timeout, Submit submit) {
    auto call = std::make_shared<Gate::Call<Reply>>();
    submit(
        [gate = gate_, call](db::Result<Reply> result) { gate->Answer(*call, std::move(result)); });
    return Taken(gate_->Await(*call, timeout), about);
  }

  template <class Reply>
  static Reply Taken(std::optional<db::Result<Reply>> result, LeaseError::About about) {
    if (!result) {
      about.outcome_unknown = true;
      throw ProviderUnavailable("the store did not answer in time", std::move(about));
    }
    if (result->ok()) return std::move(result->value());
    about.outcome_unknown = result->fault().outcome_unknown();
    throw ProviderUnavailable(result->fault().what(), std::move(about));
  }

  leases::AcquireOutcome AcquireWaiting(leases::AcquireCommand command,
                                        const leases::AcquireRequest& request,
                                        Milliseconds timeout) {
    auto call = std::make_shared<Gate::Call<leases::AcquireOutcome>>();
    const auto id = stack_->leases().AcquireWaiting(
        std::move(command), request.wait.count(), nullptr,
        [gate = gate_, call](db::Result<leases::AcquireOutcome> result) {
          gate->Answer(*call, std::move(result));
        });
    stack_->Waiting(true);
    auto result = gate_->Await(*call, request.wait + timeout);
    stack_->Waiting(false);
    if (!result) stack_->leases().Abandon(id);
    return Taken(std::move(result), About(request.name));
  }

  const std::shared_ptr<Stack> stack_;
  const std::string tenant_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

class LocalProvider final : public leases::Provider {
 public:
  LocalProvider(leases::Leases& leases, tasks::Tasks& tasks, std::string tenant)
      : stack_(std::make_shared<Borrowed>(leases, tasks)), tenant_(std::move(tenant)) {}

  std::string_view name() const override { return "local"; }
  leases::Guarantees guarantees() const override {
    return {.durable_fence = true,
            .store_time = true,
            .fifo = true,
            .push = true,
            .enforced_fence = true,
            .tasks = true,
            .crosses_hosts = true};
  }
  std::unique_ptr<leases::Session> Connect() override { return MakeStoreSession(stack_, tenant_); }

 private:
  struct Borrowed final : Stack {
    Borrowed(leases::Leases& of_leases, tasks::Tasks& of_tasks)
        : leases_(of_leases), tasks_(of_tasks) {}
    leases::Leases& leases() override { return leases_; }
    tasks::Tasks& tasks() override { return tasks_; }
    leases::Leases& leases_;
    tasks::Tasks& tasks_;
  };
  const std::shared_ptr<Stack> stack_;
  const std::string tenant_;
};

}  // namespace

std::unique_ptr<leases::Session> MakeStoreSession(std::shared_ptr<Stack> stack,
                                                  std::string tenant) {
  return std::make_unique<StoreSession>(std::move(stack), std::move(tenant));
}

std::unique_ptr<leases::Provider> MakeLocalProvider(leases::Leases& leases, tasks::Tasks& tasks,
                                                    std::string tenant) {
  return std::make_unique<LocalProvider>(leases, tasks, std::move(tenant));
}

}  // namespace tenure::providers
