#include "tenure/messages/worker.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "base/host.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "client/checks.hpp"
#include "client/leases/handlers.hpp"
#include "client/messages/prefetch_buffer.hpp"
#include "tenure/messages/outbox.hpp"
#include "tenure/trace.hpp"

namespace tenure::messages {
namespace {

using client::PrefetchBuffer;
using client::WorkItem;
using client::WorkItemPtr;

constexpr Milliseconds kFetchWait{20'000};
constexpr Milliseconds kTryAgain{500};
/// Who may not claim is told so each time, until somebody gives the token its scope. What is in
/// hand already is renewed and reported as often as ever: while an issuer changes its keys, a good
/// token can be refused for a moment.
constexpr Milliseconds kTryAgainDenied{5'000};
constexpr Milliseconds kLeastTimeout{50};
constexpr std::size_t kMaxInHand = 1'000;
constexpr int kDefaultPrefetch = 50;

class WorkContext final : public Context {
 public:
  WorkContext(WorkItem& item, const Clock& clock) : item_(item), clock_(clock) {}

  std::stop_token stop() const override { return item_.stop.get_token(); }
  bool IsHeld() const override {
    return !item_.stop.stop_requested() && clock_.NowMs() < item_.until_ms;
  }
  std::optional<std::int64_t> nominal_time() const override {
    return client::NominalTimeIn(item_.delivery.headers);
  }
  void Acknowledge(pg_conn* connection) override {
    messages::Acknowledge(connection, item_.delivery);
    item_.acknowledged = true;
  }
  void RetryAfter(Milliseconds time) override {
    item_.disposition = Disposition::kRetry;
    item_.retry_after = std::clamp(time, Milliseconds(0), Milliseconds(kMaxRetryMs));
    item_.error = "the handler asked to be called again";
  }
  void Fail(std::string reason) override {
    item_.disposition = Disposition::kDead;
    item_.error = std::move(reason);
  }

 private:
  WorkItem& item_;
  const Clock& clock_;
};

/// What the handler's exception makes of a message. Fail stands, whatever comes after it.
void Threw(WorkItem& item, std::string_view what) {
  if (item.disposition == Disposition::kDead) return;
  item.disposition = Disposition::kRetry;
  item.error = what;
}

void Handle(const std::map<std::string, Handler>& handlers, WorkItem& item, const Clock& clock) {
  WorkContext context(item, clock);
  const TraceScope scope(item.delivery.traceparent);
  try {
    handlers.at(item.delivery.topic)(item.delivery, context);
  } catch (const std::exception& error) {
    Threw(item, error.what());
  } catch (...) {
    Threw(item, "the handler threw something that is no std::exception");
  }
}

std::size_t PrefetchOf(const WorkerOptions& options, bool beats) {
  const int wanted = options.prefetch > 0 ? options.prefetch : beats ? kDefaultPrefetch : 0;
  return std::min(static_cast<std::size_t>(std::max(wanted, options.concurrency)), kMaxInHand);
}

/// What the worker claims, but for how many. Throws std::invalid_argument here, where somebody can
/// catch it, for whatever would be refused later on the worker's own threads.
client::MessageClaim ClaimOf(const std::map<std::string, Handler>& handlers,
                             const WorkerOptions& options) {
  client::MessageClaim claim;
  for (const auto& [topic, handler] : handlers) {
    if (!handler) throw std::invalid_argument("topic " + topic + " has no handler");
    claim.topics.push_back(topic);
  }
  claim.owner = options.owner.empty() ? base::HostAndPid() : options.owner;
  claim.lease = options.lease;
  client::CheckClaim(claim);
  if (options.concurrency < 1 || options.concurrency > static_cast<int>(kMaxInHand))
    throw std::invalid_argument("concurrency must be 1 to 1000");
  return claim;
}

/// Whether the store may have done what it was asked to: unless it is known that it did not.
bool MayHaveHappened(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return known->outcome_unknown();
  return dynamic_cast<const std::invalid_argument*>(&error) == nullptr;
}

}  // namespace

/// The threads of a worker around what it has in hand (prefetch_buffer.hpp): one fetches, some handle, one
/// settles, one sends heartbeats. They meet nowhere else, and none holds a lock during I/O.
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
      : claim_(ClaimOf(handlers, options)),
        handlers_(std::move(handlers)),
        options_(std::move(options)),
        clock_(options_.clock ? *options_.clock : BootClock()),
        troubles_(clock_, "messages.trouble", options_.on_trouble),
        backend_(client::OpenMessages(url, {.pooled = options_.pooled,
                                            .lease = options_.lease,
                                            .ca_file = options_.ca_file,
                                            .insecure = options_.insecure})),
        buffer_({.most = PrefetchOf(options_, backend_->beats()),
                 .threads = static_cast<std::size_t>(options_.concurrency),
                 .beats = backend_->beats()},
                clock_) {
    keeper_ = std::thread([this] { KeepHolding(); });
    settler_ = std::thread([this] { KeepSettling(); });
    for (int i = 0; i < options_.concurrency; ++i)
      handling_.emplace_back([this] { KeepHandling(); });
    fetcher_ = std::thread([this] { KeepFetching(); });
    on_stop_.emplace(options_.stop, [this] { BeginStop(); });
  }
  ~Impl() { Stop(); }

  void Stop() {
    const base::Lock lock(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
    on_stop_.reset();
    BeginStop();
    fetcher_.join();
    if (!buffer_.AwaitEmpty(clock_.NowMs() + options_.grace.count())) buffer_.Hurry();
    for (std::thread& each : handling_) each.join();
    buffer_.Close(clock_.NowMs() + options_.timeout.count());
    settler_.join();
    buffer_.EndBeat();
    keeper_.join();
  }

  WorkerStats stats() const {
    const base::Lock lock(mutex_);
    WorkerStats stats = stats_;
    stats.lost = buffer_.lost();
    stats.in_hand = buffer_.count();
    return stats;
  }

 private:
  void BeginStop() {
    buffer_.Stop();
    fetch_stop_.request_stop();
  }

  void KeepFetching() {
    client::MessageClaim claim = claim_;
    // A claim that lasts for its lease alone must not have spent most of it before it is answered.
    claim.wait = backend_->beats() ? kFetchWait : std::min(kFetchWait, options_.lease / 3);
    while (true) {
      const PrefetchBuffer::Room room = buffer_.AwaitRoom();
      if (room.count == 0) return;
      claim.max = static_cast<std::int64_t>(room.count);
      claim.hold = room.hold;
      Fetch(claim, room.hold);
    }
  }
  void Fetch(const client::MessageClaim& claim, std::int64_t hold) {
    const std::int64_t sent_ms = clock_.NowMs();
    try {
      auto claimed = backend_->Claim(claim, options_.timeout, fetch_stop_.get_token());
      std::optional<std::int64_t> until_ms;
      if (!backend_->beats()) until_ms = sent_ms + options_.lease.count();
      buffer_.Add(std::move(claimed), hold, until_ms);
    } catch (const std::exception& error) {
      if (MayHaveHappened(error)) buffer_.Retire(hold);
      troubles_.Tell("claiming", error);
      const bool denied = dynamic_cast<const AccessDenied*>(&error) != nullptr;
      buffer_.Pause(denied ? kTryAgainDenied : kTryAgain);
    }
  }

  void KeepHandling() {
    const auto mark = [this](const std::string& claim, std::int64_t count) {
      try {
        backend_->Started(claim, count, options_.timeout);
      } catch (const std::exception& error) {
        troubles_.Tell("beginning", error);
        throw;
      }
    };
    while (const WorkItemPtr item = buffer_.Next(mark)) {
      Handle(handlers_, *item, clock_);
      if (item->acknowledged && item->disposition == Disposition::kDone) {
        const base::Lock lock(mutex_);
        ++stats_.done;
      }
      buffer_.Finish(item);
    }
  }

  void KeepSettling() {
    while (true) {
      const std::vector<WorkItemPtr> finished = buffer_.AwaitFinished();
      if (finished.empty()) return;
      for (const Disposition disposition :
           {Disposition::kDone, Disposition::kRetry, Disposition::kDead, Disposition::kUntouched}) {
        std::vector<WorkItemPtr> items;
        for (const WorkItemPtr& item : finished)
          if (item->disposition == disposition) items.push_back(item);
        if (!items.empty()) Settle(disposition, items);
      }
    }
  }
  void Settle(Disposition disposition, const std::vector<WorkItemPtr>& items) {
    std::vector<client::Settlement> settlements;
    for (const WorkItemPtr& item : items)
      settlements.push_back(
          {item->delivery.id, item->delivery.fence, item->error, item->retry_after});
    try {
      const auto outcomes = backend_->Settle(disposition, settlements, {}, options_.timeout);
      for (std::size_t i = 0; i < items.size(); ++i) Settled(items[i], outcomes[i]);
    } catch (const std::exception& error) {
      troubles_.Tell("settling", error);
      for (const WorkItemPtr& item : items) item->was_told |= MayHaveHappened(error);
      buffer_.PutBack(items, kTryAgain);
    }
  }
  void Settled(const WorkItemPtr& item, Outcome outcome) {
    // A retry that was reported twice is stale the second time: by itself.
    const bool by_itself = item->was_told && item->disposition != Disposition::kDone;
    const bool is_stale = outcome == Outcome::kStale && !by_itself && !item->acknowledged &&
                          item->disposition != Disposition::kUntouched;
    Count(item->disposition, outcome, is_stale);
    if (is_stale && options_.on_stale) client::RunHook([&] { options_.on_stale(item->delivery); });
    buffer_.Drop(item);
  }
  void Count(Disposition disposition, Outcome outcome, bool is_stale) {
    const base::Lock lock(mutex_);
    if (is_stale) ++stats_.stale;
    if (outcome == Outcome::kStale) return;
    switch (disposition) {
      case Disposition::kDone:
        ++stats_.done;
        break;
      case Disposition::kRetry:
        ++stats_.retried;
        break;
      case Disposition::kDead:
        ++stats_.failed;
        break;
      case Disposition::kUntouched:
        ++stats_.given_back;
        break;
      case Disposition::kExtend:
        break;
    }
  }

  void KeepHolding() {
    std::int64_t beat_ms = clock_.NowMs() + backend_->renew_every().count();
    std::int64_t join_ms = clock_.NowMs();
    while (buffer_.AwaitBeat(beat_ms, join_ms)) {
      buffer_.LoseOverdue();
      if (clock_.NowMs() >= beat_ms) beat_ms = Beat();
      if (buffer_.NeedsHold() && clock_.NowMs() >= join_ms) join_ms = Join();
    }
    Leave();
  }
  /// When to do it again.
  std::int64_t Beat() {
    const std::int64_t sent_ms = clock_.NowMs();
    const PrefetchBuffer::Holds holds = buffer_.Snapshot();
    // This thread must be back when the first of them ends.
    const Milliseconds timeout =
        std::max(kLeastTimeout,
                 std::min(backend_->renew_every(), Milliseconds(holds.first_end_ms - sent_ms)));
    try {
      const auto renewed = backend_->Renew(holds.current, holds.messages, timeout);
      buffer_.Renewed(holds, renewed, sent_ms + backend_->hold_time().count());
      return sent_ms + backend_->renew_every().count();
    } catch (const std::exception& error) {
      troubles_.Tell("renewing", error);
      return clock_.NowMs() + kTryAgain.count();
    }
  }
  /// When it may be tried again.
  std::int64_t Join() {
    const std::int64_t sent_ms = clock_.NowMs();
    try {
      const std::int64_t hold = backend_->Join(claim_.owner, backend_->renew_every());
      buffer_.SetHold(hold, sent_ms + backend_->hold_time().count());
      return sent_ms;
    } catch (const std::exception& error) {
      troubles_.Tell("joining", error);
      return clock_.NowMs() + kTryAgain.count();
    }
  }
  void Leave() {
    const std::int64_t hold = buffer_.Snapshot().current;
    if (hold == 0) return;
    try {
      backend_->Leave(hold, backend_->renew_every());
    } catch (const std::exception& error) {
      troubles_.Tell("leaving", error);
    }
  }

  const client::MessageClaim claim_;
  const std::map<std::string, Handler> handlers_;
  const WorkerOptions options_;
  const Clock& clock_;
  client::Troubles troubles_;
  const std::unique_ptr<client::MessageBackend> backend_;
  PrefetchBuffer buffer_;
  std::stop_source fetch_stop_;

  mutable base::Mutex mutex_;
  WorkerStats stats_ TENURE_GUARDED_BY(mutex_);

  base::Mutex stop_mutex_;  // held during Stop
  bool stopped_ TENURE_GUARDED_BY(stop_mutex_) = false;
  std::thread keeper_, settler_, fetcher_;
  std::vector<std::thread> handling_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

Worker::Worker(std::string_view url, std::map<std::string, Handler> handlers, WorkerOptions options)
    : impl_(std::make_unique<Impl>(url, std::move(handlers), std::move(options))) {}
Worker::~Worker() = default;

void Worker::Stop() { impl_->Stop(); }
WorkerStats Worker::stats() const { return impl_->stats(); }

}  // namespace tenure::messages
