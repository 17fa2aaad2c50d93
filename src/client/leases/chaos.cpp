#include "tenure/leases/chaos.hpp"

#include <condition_variable>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>

#include "base/mutex.hpp"
#include "tenure/clock.hpp"

namespace tenure::leases {
namespace {

/// What becomes of one call.
struct Fate {
  bool fails = false;
  bool loses_reply = false;
  bool twice = false;
  Milliseconds delay{};
};

/// Draws the fates, in the order of the calls of all connections. Threads: any.
class Dice {
 public:
  explicit Dice(const ChaosOptions& options) : options_(options), random_(options.seed) {}

  Fate Throw() {
    const base::Lock lock(mutex_);
    // Always the same number of draws, so that one setting does not change what another decides.
    const double draws[] = {Draw(), Draw(), Draw(), Draw(), Draw()};
    Fate fate{.fails = draws[0] < options_.failure,
              .loses_reply = draws[1] < options_.lost_reply,
              .twice = draws[2] < options_.duplicate};
    if (draws[3] < options_.delay)
      fate.delay = Milliseconds(static_cast<std::int64_t>(
          draws[4] * static_cast<double>(options_.max_delay.count() + 1)));
    return fate;
  }

 private:
  double Draw() TENURE_REQUIRES(mutex_) { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  const ChaosOptions options_;
  base::Mutex mutex_;
  std::mt19937_64 random_ TENURE_GUARDED_BY(mutex_);
};

class ChaosConnection final : public Connection {
 public:
  ChaosConnection(std::shared_ptr<Dice> dice, std::unique_ptr<Connection> inner)
      : dice_(std::move(dice)), inner_(std::move(inner)) {}

  AcquireOutcome Acquire(const AcquireRequest& request, Milliseconds timeout) override {
    return Suffer(request.name, [&] { return inner_->Acquire(request, timeout); });
  }
  std::vector<RenewOutcome> Renew(std::span<const RenewRequest> requests,
                                  Milliseconds timeout) override {
    const std::string name = requests.empty() ? std::string() : requests.front().name;
    return Suffer(name, [&] { return inner_->Renew(requests, timeout); });
  }
  ReleaseOutcome Release(const ReleaseRequest& request, Milliseconds timeout) override {
    return Suffer(request.name, [&] { return inner_->Release(request, timeout); });
  }
  std::optional<BreakOutcome> Break(const BreakRequest& request, Milliseconds timeout) override {
    return Suffer(request.name, [&] { return inner_->Break(request, timeout); });
  }
  std::optional<LeaseView> Get(std::string_view name, Milliseconds timeout) override {
    return Suffer(std::string(name), [&] { return inner_->Get(name, timeout); });
  }
  std::vector<LeaseView> List(const ListRequest& request, Milliseconds timeout) override {
    return Suffer(request.prefix, [&] { return inner_->List(request, timeout); });
  }
  ClaimOutcome ClaimTask(const TaskClaim& claim, Milliseconds timeout) override {
    return Suffer(claim.name, [&] { return inner_->ClaimTask(claim, timeout); });
  }
  FinishOutcome FinishTask(const TaskFinish& finish, Milliseconds timeout) override {
    return Suffer(finish.name, [&] { return inner_->FinishTask(finish, timeout); });
  }
  void Cancel() noexcept override {
    {
      const base::Lock lock(mutex_);
      cancelled_ = true;
    }
    changed_.notify_all();
    inner_->Cancel();
  }

 private:
  template <class Call>
  std::invoke_result_t<Call> Suffer(const std::string& name, const Call& call) {
    const Fate fate = dice_->Throw();
    Delay(name, fate.delay);
    if (fate.fails) throw ProviderUnavailable("chaos: nothing happened", {.lease = name});
    auto answer = call();
    if (fate.twice) answer = call();
    if (fate.loses_reply)
      throw ProviderUnavailable("chaos: the reply was lost",
                                {.lease = name, .outcome_unknown = true});
    return answer;
  }

  void Delay(const std::string& name, Milliseconds delay) {
    base::Lock lock(mutex_);
    const std::int64_t until_ms = BootClock().NowMs() + delay.count();
    while (!cancelled_ && BootClock().NowMs() < until_ms)
      BootClock().WaitUntil(lock.native(), changed_, until_ms);
    if (cancelled_) throw ProviderUnavailable("the call was cancelled", {.lease = name});
  }

  const std::shared_ptr<Dice> dice_;
  const std::unique_ptr<Connection> inner_;
  base::Mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ TENURE_GUARDED_BY(mutex_) = false;
};

class ChaosProvider final : public Provider {
 public:
  ChaosProvider(std::unique_ptr<Provider> inner, const ChaosOptions& options)
      : inner_(std::move(inner)), dice_(std::make_shared<Dice>(options)) {}

  std::string_view name() const override { return inner_->name(); }
  Guarantees guarantees() const override { return inner_->guarantees(); }
  std::unique_ptr<Connection> Connect() override {
    return std::make_unique<ChaosConnection>(dice_, inner_->Connect());
  }
  std::string advice() const override { return inner_->advice(); }
  ProviderStats stats() const override { return inner_->stats(); }

 private:
  const std::unique_ptr<Provider> inner_;
  const std::shared_ptr<Dice> dice_;
};

}  // namespace

std::unique_ptr<Provider> MakeChaosProvider(std::unique_ptr<Provider> inner,
                                            const ChaosOptions& options) {
  return std::make_unique<ChaosProvider>(std::move(inner), options);
}

}  // namespace tenure::leases
