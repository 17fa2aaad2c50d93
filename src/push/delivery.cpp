#include "push/delivery.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace tenure::push {
namespace {

constexpr std::int64_t kClaimWaitMs = 20'000;
constexpr std::int64_t kStoreAwayMs = 1'000;
constexpr std::int64_t kNoQueueMs = 5'000;
constexpr std::string_view kTimerName = "push.delivery";

using OwnDoing = http::OutgoingReply::OwnDoing;

/// For people: what the endpoint said, shortened, and always text.
std::string ShownAnswer(const http::OutgoingReply& reply) {
  if (reply.status == 0) return reply.error.substr(0, kMaxShownError);
  std::string body = reply.body.substr(0, kMaxShownError);
  while (!body.empty() && !base::IsStorableText(body) && body.size() + 4 > kMaxShownError)
    body.pop_back();  // perhaps a character was cut in two
  if (!base::IsStorableText(body))
    body = fmt::format("({} bytes that are not text)", reply.body.size());
  return fmt::format("{}{}{}", reply.status, body.empty() ? "" : ": ", body);
}

messages::Disposition DispositionOf(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kAcknowledged:
      return messages::Disposition::kDone;
    case AnswerKind::kMessageFault:
      return messages::Disposition::kRetry;
    default:
      return messages::Disposition::kUntouched;
  }
}

}  // namespace

Delivery::Delivery(const DeliveryParts& parts, Endpoint endpoint, const Hold& hold,
                   const CircuitRow& circuit_boot, std::int64_t worker)
    : parts_(parts),
      key_(endpoint.key),
      id_(endpoint.id),
      sessions_(std::make_shared<PushedSessions>(parts.queues, parts.wake, parts.clock, key_)),
      endpoint_(std::make_shared<const Endpoint>(std::move(endpoint))),
      hold_(hold),
      circuit_(circuit_boot),
      worker_(worker) {
  parts_.places.Join();
}

bool Delivery::HoldsAt(std::int64_t boot_ms) const { return boot_ms < hold_.until_boot_ms; }

bool Delivery::IsHeld() const {
  const std::int64_t now_ms = parts_.clock.BootMs();
  const base::Lock lock(mutex_);
  return HoldsAt(now_ms) && !is_cut_off_;
}

bool Delivery::HasEnded() const {
  const base::Lock lock(mutex_);
  return has_ended_;
}

bool Delivery::IsOver() const {
  const base::Lock lock(mutex_);
  return has_ended_ && under_way_ == 0;
}

Hold Delivery::hold() const {
  const base::Lock lock(mutex_);
  return hold_;
}

void Delivery::Start() {
  std::string queue;
  {
    const base::Lock lock(mutex_);
    queue = endpoint_->queue();
  }
  const auto start = [self = shared_from_this()] {
    {
      const base::Lock lock(self->mutex_);
      self->has_started_ = true;
    }
    self->Pump();
  };
  queue.empty() ? start() : sessions_->Reclaim(queue, start);
}

void Delivery::Renewed(std::int64_t until_boot_ms) {
  {
    const base::Lock lock(mutex_);
    hold_.until_boot_ms = std::max(hold_.until_boot_ms, until_boot_ms);
  }
  Pump();
}

void Delivery::Change(Endpoint endpoint) {
  Queue back;
  {
    const base::Lock lock(mutex_);
    endpoint.group = endpoint_->group;  // what is under way stays ours to cut off
    endpoint.has_answered = endpoint_->has_answered && endpoint.url == endpoint_->url;
    if (endpoint.topic != endpoint_->topic) {
      back = std::exchange(queue_, {});
      claiming_.reset();
      keeps_order_ = true;
    }
    if (endpoint.url != endpoint_->url) {
      circuit_ = Circuit();
      has_news_ = true;
    }
    endpoint_ = std::make_shared<const Endpoint>(std::move(endpoint));
  }
  if (!back.empty()) GiveBack(std::move(back));
  Pump();
}

void Delivery::ChangeWorker(std::int64_t worker) {
  const base::Lock lock(mutex_);
  worker_ = worker;
  // The reaper makes them ready again; sessions have leases of their own.
  std::erase_if(queue_, [](const MessagePtr& each) { return !each->turn; });
}

