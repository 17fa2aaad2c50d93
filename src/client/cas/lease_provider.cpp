#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/mutex.hpp"
#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "client/cas/store.hpp"
#include "client/checks.hpp"
#include "client/failure.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

using About = leases::LeaseError::About;

/// A race that is lost so often in a row is not tried again at once: others write the name all the
/// time, and they get on with it.
constexpr int kRaces = 5;
constexpr Milliseconds kAfterLostRaces{50};

/// What this process wrote last under a term: with it a renewal needs no read (R3). Losing it costs
/// a read, so nothing depends on it. Threads: any.
class OwnWrites {
 public:
  struct Own {
    CasRecord record{};
    std::string version{};
    std::int64_t sent_ms = 0;  ///< BootClock, before the write
  };

  void Remember(const std::string& name, Own own) {
    const base::Lock lock(mutex_);
    if (writes_.size() >= sweep_at_) {
      // Who let a lease expire said nothing. What is over is of no use (R4).
      std::erase_if(writes_, [&](const auto& one) { return IsOver(one.second, own.sent_ms); });
      sweep_at_ = std::max<std::size_t>(2 * writes_.size(), 64);
    }
    writes_.insert_or_assign(name, std::move(own));
  }
  /// REQUIRES of the answer's use: the term is the one that was asked for.
  std::optional<Own> Recall(const std::string& name, const std::string& term) const {
    const base::Lock lock(mutex_);
    const auto found = writes_.find(name);
    if (found == writes_.end() || found->second.record.term != term) return std::nullopt;
    return found->second;
  }
  void Forget(const std::string& name, const std::string& term) {
    const base::Lock lock(mutex_);
    const auto found = writes_.find(name);
    if (found != writes_.end() && found->second.record.term == term) writes_.erase(found);
  }
  static bool IsOver(const Own& own, std::int64_t now_ms) {
    return now_ms - own.sent_ms >= own.record.ttl_ms;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, Own> writes_ TENURE_GUARDED_BY(mutex_);
  std::size_t sweep_at_ TENURE_GUARDED_BY(mutex_) = 64;
};

/// What the connections of a provider share.
struct CasShared {
  CasShared(std::unique_ptr<CasStore> the_store, std::shared_ptr<ProviderCounters> the_counters,
            CasOptions the_options)
      : store(std::move(the_store)),
        counters(std::move(the_counters)),
        options(std::move(the_options)),
        rules(options.clock_skew.count()) {}

