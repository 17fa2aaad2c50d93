#include "tenure/queues/consumer.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "client/leases/handlers.hpp"
#include "client/queues/backend.hpp"
#include "client/queues/hands.hpp"
#include "tenure/queues/outbox.hpp"

namespace tenure::queues {
namespace {

using client::Hands;
using client::InHandPtr;
using client::SessionReport;
using Kind = SessionReport::Kind;

constexpr Milliseconds kAcceptWait{20'000};
constexpr Milliseconds kAgain{500};
/// Who may not accept is told so each time, until somebody gives the token its scope, or the queue
/// is made.
constexpr Milliseconds kAgainRefused{5'000};
constexpr Milliseconds kAgainContended{50};
constexpr Milliseconds kShortestLease{1'000};
constexpr int kMostSessions = 1'000;
constexpr int kMostSlice = 100;

ConsumerOptions Checked(ConsumerOptions options, const Handler& handler) {
  if (!handler) throw std::invalid_argument("there is no handler");
  if (options.sessions < 1 || options.sessions > kMostSessions)
    throw std::invalid_argument("sessions must be 1 to 1000");
  if (options.slice < 1 || options.slice > kMostSlice)
    throw std::invalid_argument("slice must be 1 to 100");
  if (options.lease < kShortestLease)
    throw std::invalid_argument("lease must be at least a second");
  return options;
}

/// What a handler made of a message.
struct Verdict {
  Kind kind = Kind::kComplete;
  std::string error{};
  std::optional<Milliseconds> retry_after{};
  std::string to{};
  Milliseconds time{};
};

class TurnContext final : public Context {
 public:
  TurnContext(const Delivery& delivery, const Hands& hands, InHandPtr hand,
              std::optional<std::string>& state)
      : delivery_(delivery), hands_(hands), hand_(std::move(hand)), state_(state) {}

  std::stop_token stop() const override { return hand_->stop.get_token(); }
  bool IsHeld() const override { return !hand_->stop.stop_requested() && hands_.IsHeld(*hand_); }
  std::int64_t fence() const override { return delivery_.fence; }
  const std::optional<std::string>& State() const override {
    return new_state_ ? new_state_ : state_;
  }
  void SetState(std::string state) override { new_state_ = std::move(state); }
  void Complete(pg_conn* connection) override {
    queues::Complete(connection, delivery_, new_state_);
  }
  void RetryAfter(Milliseconds time) override {
    verdict_.kind = Kind::kAbandon;
    verdict_.retry_after = std::max(time, Milliseconds(0));
    verdict_.error = "the handler asked to be called again";
  }
  void DeadLetter(std::string reason) override {
    verdict_.kind = Kind::kDeadLetter;
    verdict_.error = std::move(reason);
  }
  void Release() override { verdict_.kind = Kind::kRelease; }
  void Transfer(std::string to, Milliseconds time) override {
    verdict_.kind = Kind::kTransfer;
    verdict_.to = std::move(to);
    verdict_.time = time;
  }

  /// What the handler's exception makes of it. DeadLetter stands, whatever comes after it.
  void Threw(std::string_view what) {
    if (verdict_.kind == Kind::kDeadLetter) return;
    verdict_.kind = Kind::kAbandon;
    verdict_.error = what;
  }
  const Verdict& verdict() const { return verdict_; }
  const std::optional<std::string>& new_state() const { return new_state_; }

 private:
  const Delivery& delivery_;
  const Hands& hands_;
  const InHandPtr hand_;
  const std::optional<std::string>& state_;
  std::optional<std::string> new_state_{};
  Verdict verdict_;
};

bool IsFailure(Kind kind) { return kind == Kind::kAbandon || kind == Kind::kDeadLetter; }

}  // namespace

/// The threads of a consumer: each works on one session at a time, from its accept to the end of its
/// turn; one more renews all holds.
///
/// What if the process dies, or is paused for a minute, between any two lines:
///  - accepted, and nothing done: the lease ends, and the session goes to somebody else.
///  - handled and not reported: these messages come again (at least once).
///  - reported, and the answer was lost: reported again; the store says "gone", which is as good.
class Consumer::Impl {
 public:
  Impl(std::string_view url, const std::string& queue, Handler handler, ConsumerOptions options)
      : handler_(std::move(handler)),
        options_(Checked(std::move(options), handler_)),
        clock_(options_.clock ? *options_.clock : BootClock()),
        troubles_(clock_, "queues.trouble", options_.on_trouble),
        backend_(client::OpenQueue(url, queue,
                                   {.timeout = options_.timeout,
                                    .pooled = options_.pooled,
                                    .ca_file = options_.ca_file,
                                    .insecure = options_.insecure})),
        hands_(clock_, options_.lease.count()) {
    accept_.consumer = client::ConsumerName(options_.consumer);
    accept_.max_messages = options_.slice;
    accept_.lease = options_.lease;
    // A hold must not have spent most of its lease before the accept is answered.
    accept_.wait = std::min(kAcceptWait, options_.lease / 3);
    running_ = options_.sessions;
    renewer_ = std::thread([this] { KeepRenewing(); });
    for (int i = 0; i < options_.sessions; ++i) workers_.emplace_back([this] { KeepWorking(); });
    on_stop_.emplace(options_.stop, [this] { BeginStop(); });
  }
  ~Impl() { Stop(); }

  void Stop() {
    const base::Lock lock(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
    on_stop_.reset();
    BeginStop();
    AwaitWorkers();
    for (std::thread& each : workers_) each.join();
    {
      const base::Lock all(mutex_);
      renewing_ = false;
      changed_.notify_all();
    }
    renewer_.join();
  }

  ConsumerStats stats() const {
    const base::Lock lock(mutex_);
    ConsumerStats stats = stats_;
    stats.lost = hands_.lost();
    stats.in_hand = hands_.count();
    return stats;
  }

 private:
  void BeginStop() {
    stop_.request_stop();
    const base::Lock lock(mutex_);
    changed_.notify_all();
  }
  bool stopping() const { return stop_.stop_requested(); }

  /// For the grace; then handlers are told to end.
  void AwaitWorkers() {
    base::Lock lock(mutex_);
    const std::int64_t until_ms = clock_.NowMs() + options_.grace.count();
    while (running_ > 0 && clock_.NowMs() < until_ms)
      clock_.WaitUntil(lock.native(), changed_, until_ms);
    if (running_ == 0) return;
    lock.unlock();
    hands_.Hurry();
    lock.lock();
  }

  void KeepWorking() {
    while (!stopping()) {
      const std::int64_t sent_ms = clock_.NowMs();
      for (const Held& held : Accept()) Work(held, sent_ms);
    }
    const base::Lock lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  std::vector<Held> Accept() {
    try {
      return backend_->Accept(accept_, options_.timeout, stop_.get_token());
    } catch (const Unavailable& error) {
      troubles_.Tell("accepting", error);
      Pause(kAgain);
    } catch (const std::exception& error) {
      troubles_.Tell("accepting", error);
      Pause(kAgainRefused);
    }
    return {};
  }

  void Pause(Milliseconds time) {
    base::Lock lock(mutex_);
    const std::int64_t until_ms = clock_.NowMs() + time.count();
    while (!stopping() && clock_.NowMs() < until_ms)
      clock_.WaitUntil(lock.native(), changed_, until_ms);
  }

  /// A turn of a session, until the store says that it is over.
  void Work(const Held& held, std::int64_t sent_ms) {
    const InHandPtr hand = hands_.Take(held, sent_ms);
    std::optional<std::string> state = held.state;
    std::vector<Delivery> slice = held.messages;
    while (!slice.empty()) {
      Slice done = HandleAll(slice, hand, state);
      const Reported reported = Tell(held, hand, slice, done);
      slice.clear();
      if (!reported.held) break;
      for (const Delivery& each : reported.messages) {
        Delivery& next = slice.emplace_back(each);
        next.session = held.session;
        next.key = held.key;
        next.name = held.name;
        next.fence = held.fence;
      }
    }
    hands_.Drop(hand);
  }

  /// What the handlers made of a slice.
  struct Slice {
    std::int64_t through = 0;              ///< all up to here are done; 0: none
    std::optional<std::string> state{};    ///< that is to be kept
    Verdict last{.kind = Kind::kRelease};  ///< of the message behind them, or of the whole slice
    std::int64_t failed = 0;               ///< the sequence of that message
  };
  Slice HandleAll(const std::vector<Delivery>& slice, const InHandPtr& hand,
                  std::optional<std::string>& state) {
    Slice done;
    for (const Delivery& delivery : slice) {
      if (stopping() || !hands_.IsHeld(*hand)) return done;
      TurnContext context(delivery, hands_, hand, state);
      try {
        handler_(delivery, context);
      } catch (const std::exception& error) {
        context.Threw(error.what());
      } catch (...) {
        context.Threw("the handler threw something that is no std::exception");
      }
      const Verdict& verdict = context.verdict();
      if (IsFailure(verdict.kind) || verdict.kind == Kind::kRelease) {
        done.last = verdict;
        if (IsFailure(verdict.kind)) done.failed = delivery.sequence;
        return done;
      }
      done.through = delivery.sequence;
      if (context.new_state()) state = done.state = context.new_state();
      if (verdict.kind == Kind::kTransfer) {
        done.last = verdict;
        return done;
      }
    }
    done.last.kind = Kind::kComplete;
    return done;
  }

  /// Says what became of a slice, until somebody has heard it.
  Reported Tell(const Held& held, const InHandPtr& hand, const std::vector<Delivery>& slice,
                const Slice& done) {
    const Kind kind = done.last.kind;
    // What is kept goes with a completion alone.
    if (kind != Kind::kComplete && done.state && done.through > 0)
      TellOne(Kind::kComplete, {.session = held.session,
                                .fence = held.fence,
                                .sequence = done.through,
                                .state = done.state,
                                .max_messages = 1});
    SessionReport report{.session = held.session, .fence = held.fence};
    report.max_messages = options_.slice;
    if (kind == Kind::kComplete) {
      report.sequence = done.through;
      report.state = done.state;
    } else if (done.through > 0) {
      report.complete_through = done.through;
    }
    if (IsFailure(kind)) report.sequence = done.failed;
    report.error = done.last.error;
    report.retry_after = done.last.retry_after;
    report.to = done.last.to;
    report.time = done.last.time;
    const Reported reported = TellOne(kind, report);
    Count(slice, done, reported.outcome);
    if (reported.outcome == Outcome::kStale) hands_.Lose(hand);
    return reported;
  }

  Reported TellOne(Kind kind, const SessionReport& report) {
    // Whoever has the session by then hears nothing of it any more.
    const std::int64_t until_ms =
        clock_.NowMs() + options_.lease.count() + options_.timeout.count();
    while (true) {
      try {
        Reported reported = backend_->Report(kind, report, options_.timeout);
        if (reported.outcome != Outcome::kContended || clock_.NowMs() >= until_ms) return reported;
        Sleep(kAgainContended);
      } catch (const std::exception& error) {
        troubles_.Tell("reporting", error);
        if (clock_.NowMs() >= until_ms) return {};
        Sleep(kAgain);
      }
    }
  }
  /// Also while it stops.
  void Sleep(Milliseconds time) {
    base::Lock lock(mutex_);
    const std::int64_t until_ms = clock_.NowMs() + time.count();
    while (clock_.NowMs() < until_ms) clock_.WaitUntil(lock.native(), sleeping_, until_ms);
  }

  void Count(const std::vector<Delivery>& slice, const Slice& done, Outcome outcome) {
    const bool is_stale = outcome == Outcome::kStale && (done.through > 0 || done.failed > 0);
    {
      const base::Lock lock(mutex_);
      if (is_stale)
        ++stats_.stale;
      else if (done.through > 0)
        stats_.done += std::ranges::count_if(
            slice, [&](const Delivery& each) { return each.sequence <= done.through; });
      if (!is_stale && done.failed > 0) ++stats_.failed;
    }
    if (!is_stale || !options_.on_stale) return;
    const std::int64_t last = std::max(done.through, done.failed);
    for (const Delivery& each : slice)
      if (each.sequence == last) client::RunHook([&] { options_.on_stale(each); });
  }

  void KeepRenewing() {
    const std::int64_t every_ms = std::max<std::int64_t>(1, options_.lease.count() / 3);
    std::int64_t next_ms = clock_.NowMs() + every_ms;
    while (true) {
      {
        base::Lock lock(mutex_);
        // A hold that is not renewed must be noticed when it ends.
        const std::int64_t look_ms = std::min(next_ms, clock_.NowMs() + every_ms / 3 + 1);
        if (renewing_) clock_.WaitUntil(lock.native(), changed_, look_ms);
        if (!renewing_) return;
      }
      hands_.LoseOverdue();
      if (clock_.NowMs() < next_ms) continue;
      Renew(Milliseconds(every_ms));
      next_ms = clock_.NowMs() + every_ms;
    }
  }
  void Renew(Milliseconds timeout) {
    const std::vector<InHandPtr> hands = hands_.Snapshot();
    if (hands.empty()) return;
    const std::int64_t sent_ms = clock_.NowMs();
    std::vector<client::HeldFence> fences;
    for (const InHandPtr& each : hands) fences.push_back({each->session, each->fence});
    try {
      hands_.Renewed(hands, backend_->Renew(fences, options_.lease, timeout), sent_ms);
    } catch (const std::exception& error) {
      troubles_.Tell("renewing", error);
    }
  }

  const Handler handler_;
  const ConsumerOptions options_;
  const Clock& clock_;
  client::Troubles troubles_;
  const std::unique_ptr<client::QueueBackend> backend_;
  Hands hands_;
  client::SessionAccept accept_;
  std::stop_source stop_;

  mutable base::Mutex mutex_;
  std::condition_variable changed_;   // it stops, or a worker has ended
  std::condition_variable sleeping_;  // nobody tells it
  ConsumerStats stats_ TENURE_GUARDED_BY(mutex_);
  int running_ TENURE_GUARDED_BY(mutex_) = 0;
  bool renewing_ TENURE_GUARDED_BY(mutex_) = true;

  base::Mutex stop_mutex_;  // held during Stop
  bool stopped_ TENURE_GUARDED_BY(stop_mutex_) = false;
  std::thread renewer_;
  std::vector<std::thread> workers_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

Consumer::Consumer(std::string_view url, std::string queue, Handler handler,
                   ConsumerOptions options)
    : impl_(std::make_unique<Impl>(url, queue, std::move(handler), std::move(options))) {}
Consumer::~Consumer() = default;

void Consumer::Stop() { impl_->Stop(); }
ConsumerStats Consumer::stats() const { return impl_->stats(); }

}  // namespace tenure::queues
