#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "client/backends.hpp"
#include "client/checks.hpp"
#include "client/store/call.hpp"
#include "client/store/message_store.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::client {
namespace {

using queues::AcceptReply;
using queues::ReportOutcome;
using queues::ReportReply;
using ReportKind = SessionReport::Kind;

constexpr const char* kQueueTenant = "default";

base::Uuid SessionIdOf(const std::string& text) {
  if (const auto id = base::Uuid::Parse(text)) return *id;
  throw std::invalid_argument("session must be a UUID");
}

queues::NewMessage ToQueue(const SessionMessage& message) {
  queues::NewMessage made;
  made.key = message.session_key;
  made.payload = message.payload;
  made.kind = message.is_bytes ? queues::PayloadKind::kBytes : queues::PayloadKind::kJson;
  made.correlation_id = message.correlation_id;
  made.headers = message.headers;
  made.dedup_key = message.dedup_key;
  if (message.ttl) made.ttl_ms = message.ttl->count();
  made.share = message.share;
  return made;
}

queues::Delivery FromQueue(queues::Message message, std::int64_t attempt) {
  queues::Delivery delivery;
  delivery.id = message.id.ToString();
  delivery.sequence = message.sequence;
  delivery.attempt = attempt;
  delivery.is_bytes = message.kind == queues::PayloadKind::kBytes;
  delivery.payload = std::move(message.payload);
  delivery.enqueued_ms = message.enqueued_ms;
  delivery.expires_ms = message.expires_ms;
  delivery.correlation_id = std::move(message.correlation_id);
  delivery.headers = std::move(message.headers);
  if (message.event_id)
    delivery.payload_url = "/api/v1/webhooks/events/" + message.event_id->ToString() + "/payload";
  return delivery;
}

std::vector<queues::Delivery> FromQueue(std::vector<queues::Message> messages,
                                        std::int64_t attempt) {
  std::vector<queues::Delivery> deliveries;
  for (queues::Message& each : messages)
    deliveries.push_back(FromQueue(std::move(each), deliveries.empty() ? attempt : 1));
  return deliveries;
}

Held FromQueue(queues::HeldSession session) {
  Held held;
  held.session = session.id.ToString();
  held.key = session.key;
  held.name = session.name;
  held.fence = session.fence;
  held.lease_until_ms = session.lease_until_ms;
  held.depth = session.depth;
  held.state = std::move(session.state);
  held.messages = FromQueue(std::move(session.messages), session.attempt);
  for (queues::Delivery& each : held.messages) {
    each.session = held.session;
    each.key = held.key;
    each.name = held.name;
    each.fence = held.fence;
  }
  return held;
}

queues::Outcome FromQueue(ReportOutcome::Kind kind) {
  switch (kind) {
    case ReportOutcome::Kind::kDone:
      return queues::Outcome::kDone;
    case ReportOutcome::Kind::kGone:
      return queues::Outcome::kGone;
    case ReportOutcome::Kind::kOutOfOrder:
      return queues::Outcome::kOutOfOrder;
    case ReportOutcome::Kind::kContended:
      return queues::Outcome::kContended;
    default:
      return queues::Outcome::kStale;
  }
}

queues::Report ToQueue(ReportKind kind, const SessionReport& report) {
  queues::Report made;
  made.session = SessionIdOf(report.session);
  made.fence = report.fence;
  made.sequence = report.sequence;
  made.complete_through = report.complete_through;
  made.state = report.state;
  made.keep = report.keep;
  made.max_messages = report.max_messages;
  made.error = StorableError(report.error, queues::kMaxErrorBytes);
  if (report.retry_after) made.retry_after_ms = report.retry_after->count();
  made.to = report.to;
  made.for_ms = report.time.count();
  switch (kind) {
    case ReportKind::kComplete:
      made.kind = queues::Report::Kind::kComplete;
      break;
    case ReportKind::kAbandon:
    case ReportKind::kDeadLetter:
      made.kind = queues::Report::Kind::kFail;
      made.rejected = kind == ReportKind::kDeadLetter;
      break;
    case ReportKind::kRelease:
      made.kind = queues::Report::Kind::kRelease;
      break;
    case ReportKind::kTransfer:
      made.kind = queues::Report::Kind::kTransfer;
      break;
  }
  return made;
}

class StoreQueue final : public QueueBackend {
 public:
  StoreQueue(const StoreAddress& address, std::string queue)
      : queue_(std::move(queue)),
        store_(address, queues::sql::All()),
        queues_(store_.lanes(), store_.store().wake(), store_.messages(), base::SystemClock()),
        beats_(store_.beats(), store_.store().wake(), store_.messages(), base::SystemClock()) {}
  /// Nothing of the queues is called any more when they go.
  ~StoreQueue() override { store_.Stop(); }
  StoreQueue(const StoreQueue&) = delete;
  StoreQueue& operator=(const StoreQueue&) = delete;

