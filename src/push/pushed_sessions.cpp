#include "push/pushed_sessions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tenure::push {
namespace {

using HoldReport = queues::Report;
using queues::ReportOutcome;

constexpr std::int64_t kAgainMs = 1'000;
constexpr std::string_view kTimer = "push.sessions";

std::string EventTypeOf(const queues::EventNames& event) {
  if (event.type.empty()) return "";
  return event.action.empty() ? "com.github." + event.type
                              : fmt::format("com.github.{}.{}", event.type, event.action);
}

/// Of an event the payload stands in the envelope, or has an address.
std::string PayloadOf(queues::Message& message) {
  if (!message.event_id) return std::move(message.payload);
  if (const auto payload = message.event.PayloadIn(message.envelope); !payload.empty())
    return std::string(payload);
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("event_id", *message.event_id).Key("payload_url");
  message.event.payload_url.empty() ? json.Null()
                                    : json.Value(std::string_view(message.event.payload_url));
  json.EndObject();
  return body;
}

/// Of a session whose row, or hold, has `key` and `name`.
template <class Session>
Parcel ParcelOf(const std::string& queue, const Session& session, queues::Message message) {
  Parcel parcel;
  parcel.id = message.id;
  parcel.fence = session.fence;
  parcel.topic = queues::QueueTopic(queue);
  parcel.payload = PayloadOf(message);
  parcel.kind = message.event_id ? messages::PayloadKind::kJson : message.kind;
  parcel.enqueued_ms = message.enqueued_ms;
  parcel.correlation_id = std::move(message.correlation_id);
  parcel.headers = std::move(message.headers);
  parcel.trace = std::move(message.trace);
  parcel.turn = Turn{.queue = queue,
                     .session = session.id,
                     .fence = session.fence,
                     .sequence = message.sequence,
                     .key = session.key,
                     .name = session.name,
                     .event_type = EventTypeOf(message.event),
                     .delivery_id = std::move(message.event.delivery_id)};
  return parcel;
}

}  // namespace

PushedSessions::PushedSessions(queues::Queues& queues, wake::Registry& wake,
                               const base::Clock& clock, const SubscriptionKey& key)
    : queues_(queues),
      wake_(wake),
      clock_(clock),
      tenant_(key.tenant),
      consumer_("push:" + key.name) {}

void PushedSessions::Later(std::int64_t in_ms, std::function<void()> task) {
  wake_.Wait(std::string(kTimer), clock_.BootMs() + in_ms, std::move(task));
}

void PushedSessions::Reclaim(std::string queue, std::function<void()> done) {
  queues::HoldsRequest request{tenant_, queue, consumer_};
  queues_.FindHolds(
      std::move(request), nullptr,
      [self = shared_from_this(), queue = std::move(queue),
       done = std::move(done)](const db::Result<queues::HoldsReply>& found) mutable {
        const auto again = [self, queue, done] {
          self->Later(kAgainMs, [self, queue, done] { self->Reclaim(queue, done); });
        };
        if (!found.ok())
          return found.fault().kind() == base::FaultKind::kStopping ? void() : again();
        if (found.value().holds.empty()) return done();
        queues::ReportRequest release{self->tenant_, queue, {}};
        for (const queues::HeldBy& each : found.value().holds)
          release.items.push_back(
              {.kind = HoldReport::Kind::kRelease, .session = each.session, .fence = each.fence});
        self->queues_.Report(
            std::move(release), nullptr,
            [self, queue, done, again](const db::Result<queues::ReportReply>& told) {
              if (told.ok()) return self->Reclaim(queue, done);
              if (told.fault().kind() != base::FaultKind::kStopping) again();
            });
      });
}

void PushedSessions::Take(const Wish& wish, TakeDone done) {
  queues::AcceptRequest request;
  request.tenant = tenant_;
  request.queue = wish.queue;
  request.consumer = consumer_;
  request.max_sessions = std::clamp<std::int64_t>(wish.sessions, 1, queues::kMaxSessions);
  request.max_messages = 1;
  request.accept_id = wish.accept_id;
  std::int64_t wait_ms = wish.wait_ms;
  {
    const base::Lock lock(mutex_);
    request.lease_ms = lease_ms_;
    if (is_leftover_) wait_ms = 0;
  }
  const auto answered = [self = shared_from_this(), wish,
                         done = std::move(done)](db::Result<queues::AcceptReply> result) {
    if (!result.ok()) return done(result.fault());
    queues::AcceptReply& reply = result.value();
    using Kind = queues::AcceptReply::Kind;
    if (reply.kind == Kind::kLeaseTooLong) {
      {
        const base::Lock lock(self->mutex_);
        self->lease_ms_ = std::min(self->lease_ms_, reply.most_lease_ms);
      }
      return self->Take(wish, done);
    }
    if (reply.kind == Kind::kUnordered) {
      {
        const base::Lock lock(self->mutex_);
        self->is_leftover_ = false;
      }
      return done(Taken{Taken::Kind::kUnordered, {}});
    }
    if (reply.kind == Kind::kNoQueue) return done(Taken{Taken::Kind::kNoQueue, {}});
    {
      const base::Lock lock(self->mutex_);
      self->is_leftover_ = reply.is_leftover;
    }
    if (reply.is_leftover && reply.sessions.empty())
      return done(Taken{Taken::Kind::kUnordered, {}});
    Taken taken;
    for (queues::HeldSession& session : reply.sessions) {
      if (session.messages.empty()) continue;  // its lease ends by itself
      taken.parcels.push_back(ParcelOf(wish.queue, session, std::move(session.messages.front())));
      self->Hold(*taken.parcels.back().turn, reply.asked_boot_ms);
    }
    done(std::move(taken));
  };
  base::Caller caller;
  caller.fences = wish.fences;
  queues_.AcceptWaiting(std::move(request), wait_ms, std::move(caller), answered);
}

