#include "queues/session.hpp"

#include <algorithm>
#include <functional>

namespace tenure::queues {
namespace {

/// Fences of incarnation i start at i x 2^40; those of the first one at 1.
constexpr int kIncarnationBits = 40;

std::int64_t FirstFenceOf(std::int64_t incarnation) {
  return incarnation > 1 ? incarnation << kIncarnationBits : 0;
}

/// Evenly spread bits of a failure's own identity: a batch that is run again decides the same.
std::uint64_t SpreadOf(const base::Uuid& id, std::int64_t head, std::int64_t attempts) {
  std::uint64_t bits =
      std::hash<base::Uuid>()(id) + static_cast<std::uint64_t>(head * 1'000 + attempts);
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31);
}

}  // namespace

std::string_view ToText(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kReady:
      return "ready";
    case State::kHeld:
      return "held";
    case State::kParked:
      return "parked";
  }
  return "idle";
}

std::string_view ToText(End end) {
  switch (end) {
    case End::kNone:
      return "";
    case End::kDrained:
      return "drained";
    case End::kTurn:
      return "turn";
    case End::kMaxDuration:
      return "max_duration";
    case End::kReleased:
      return "released";
    case End::kTransferred:
      return "transferred";
    case End::kAbandoned:
      return "abandoned";
    case End::kDead:
      return "dead";
    case End::kExpired:
      return "timeout";
    case End::kBroken:
      return "broken";
  }
  return "";
}

Session::Session(SessionRow row, const QueueRow& queue, std::int64_t now_ms)
    : row_(std::move(row)), queue_(queue), now_ms_(now_ms) {
  if (row_.next == 0) {  // new, or back after it was tidied away
    row_.next = row_.head = std::max<std::int64_t>(1, queue.floor_sequence);
    row_.fence = queue.floor_fence;
    row_.created_ms = row_.activity_ms = now_ms;
    changed_ = true;
  }
  old_ = row_;
}

bool Session::Apply(const Mark& mark) {
  return mark.sequence <= row_.handed && Complete(mark.fence, mark.sequence) == Completed::kDone;
}

void Session::Describe(std::string_view name, std::string_view entity) {
  if (name.empty() || (row_.name == name && row_.entity == entity)) return;
  row_.name = name;
  row_.entity = entity;
  changed_ = true;
}

std::int64_t Session::Put(std::int64_t count) {
  const std::int64_t first = row_.next;
  const bool was_drained = !row_.HasWork();
  row_.next += count;
  row_.activity_ms = now_ms_;
  changed_ = true;
  if (row_.state == State::kIdle) {
    Wait();
  } else if (row_.state == State::kHeld && was_drained) {
    // Its holder may be dead, and then somebody else must learn its deadline.
    tells_session_ = tells_queue_ = true;
  } else if (row_.state == State::kReady) {
    tells_queue_ = true;  // an accept may have passed over it because it was locked
  }
  return first;
}

/// No hold (any more): ready, or waiting for its time, or idle.
void Session::Wait() {
  changed_ = true;
  const std::int64_t place = row_.state == State::kReady ? row_.position : 0;
  row_.state = row_.HasWork() ? State::kReady : State::kIdle;
  row_.position = row_.due_ms = 0;
  if (row_.not_before_ms <= now_ms_) row_.not_before_ms = 0;
  if (row_.reserved_until_ms <= now_ms_) {
    row_.reserved_until_ms = 0;
    row_.reserved_for.clear();
  }
  if (!row_.HasWork()) {
    row_.not_before_ms = 0;
    return;
  }
  tells_queue_ = true;
  row_.due_ms = std::max(row_.not_before_ms, row_.reserved_until_ms);
  if (row_.due_ms == 0) row_.position = place != 0 ? place : kNewPlace;
}

void Session::EndHold(End end) {
  row_.consumer.clear();
  row_.accept_id.reset();
  row_.lease_until_ms = 0;
  row_.ended = end;
  row_.activity_ms = now_ms_;
  Wait();
  tells_queue_ = true;  // a place under the cap is free, even if nothing is left here
}

void Session::Unpark() {
  row_.parked_ms = 0;
  row_.reason = DeathReason::kNone;
}

