#include "client/seats/seat_server.hpp"

#include <map>
#include <tuple>

#include "client/seats/fork_guard.hpp"

namespace tenure::client {
namespace {

/// The most sessions in one call of heartbeats: the server's bound.
constexpr std::size_t kMostBeats = 10'000;

leases::LossReason ToLeaseLoss(seats::LossReason reason) {
  switch (reason) {
    case seats::LossReason::kExpired:
      return leases::LossReason::kExpired;
    case seats::LossReason::kReleased:
      return leases::LossReason::kReleased;
    case seats::LossReason::kResumedElsewhere:
      return leases::LossReason::kTakenOver;
    case seats::LossReason::kUnknown:
      return leases::LossReason::kUnknown;
    default:
      return leases::LossReason::kBroken;
  }
}

/// Heartbeats and releases, as a manager of leases asks for them. Nothing else is ever asked.
class SeatConnection final : public leases::Connection {
 public:
  SeatConnection(SeatBackend& backend, SeatVerdicts& verdicts)
      : backend_(backend), verdicts_(verdicts) {}

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Milliseconds timeout) override {
    std::vector<std::string> sessions;
    for (const auto& request : requests) sessions.push_back(request.term);
    const auto answers = Calling([&] { return backend_.Beat(sessions, timeout, stop()); });
    if (answers.size() != requests.size())
      throw leases::ProviderUnavailable("the server did not answer for each seat", {});
    std::vector<leases::RenewOutcome> outcomes;
    for (std::size_t i = 0; i < requests.size(); ++i)
      outcomes.push_back(OutcomeOf(requests[i], answers[i]));
    return outcomes;
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 Milliseconds timeout) override {
    const bool released = Calling([&] { return backend_.Release(request.term, timeout, stop()); });
    return {.released = released, .reason = leases::LossReason::kUnknown};
  }

  void Cancel() noexcept override { cancelled_.request_stop(); }

  leases::AcquireOutcome Acquire(const leases::AcquireRequest&, Milliseconds) override { Never(); }
  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest&, Milliseconds) override {
    Never();
  }
  std::optional<leases::LeaseView> Get(std::string_view, Milliseconds) override { Never(); }
  std::vector<leases::LeaseView> List(const leases::ListRequest&, Milliseconds) override {
    Never();
  }
  leases::ClaimOutcome ClaimTask(const leases::TaskClaim&, Milliseconds) override { Never(); }
  leases::FinishOutcome FinishTask(const leases::TaskFinish&, Milliseconds) override { Never(); }

 private:
  [[noreturn]] static void Never() {
    throw leases::ProviderUnavailable("a server of seats keeps no leases", {});
  }
  std::stop_token stop() const { return cancelled_.get_token(); }

  template <class Call>
  static auto Calling(const Call& call) -> decltype(call()) {
    try {
      return call();
    } catch (const CallFailed& failed) {
      throw leases::ProviderUnavailable(failed.what(),
                                        {.outcome_unknown = failed.outcome_unknown()});
    }
  }

  leases::RenewOutcome OutcomeOf(const leases::RenewRequest& request, const BeatAnswer& answer) {
    if (const auto* gone = std::get_if<SeatGone>(&answer)) {
      verdicts_.Put(request.term, *gone);
      return leases::Loss{ToLeaseLoss(gone->reason)};
    }
    // One that was not heard of gains nothing, and is tried again.
    const auto* beat = std::get_if<SeatBeat>(&answer);
    leases::Grant grant;
    grant.name = request.name;
    grant.fence = request.fence;
    grant.term = request.term;
    grant.remaining = beat ? beat->remaining : Milliseconds(0);
    return grant;
  }

  SeatBackend& backend_;
  SeatVerdicts& verdicts_;
  std::stop_source cancelled_;
};

class SeatProvider final : public leases::Provider {
 public:
  SeatProvider(std::shared_ptr<SeatBackend> backend, std::shared_ptr<SeatVerdicts> verdicts)
      : backend_(std::move(backend)), verdicts_(std::move(verdicts)) {}

  std::string_view name() const override { return "seats"; }
  leases::Guarantees guarantees() const override { return leases::kAllGuarantees; }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<SeatConnection>(*backend_, *verdicts_);
  }

 private:
  const std::shared_ptr<SeatBackend> backend_;
  const std::shared_ptr<SeatVerdicts> verdicts_;
};

std::shared_ptr<LeaseRuntime> MakeSeatRuntime(const std::shared_ptr<SeatBackend>& backend,
                                              const std::shared_ptr<SeatVerdicts>& verdicts,
                                              const SeatServer::Options& options) {
  leases::ManagerOptions manager;
  manager.call_timeout = options.call_timeout;
  manager.clock = options.clock;
  manager.seed = options.seed;
  manager.on_trouble = options.on_trouble;
  return std::make_shared<LeaseRuntime>(
      std::make_unique<SeatProvider>(backend, verdicts), manager,
      KindOfHold{.area = "seats", .noun = "seat", .round_max = kMostBeats});
}

/// The servers of this process. In a child of it the parent's are not to be touched: they are
/// remembered under the generation that made them.
struct SeatServers {
  using Key = std::tuple<std::uint64_t, std::string, std::string, std::string, const Clock*>;
  base::Mutex mutex;
  std::map<Key, std::weak_ptr<SeatServer>> by_address TENURE_GUARDED_BY(mutex);
};

/// One per generation, because a fork may come while the parent's mutex is held. Never destroyed.
SeatServers& ServersOfThisProcess() {
  static std::atomic<SeatServers*> servers{nullptr};
  static std::atomic<std::uint64_t> made_in{0};
  static base::Mutex making;
  const std::uint64_t generation = ForkGeneration();
  if (made_in.load(std::memory_order_acquire) == generation) return *servers.load();
  const base::Lock lock(making);
  if (made_in.load(std::memory_order_acquire) != generation) {
    servers.store(new SeatServers);
    made_in.store(generation, std::memory_order_release);
  }
  return *servers.load();
}

}  // namespace

void SeatVerdicts::Put(const std::string& session, SeatGone gone) {
  const base::Lock lock(mutex_);
  if (gone_.size() >= kMostKept) gone_.clear();
  gone_.insert_or_assign(session, std::move(gone));
}

std::optional<SeatGone> SeatVerdicts::Take(const std::string& session) {
  const base::Lock lock(mutex_);
  const auto node = gone_.extract(session);
  if (!node) return std::nullopt;
  return std::move(node.mapped());
}

SeatServer::SeatServer(std::shared_ptr<SeatBackend> backend, const Options& options)
    : backend_(std::move(backend)),
      verdicts_(std::make_shared<SeatVerdicts>()),
      runtime_(MakeSeatRuntime(backend_, verdicts_, options)) {
  runtime_->Start();
}

SeatServer::~SeatServer() { runtime_->Stop(); }

std::shared_ptr<SeatServer> SharedSeatServer(const ServerAddress& address,
                                             const SeatServer::Options& options) {
  SeatServers& servers = ServersOfThisProcess();
  const base::Lock lock(servers.mutex);
  std::erase_if(servers.by_address, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<SeatServer>& known = servers.by_address[{
      ForkGeneration(), address.base_url, address.token, address.ca_file, options.clock}];
  if (auto server = known.lock()) return server;
  auto server = std::make_shared<SeatServer>(MakeHttpSeats(address), options);
  known = server;
  return server;
}

}  // namespace tenure::client