void Delivery::End(Ending ending) {
  std::uint64_t group = 0;
  {
    const base::Lock lock(mutex_);
    has_ended_ = true;
    LeavePlaces();
    if (ending == Ending::kCutOff && !is_cut_off_) {
      is_cut_off_ = true;
      group = endpoint_->group;
    }
  }
  if (group != 0) parts_.give_up(group);
  Pump();
}

void Delivery::Pump() {
  std::vector<Beginning> begun;
  Queue back;
  std::optional<messages::ClaimRequest> claim;
  std::shared_ptr<const Endpoint> endpoint;
  std::int64_t again_boot_ms = 0;
  const std::int64_t now_ms = parts_.clock.BootMs();
  {
    const base::Lock lock(mutex_);
    endpoint = endpoint_;
    const bool may_at_all = has_started_ && !has_ended_ && HoldsAt(now_ms);
    const std::int64_t may =
        may_at_all ? circuit_.MayBeUnderWay(endpoint->max_in_flight, now_ms) : 0;
    TakeBeginnings(may, begun);
    if (may == 0) back = std::exchange(queue_, {});
    if (may > 0 && !claiming_) claim = NextClaim(may);
    if (may_at_all && may == 0 && timer_boot_ms_ != circuit_.row().next_ms)
      again_boot_ms = timer_boot_ms_ = circuit_.row().next_ms;
  }
  if (again_boot_ms > 0) PumpAt(again_boot_ms);
  if (!back.empty()) GiveBack(std::move(back));
  if (claim) Claim(*std::move(claim), Asked::kFirst);
  for (const Beginning& one : begun) Begin(one, endpoint);
}

void Delivery::TakeBeginnings(std::int64_t may, std::vector<Beginning>& begun) {
  while (under_way_ < may && !queue_.empty() && parts_.places.Take(under_way_)) {
    begun.push_back({std::move(queue_.front()), circuit_.Begin()});
    queue_.pop_front();
    ++under_way_;
  }
}

void Delivery::LeavePlaces() {
  if (has_ended_ && under_way_ == 0 && !std::exchange(has_left_, true)) parts_.places.Leave();
}

/// While all is well, as many again as are under way, so that a slot which becomes free has its message
/// there; and not for each single one, so that claims are batches. Of sessions only those that may begin.
std::optional<messages::ClaimRequest> Delivery::NextClaim(std::int64_t may) {
  const bool is_ahead =
      circuit_.row().failures == 0 && !(keeps_order_ && !endpoint_->queue().empty());
  const std::int64_t room = (is_ahead ? 2 * may : may) - under_way_ - completing_ -
                            static_cast<std::int64_t>(queue_.size());
  if (room < (is_ahead ? std::max<std::int64_t>(1, may / 2) : 1)) return std::nullopt;
  messages::ClaimRequest request;
  request.tenant = key_.tenant;
  request.topics = {endpoint_->topic};
  request.max = std::min<std::int64_t>(room, messages::kMaxBatch);
  request.owner = parts_.process;
  request.worker = worker_;
  request.claim_id = claiming_ = base::Uuid::V7(parts_.clock.WallMs());
  request.started = 0;  // when this process dies, no message is to blame
  return request;
}

std::int64_t Delivery::WaitOf(Asked asked) const {
  return asked == Asked::kUnfenced ? 0 : kClaimWaitMs;
}

std::vector<base::Fence> Delivery::FencesOf(Asked asked) const {
  if (asked == Asked::kUnfenced) return {};
  const leases::LeaseKey lease = key_.LeaseOf();
  return {{lease.tenant, lease.name, hold().fence}};
}

void Delivery::Claim(messages::ClaimRequest request, Asked asked) {
  if (QueueOf(request.topics.front()).empty()) return ClaimOfTopic(request, asked);
  Accept(request, asked);
}

void Delivery::ClaimOfTopic(const messages::ClaimRequest& request, Asked asked) {
  parts_.messages.ClaimWaiting(
      request, WaitOf(asked), base::Caller(nullptr, FencesOf(asked)),
      [self = shared_from_this(), request, asked](db::Result<messages::ClaimReply> result) {
        if (!result.ok()) return self->Claimed(request, asked, result.fault());
        std::vector<Parcel> parcels;
        for (messages::ClaimedMessage& message : result.value().messages)
          parcels.push_back({std::move(message), {}});
        self->Claimed(request, asked, std::move(parcels));
      });
}