  const std::unique_ptr<CasStore> store;
  const std::shared_ptr<ProviderCounters> counters;
  const CasOptions options;
  const CasRules rules;
  OwnWrites own;
};

class CasConnection final : public leases::Connection {
 public:
  explicit CasConnection(std::shared_ptr<CasShared> shared) : shared_(std::move(shared)) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 Milliseconds timeout) override {
    CheckRequest(request);
    CheckTtl(request.ttl);
    leases::AcquireRequest asked = request;
    asked.term = TermOf(request.term).ToString();
    asked.metadata = MetadataOf(request.metadata);
    const std::int64_t began_ms = BootClock().NowMs();
    const std::int64_t until_ms = began_ms + request.wait.count();
    while (true) {
      auto outcome = Counted("acquire", {.lease = asked.name},
                             [&] { return AcquireOnce(asked, began_ms, CallOf(timeout)); });
      const auto* held = std::get_if<leases::HeldByAnother>(&outcome);
      const std::int64_t now_ms = BootClock().NowMs();
      if (!held || now_ms >= until_ms) return outcome;
      const std::int64_t pause_ms =
          std::min(Jittered(shared_->options.poll.count()), held->retry_after.count());
      Sleep(std::min(until_ms, now_ms + std::max<std::int64_t>(pause_ms, 1)));
    }
  }

  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          Milliseconds timeout) override {
    for (const auto& request : requests) {
      CheckRequest(request);
      if (request.ttl) CheckTtl(*request.ttl);
    }
    const CasCall call = CallOf(timeout);
    std::vector<std::optional<leases::RenewOutcome>> outcomes(requests.size());
    const std::vector<std::exception_ptr> failures =
        InParallel(requests.size(), [&](std::size_t i) {
          const About about{.lease = requests[i].name, .fence = requests[i].fence};
          outcomes[i] = Counted("renew", about, [&] { return RenewOne(requests[i], call); });
        });
    const auto failed =
        std::ranges::find_if(failures, [](const auto& one) { return one != nullptr; });
    if (failed != failures.end()) ThrowFailed(*failed, std::move(outcomes));
    std::vector<leases::RenewOutcome> answered;
    for (auto& outcome : outcomes) answered.push_back(*std::move(outcome));
    return answered;
  }

  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 Milliseconds timeout) override {
    CheckLeaseName(request.name);
    leases::ReleaseRequest asked = request;
    asked.term = TermOf(request.term).ToString();
    return Counted("release", {.lease = asked.name, .fence = asked.fence.value_or(0)}, [&] {
      const CasCall call = CallOf(timeout);
      shared_->own.Forget(asked.name, asked.term);
      return Racing<leases::ReleaseOutcome>([&]() -> std::optional<leases::ReleaseOutcome> {
        const CasSeen seen = shared_->store->Read(asked.name, call);
        auto step = shared_->rules.Release(seen.sight, asked);
        if (const auto* outcome = std::get_if<leases::ReleaseOutcome>(&step)) return *outcome;
        if (!Write(asked.name, std::get<CasRecord>(step), seen.version, call)) return std::nullopt;
        return leases::ReleaseOutcome{.released = true};
      });
    });
  }

  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            Milliseconds timeout) override {
    CheckRequest(request);
    using Outcome = std::optional<leases::BreakOutcome>;
    return Counted("break", {.lease = request.name, .fence = request.fence.value_or(0)}, [&] {
      const CasCall call = CallOf(timeout);
      return Racing<Outcome>([&]() -> std::optional<Outcome> {
        const CasSeen seen = shared_->store->Read(request.name, call);
        if (!seen.sight.record) return Outcome();
        const auto step = shared_->rules.Break(seen.sight, request);
        if (step.write && !Write(request.name, *step.write, seen.version, call))
          return std::nullopt;
        return Outcome(step.outcome);
      });
    });
  }

  std::optional<leases::LeaseView> Get(std::string_view name, Milliseconds timeout) override {
    CheckLeaseName(name);
    const std::string lease(name);
    return Counted("get", {.lease = lease}, [&] { return Look(lease, CallOf(timeout)); });
  }

  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      Milliseconds timeout) override {
    CheckRequest(request);
    return Counted("list", {}, [&] {
      const CasCall call = CallOf(timeout);
      std::vector<std::string> names = shared_->store->Names(request.prefix, call);
      std::ranges::sort(names);
      auto next = std::ranges::upper_bound(names, request.after);
      std::vector<leases::LeaseView> found;
      while (next != names.end() && found.size() < request.limit) {
        const auto left = static_cast<std::size_t>(names.end() - next);
        const std::size_t count = std::min(left, request.limit - found.size());
        std::vector<std::optional<leases::LeaseView>> views(count);
        const auto failures = InParallel(count, [&](std::size_t i) {
          views[i] = Look(next[static_cast<std::ptrdiff_t>(i)], call);
        });
        for (const auto& failure : failures)
          if (failure) std::rethrow_exception(failure);
        for (auto& view : views) {
          if (!view || (request.state && view->state != *request.state)) continue;
          if (!request.holder.empty() && view->holder != request.holder) continue;
          view->history.clear();
          found.push_back(*std::move(view));
        }
        next += static_cast<std::ptrdiff_t>(count);
      }
      return found;
    });
  }

  leases::ClaimOutcome ClaimTask(const leases::TaskClaim&, Milliseconds) override {
    RefuseCasTasks();
  }
  leases::FinishOutcome FinishTask(const leases::TaskFinish&, Milliseconds) override {
    RefuseCasTasks();
  }

  void Cancel() noexcept override {
    cancelled_.request_stop();
    const base::Lock lock(sleep_mutex_);
    sleeping_.notify_all();
  }

 private:
  [[noreturn]] void RefuseCasTasks() const {
    throw std::logic_error(fmt::format("reliable tasks are not kept on {} (Guarantees::tasks)",
                                       shared_->options.name));
  }

  void CheckTtl(Milliseconds ttl) const {
    if (ttl >= shared_->options.min_ttl) return;
    throw std::invalid_argument(
        fmt::format("ttl must be at least {} (min_ttl) on this store, which asks for seconds",
                    base::DurationText(shared_->options.min_ttl.count())));
  }

  CasCall CallOf(Milliseconds timeout) const {
    return {.until_ms = BootClock().NowMs() + timeout.count(), .stop = cancelled_.get_token()};
  }

  /// One record that cannot be written must not cost the other leases of the round.
  [[noreturn]] static void ThrowFailed(const std::exception_ptr& failure,
                                       leases::PartlyRenewed::Answers answers) {
    const bool any_answered =
        std::ranges::any_of(answers, [](const auto& one) { return one.has_value(); });
    try {
      std::rethrow_exception(failure);
    } catch (const leases::LeaseError& error) {
      if (!any_answered) throw;
      throw leases::PartlyRenewed(error.what(),
                                  {.lease = error.lease(),
                                   .fence = error.fence(),
                                   .outcome_unknown = error.outcome_unknown(),
                                   .retry_after = error.retry_after()},
                                  std::move(answers));
    }
  }

  leases::AcquireOutcome AcquireOnce(const leases::AcquireRequest& asked, std::int64_t began_ms,
                                     const CasCall& call) {
    std::int64_t fence = 0;
    for (int race = 0; race < kRaces; ++race) {
      const CasSeen seen = shared_->store->Read(asked.name, call);
      auto step = shared_->rules.Acquire(seen.sight, asked);
      if (const auto* held = std::get_if<leases::HeldByAnother>(&step)) return *held;
      if (const auto* ended = std::get_if<leases::TermEnded>(&step)) return *ended;
      const std::int64_t sent_ms = BootClock().NowMs();
      if (auto grant = Hold(asked.name, std::get<CasRecord>(step), seen.version, sent_ms, call)) {
        grant->waited = Milliseconds(sent_ms - began_ms);
        return *grant;
      }
      fence = seen.sight.record ? seen.sight.record->fence : 0;
    }
    return leases::HeldByAnother{.reason = leases::HeldReason::kHeld,
                                 .holder = {},
                                 .fence = fence,
                                 .expires_at_ms = 0,
                                 .retry_after = kAfterLostRaces};
  }

  leases::RenewOutcome RenewOne(const leases::RenewRequest& request, const CasCall& call) {
    leases::RenewRequest asked = request;
    asked.term = TermOf(request.term).ToString();
    const auto own = shared_->own.Recall(asked.name, asked.term);
    const std::int64_t sent_ms = BootClock().NowMs();
    if (own && own->record.fence == asked.fence && !OwnWrites::IsOver(*own, sent_ms)) {  // R3, R4
      const CasRecord next = CasRules::RenewOwn(own->record, asked);
      if (auto grant = Hold(asked.name, next, own->version, sent_ms, call)) return *grant;
    }
    return Racing<leases::RenewOutcome>([&]() -> std::optional<leases::RenewOutcome> {
      const CasSeen seen = shared_->store->Read(asked.name, call);
      auto step = shared_->rules.Renew(seen.sight, asked);
      if (const auto* loss = std::get_if<leases::Loss>(&step)) {
        shared_->own.Forget(asked.name, asked.term);
        return *loss;
      }
      if (auto grant =
              Hold(asked.name, std::get<CasRecord>(step), seen.version, BootClock().NowMs(), call))
        return *grant;
      return std::nullopt;
    });
  }

  /// Writes a grant or its renewal. Nothing: the race was lost.
  std::optional<leases::Grant> Hold(const std::string& name, const CasRecord& record,
                                    const std::string& version, std::int64_t sent_ms,
                                    const CasCall& call) {
    const auto written = Write(name, record, version, call);
    if (!written) return std::nullopt;
    shared_->own.Remember(name,
                          {.record = record, .version = written->version, .sent_ms = sent_ms});
    leases::Grant grant = CasRules::GrantOf(name, record, written->stamp_s);
    grant.now_slack = Milliseconds(1'000) + shared_->options.clock_skew;
    return grant;
  }

  std::optional<CasWritten> Write(const std::string& name, const CasRecord& record,
                                  const std::string& version, const CasCall& call) {
    auto written = shared_->store->Write(name, record, version, call);
    if (!written) shared_->counters->Conflict();
    return written;
  }

  std::optional<leases::LeaseView> Look(const std::string& name, const CasCall& call) {
    const CasSeen seen = shared_->store->Read(name, call);
    if (!seen.sight.record) return std::nullopt;
    return shared_->rules.ViewOf(name, seen.sight);
  }

  /// Tries while the race is lost (nothing), some times.
  template <class Outcome, class Try>
  Outcome Racing(const Try& attempt) {
    for (int race = 0; race < kRaces; ++race)
      if (std::optional<Outcome> outcome = attempt()) return *std::move(outcome);
    throw CallFailed(CallFailed::Kind::kUnavailable,
                     fmt::format("others have written the record {} times meanwhile", kRaces),
                     false, kAfterLostRaces);
  }

  /// Runs `act(i)` for each, some at a time. What each threw, or null.
  template <class Act>
  std::vector<std::exception_ptr> InParallel(std::size_t count, const Act& act) {
    std::vector<std::exception_ptr> failures(count);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < count; i = next++) {
        try {
          act(i);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      }
    };
    const std::size_t threads =
        std::min(count, static_cast<std::size_t>(shared_->options.parallel));
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    others.clear();  // joins them
    return failures;
  }

  template <class Act>
  auto Counted(std::string_view operation, About about, const Act& act) -> decltype(act()) {
    const std::int64_t began_ms = BootClock().NowMs();
    const auto count = [&](std::string_view outcome) {
      shared_->counters->Count(operation, outcome,
                               static_cast<double>(BootClock().NowMs() - began_ms) / 1'000);
    };
    try {
      auto outcome = LeaseCall(std::move(about), act);
      count("done");
      return outcome;
    } catch (const leases::LeaseError& error) {
      count(error.outcome_unknown() ? "unknown" : "refused");
      throw;
    }
  }

  std::int64_t Jittered(std::int64_t ms) {
    return ms - static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(ms / 5 + 1));
  }

  void Sleep(std::int64_t until_ms) {
    base::Lock lock(sleep_mutex_);
    while (!cancelled_.stop_requested() && BootClock().NowMs() < until_ms)
      BootClock().WaitUntil(lock.native(), sleeping_, until_ms);
  }

  static std::uint64_t Seed() {
    std::uint64_t seed = 0;
    base::RandomBytes(reinterpret_cast<std::uint8_t*>(&seed), sizeof seed);
    return seed;
  }

  const std::shared_ptr<CasShared> shared_;
  std::stop_source cancelled_;
  base::Mutex sleep_mutex_;
  std::condition_variable sleeping_;
  std::mt19937_64 random_{Seed()};
};

