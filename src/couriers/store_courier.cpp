#include "couriers/store_courier.hpp"

#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "couriers/checks.hpp"

namespace tenure::couriers {
namespace {

/// One call: its answer, from whatever thread, or that it is waited for no longer.
template <class Reply>
class Call {
 public:
  /// False: nobody will take it any more; it is left as it is.
  bool Answer(db::Result<Reply>& result) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    result_ = std::move(result);
    changed_.notify_all();
    return true;
  }
  void Cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }
  /// No answer is taken from now on; the one that came before.
  std::optional<db::Result<Reply>> Close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    return std::exchange(result_, std::nullopt);
  }
  /// Empty when the time is over or it was cancelled.
  std::optional<db::Result<Reply>> Await(Milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return result_.has_value() || cancelled_; });
    return std::exchange(result_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<db::Result<Reply>> result_;  // guarded by mutex_
  bool cancelled_ = false;                   // guarded by mutex_
  bool is_closed_ = false;                   // guarded by mutex_
};

template <class Reply>
Reply Taken(std::optional<db::Result<Reply>> result) {
  if (!result) throw Unavailable("the store did not answer in time", true);
  if (!result->ok()) throw Unavailable(result->fault().what(), result->fault().outcome_unknown());
  return std::move(result->value());
}

/// `submit` gets the callback.
template <class Reply, class Submit>
Reply Ask(Milliseconds timeout, Submit submit) {
  auto call = std::make_shared<Call<Reply>>();
  submit([call](db::Result<Reply> result) { call->Answer(result); });
  return Taken<Reply>(call->Await(timeout));
}

base::Uuid IdOf(const std::string& text) {
  const auto id = base::Uuid::Parse(text);
  if (!id) throw std::invalid_argument("id must be a UUID");
  return *id;
}

messages::NewMessage ToKernel(const Message& message) {
  messages::NewMessage kernel;
  kernel.topic = message.topic;
  kernel.payload = message.payload;
  kernel.kind = message.is_bytes ? messages::PayloadKind::kBytes : messages::PayloadKind::kJson;
  kernel.due_at_ms = message.due_at_ms;
  if (message.delay) kernel.delay_ms = message.delay->count();
  kernel.priority = message.priority;
  kernel.correlation_id = message.correlation_id;
  kernel.headers = message.headers;
  kernel.trace = message.traceparent;
  kernel.dedup_key = message.dedup_key;
  return kernel;
}

Delivery FromKernel(messages::ClaimedMessage message) {
  Delivery delivery;
  delivery.id = message.id.ToString();
  delivery.fence = message.fence;
  delivery.topic = std::move(message.topic);
  delivery.payload = std::move(message.payload);
  delivery.is_bytes = message.kind == messages::PayloadKind::kBytes;
  delivery.priority = message.priority;
  delivery.attempt = message.attempts + 1;
  delivery.crashes = message.crashes;
  delivery.enqueued_ms = message.enqueued_ms;
  delivery.due_ms = message.due_ms;
  delivery.lease_until_ms = message.lease_until_ms;
  delivery.correlation_id = std::move(message.correlation_id);
  delivery.headers = std::move(message.headers);
  delivery.traceparent = std::move(message.trace);
  return delivery;
}

messages::Verdict ToKernel(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDone:
      return messages::Verdict::kDone;
    case Verdict::kRetry:
      return messages::Verdict::kRetry;
    case Verdict::kDead:
      return messages::Verdict::kDead;
    case Verdict::kUntouched:
      return messages::Verdict::kUntouched;
    case Verdict::kExtend:
      break;
  }
  return messages::Verdict::kExtend;
}

Outcome FromKernel(messages::ReportOutcome outcome) {
  switch (outcome) {
    case messages::ReportOutcome::kDone:
      return Outcome::kDone;
    case messages::ReportOutcome::kStale:
      return Outcome::kStale;
    case messages::ReportOutcome::kPassedOver:  // does not come out of there
    case messages::ReportOutcome::kGone:
      break;
  }
  return Outcome::kGone;
}

class StoreCourier final : public Courier {
 public:
  explicit StoreCourier(const NewEngine& new_engine) : store_(new_engine) {}

  std::vector<Enqueued> Enqueue(std::span<const Message> messages, Milliseconds timeout) override {
    CheckMessages(messages);
    if (messages.empty()) return {};
    messages::EnqueueRequest request;
    request.tenant = kTenant;
    for (const Message& each : messages) request.messages.push_back(ToKernel(each));
    const auto reply = Ask<messages::EnqueueReply>(timeout, [&](auto done) {
      store_.messages().Enqueue(std::move(request), nullptr, std::move(done));
    });
    std::vector<Enqueued> enqueued;
    for (const auto& each : reply.messages)
      enqueued.push_back({each.id.ToString(), each.duplicate});
    return enqueued;
  }