  std::vector<queues::Sent> Send(std::span<const SessionMessage> messages,
                                 Milliseconds timeout) override {
    CheckSessionMessages(messages);
    if (messages.empty()) return {};
    queues::SendRequest request{kQueueTenant, queue_, {}, true};
    for (const SessionMessage& each : messages) request.messages.push_back(ToQueue(each));
    const auto reply = Asking<queues::SendReply>(
        timeout, [&](auto done) { queues_.Send(std::move(request), nullptr, std::move(done)); });
    RefuseUnless(reply.kind);
    std::vector<queues::Sent> sent;
    for (const auto& each : reply.messages)
      sent.push_back({each.id.ToString(), each.session.ToString(), each.sequence, each.duplicate});
    return sent;
  }

  std::vector<Held> Accept(const SessionAccept& accept, Milliseconds timeout,
                           std::stop_token stop) override {
    queues::AcceptRequest request;
    request.tenant = kQueueTenant;
    request.queue = queue_;
    request.consumer = accept.consumer;
    request.max_sessions = accept.key.empty() ? accept.max_sessions : 1;
    request.max_messages = accept.max_messages;
    if (accept.lease) request.lease_ms = accept.lease->count();
    request.key = accept.key;
    auto result = AwaitAccept(std::move(request), accept.wait, timeout, stop);
    if (!result && stop.stop_requested()) return {};
    AcceptReply reply = QueueCall([&] { return Taken(std::move(result)); });
    if (reply.kind == AcceptReply::Kind::kNoQueue) RefuseUnless(queues::SendReply::Kind::kNoQueue);
    if (reply.kind == AcceptReply::Kind::kUnordered)
      RefuseUnless(queues::SendReply::Kind::kUnordered);
    if (reply.kind == AcceptReply::Kind::kLeaseTooLong) ThrowLeaseTooLong(reply.most_lease_ms);
    std::vector<Held> sessions;
    for (auto& each : reply.sessions) sessions.push_back(FromQueue(std::move(each)));
    return sessions;
  }

  Reported Report(ReportKind kind, const SessionReport& report, Milliseconds timeout) override {
    queues::ReportRequest request{kQueueTenant, queue_, {ToQueue(kind, report)}};
    ReportReply reply = Asking<ReportReply>(
        timeout, [&](auto done) { queues_.Report(std::move(request), nullptr, std::move(done)); });
    ReportOutcome& outcome = reply.outcomes.front();
    Reported reported;
    reported.outcome = FromQueue(outcome.kind);
    const bool counts =
        reported.outcome == queues::Outcome::kDone || reported.outcome == queues::Outcome::kGone;
    reported.held = counts && kind == ReportKind::kComplete && outcome.hold == queues::Hold::kHeld;
    reported.messages = FromQueue(std::move(outcome.messages), outcome.row.attempts + 1);
    return reported;
  }