void Delivery::Accept(const messages::ClaimRequest& request, Asked asked) {
  sessions_->Take(
      {.queue = std::string(QueueOf(request.topics.front())),
       .accept_id = *request.claim_id,
       .sessions = request.max,
       .wait_ms = WaitOf(asked),
       .fences = FencesOf(asked)},
      [self = shared_from_this(), request, asked](db::Result<PushedSessions::Taken> result) {
        using Kind = PushedSessions::Taken::Kind;
        if (!result.ok()) return self->Claimed(request, asked, result.fault());
        const Kind kind = result.value().kind;
        {
          const base::Lock lock(self->mutex_);
          self->keeps_order_ = kind != Kind::kUnordered;
        }
        if (kind == Kind::kUnordered) return self->ClaimOfTopic(request, asked);
        if (kind == Kind::kTaken)
          return self->Claimed(request, asked, std::move(result.value().parcels));
        // A bot of that name makes it, some day.
        self->parts_.wake.Wait(std::string(kTimerName), self->parts_.clock.BootMs() + kNoQueueMs,
                               [self, id = *request.claim_id] { self->ForgetClaim(id); });
      });
}

void Delivery::ForgetClaim(const base::Uuid& id) {
  {
    const base::Lock lock(mutex_);
    if (claiming_ == id) claiming_.reset();
  }
  Pump();
}

void Delivery::Claimed(const messages::ClaimRequest& request, Asked asked,
                       db::Result<std::vector<Parcel>> result) {
  if (!result.ok()) {
    const base::FaultKind kind = result.fault().kind();
    if (kind == base::FaultKind::kStopping) return;
    if (kind == base::FaultKind::kFenceStale) {
      End(Ending::kCutOff);
      // Nothing was claimed now, but perhaps before, when the answer was lost: that must go back.
      if (asked == Asked::kAgain) Claim(request, Asked::kUnfenced);
      return;
    }
    // Perhaps it was carried out: the same again, under the same id.
    const Asked next = asked == Asked::kFirst ? Asked::kAgain : asked;
    parts_.wake.Wait(std::string(kTimerName), parts_.clock.BootMs() + kStoreAwayMs,
                     [self = shared_from_this(), request, next] { self->Claim(request, next); });
    return;
  }
  Queue back;
  {
    const base::Lock lock(mutex_);
    const bool is_current = claiming_ == request.claim_id;
    if (is_current) claiming_.reset();
    for (Parcel& message : result.value())
      // Of a worker that was given up since nothing that was claimed is ours any more.
      if (message.turn || request.worker == worker_)
        (is_current ? queue_ : back).push_back(std::make_shared<const Parcel>(std::move(message)));
  }
  if (!back.empty()) GiveBack(std::move(back));
  Pump();
}

void Delivery::Begin(const Beginning& one, const std::shared_ptr<const Endpoint>& endpoint) {
  parts_.probe.Began();
  parts_.deliver(
      *endpoint, *one.message,
      [self = shared_from_this(), message = one.message] {
        return self->IsHeld() && (!message->turn || self->sessions_->IsHeld(*message->turn));
      },
      [self = shared_from_this(), one, endpoint](Delivered delivered) {
        self->Ended(one, endpoint, std::move(delivered));
      });
}

void Delivery::Ended(const Beginning& one, const std::shared_ptr<const Endpoint>& endpoint,
                     Delivered delivered) {
  const std::int64_t now_ms = parts_.clock.BootMs();
  Judgement judgement = Judge(delivered.reply);
  const std::string shown = ShownAnswer(delivered.reply);
  {
    const base::Lock lock(mutex_);
    parts_.places.Give(--under_way_);
    // Without an answer it may be we who ended it.
    if (delivered.reply.status == 0 && (is_cut_off_ || !HoldsAt(now_ms)))
      judgement = {AnswerKind::kDropped, "dropped", 0};
    if (endpoint->url == endpoint_->url) {
      circuit_.End(one.ticket, judgement, now_ms);
      if (judgement.kind != AnswerKind::kDropped && delivered.reply.own_doing == OwnDoing::kNone)
        NoteAnswered(delivered.reply.status != 0);
    }
    // Of an older revision it says nothing of the endpoint that there is now.
    if (judgement.kind == AnswerKind::kDisable && endpoint->revision == endpoint_->revision)
      has_ended_ = true;
    if (judgement.kind != AnswerKind::kDropped) {
      const bool is_done = judgement.kind == AnswerKind::kAcknowledged;
      ++(is_done ? report_.delivered : report_.failed);
      report_.last_status = delivered.reply.status;
      report_.last_error = is_done ? "" : shown;
      report_.has_last = true;
      last_boot_ms_ = now_ms;
      has_news_ = true;
    }
    LeavePlaces();
  }
  parts_.probe.Ended(judgement, delivered.took_ms);
  if (judgement.kind == AnswerKind::kDisable) parts_.disable(*endpoint);
  SettleOne(one.message, judgement.kind, shown);
  Pump();
}

