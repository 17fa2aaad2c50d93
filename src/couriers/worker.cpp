#include "tenure/messages/worker.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "couriers/in_hand.hpp"
#include "tenure/messages/outbox.hpp"
#include "tenure/trace.hpp"

namespace tenure::messages {
namespace {

using couriers::InHand;
using couriers::Job;
using couriers::JobPtr;
using couriers::Verdict;

constexpr Milliseconds kFetchWait{20'000};
constexpr Milliseconds kTryAgain{500};
/// Who may not claim is told so each time, until somebody gives the token its scope. What is in
/// hand already is renewed and reported as often as ever: while an issuer changes its keys, a good
/// token can be refused for a moment.
constexpr Milliseconds kTryAgainDenied{5'000};
constexpr Milliseconds kLeastTimeout{50};
constexpr std::size_t kMaxInHand = 1'000;
constexpr int kDefaultPrefetch = 50;

class JobContext final : public Context {
 public:
  JobContext(Job& job, const Clock& clock) : job_(job), clock_(clock) {}

  std::stop_token stop() const override { return job_.stop.get_token(); }
  bool IsHeld() const override {
    return !job_.stop.stop_requested() && clock_.NowMs() < job_.until_ms;
  }
  void Acknowledge(pg_conn* connection) override {
    messages::Acknowledge(connection, job_.delivery);
    job_.acknowledged = true;
  }
  void RetryAfter(Milliseconds time) override {
    job_.verdict = Verdict::kRetry;
    job_.retry_after = std::max(time, Milliseconds(0));
    job_.error = "the handler asked to be called again";
  }
  void Fail(std::string reason) override {
    job_.verdict = Verdict::kDead;
    job_.error = std::move(reason);
  }

 private:
  Job& job_;
  const Clock& clock_;
};

/// What the handler's exception makes of a message. Fail stands, whatever comes after it.
void Threw(Job& job, std::string_view what) {
  if (job.verdict == Verdict::kDead) return;
  job.verdict = Verdict::kRetry;
  job.error = what;
}

void Handle(const Handler& handler, Job& job, const Clock& clock) {
  JobContext context(job, clock);
  const TraceScope scope(job.delivery.traceparent);
  try {
    handler(job.delivery, context);
  } catch (const std::exception& error) {
    Threw(job, error.what());
  } catch (...) {
    Threw(job, "the handler threw something that is no std::exception");
  }
}

std::size_t PrefetchOf(const WorkerOptions& options, bool beats) {
  const int wanted = options.prefetch > 0 ? options.prefetch : beats ? kDefaultPrefetch : 0;
  return std::min(static_cast<std::size_t>(std::max(wanted, options.concurrency)), kMaxInHand);
}

void Check(const std::map<std::string, Handler>& handlers, const WorkerOptions& options) {
  if (handlers.empty()) throw std::invalid_argument("a worker needs a topic");
  for (const auto& [topic, handler] : handlers)
    if (!handler) throw std::invalid_argument("topic " + topic + " has no handler");
  if (options.concurrency < 1 || options.concurrency > static_cast<int>(kMaxInHand))
    throw std::invalid_argument("concurrency must be 1 to 1000");
}

}  // namespace

/// The threads of a worker around what it has in hand (in_hand.hpp): one fetches, some handle, one
/// reports, one sends heartbeats. They meet nowhere else, and none holds a lock during I/O.
///
/// What if the process dies, or is paused for a minute, between any two lines:
///  - a claim was made and not answered: its messages were not marked, so they come back uncounted
///    when the hold ends. After an answer that was lost in a living process the hold is retired,
///    for the same reason.
///  - marked and not begun: counts a crash; three are allowed.
///  - the handler returned, and nothing was reported: it comes again (at least once).
///  - reported, and the answer was lost: reported again; the store says "gone", which is as good.
class Worker::Impl {
 public:
  Impl(std::string_view url, std::map<std::string, Handler> handlers, WorkerOptions options)
      : handlers_((Check(handlers, options), std::move(handlers))),
        options_(std::move(options)),
        clock_(options_.clock ? *options_.clock : BootClock()),
        owner_(options_.owner.empty() ? couriers::DefaultOwner() : options_.owner),
        courier_(couriers::OpenCourier(
            url,
            {.pooled = options_.pooled, .lease = options_.lease, .ca_file = options_.ca_file})),
        in_hand_({.most = PrefetchOf(options_, courier_->beats()),
                  .threads = static_cast<std::size_t>(options_.concurrency),
                  .beats = courier_->beats()},
                 clock_) {
    keeper_ = std::thread([this] { KeepHolding(); });
    reporter_ = std::thread([this] { KeepReporting(); });
    for (int i = 0; i < options_.concurrency; ++i)
      handling_.emplace_back([this] { KeepHandling(); });
    fetcher_ = std::thread([this] { KeepFetching(); });
    on_stop_.emplace(options_.stop, [this] { BeginStop(); });
  }
  ~Impl() { Stop(); }

  void Stop() {
    const std::lock_guard lock(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
    on_stop_.reset();
    BeginStop();
    fetcher_.join();
    if (!in_hand_.AwaitEmpty(clock_.NowMs() + options_.grace.count())) in_hand_.Hurry();
    for (std::thread& each : handling_) each.join();
    in_hand_.Close(clock_.NowMs() + options_.timeout.count());
    reporter_.join();
    in_hand_.EndBeat();
    keeper_.join();
  }

  WorkerStats stats() const {
    const std::lock_guard lock(mutex_);
    WorkerStats stats = stats_;
    stats.lost = in_hand_.lost();
    stats.in_hand = in_hand_.count();
    return stats;
  }

 private:
  void BeginStop() {
    in_hand_.Stop();
    fetch_stop_.request_stop();
  }

  void Trouble(std::string_view doing, const std::exception& error) const {
    if (options_.on_trouble) options_.on_trouble(std::string(doing) + ": " + error.what());
  }

  void KeepFetching() {
    couriers::Wish wish;
    for (const auto& [topic, handler] : handlers_) wish.topics.push_back(topic);
    wish.owner = owner_;
    wish.lease = options_.lease;
    // A claim that lasts for its lease alone must not have spent most of it before it is answered.
    wish.wait = courier_->beats() ? kFetchWait : std::min(kFetchWait, options_.lease / 3);
    while (true) {
      const InHand::Room room = in_hand_.AwaitRoom();
      if (room.count == 0) return;
      wish.max = static_cast<std::int64_t>(room.count);
      wish.hold = room.hold;
      Fetch(wish, room.hold);
    }
  }
  void Fetch(const couriers::Wish& wish, std::int64_t hold) {
    const std::int64_t sent_ms = clock_.NowMs();
    try {
      auto claimed = courier_->Claim(wish, options_.timeout, fetch_stop_.get_token());
      std::optional<std::int64_t> until_ms;
      if (!courier_->beats()) until_ms = sent_ms + options_.lease.count();
      in_hand_.Add(std::move(claimed), hold, until_ms);
    } catch (const Error& error) {
      if (error.outcome_unknown()) in_hand_.Retire(hold);
      Trouble("claiming", error);
      const bool denied = dynamic_cast<const AccessDenied*>(&error) != nullptr;
      in_hand_.Pause(denied ? kTryAgainDenied : kTryAgain);
    }
  }

  void KeepHandling() {
    const auto mark = [this](const std::string& claim, std::int64_t count) {
      try {
        courier_->Started(claim, count, options_.timeout);
      } catch (const Error& error) {
        Trouble("beginning", error);
        throw;
      }
    };
    while (const JobPtr job = in_hand_.Next(mark)) {
      Handle(handlers_.at(job->delivery.topic), *job, clock_);
      if (job->acknowledged && job->verdict == Verdict::kDone) {
        const std::lock_guard lock(mutex_);
        ++stats_.done;
      }
      in_hand_.Finish(job);
    }
  }

  void KeepReporting() {
    while (true) {
      const std::vector<JobPtr> finished = in_hand_.AwaitFinished();
      if (finished.empty()) return;
      for (const Verdict verdict :
           {Verdict::kDone, Verdict::kRetry, Verdict::kDead, Verdict::kUntouched}) {
        std::vector<JobPtr> jobs;
        for (const JobPtr& job : finished)
          if (job->verdict == verdict) jobs.push_back(job);
        if (!jobs.empty()) Report(verdict, jobs);
      }
    }
  }
  void Report(Verdict verdict, const std::vector<JobPtr>& jobs) {
    std::vector<couriers::Report> reports;
    for (const JobPtr& job : jobs)
      reports.push_back({job->delivery.id, job->delivery.fence, job->error, job->retry_after});
    try {
      const auto outcomes = courier_->Report(verdict, reports, {}, options_.timeout);
      for (std::size_t i = 0; i < jobs.size(); ++i) Reported(jobs[i], outcomes[i]);
    } catch (const Error& error) {
      Trouble("reporting", error);
      for (const JobPtr& job : jobs) job->was_reported |= error.outcome_unknown();
      in_hand_.PutBack(jobs, kTryAgain);
    }
  }
  void Reported(const JobPtr& job, Outcome outcome) {
    // A retry that was reported twice is stale the second time: by itself.
    const bool by_itself = job->was_reported && job->verdict != Verdict::kDone;
    const bool is_stale = outcome == Outcome::kStale && !by_itself && !job->acknowledged &&
                          job->verdict != Verdict::kUntouched;
    Count(job->verdict, outcome, is_stale);
    if (is_stale && options_.on_stale) options_.on_stale(job->delivery);
    in_hand_.Drop(job);
  }
  void Count(Verdict verdict, Outcome outcome, bool is_stale) {
    const std::lock_guard lock(mutex_);
    if (is_stale) ++stats_.stale;
    if (outcome == Outcome::kStale) return;
    switch (verdict) {
      case Verdict::kDone:
        ++stats_.done;
        break;
      case Verdict::kRetry:
        ++stats_.retried;
        break;
      case Verdict::kDead:
        ++stats_.failed;
        break;
      case Verdict::kUntouched:
        ++stats_.given_back;
        break;
      case Verdict::kExtend:
        break;
    }
  }

  void KeepHolding() {
    std::int64_t beat_ms = clock_.NowMs() + courier_->renew_every().count();
    std::int64_t join_ms = clock_.NowMs();
    while (in_hand_.AwaitBeat(beat_ms, join_ms)) {
      in_hand_.LoseOverdue();
      if (clock_.NowMs() >= beat_ms) beat_ms = Beat();
      if (in_hand_.NeedsHold() && clock_.NowMs() >= join_ms) join_ms = Join();
    }
    Leave();
  }
  /// When to do it again.
  std::int64_t Beat() {
    const std::int64_t sent_ms = clock_.NowMs();
    const InHand::Holds holds = in_hand_.Snapshot();
    // This thread must be back when the first of them ends.
    const Milliseconds timeout =
        std::max(kLeastTimeout,
                 std::min(courier_->renew_every(), Milliseconds(holds.first_end_ms - sent_ms)));
    try {
      const auto renewed = courier_->Renew(holds.current, holds.messages, timeout);
      in_hand_.Renewed(holds, renewed, sent_ms + courier_->hold_time().count());
      return sent_ms + courier_->renew_every().count();
    } catch (const Error& error) {
      Trouble("renewing", error);
      return clock_.NowMs() + kTryAgain.count();
    }
  }
  /// When it may be tried again.
  std::int64_t Join() {
    const std::int64_t sent_ms = clock_.NowMs();
    try {
      const std::int64_t hold = courier_->Join(owner_, courier_->renew_every());
      in_hand_.SetHold(hold, sent_ms + courier_->hold_time().count());
      return sent_ms;
    } catch (const Error& error) {
      Trouble("joining", error);
      return clock_.NowMs() + kTryAgain.count();
    }
  }
  void Leave() {
    const std::int64_t hold = in_hand_.Snapshot().current;
    if (hold == 0) return;
    try {
      courier_->Leave({&hold, 1}, courier_->renew_every());
    } catch (const Error& error) {
      Trouble("leaving", error);
    }
  }

  const std::map<std::string, Handler> handlers_;
  const WorkerOptions options_;
  const Clock& clock_;
  const std::string owner_;
  const std::unique_ptr<couriers::Courier> courier_;
  InHand in_hand_;
  std::stop_source fetch_stop_;

  mutable std::mutex mutex_;
  WorkerStats stats_;  // guarded by mutex_

  std::mutex stop_mutex_;  // held during Stop
  bool stopped_ = false;   // guarded by stop_mutex_
  std::thread keeper_, reporter_, fetcher_;
  std::vector<std::thread> handling_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

Worker::Worker(std::string_view url, std::map<std::string, Handler> handlers, WorkerOptions options)
    : impl_(std::make_unique<Impl>(url, std::move(handlers), std::move(options))) {}
Worker::~Worker() = default;

void Worker::Stop() { impl_->Stop(); }
WorkerStats Worker::stats() const { return impl_->stats(); }

}  // namespace tenure::messages
