#include <set>
#include <stdexcept>
#include <utility>

#include "client/backends.hpp"
#include "client/checks.hpp"
#include "client/store/call.hpp"
#include "client/store/message_store.hpp"

namespace tenure::client {
namespace {

using messages::ClaimReply;

constexpr const char* kTenant = "default";

base::Uuid IdOf(const std::string& text) {
  if (const auto id = base::Uuid::Parse(text)) return *id;
  throw std::invalid_argument("id must be a UUID");
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

messages::ClaimRequest ToKernel(const MessageClaim& claim) {
  messages::ClaimRequest request;
  request.tenant = kTenant;
  request.topics = claim.topics;
  request.max = claim.max;
  if (claim.lease) request.lease_ms = claim.lease->count();
  request.owner = claim.owner;
  request.worker = claim.hold;
  if (claim.hold) request.started = 0;
  return request;
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

Outcome FromKernel(messages::SettleOutcome outcome) {
  switch (outcome) {
    case messages::SettleOutcome::kDone:
      return Outcome::kDone;
    case messages::SettleOutcome::kStale:
      return Outcome::kStale;
    case messages::SettleOutcome::kPassedOver:  // does not come out of there
    case messages::SettleOutcome::kGone:
      break;
  }
  return Outcome::kGone;
}

class StoreBackend final : public MessageBackend {
 public:
  explicit StoreBackend(const StoreAddress& address) : store_(address) {}

  std::vector<Enqueued> Enqueue(std::span<const Message> messages, Milliseconds timeout) override {
    CheckMessages(messages);
    if (messages.empty()) return {};
    messages::EnqueueRequest request;
    request.tenant = kTenant;
    for (const Message& each : messages) request.messages.push_back(ToKernel(each));
    const auto reply = Asking<messages::EnqueueReply>(timeout, [&](auto done) {
      store_.messages().Enqueue(std::move(request), nullptr, std::move(done));
    });
    std::vector<Enqueued> enqueued;
    for (const auto& each : reply.messages)
      enqueued.push_back({each.id.ToString(), each.duplicate});
    return enqueued;
  }

  ClaimedMessages Claim(const MessageClaim& claim, Milliseconds timeout,
                        std::stop_token stop) override {
    CheckClaim(claim);
    store_.Keep();
    auto result = AwaitClaim(claim, timeout, stop);
    if (!result && stop.stop_requested()) return {};
    auto reply = MessageCall([&] { return Taken(std::move(result)); });
    ClaimedMessages claimed{reply.claim.ToString(), {}};
    for (auto& each : reply.messages) claimed.messages.push_back(FromKernel(std::move(each)));
    return claimed;
  }

  std::vector<Outcome> Settle(Disposition disposition, std::span<const Settlement> settlements,
                              std::optional<Milliseconds> lease, Milliseconds timeout) override {
    CheckSettlements(settlements, lease);
    if (settlements.empty()) return {};
    messages::SettleRequest request;
    request.tenant = kTenant;
    request.disposition = disposition;
    if (lease) request.lease_ms = lease->count();
    for (const Settlement& each : settlements) {
      messages::Settlement& settled = request.settlements.emplace_back();
      settled.id = IdOf(each.id);
      settled.fence = each.fence;
      settled.error = StorableError(each.error, messages::kMaxErrorBytes);
      if (each.retry_after) settled.retry_after_ms = each.retry_after->count();
    }
    const auto result = Asking<messages::SettleResult>(timeout, [&](auto done) {
      store_.messages().Settle(std::move(request), nullptr, std::move(done));
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

  RenewedHolds Renew(std::int64_t current, std::span<const HeldMessage> held,
                     Milliseconds timeout) override {
    std::set<std::int64_t> holds;
    if (current != 0) holds.insert(current);
    for (const HeldMessage& each : held) holds.insert(each.hold);
    RenewedHolds renewed;
    for (const std::int64_t hold : holds)
      if (!Beat({messages::HeartbeatRequest::Kind::kBeat, hold, kTenant, {}}, timeout))
        renewed.lost_holds.push_back(hold);
    return renewed;
  }

  void Leave(std::int64_t hold, Milliseconds timeout) override {
    Beat({messages::HeartbeatRequest::Kind::kLeave, hold, kTenant, {}}, timeout);
  }

  void Started(const std::string& claim, std::int64_t count, Milliseconds timeout) override {
    Asking<messages::StartedReply>(timeout, [&](auto done) {
      store_.messages().Started({kTenant, IdOf(claim), count}, std::move(done));
    });
  }

  bool beats() const override { return true; }
  Milliseconds hold_time() const override { return Milliseconds(messages::kWorkerTtlMs); }
  Milliseconds renew_every() const override { return Milliseconds(messages::kHeartbeatMs); }

 private:
  template <class Reply, class Submit>
  static Reply Asking(Milliseconds timeout, const Submit& submit) {
    return MessageCall([&] { return Ask<Reply>(timeout, {}, submit); });
  }

  std::optional<db::Result<ClaimReply>> AwaitClaim(const MessageClaim& claim, Milliseconds timeout,
                                                   const std::stop_token& stop) {
    const LocalStore::Waiting waiting(store_.store());
    const auto call = std::make_shared<Call<ClaimReply>>();
    const auto id = store_.messages().ClaimWaiting(ToKernel(claim), claim.wait.count(), nullptr,
                                                   [this, call](db::Result<ClaimReply> result) {
                                                     if (!call->Answer(result)) GiveBack(result);
                                                   });
    if (auto result = call->Await(claim.wait + timeout, stop)) return result;
    // The consumer gives back what it is handed from here on, unless its answer is on its way to
    // us already: that is here now, or is given back when it comes.
    store_.messages().Abandon(id);
    return call->Close();
  }

  void GiveBack(const db::Result<ClaimReply>& claimed) {
    if (!claimed.ok() || claimed.value().messages.empty()) return;
    messages::SettleRequest request;
    request.tenant = kTenant;
    request.disposition = Disposition::kUntouched;
    for (const auto& each : claimed.value().messages)
      request.settlements.push_back({each.id, each.fence, {}, {}, {}});
    store_.messages().Settle(std::move(request), nullptr, [](const auto&) {});
  }

  bool Beat(messages::HeartbeatRequest request, Milliseconds timeout) {
    return Asking<messages::HeartbeatReply>(
               timeout, [&](auto done) { store_.Heartbeat(std::move(request), std::move(done)); })
        .alive;
  }

  MessageStore store_;
};

}  // namespace

std::unique_ptr<MessageBackend> MakeStoreBackend(const StoreAddress& address) {
  return MessageCall([&] { return std::make_unique<StoreBackend>(address); });
}

}  // namespace tenure::client