bool Session::IsReadyFor(std::string_view consumer) const {
  if (row_.state != State::kReady || !row_.HasWork() || row_.not_before_ms > now_ms_) return false;
  return row_.reserved_until_ms <= now_ms_ || row_.reserved_for == consumer;
}

void Session::ComeDue() {
  if (row_.due_ms == 0 || row_.due_ms > now_ms_) return;
  if (row_.state == State::kReady) {
    Wait();
  } else if (row_.state != State::kHeld) {
    row_.due_ms = 0;
    changed_ = true;
  } else if (row_.lease_until_ms > now_ms_) {
    row_.due_ms = row_.lease_until_ms;  // reports restart the lease, and do not touch this
    changed_ = true;
  } else if (row_.HasWork() && row_.head <= row_.handed) {
    row_.error = "the lease ended without a word";
    row_.error_class = row_.error;
    if (FailHead(DeathReason::kMaxDeliveryCount, false)) EndHold(End::kExpired);
    row_.ended = End::kExpired;
  } else {
    EndHold(End::kExpired);
  }
}

bool Session::ExpireHead(std::int64_t expires_ms) {
  if (expires_ms == 0 || expires_ms > now_ms_ || row_.head < row_.ttl_free) return false;
  row_.error = "expired";
  row_.error_class = "expired";
  Die(DeathReason::kTtl);
  return true;
}

std::int64_t Session::FrozenUntilMs(const Limits& limits) const {
  if (limits.frozen_ms == 0 || row_.fence >= FirstFenceOf(limits.incarnation)) return 0;
  const std::int64_t until_ms = limits.frozen_ms + std::max(limits.freeze_ms, row_.lease_ms);
  return until_ms > now_ms_ ? until_ms : 0;
}

void Session::Accept(const Claim& claim, const Limits& limits) {
  row_.fence = std::max({row_.fence, queue_.floor_fence, FirstFenceOf(limits.incarnation)}) + 1;
  row_.state = State::kHeld;
  row_.consumer = claim.consumer;
  row_.accept_id = claim.accept_id;
  row_.lease_ms = std::clamp(claim.lease_ms, kMinLeaseMs, queue_.most_lease_ms());
  row_.due_ms = row_.lease_until_ms = now_ms_ + row_.lease_ms;
  row_.position = 0;
  row_.not_before_ms = row_.reserved_until_ms = 0;
  row_.reserved_for.clear();
  row_.turn_ms = row_.activity_ms = now_ms_;
  row_.turn_count = 0;
  row_.handed = row_.head - 1;
  row_.ended = End::kNone;
  changed_ = true;
}

std::int64_t Session::SliceLimit(std::int64_t most) const {
  if (row_.attempts > 0) return 1;  // what may kill its consumer takes nobody with it
  const std::int64_t left =
      queue_.settings.max_messages > 0 ? queue_.settings.max_messages - row_.turn_count : kMaxSlice;
  return std::clamp<std::int64_t>(std::min(most, left), 1, kMaxSlice);
}

void Session::HandOut(std::int64_t through) {
  row_.handed = std::max(row_.handed, through);
  changed_ = true;
}

bool Session::IsHeldBy(std::int64_t fence) const {
  return row_.state == State::kHeld && row_.fence == fence;
}

Completed Session::Complete(std::int64_t fence, std::int64_t through) {
  if (fence != row_.fence || fence <= 0) return Completed::kStale;
  if (through < row_.head) return Completed::kGone;
  if (through > row_.handed || through >= row_.next) return Completed::kOutOfOrder;
  completed_ += through + 1 - row_.head;
  row_.turn_count += through + 1 - row_.head;
  row_.head = through + 1;
  row_.attempts = 0;
  row_.not_before_ms = 0;
  row_.error.clear();
  row_.error_class.clear();
  row_.activity_ms = now_ms_;
  changed_ = true;
  if (row_.state == State::kHeld) return Completed::kDone;
  Unpark();
  Wait();
  return Completed::kDone;
}

