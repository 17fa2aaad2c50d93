#include "http/outgoing.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "http/curl.hpp"
#include "http/outgoing_transfer.hpp"

namespace tenure::http {
namespace {

/// Nothing depends on it: libcurl's own timers, deadlines and `Send` end the wait.
constexpr std::int64_t kPollMs = 60'000;

OutgoingReply Refusal(std::string why) { return {.error = std::move(why)}; }

}  // namespace

/// What waits is guarded by the mutex and is anybody's; what is under way is the thread's alone.
/// Each of the two has one door, `Admit`, which moves from the first to the second.
class Outgoing::Impl {
 public:
  Impl(OutgoingOptions options, const base::Clock& clock)
      : options_(std::move(options)), clock_(clock), multi_(curl::NewMulti()) {
    // A kept connection for each request that can be under way, and no more.
    curl::Check(curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS,
                                  static_cast<long>(options_.in_flight_max)));
  }
  ~Impl() { Stop(); }

  void Start() {
    thread_ = std::thread([this] { Loop(); });
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_.get());
    if (thread_.joinable()) thread_.join();
    CompleteAll();  // nobody else is left who could
  }

  void Send(OutgoingRequest request, Done done) {
    if (auto problem = OutgoingProblem(request)) return done(Refusal(std::move(*problem)));
    const std::int64_t deadline_ms =
        clock_.BootMs() + std::max<std::int64_t>(request.timeout_ms, 1);
    Waiting waiting{
        .deadline_ms = deadline_ms, .request = std::move(request), .done = std::move(done)};
    if (auto problem = Enqueue(waiting)) return waiting.done(Refusal(std::move(*problem)));
    // After the queue: a wait that this does not end has not looked at the queue yet.
    curl_multi_wakeup(multi_.get());
  }

 private:
  struct Waiting {
    std::int64_t deadline_ms = 0;  ///< BootMs
    OutgoingRequest request{};
    Done done{};
  };

  /// Takes it, or says why not and leaves it alone.
  std::optional<std::string> Enqueue(Waiting& waiting) {
    const std::size_t bytes = waiting.request.body.size();
    const std::lock_guard lock(mutex_);
    if (stopping_) return "the program is stopping";
    if (queue_.size() >= options_.queue_items || bytes > options_.queue_bytes - queue_bytes_)
      return "too many requests wait to be sent";
    queue_bytes_ += bytes;
    queue_.push_back(std::move(waiting));
    return std::nullopt;
  }

  void Loop() {
    while (Admit()) {
      int running = 0;
      curl::Check(curl_multi_perform(multi_.get(), &running));
      // What ended made room, and its `done` may have sent something: look again before sleeping.
      if (Collect()) continue;
      curl::Check(curl_multi_poll(multi_.get(), nullptr, 0, PollMs(), nullptr));
    }
  }

  /// Begins what there is room for, and completes what has waited too long. False: stopping.
  bool Admit() {
    std::vector<Waiting> late;
    std::vector<Waiting> next;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return false;
      late = TakeLate();
      while (!queue_.empty() && in_flight_.size() + next.size() < options_.in_flight_max)
        next.push_back(TakeFirst());
    }
    for (Waiting& waiting : late)
      waiting.done(Refusal("the request's time was over before its turn came"));
    for (Waiting& waiting : next) Begin(std::move(waiting));
    return true;
  }

  /// REQUIRES: mutex_ held.
  std::vector<Waiting> TakeLate() {
    const std::int64_t now_ms = clock_.BootMs();
    const auto first = std::stable_partition(
        queue_.begin(), queue_.end(), [&](const Waiting& w) { return w.deadline_ms > now_ms; });
    std::vector<Waiting> late(std::make_move_iterator(first),
                              std::make_move_iterator(queue_.end()));
    queue_.erase(first, queue_.end());
    for (const Waiting& waiting : late) queue_bytes_ -= waiting.request.body.size();
    return late;
  }

  /// REQUIRES: mutex_ held, queue_ not empty.
  Waiting TakeFirst() {
    Waiting first = std::move(queue_.front());
    queue_.pop_front();
    queue_bytes_ -= first.request.body.size();
    return first;
  }

  void Begin(Waiting waiting) {
    // Others' `done`s may have taken a moment since its deadline was looked at.
    const std::int64_t left_ms = std::max<std::int64_t>(waiting.deadline_ms - clock_.BootMs(), 1);
    auto transfer = std::make_unique<OutgoingTransfer>(
        std::move(waiting.request), std::move(waiting.done), options_.ca_file, left_ms);
    curl::Check(curl_multi_add_handle(multi_.get(), transfer->handle()));
    in_flight_.emplace(transfer->handle(), std::move(transfer));
  }

  /// Completes what has ended; whether anything had.
  bool Collect() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
      const CURLcode result = message->data.result;  // taking the handle out frees the message
      const auto transfer = TakeOut(message->easy_handle);
      transfer->done()(transfer->Finish(result, clock_.WallMs()));
      any = true;
    }
    return any;
  }

  /// Of one that is under way this closes the connection.
  std::unique_ptr<OutgoingTransfer> TakeOut(CURL* handle) {
    curl::Check(curl_multi_remove_handle(multi_.get(), handle));
    auto node = in_flight_.extract(handle);
    TENURE_CHECK(!node.empty(), "a transfer ends once");
    return std::move(node.mapped());
  }

  /// Until the first deadline of those that wait; those under way are libcurl's business.
  int PollMs() {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ms = clock_.BootMs();
    std::int64_t wait_ms = kPollMs;
    for (const Waiting& waiting : queue_) wait_ms = std::min(wait_ms, waiting.deadline_ms - now_ms);
    return static_cast<int>(std::max<std::int64_t>(wait_ms, 0));
  }

  void CompleteAll() {
    while (!in_flight_.empty()) {
      const auto transfer = TakeOut(in_flight_.begin()->first);
      transfer->done()(transfer->GiveUp("the program is stopping"));
    }
    std::deque<Waiting> left;
    {
      const std::lock_guard lock(mutex_);
      left = std::exchange(queue_, {});
      queue_bytes_ = 0;
    }
    for (Waiting& waiting : left) waiting.done(Refusal("the program is stopping"));
  }

  const OutgoingOptions options_;
  const base::Clock& clock_;
  const curl::Multi multi_;  // the thread's, except for its wake-up; also keeps the connections
  std::unordered_map<CURL*, std::unique_ptr<OutgoingTransfer>> in_flight_;  // the thread's

  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Waiting> queue_;
  std::size_t queue_bytes_ = 0;
  bool stopping_ = false;

  std::thread thread_;
};

Outgoing::Outgoing(OutgoingOptions options, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
Outgoing::~Outgoing() = default;

void Outgoing::Start() { impl_->Start(); }
void Outgoing::Stop() { impl_->Stop(); }
void Outgoing::Send(OutgoingRequest request, Done done) {
  impl_->Send(std::move(request), std::move(done));
}

}  // namespace tenure::http
