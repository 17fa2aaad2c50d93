#include "client/store/lease_provider.hpp"

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "client/backends.hpp"
#include "client/checks.hpp"
#include "client/failure.hpp"
#include "client/store/call.hpp"
#include "db_sql/queries.hpp"
#include "http/json_fields.hpp"
#include "leases_sql/queries.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::client {
namespace {

using Milliseconds = std::chrono::milliseconds;
using About = leases::LeaseError::About;

constexpr std::int64_t kHistoryShown = 50;

/// What a connection works on. It is kept alive by the connection.
struct LeaseStack {
  virtual ~LeaseStack() = default;
  virtual leases::Leases& leases() = 0;
  virtual tasks::Tasks& tasks() = 0;
  /// Whose news are to be heard while a call waits for its turn; null: they are heard anyway.
  virtual LocalStore* news() { return nullptr; }
};

/// The blocking face of leases and tasks on a store. A call submits to a lane and waits; when its
/// time is over the outcome is unknown, and whatever comes later is dropped (what was granted to a
/// waiting call is given back).
class StoreConnection final : public leases::Connection {
 public:
  StoreConnection(std::shared_ptr<LeaseStack> stack, std::string tenant)
      : stack_(std::move(stack)), tenant_(std::move(tenant)) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 Milliseconds timeout) override {
    CheckRequest(request);
    leases::AcquireCommand command;
    command.received_boot_ms = leases().clock().BootMs();
    command.key = {tenant_, request.name};
    command.term = TermOf(request.term);
    command.ttl_ms = request.ttl.count();
    command.holder = request.holder;
    command.metadata = MetadataOf(request.metadata);
    if (request.wait > Milliseconds(0)) return AcquireWaiting(std::move(command), request, timeout);
    return Asking<leases::AcquireOutcome>({request.name}, timeout, [&](auto done) {
      leases().Acquire(std::move(command), nullptr, std::move(done));
    });
  }

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Milliseconds timeout) override {
    if (requests.empty()) return {};
    std::vector<leases::RenewCommand> commands;
    for (const auto& request : requests) {
      CheckRequest(request);
      leases::RenewCommand& command = commands.emplace_back();
      command.key = {tenant_, request.name};
      command.fence = request.fence;
      command.term = TermOf(request.term);
      if (request.ttl) command.ttl_ms = request.ttl->count();
    }
    return Asking<std::vector<leases::RenewOutcome>>(
        {requests.front().name, requests.front().fence}, timeout,
        [&](auto done) { leases().Renew(std::move(commands), nullptr, std::move(done)); });
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 Milliseconds timeout) override {
    CheckLeaseName(request.name);
    leases::ReleaseCommand command{{tenant_, request.name}, TermOf(request.term), request.fence};
    return Asking<leases::ReleaseOutcome>({request.name}, timeout, [&](auto done) {
      leases().Release(std::move(command), nullptr, std::move(done));
    });
  }

  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            Milliseconds timeout) override {
    CheckRequest(request);
    leases::BreakCommand command;
    command.key = {tenant_, request.name};
    command.reason = request.reason;
    command.drain_ms = request.drain.count();
    command.force = request.force;
    command.fence = request.fence;
    const auto outcome = Asking<leases::BreakOutcome>({request.name}, timeout, [&](auto done) {
      leases().Break(std::move(command), nullptr, std::move(done));
    });
    if (outcome.fence == 0) return std::nullopt;
    return outcome;
  }

  std::optional<leases::LeaseView> Get(std::string_view name, Milliseconds timeout) override {
    CheckLeaseName(name);
    leases::FindRequest request{{tenant_, std::string(name)}, kHistoryShown};
    return Asking<leases::FindReply>(
               {std::string(name)}, timeout,
               [&](auto done) { leases().Find(std::move(request), nullptr, std::move(done)); })
        .lease;
  }

  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      Milliseconds timeout) override {
    CheckRequest(request);
    return Asking<leases::PageReply>({}, timeout,
                                     [&](auto done) {
                                       leases().List({request, tenant_}, nullptr, std::move(done));
                                     })
        .rows;
  }

  leases::ClaimOutcome ClaimTask(const leases::TaskClaim& claim, Milliseconds timeout) override {
    CheckRequest(claim);
    tasks::ClaimCommand command;
    command.received_boot_ms = tasks().clock().BootMs();
    command.key = {tenant_, claim.name};
    command.interval_ms = claim.interval.count();
    command.lock_timeout_ms = claim.lock_timeout.count();
    command.term = TermOf(claim.term);
    command.holder = claim.holder;
    return Asking<leases::ClaimOutcome>({"task/" + claim.name}, timeout, [&](auto done) {
      tasks().Claim(std::move(command), nullptr, std::move(done));
    });
  }

  leases::FinishOutcome FinishTask(const leases::TaskFinish& finish,
                                   Milliseconds timeout) override {
    CheckTaskName(finish.name);
    tasks::FinishCommand command;
    command.key = {tenant_, finish.name};
    command.fence = finish.fence;
    command.term = TermOf(finish.term);
    if (finish.error) command.error = StorableError(*finish.error, leases::kMaxTaskErrorBytes);
    return Asking<leases::FinishOutcome>(
        {"task/" + finish.name, finish.fence}, timeout,
        [&](auto done) { tasks().Finish(std::move(command), nullptr, std::move(done)); });
  }

  void Cancel() noexcept override { cancelled_.request_stop(); }

 private:
  leases::Leases& leases() { return stack_->leases(); }
  tasks::Tasks& tasks() { return stack_->tasks(); }

  template <class Reply, class Submit>
  Reply Asking(About about, Milliseconds timeout, const Submit& submit) {
    return LeaseCall(std::move(about),
                     [&] { return Ask<Reply>(timeout, cancelled_.get_token(), submit); });
  }

  leases::AcquireOutcome AcquireWaiting(leases::AcquireCommand command,
                                        const leases::AcquireRequest& request,
                                        Milliseconds timeout) {
    using Outcome = leases::AcquireOutcome;
    std::optional<LocalStore::Waiting> waiting;
    if (LocalStore* const news = stack_->news()) waiting.emplace(*news);
    const auto call = std::make_shared<Call<Outcome>>();
    const auto id =
        leases().AcquireWaiting(std::move(command), request.wait.count(), nullptr,
                                [call](db::Result<Outcome> result) { call->Answer(result); });
    auto result = call->Await(request.wait + timeout, cancelled_.get_token());
    if (!result) {
      leases().Abandon(id);
      result = call->Close();  // it may have been on its way to us
    }
    return LeaseCall({request.name}, [&] { return Taken(std::move(result)); });
  }

  const std::shared_ptr<LeaseStack> stack_;
  const std::string tenant_;
  std::stop_source cancelled_;
};