Hold Session::GoOn(std::int64_t fence, bool keep, bool linger) {
  if (!IsHeldBy(fence)) return Hold::kEnded;
  const bool too_long = queue_.settings.max_duration_ms > 0 &&
                        now_ms_ - row_.turn_ms >= queue_.settings.max_duration_ms;
  const bool too_many =
      queue_.settings.max_messages > 0 && row_.turn_count >= queue_.settings.max_messages;
  changed_ = true;
  if (row_.HasWork() && keep && !too_long && !too_many) {
    row_.lease_until_ms = now_ms_ + row_.lease_ms;
    return Hold::kHeld;
  }
  if (!row_.HasWork() && linger && !too_long && queue_.settings.max_concurrent_sessions == 0) {
    row_.lease_until_ms = now_ms_ + std::min(row_.lease_ms, queue_.settings.idle_timeout_ms);
    row_.due_ms = std::min(row_.due_ms, row_.lease_until_ms);
    return Hold::kHeld;
  }
  const Hold hold = !row_.HasWork() ? Hold::kDrained
                    : too_long      ? Hold::kMaxDuration
                    : too_many      ? Hold::kTurn
                                    : Hold::kEnded;
  EndHold(hold == Hold::kDrained       ? End::kDrained
          : hold == Hold::kMaxDuration ? End::kMaxDuration
          : hold == Hold::kTurn        ? End::kTurn
                                       : End::kReleased);
  return hold;
}

Lost Session::WhyLost(std::int64_t fence) const {
  if (fence != row_.fence)
    return fence == row_.fence - 1 && row_.ended == End::kBroken ? Lost::kBroken : Lost::kTakenOver;
  return row_.ended == End::kExpired ? Lost::kExpired : Lost::kReleased;
}

Lost Session::Renew(std::int64_t fence, std::int64_t lease_ms) {
  if (!IsHeldBy(fence)) return WhyLost(fence);
  if (queue_.settings.max_duration_ms > 0 &&
      now_ms_ - row_.turn_ms >= queue_.settings.max_duration_ms)
    return Lost::kTooLong;  // it is held until its deadline, and no longer
  if (lease_ms > 0) row_.lease_ms = std::clamp(lease_ms, kMinLeaseMs, queue_.most_lease_ms());
  row_.lease_until_ms = now_ms_ + row_.lease_ms;
  // A shorter one may come before what was noted; a longer one is found by whoever looks then.
  row_.due_ms = std::min(row_.due_ms, row_.lease_until_ms);
  changed_ = true;
  return Lost::kHeld;
}

Failed Session::Fail(const Failure& failure) {
  if (!IsHeldBy(failure.fence)) return {Completed::kStale};
  if (failure.sequence < row_.head) return {Completed::kGone};
  if (failure.sequence > row_.head || row_.head > row_.handed) return {Completed::kOutOfOrder};
  row_.error = failure.error;
  row_.error_class =
      failure.error_class.empty() ? ErrorClassOf(failure.error) : failure.error_class;
  const DeathReason reason =
      failure.rejected ? DeathReason::kRejected : DeathReason::kMaxDeliveryCount;
  if (!FailHead(reason, failure.rejected)) return {Completed::kDone, then_};
  const std::int64_t until_ms = now_ms_ + failure.retry_after_ms.value_or(BackoffMs());
  row_.not_before_ms = until_ms;
  EndHold(End::kAbandoned);
  return {Completed::kDone, Then::kBackoff, until_ms};
}

/// One more attempt of the head came to nothing. True: it may be tried again.
bool Session::FailHead(DeathReason at_budget, bool at_once) {
  ++row_.attempts;
  row_.handed = row_.head;
  const std::int64_t most = queue_.settings.max_delivery_count;
  if (!at_once && (most <= 0 || row_.attempts < most)) return true;
  Die(at_budget);
  return false;
}

/// By policy. REQUIRES: there is a head.
void Session::Die(DeathReason reason) {
  row_.not_before_ms = 0;
  // The rest of the slice is void. What died of its age may never have been handed out.
  row_.handed = std::min(row_.handed, row_.head);
  if (queue_.settings.on_dead_letter == DeadLetterPolicy::kSkip) {
    deaths_.push_back({row_.head, row_.attempts, reason, row_.error, row_.error_class});
    ++row_.head;
    row_.attempts = 0;
    row_.error.clear();
    row_.error_class.clear();
    then_ = Then::kSkipped;
    return EndHold(End::kDead);
  }
  pauses_queue_ = queue_.settings.on_dead_letter == DeadLetterPolicy::kStop;
  then_ = pauses_queue_ ? Then::kStopped : Then::kParked;
  EndHold(End::kDead);
  row_.state = State::kParked;
  row_.position = row_.due_ms = 0;
  row_.parked_ms = now_ms_;
  row_.reason = reason;
}