class CasProvider final : public leases::Provider {
 public:
  explicit CasProvider(std::shared_ptr<CasShared> shared) : shared_(std::move(shared)) {}

  std::string_view name() const override { return shared_->options.name; }
  leases::Guarantees guarantees() const override {
    return {.durable_fence = true,  // from the store's clock
            .durable_grant = shared_->options.durable_grant,
            .store_time = true,
            .crosses_hosts = true,
            .takeover_delay = Milliseconds(2'000) + shared_->options.clock_skew};
  }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<CasConnection>(shared_);
  }
  std::string advice() const override { return shared_->options.advice; }
  leases::ProviderStats stats() const override { return shared_->counters->stats(); }

 private:
  const std::shared_ptr<CasShared> shared_;
};

}  // namespace

void ThrowTooManyLeases() {
  throw CallFailed(CallFailed::Kind::kUnavailable,
                   fmt::format("there are more than {} leases with this prefix: give a longer one",
                               kMostListed));
}

std::unique_ptr<leases::Provider> MakeCasProvider(std::unique_ptr<CasStore> store,
                                                  std::shared_ptr<ProviderCounters> counters,
                                                  CasOptions options) {
  return std::make_unique<CasProvider>(
      std::make_shared<CasShared>(std::move(store), std::move(counters), std::move(options)));
}

}  // namespace tenure::client