void Delivery::NoteAnswered(bool has_answered) {
  if (endpoint_->has_answered == has_answered) return;
  Endpoint endpoint = *endpoint_;
  endpoint.has_answered = has_answered;
  endpoint_ = std::make_shared<const Endpoint>(std::move(endpoint));
}

void Delivery::SettleOne(const MessagePtr& message, AnswerKind kind, const std::string& shown) {
  const messages::Disposition disposition = DispositionOf(kind);
  if (!message->turn) {
    messages::SettleRequest request;
    request.tenant = key_.tenant;
    request.disposition = disposition;
    request.settlements.push_back(
        {.id = message->id,
         .fence = message->fence,
         .error = disposition == messages::Disposition::kRetry ? shown : ""});
    return Settle(std::move(request));
  }
  if (disposition == messages::Disposition::kUntouched) return sessions_->Release(*message);
  if (disposition == messages::Disposition::kRetry) return sessions_->Fail(*message, shown);
  bool goes_on = false;
  {
    const base::Lock lock(mutex_);
    ++completing_;
    goes_on = !has_ended_ && message->topic == endpoint_->topic;
  }
  sessions_->Complete(*message, goes_on, [self = shared_from_this()](std::optional<Parcel> next) {
    self->GoOn(std::move(next));
  });
}

/// It comes before what was accepted meanwhile: its session has waited already.
void Delivery::GoOn(std::optional<Parcel> next) {
  MessagePtr message = next ? std::make_shared<const Parcel>(*std::move(next)) : nullptr;
  {
    const base::Lock lock(mutex_);
    --completing_;
    if (message && message->topic == endpoint_->topic)
      queue_.push_front(std::exchange(message, nullptr));
  }
  if (message) sessions_->Release(*message);
  Pump();
}

void Delivery::GiveBack(Queue messages) {
  messages::SettleRequest request;
  request.tenant = key_.tenant;
  request.disposition = messages::Disposition::kUntouched;
  for (const MessagePtr& message : messages) {
    if (message->turn)
      sessions_->Release(*message);
    else
      request.settlements.push_back({.id = message->id, .fence = message->fence});
  }
  if (!request.settlements.empty()) Settle(std::move(request));
}

void Delivery::Settle(messages::SettleRequest request) {
  parts_.messages.Settle(
      request, nullptr,
      [self = shared_from_this(), request](const db::Result<messages::SettleResult>& result) {
        if (result.ok() || result.fault().kind() == base::FaultKind::kStopping) return;
        self->parts_.wake.Wait(std::string(kTimerName), self->parts_.clock.BootMs() + kStoreAwayMs,
                               [self, request] { self->Settle(request); });
      });
}

void Delivery::PumpAt(std::int64_t boot_ms) {
  parts_.wake.Wait(std::string(kTimerName), boot_ms, [self = shared_from_this(), boot_ms] {
    {
      const base::Lock lock(self->mutex_);
      if (self->timer_boot_ms_ == boot_ms) self->timer_boot_ms_ = 0;
    }
    self->Pump();
  });
}

std::optional<Report> Delivery::TakeReport() {
  const std::int64_t now_ms = parts_.clock.BootMs();
  const base::Lock lock(mutex_);
  if (!std::exchange(has_news_, false)) return std::nullopt;
  Report report = std::exchange(report_, {});
  report.key = key_;
  report.id = id_;
  report.last_ago_ms = now_ms - last_boot_ms_;
  report.failures = circuit_.row().failures;
  report.next_in_ms = std::max<std::int64_t>(circuit_.row().next_ms - now_ms, 0);
  return report;
}

void Delivery::TakeBack(const Report& report) {
  const base::Lock lock(mutex_);
  report_.delivered += report.delivered;
  report_.failed += report.failed;
  if (!report_.has_last) {
    report_.has_last = report.has_last;
    report_.last_status = report.last_status;
    report_.last_error = report.last_error;
  }
  has_news_ = true;
}

}  // namespace tenure::push