std::int64_t Session::BackoffMs() const {
  const std::int64_t most_ms =
      std::clamp<std::int64_t>(queue_.settings.backoff_max_ms, 0, kMaxRetryMs);
  std::int64_t full_ms = std::clamp<std::int64_t>(queue_.settings.backoff_ms, 0, most_ms);
  for (std::int64_t i = 1; i < row_.attempts && full_ms > 0 && full_ms < most_ms; ++i)
    full_ms = std::min(full_ms * 2, most_ms);
  const std::int64_t half_ms = full_ms / 2;
  const auto spread = static_cast<std::uint64_t>(full_ms - half_ms + 1);
  return half_ms + static_cast<std::int64_t>(SpreadOf(row_.id, row_.head, row_.attempts) % spread);
}

bool Session::Release(std::int64_t fence) {
  if (!IsHeldBy(fence)) return false;
  EndHold(End::kReleased);
  return true;
}

bool Session::Transfer(std::int64_t fence, std::string_view to, std::int64_t for_ms) {
  if (!IsHeldBy(fence)) return false;
  row_.reserved_for = to;
  row_.reserved_until_ms = now_ms_ + for_ms;
  EndHold(End::kTransferred);
  return true;
}

bool Session::Break() {
  if (row_.state != State::kHeld) return false;
  ++row_.fence;
  row_.handed = row_.head - 1;  // nobody has this fence
  EndHold(End::kBroken);
  return true;
}

bool Session::Resume(std::int64_t at_ms) {
  if (row_.state != State::kParked) return false;
  Unpark();
  row_.not_before_ms = at_ms;
  row_.attempts = 0;
  row_.ttl_free = row_.next;  // else each of them would park it again
  row_.activity_ms = now_ms_;
  Wait();
  return true;
}

bool Session::Skip(std::int64_t sequence, std::string_view reason) {
  if (row_.state == State::kHeld || !row_.HasWork() || sequence != row_.head) return false;
  deaths_.push_back({row_.head, row_.attempts, DeathReason::kSkipped,
                     row_.error.empty() ? std::string(reason) : row_.error,
                     row_.error.empty() ? ErrorClassOf(reason) : row_.error_class});
  ++row_.head;
  row_.attempts = 0;
  row_.not_before_ms = 0;
  row_.error.clear();
  row_.error_class.clear();
  row_.activity_ms = now_ms_;
  Unpark();
  Wait();
  return true;
}

bool Session::Discard() {
  if (row_.state == State::kHeld || !row_.HasWork()) return false;
  row_.head = row_.next;
  row_.attempts = 0;
  row_.error.clear();
  row_.error_class.clear();
  row_.activity_ms = now_ms_;
  Unpark();
  Wait();
  return true;
}

bool Session::Drop() {
  if (row_.state == State::kHeld || !row_.HasWork()) return false;
  for (std::int64_t sequence = row_.head; sequence < row_.next; ++sequence)
    deaths_.push_back({sequence, sequence == row_.head ? row_.attempts : 0, DeathReason::kDropped,
                       "the queue was dropped", ErrorClassOf("the queue was dropped")});
  return Discard();
}

bool Session::Clear() {
  const bool was_held = Break();
  return Discard() || was_held;
}

bool Session::Rewind(std::int64_t sequence) {
  if (row_.state == State::kHeld) return false;
  ++row_.fence;
  row_.head = sequence;
  row_.handed = row_.head - 1;  // nobody has this fence
  row_.attempts = 0;
  row_.not_before_ms = 0;
  row_.error.clear();
  row_.error_class.clear();
  row_.ttl_free = row_.next;  // else what died of its age would die again
  row_.activity_ms = now_ms_;
  Unpark();
  Wait();
  return true;
}

}  // namespace tenure::queues
