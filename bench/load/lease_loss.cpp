// How late a holder hears of a loss. Holds --leases leases whose renewals never come back, as when
// the store's machine was unplugged, and reports the time from each lease's local deadline until
// its stop token was requested and until its event Lost was handled. All deadlines fall within half
// a second. Prints {leases, token, event}, in microseconds.

#include <time.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "latencies.hpp"
#include "options.hpp"
#include "tenure/leases/manager.hpp"

namespace bench {
namespace {

namespace leases = tenure::leases;
using leases::Milliseconds;

/// Grants everything at once. A renewal hangs until its time is over or it is cancelled.
class SilentConnection : public leases::Connection {
 public:
  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request, Milliseconds) override {
    leases::Grant grant;
    grant.name = request.name;
    grant.fence = 1;
    grant.term = request.term;
    grant.ttl = request.ttl;
    grant.remaining = request.ttl;
    return grant;
  }
  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest>,
                                          Milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return cancelled_; });
    throw leases::ProviderUnavailable("the store does not answer", {.outcome_unknown = true});
  }
  leases::ReleaseOutcome Release(const leases::ReleaseRequest&, Milliseconds) override {
    return {.released = true};
  }
  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest&, Milliseconds) override {
    return std::nullopt;
  }
  std::optional<leases::LeaseView> Get(std::string_view, Milliseconds) override {
    return std::nullopt;
  }
  std::vector<leases::LeaseView> List(const leases::ListRequest&, Milliseconds) override {
    return {};
  }
  leases::ClaimOutcome ClaimTask(const leases::TaskClaim&, Milliseconds) override {
    return leases::TaskNotDue{};
  }
  leases::FinishOutcome FinishTask(const leases::TaskFinish&, Milliseconds) override { return {}; }
  void Cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
};

class SilentProvider : public leases::Provider {
 public:
  std::string_view name() const override { return "silent"; }
  leases::Guarantees guarantees() const override {
    return {.durable_fence = true, .durable_grant = true, .store_time = true};
  }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<SilentConnection>();
  }
};

std::int64_t BootNanos() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// When the lease's validity ends, in whole milliseconds of CLOCK_BOOTTIME as the library counts.
std::int64_t DeadlineNanos(const leases::Manager& manager, const leases::Lease& lease) {
  while (true) {
    const std::int64_t before_ms = manager.clock().NowMs();
    const std::int64_t left_ms = lease.Remaining().count();
    if (manager.clock().NowMs() == before_ms) return (before_ms + left_ms) * 1'000'000;
  }
}

/// When each lease's token and event came; 0: not yet.
class Endings {
 public:
  explicit Endings(std::size_t count) : tokens_(count), events_(count), missing_(2 * count) {}

  void NoteToken(std::size_t lease) { Note(tokens_[lease]); }
  void NoteEvent(std::size_t lease) { Note(events_[lease]); }
  void Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return missing_ == 0; });
  }

  // REQUIRES: Await has returned.
  std::string Json(const std::vector<std::int64_t>& deadlines) const {
    return Lateness("token", tokens_, deadlines) + ", " + Lateness("event", events_, deadlines);
  }

 private:
  void Note(std::int64_t& at) {
    const std::lock_guard lock(mutex_);
    at = BootNanos();
    if (--missing_ == 0) changed_.notify_all();
  }

  static std::string Lateness(const std::string& name, const std::vector<std::int64_t>& seen,
                              const std::vector<std::int64_t>& deadlines) {
    Latencies latencies;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const std::int64_t late = seen[i] - deadlines[i];
      if (late < 0) Die("a loss was told before the deadline");
      latencies.Add(late / 1'000);
    }
    return latencies.Json(name);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::int64_t> events_;
  std::size_t missing_;
};

int Run(const Options& options) {
  constexpr std::int64_t kLeastTtlMs = 1'000;
  constexpr std::int64_t kSpreadMs = 500;
  const auto count = static_cast<std::int64_t>(options.Number("leases", 200));
  Endings endings(static_cast<std::size_t>(count));
  std::vector<std::int64_t> deadlines;
  std::vector<leases::Lease> held;
  std::deque<std::stop_callback<std::function<void()>>> callbacks;
  leases::Manager manager(std::make_unique<SilentProvider>());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(i);
    auto outcome = manager.TryAcquire(
        fmt::format("loss/{}", i), {.ttl = Milliseconds(kLeastTtlMs + kSpreadMs * i / count)},
        {.lost = [&endings, place](const leases::Lost&) { endings.NoteEvent(place); }});
    held.push_back(std::move(std::get<leases::Lease>(outcome)));
    deadlines.push_back(DeadlineNanos(manager, held.back()));
    callbacks.emplace_back(held.back().token(), [&endings, place] { endings.NoteToken(place); });
  }
  endings.Await();
  fmt::print("{{\"leases\": {}, {}}}\n", count, endings.Json(deadlines));
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) { return bench::Run(bench::Options(count - 1, words + 1)); }