/// A connection's own lanes: a thread and a connection for changes, and another pair for looks.
/// They connect with their first call, so renewals never share a connection with anything else.
class OwnStack final : public LeaseStack {
 public:
  explicit OwnStack(std::shared_ptr<LocalStore> store)
      : store_(std::move(store)),
        lanes_(store_->NewLanes(1)),
        leases_(*lanes_, store_->wake(), store_->process(), base::SystemClock(), store_->metrics()),
        tasks_(*lanes_, store_->wake(), store_->process(), base::SystemClock(), store_->metrics()) {
    lanes_->Start();
  }
  ~OwnStack() override {
    leases_.StopWaiting();
    lanes_->Stop();
  }

  leases::Leases& leases() override { return leases_; }
  tasks::Tasks& tasks() override { return tasks_; }
  LocalStore* news() override { return store_.get(); }

 private:
  const std::shared_ptr<LocalStore> store_;
  const std::unique_ptr<db::Store> lanes_;
  leases::Leases leases_;
  tasks::Tasks tasks_;
};

class BorrowedStack final : public LeaseStack {
 public:
  BorrowedStack(leases::Leases& of_leases, tasks::Tasks& of_tasks)
      : leases_(of_leases), tasks_(of_tasks) {}
  leases::Leases& leases() override { return leases_; }
  tasks::Tasks& tasks() override { return tasks_; }

 private:
  leases::Leases& leases_;
  tasks::Tasks& tasks_;
};

/// Each connection works on what `new_stack` makes for it.
class StoreProvider final : public leases::Provider {
 public:
  using NewStack = std::function<std::shared_ptr<LeaseStack>()>;

  StoreProvider(std::string_view name, std::string tenant, bool crosses_hosts, NewStack new_stack)
      : name_(name),
        tenant_(std::move(tenant)),
        crosses_hosts_(crosses_hosts),
        new_stack_(std::move(new_stack)) {}

  std::string_view name() const override { return name_; }
  leases::Guarantees guarantees() const override {
    leases::Guarantees guarantees = leases::kAllGuarantees;
    guarantees.crosses_hosts = crosses_hosts_;
    return guarantees;
  }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<StoreConnection>(new_stack_(), tenant_);
  }

 private:
  const std::string_view name_;
  const std::string tenant_;
  const bool crosses_hosts_;
  const NewStack new_stack_;
};

}  // namespace

std::unique_ptr<leases::Provider> MakeStoreProvider(const StoreAddress& address) {
  const bool crosses_hosts = std::holds_alternative<PostgresAddress>(address);
  return LeaseCall({}, [&] {
    auto store = std::make_shared<LocalStore>(
        address, LocalStore::Options{
                     .queries = Joined({db::sql::All(), leases::sql::All(), tasks::sql::All()}),
                     .recheck_key = leases::kRecheckKey});
    return std::make_unique<StoreProvider>(
        crosses_hosts ? "postgres" : "sqlite", "default", crosses_hosts,
        [store = std::move(store)] { return std::make_shared<OwnStack>(store); });
  });
}

std::unique_ptr<leases::Provider> MakeLocalProvider(leases::Leases& leases, tasks::Tasks& tasks,
                                                    std::string tenant) {
  auto stack = std::make_shared<BorrowedStack>(leases, tasks);
  return std::make_unique<StoreProvider>("local", std::move(tenant), true,
                                         [stack = std::move(stack)] { return stack; });
}

}  // namespace tenure::client