  Claimed Claim(const Wish& wish, Milliseconds timeout, std::stop_token stop) override {
    CheckWish(wish);
    store_.Keep();
    auto call = std::make_shared<Call<messages::ClaimReply>>();
    store_.Waiting(true);
    const auto waiting =
        store_.messages().ClaimWaiting(RequestOf(wish), wish.wait.count(), nullptr,
                                       [this, call](db::Result<messages::ClaimReply> result) {
                                         if (!call->Answer(result)) GiveBack(result);
                                       });
    std::optional<db::Result<messages::ClaimReply>> result;
    {
      const std::stop_callback cancel(stop, [&] { call->Cancel(); });
      result = call->Await(wish.wait + timeout);
    }
    store_.Waiting(false);
    if (!result) {
      // The consumer gives back what it is handed from here on, unless its answer is on its way to
      // us already: that is here now, or is given back when it comes.
      store_.messages().Abandon(waiting);
      result = call->Close();
      if (!result && stop.stop_requested()) return {};
    }
    auto reply = Taken<messages::ClaimReply>(std::move(result));
    Claimed claimed;
    claimed.claim = reply.claim.ToString();
    for (auto& each : reply.messages) claimed.messages.push_back(FromKernel(std::move(each)));
    return claimed;
  }

  std::vector<Outcome> Report(Verdict verdict, std::span<const couriers::Report> reports,
                              std::optional<Milliseconds> lease, Milliseconds timeout) override {
    if (reports.empty()) return {};
    messages::ReportRequest request;
    request.tenant = kTenant;
    request.verdict = ToKernel(verdict);
    if (lease) request.lease_ms = lease->count();
    for (const couriers::Report& each : reports) {
      messages::Report& report = request.reports.emplace_back();
      report.id = IdOf(each.id);
      report.fence = each.fence;
      report.error = StorableError(each.error);
      if (each.retry_after) report.retry_after_ms = each.retry_after->count();
    }
    const auto result = Ask<messages::ReportResult>(timeout, [&](auto done) {
      store_.messages().Report(std::move(request), nullptr, std::move(done));
    });
    std::vector<Outcome> outcomes;
    for (const auto outcome : result.reply.outcomes) outcomes.push_back(FromKernel(outcome));
    return outcomes;
  }

  std::int64_t Join(const std::string& owner, Milliseconds timeout) override {
    // A number is never used twice: one whose answer was lost ends by itself.
    const std::int64_t worker = messages::NewWorker();
    Beat({messages::HeartbeatRequest::Kind::kJoin, worker, kTenant, owner}, timeout);
    return worker;
  }

  Renewed Renew(std::int64_t current, std::span<const HeldMessage> held,
                Milliseconds timeout) override {
    std::set<std::int64_t> holds;
    if (current != 0) holds.insert(current);
    for (const HeldMessage& each : held) holds.insert(each.hold);
    Renewed renewed;
    for (const std::int64_t hold : holds)
      if (!Beat({messages::HeartbeatRequest::Kind::kBeat, hold, kTenant, {}}, timeout))
        renewed.lost_holds.push_back(hold);
    return renewed;
  }

  void Leave(std::span<const std::int64_t> holds, Milliseconds timeout) override {
    for (const std::int64_t hold : holds)
      Beat({messages::HeartbeatRequest::Kind::kLeave, hold, kTenant, {}}, timeout);
  }

  void Started(const std::string& claim, std::int64_t count, Milliseconds timeout) override {
    Ask<messages::StartedReply>(timeout, [&](auto done) {
      store_.messages().Started({kTenant, IdOf(claim), count}, std::move(done));
    });
  }

  bool beats() const override { return true; }
  Milliseconds hold_time() const override { return Milliseconds(messages::kWorkerTtlMs); }
  Milliseconds renew_every() const override { return Milliseconds(messages::kHeartbeatMs); }

 private:
  static constexpr const char* kTenant = "default";

  static messages::ClaimRequest RequestOf(const Wish& wish) {
    messages::ClaimRequest request;
    request.tenant = kTenant;
    request.topics = wish.topics;
    request.max = wish.max;
    if (wish.lease) request.lease_ms = wish.lease->count();
    request.owner = wish.owner;
    request.worker = wish.hold;
    if (wish.hold) request.started = 0;
    return request;
  }

  void GiveBack(const db::Result<messages::ClaimReply>& claimed) {
    if (!claimed.ok() || claimed.value().messages.empty()) return;
    messages::ReportRequest request;
    request.tenant = kTenant;
    request.verdict = messages::Verdict::kUntouched;
    for (const auto& each : claimed.value().messages)
      request.reports.push_back({each.id, each.fence, {}, {}, {}});
    store_.messages().Report(std::move(request), nullptr, [](const auto&) {});
  }

  bool Beat(messages::HeartbeatRequest request, Milliseconds timeout) {
    return Ask<messages::HeartbeatReply>(
               timeout, [&](auto done) { store_.Heartbeat(std::move(request), std::move(done)); })
        .alive;
  }

  MessageStore store_;
};

}  // namespace

std::unique_ptr<Courier> OpenStore(const NewEngine& new_engine) {
  try {
    return std::make_unique<StoreCourier>(new_engine);
  } catch (const base::Fault& fault) {
    throw Unavailable(fault.what(), false);
  } catch (const base::UserError& error) {
    throw Unavailable(error.what(), false);
  }
}

}  // namespace tenure::couriers