  std::vector<bool> Renew(std::span<const HeldFence> held, std::optional<Milliseconds> lease,
                          Milliseconds timeout) override {
    queues::ReportRequest request{kQueueTenant, queue_, {}};
    for (const HeldFence& each : held) {
      queues::Report& report = request.items.emplace_back();
      report.kind = queues::Report::Kind::kRenew;
      report.session = SessionIdOf(each.session);
      report.fence = each.fence;
      if (lease) report.lease_ms = lease->count();
    }
    if (held.empty()) return {};
    const auto reply = Asking<ReportReply>(
        timeout, [&](auto done) { beats_.Report(std::move(request), nullptr, std::move(done)); });
    std::vector<bool> renewed;
    for (const ReportOutcome& each : reply.outcomes)
      if (each.kind == ReportOutcome::Kind::kLeaseTooLong) ThrowLeaseTooLong(each.most_lease_ms);
    for (const ReportOutcome& each : reply.outcomes)
      renewed.push_back(each.kind == ReportOutcome::Kind::kDone);
    return renewed;
  }

 private:
  template <class Reply, class Submit>
  static Reply Asking(Milliseconds timeout, const Submit& submit) {
    return QueueCall([&] { return Ask<Reply>(timeout, {}, submit); });
  }

  [[noreturn]] static void ThrowLeaseTooLong(std::int64_t most_ms) {
    throw std::invalid_argument(
        fmt::format("lease_ms must be at most {}, the queue's session_timeout", most_ms));
  }

  void RefuseUnless(queues::SendReply::Kind kind) const {
    switch (kind) {
      case queues::SendReply::Kind::kSent:
        return;
      case queues::SendReply::Kind::kNoQueue:
        throw queues::QueueRefused("there is no queue " + queue_);
      case queues::SendReply::Kind::kUnordered:
        throw queues::QueueRefused("the queue " + queue_ + " keeps no order",
                                   queues::QueueTopic(queue_));
      case queues::SendReply::Kind::kDraining:
        throw queues::QueueRefused("the queue " + queue_ + " takes no more messages");
      case queues::SendReply::Kind::kFull:
        throw queues::Unavailable("the queue " + queue_ + " is full", false);
    }
  }

  std::optional<db::Result<AcceptReply>> AwaitAccept(queues::AcceptRequest request,
                                                     Milliseconds wait, Milliseconds timeout,
                                                     const std::stop_token& stop) {
    const LocalStore::Waiting waiting(store_.store());
    const auto call = std::make_shared<Call<AcceptReply>>();
    const auto id = queues_.AcceptWaiting(std::move(request), wait.count(), nullptr,
                                          [this, call](db::Result<AcceptReply> result) {
                                            if (!call->Answer(result)) GiveBack(result);
                                          });
    if (auto result = call->Await(wait + timeout, stop)) return result;
    // What it is handed from here on is given back, unless its answer is on its way to us already:
    // that is here now, or is given back when it comes.
    queues_.Abandon(id);
    return call->Close();
  }

  void GiveBack(const db::Result<AcceptReply>& accepted) {
    if (!accepted.ok() || accepted.value().sessions.empty()) return;
    queues::ReportRequest request{kQueueTenant, queue_, {}};
    for (const auto& each : accepted.value().sessions)
      request.items.push_back(
          {.kind = queues::Report::Kind::kRelease, .session = each.id, .fence = each.fence});
    queues_.Report(std::move(request), nullptr, [](const auto&) {});
  }

  const std::string queue_;
  MessageStore store_;
  queues::Queues queues_;
  queues::Queues beats_;  // on a connection that nothing else uses
};

}  // namespace

std::unique_ptr<QueueBackend> MakeStoreQueue(const StoreAddress& address,
                                             const std::string& queue) {
  return QueueCall([&] { return std::make_unique<StoreQueue>(address, queue); });
}

}  // namespace tenure::client
