#include "tenure/leases/reliable_task.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/host.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "client/leases/handlers.hpp"
#include "client/leases/keeper.hpp"

// What may happen between any two connections, and what then follows:
//  - the reply to a claim is lost: the next offer asks with the same term and gets the same run;
//  - the process dies or is paused in `work`: nobody renews the lock, another process claims the
//    same nominal time after lock_timeout. If this one wakes up, its token is requested (the
//    watchdog looks at the clock), its fence is stale for every transaction that checks it, and its
//    finish is refused;
//  - the lock is lost while `work` runs: the same;
//  - the reply to the finish is lost: it is sent again while the lock is valid. When the store then
//    says that our own grant was released, the first one was carried out;
//  - the finish cannot be delivered: the run counts as not finished, and is taken over. `work` is
//    run again for the same nominal time, which is why it has to be fenced or idempotent by it.

namespace tenure::leases {
namespace {

constexpr Milliseconds kLeastPause{10};
constexpr Milliseconds kLongestPause{60'000};  // somebody may trigger the task meanwhile
constexpr std::int64_t kFailurePauseMs = 1'000;
constexpr std::int64_t kFirstFinishPauseMs = 50;
constexpr std::int64_t kLongestFinishPauseMs = 1'000;

}  // namespace

class ReliableTask::Impl {
 public:
  Impl(Manager& manager, ReliableTaskOptions options, bool with_thread)
      : manager_(manager), clock_(manager.clock()), options_(std::move(options)) {
    if (!IsLeaseName(LockName()))
      throw std::invalid_argument("a task's name has the characters of a lease's, up to 195");
    if (options_.holder.empty()) options_.holder = base::NewProcessName();
    client::CheckOptions(LockOptions());
    if (with_thread) thread_ = std::thread([this] { Loop(); });
  }
  ~Impl() {
    stop_.request_stop();
    Wake();
    if (thread_.joinable()) thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Wake() {
    const base::Lock lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  std::int64_t Offer() {
    if (term_.empty()) term_ = NewTerm();
    const std::int64_t sent_ms = clock_.NowMs();
    ClaimOutcome outcome;
    try {
      outcome = manager_.ClaimTask({.name = options_.name,
                                    .interval = options_.interval,
                                    .lock_timeout = options_.lock_timeout,
                                    .term = term_,
                                    .holder = options_.holder});
    } catch (const std::exception& e) {
      // The term stays: if the claim was carried out, the next one is the same.
      manager_.TellTrouble("claiming the task " + options_.name, e);
      return clock_.NowMs() + kFailurePauseMs;
    }
    // Either way the term has done its duty: a claim of ours that was carried out would have been
    // answered with its run, and one that is over is never granted again.
    term_.clear();
    if (const auto* later = std::get_if<TaskNotDue>(&outcome))
      return clock_.NowMs() + std::clamp(later->retry_after, kLeastPause, kLongestPause).count();
    Run(std::get<TaskRun>(outcome), sent_ms);
    return clock_.NowMs();  // the store knows when the next one is due
  }

 private:
  std::string LockName() const { return "task/" + options_.name; }

  LeaseOptions LockOptions() const {
    return {.ttl = options_.lock_timeout, .renew_at = 0.25, .holder = options_.holder};
  }

  void Loop() {
    while (!stop_.stop_requested()) {
      const std::int64_t next_ms = Offer();
      base::Lock lock(mutex_);
      while (!woken_ && clock_.NowMs() < next_ms)
        clock_.WaitUntil(lock.native(), changed_, next_ms);
      woken_ = false;
    }
  }

  void Run(const TaskRun& run, std::int64_t sent_ms) {
    Lease lock = manager_.Adopt(run.lock, sent_ms, LockOptions());
    if (!lock.Held()) return;  // the answer took longer than the lock lasts: taken over later
    std::stop_source either;
    const TaskContext context{.task = options_.name,
                              .nominal_ms = run.nominal_ms,
                              .skipped = run.skipped,
                              .fence = run.lock.fence,
                              .lease = run.lock.name,
                              .stop = either.get_token()};
    std::optional<std::string> error;
    {
      const std::stop_callback lost(lock.token(), [&] { either.request_stop(); });
      const std::stop_callback stopped(stop_.get_token(), [&] { either.request_stop(); });
      error = Work(context);
    }
    if (error)
      base::LogWarn(
          "tasks.failed", "A task's run failed; it is tried again soon.",
          {{"task", context.task}, {"nominal_ms", context.nominal_ms}, {"error", *error}});
    const std::optional<std::string> unfinished = Finish(lock, context, error);
    if (unfinished)
      base::LogWarn(
          "tasks.not_finished", "A task's run does not count.",
          {{"task", context.task}, {"nominal_ms", context.nominal_ms}, {"error", *unfinished}});
    Tell(context, unfinished ? *unfinished : error.value_or(""));
  }

  /// What went wrong, if anything did.
  std::optional<std::string> Work(const TaskContext& context) {
    try {
      options_.work(context);
      return std::nullopt;
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "the work threw something that is no std::exception";
    }
  }

  /// Reports the end to the store. Why that did not succeed, if it did not.
  std::optional<std::string> Finish(Lease& lock, const TaskContext& context,
                                    const std::optional<std::string>& error) {
    const TaskFinish finish{.name = context.task,
                            .fence = context.fence,
                            .term = lock.term(),
                            .error = error,
                            .nominal_ms = context.nominal_ms};
    bool may_be_done = false;
    for (std::int64_t pause_ms = kFirstFinishPauseMs;;
         pause_ms = std::min(pause_ms * 2, kLongestFinishPauseMs)) {
      // A verdict of the store is final. A deadline of ours is not: the store decides.
      if (const auto loss = lock.loss(); loss && loss->verdict && !may_be_done)
        return "the lock was lost: " + loss->detail;
      try {
        const FinishOutcome outcome = manager_.FinishTask(finish);
        lock.Forget();  // the store has ended it, or it was another's
        const bool done =
            outcome.accepted || (may_be_done && outcome.reason == LossReason::kReleased);
        if (done) return std::nullopt;
        return fmt::format("the end of the run was refused: {}", ToText(outcome.reason));
      } catch (const AccessDenied& e) {
        return fmt::format("the end could not be reported: {}", e.what());
      } catch (const LeaseError& e) {
        may_be_done = may_be_done || e.outcome_unknown();
        manager_.TellTrouble("finishing the task " + context.task, e);
        if (!lock.Held()) return fmt::format("the end could not be reported: {}", e.what());
        // Neither at a lost lock nor at a shutdown: only the end of the validity ends the tries.
        client::SleepUntil(clock_, clock_.NowMs() + pause_ms, lock.token());
      } catch (const std::exception& e) {
        return fmt::format("the end could not be reported: {}", e.what());
      }
    }
  }

  void Tell(const TaskContext& context, const std::string& error) {
    if (options_.finished) client::RunHook([&] { options_.finished(context, error); });
  }

  Manager& manager_;
  const Clock& clock_;
  ReliableTaskOptions options_;
  std::string term_;  // of a claim that may have been carried out; used by whoever offers
  std::stop_source stop_;
  base::Mutex mutex_;
  std::condition_variable changed_;
  bool woken_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

ReliableTask::ReliableTask(Manager& manager, ReliableTaskOptions options)
    : impl_(std::make_unique<Impl>(manager, std::move(options), manager.threads())) {}

ReliableTask::~ReliableTask() = default;

void ReliableTask::Wake() { impl_->Wake(); }
std::int64_t ReliableTask::Offer() { return impl_->Offer(); }

}  // namespace tenure::leases