bool PushedSessions::IsHeld(const Turn& turn) const {
  const std::int64_t now_ms = clock_.BootMs();
  const base::Lock lock(mutex_);
  const auto found = held_.find(turn.session);
  return found != held_.end() && found->second.fence == turn.fence &&
         now_ms < found->second.until_boot_ms;
}

void PushedSessions::Hold(const Turn& turn, std::int64_t asked_boot_ms) {
  {
    const base::Lock lock(mutex_);
    held_[turn.session] = {turn.queue, turn.fence, BelievedUntil(asked_boot_ms)};
  }
  ArmRenewal();
}

void PushedSessions::Drop(const Turn& turn) {
  const base::Lock lock(mutex_);
  const auto found = held_.find(turn.session);
  if (found != held_.end() && found->second.fence == turn.fence) held_.erase(found);
}

void PushedSessions::Complete(const Parcel& parcel, bool keep, Next next) {
  HoldReport report;
  report.kind = HoldReport::Kind::kComplete;
  report.sequence = parcel.turn->sequence;
  report.keep = keep;
  report.max_messages = 1;
  Tell(*parcel.turn, std::move(report), std::move(next));
}

void PushedSessions::Fail(const Parcel& parcel, const std::string& error) {
  HoldReport report;
  report.kind = HoldReport::Kind::kFail;
  report.sequence = parcel.turn->sequence;
  report.error = error;
  Tell(*parcel.turn, std::move(report), nullptr);
}

void PushedSessions::Release(const Parcel& parcel) {
  HoldReport report;
  report.kind = HoldReport::Kind::kRelease;
  Tell(*parcel.turn, std::move(report), nullptr);
}

void PushedSessions::Tell(const Turn& turn, HoldReport report, Next next) {
  report.session = turn.session;
  report.fence = turn.fence;
  const std::int64_t asked_boot_ms = clock_.BootMs();
  queues_.Report({tenant_, turn.queue, {report}}, nullptr,
                 [self = shared_from_this(), turn, report, next = std::move(next),
                  asked_boot_ms](db::Result<queues::ReportReply> result) {
                   const bool is_stopping =
                       !result.ok() && result.fault().kind() == base::FaultKind::kStopping;
                   const bool is_decided = result.ok() && result.value().outcomes.front().kind !=
                                                              ReportOutcome::Kind::kContended;
                   if (!is_decided && !is_stopping)
                     return self->Later(
                         kAgainMs, [self, turn, report, next] { self->Tell(turn, report, next); });
                   std::optional<Parcel> following;
                   if (is_decided) {
                     ReportOutcome& outcome = result.value().outcomes.front();
                     if (outcome.hold == queues::Hold::kHeld && !outcome.messages.empty())
                       following =
                           ParcelOf(turn.queue, outcome.row, std::move(outcome.messages.front()));
                   }
                   following ? self->Hold(*following->turn, asked_boot_ms) : self->Drop(turn);
                   if (next) next(std::move(following));
                 });
}

void PushedSessions::ArmRenewal() {
  constexpr std::int64_t kRenewals = 3;  // in a lease
  std::int64_t in_ms = 0;
  {
    const base::Lock lock(mutex_);
    if (held_.empty() || std::exchange(is_armed_, true)) return;
    in_ms = lease_ms_ / kRenewals;
  }
  Later(in_ms, [self = shared_from_this()] { self->Renew(); });
}

void PushedSessions::Renew() {
  std::map<std::string, queues::ReportRequest> requests;  // by queue
  {
    const base::Lock lock(mutex_);
    is_armed_ = false;
    for (const auto& [session, held] : held_) {
      queues::ReportRequest& request = requests[held.queue];
      if (request.items.size() == queues::kMaxItems) continue;  // more than may be in flight
      request.tenant = tenant_;
      request.queue = held.queue;
      request.items.push_back({.kind = HoldReport::Kind::kRenew,
                               .session = session,
                               .fence = held.fence,
                               .lease_ms = lease_ms_});
    }
  }
  ArmRenewal();
  const std::int64_t asked_boot_ms = clock_.BootMs();
  for (const auto& [queue, request] : requests)
    queues_.Report(request, nullptr,
                   [self = shared_from_this(), request = request,
                    asked_boot_ms](const db::Result<queues::ReportReply>& result) {
                     if (result.ok()) self->Renewed(request, result.value(), asked_boot_ms);
                   });
}

void PushedSessions::Renewed(const queues::ReportRequest& request, const queues::ReportReply& reply,
                             std::int64_t asked_boot_ms) {
  const base::Lock lock(mutex_);
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    const auto found = held_.find(request.items[i].session);
    if (found == held_.end() || found->second.fence != request.items[i].fence) continue;
    const ReportOutcome& outcome = reply.outcomes[i];
    switch (outcome.kind) {
      case ReportOutcome::Kind::kDone:
        found->second.until_boot_ms =
            std::max(found->second.until_boot_ms, BelievedUntil(asked_boot_ms));
        break;
      case ReportOutcome::Kind::kContended:
        break;  // asked again with the next
      case ReportOutcome::Kind::kLeaseTooLong:
        lease_ms_ = std::min(lease_ms_, outcome.most_lease_ms);
        break;
      default:
        held_.erase(found);  // what is under way may end; its report will be stale
    }
  }
}

}  // namespace tenure::push
