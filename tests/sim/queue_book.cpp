#include "sim/queue_book.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::sim {

using queues::DeadLetterPolicy;
using queues::DeathReason;
using queues::State;
using Answer = queues::Completed;

std::int64_t QueueBook::head() const {
  const auto first = std::ranges::find(messages_, Fate::kWaiting, &Message::fate);
  return std::distance(messages_.begin(), first) + 1;
}

void QueueBook::Sent(std::int64_t first, const std::vector<std::int64_t>& expires_ms) {
  if (first != next()) Violation(fmt::format("Q1: message {} has the number {}", next(), first));
  for (const std::int64_t each : expires_ms) messages_.push_back({each});
}

/// From the head on, without a gap, nothing that has expired, one alone of what failed before.
void QueueBook::Slice(const std::vector<std::int64_t>& slice, std::int64_t now_ms) {
  std::int64_t expected = head();
  for (const std::int64_t sequence : slice) {
    if (sequence != expected++) Violation("Q1: a slice does not begin at the head, or has a gap");
    if (sequence >= next()) return Violation("Q1: something is handed out that is not there");
    if (IsTooOld(sequence, now_ms)) Violation("an expired message is handed out");
  }
  if (attempts_ > 0 && slice.size() > 1)
    Violation("what may kill its consumer takes others with it");
  if (!slice.empty()) handed_ = std::max(handed_, slice.back());
}

void QueueBook::Granted(const Grant& grant, std::int64_t now_ms) {
  if (grant.fence <= fence_) Violation("Q1: a fence that is not above all before it");
  if (held_) Violation("Q1: two hold the session at once");
  if (!MayBeHadBy(grant.consumer, now_ms)) Violation("somebody got what was not to be had");
  fence_ = grant.fence;
  is_void_ = false;
  held_ = true;
  until_ms_ = grant.until_ms;
  handed_ = head() - 1;
  not_before_ms_ = reserved_until_ms_ = 0;
  Slice(grant.slice, now_ms);
  if (grant.slice.empty()) Violation("a hold without a message");
}

void QueueBook::Finish(std::int64_t through) {
  for (std::int64_t each = head(); each <= through; each = head()) At(each).fate = Fate::kDone;
  attempts_ = 0;
  not_before_ms_ = 0;
  parked_ = must_die_ = rejected_ = false;
}

void QueueBook::Completed(std::int64_t fence, std::int64_t through, Answer answer) {
  const Answer right = fence != fence_ || is_void_ ? Answer::kStale
                       : through < head()          ? Answer::kGone
                       : through > handed_         ? Answer::kOutOfOrder
                                                   : Answer::kDone;
  if (answer != right)
    Violation(fmt::format("Q1: complete {} under {} is answered with {} in place of {}", through,
                          fence, static_cast<int>(answer), static_cast<int>(right)));
  if (answer == Answer::kDone) Finish(through);
}

void QueueBook::WentOn(std::int64_t fence, std::optional<std::int64_t> until_ms,
                       const std::vector<std::int64_t>& slice, std::int64_t now_ms) {
  if (!until_ms) {
    if (fence == fence_) End();
    return;
  }
  if (!held_ || fence != fence_) Violation("Q1: only an accept makes a hold");
  held_ = true;
  until_ms_ = *until_ms;
  Slice(slice, now_ms);
}

void QueueBook::Renewed(std::int64_t fence, std::optional<std::int64_t> until_ms) {
  if (!until_ms) return;
  if (!held_ || fence != fence_) Violation("Q1: a hold that is over was renewed");
  until_ms_ = *until_ms;
}

void QueueBook::CountAttempt() {
  ++attempts_;
  handed_ = head();  // the rest of the slice is void
  must_die_ =
      rejected_ || (rules_.max_delivery_count > 0 && attempts_ >= rules_.max_delivery_count);
  if (!must_die_ || rules_.policy == DeadLetterPolicy::kSkip) return;
  parked_ = true;
  must_die_ = false;
}

void QueueBook::Failed(const queues::Failure& failure, const queues::Failed& answer,
                       std::int64_t now_ms) {
  const bool is_holder = held_ && failure.fence == fence_;
  const bool is_head = failure.sequence == head() && head() <= handed_;
  if ((answer.outcome == Answer::kDone) != (is_holder && is_head))
    Violation(
        "Q1: a failure counts though it does not speak of the head, or does not though it does");
  if (answer.outcome != Answer::kDone) return;
  End();
  rejected_ = failure.rejected;
  CountAttempt();
  if (!parked_ && !must_die_) not_before_ms_ = answer.until_ms;
  if (not_before_ms_ > 0 && not_before_ms_ < now_ms) Violation("a back-off lies in the past");
}

void QueueBook::GivenBack(std::int64_t fence, bool counted, const std::string& reserved_for,
                          std::int64_t reserved_until_ms) {
  if (counted != (held_ && fence == fence_)) Violation("Q1: who gave it back did not hold it");
  if (!counted) return;
  End();
  reserved_for_ = reserved_for;
  reserved_until_ms_ = reserved_until_ms;
}

void QueueBook::LookedAt(std::int64_t now_ms) {
  if (!held_ || until_ms_ > now_ms) return;
  End();
  rejected_ = false;
  if (HasWork() && head() <= handed_) CountAttempt();
}

bool QueueBook::IsTooOld(std::int64_t sequence, std::int64_t now_ms) const {
  const std::int64_t expires_ms = messages_[static_cast<std::size_t>(sequence - 1)].expires_ms;
  return expires_ms > 0 && expires_ms <= now_ms;
}

void QueueBook::Expired(std::int64_t now_ms) {
  if (!HasWork() || !IsTooOld(head(), now_ms)) return Violation("Q4: what is not too old expired");
  handed_ = std::min(handed_, head());
  parked_ = rules_.policy != DeadLetterPolicy::kSkip;
}

void QueueBook::Broken(bool counted) {
  if (counted != held_) Violation("a hold that is there was not broken, or one that is not was");
  if (!counted) return;
  End();
  is_void_ = true;
}

/// It goes on at this very message, which never expires again.
void QueueBook::LiftTtl() {
  for (Message& each : messages_)
    if (each.fate == Fate::kWaiting) each.expires_ms = 0;
}

void QueueBook::Resumed(bool counted) {
  if (counted != parked_) Violation("a parked session was not resumed, or another one was");
  if (!counted) return;
  parked_ = false;
  attempts_ = not_before_ms_ = 0;
  LiftTtl();
}

void QueueBook::Skipped(bool counted) {
  if (counted && held_) Violation("a message was skipped that somebody has");
  skipped_ = counted;
}

void QueueBook::Discarded(bool counted) {
  if (counted && held_) Violation("messages were discarded that somebody has");
  if (!counted) return;
  for (Message& each : messages_)
    if (each.fate == Fate::kWaiting) each.fate = Fate::kDiscarded;
  parked_ = false;
  attempts_ = not_before_ms_ = 0;
}

void QueueBook::Rewound(std::int64_t sequence) {
  if (held_) Violation("a session was rewound that somebody has");
  for (std::int64_t each = sequence; each < next(); ++each) {
    if (At(each).fate == Fate::kDone || At(each).fate == Fate::kDiscarded)
      Violation("the order is lost");
    At(each).fate = Fate::kWaiting;
  }
  parked_ = false;
  is_void_ = true;
  attempts_ = not_before_ms_ = 0;
  LiftTtl();
}

void QueueBook::Died(const queues::Death& death, std::int64_t now_ms) {
  if (death.sequence != head()) return Violation("Q4: another message than the head died");
  const bool is_right = death.reason == DeathReason::kTtl        ? IsTooOld(death.sequence, now_ms)
                        : death.reason == DeathReason::kSkipped  ? skipped_
                        : death.reason == DeathReason::kRejected ? must_die_ && rejected_
                                                                 : must_die_ && !rejected_;
  if (!is_right) Violation(fmt::format("Q4: message {} died of nothing", death.sequence));
  At(death.sequence).fate = Fate::kDead;
  attempts_ = not_before_ms_ = 0;
  parked_ = must_die_ = rejected_ = skipped_ = false;
}

void QueueBook::Compare(const queues::SessionRow& row, bool pending) {
  if (must_die_) Violation("Q4: what is at its budget did not die");
  must_die_ = false;
  if (row.next != next()) Violation("Q1: `next` is not one more than the last message");
  if (row.head > head()) Violation("Q4: the head moved, and nobody knows of it");
  if (row.head < head() && !pending) Violation("Q4: what has ended is to be handed out again");
  if (is_void_ ? row.fence < fence_ || (fence_ > 0 && row.fence == fence_) : row.fence != fence_)
    Violation("Q1: the fence is not what the last holder was given, or counts though it is void");
  if ((row.state == State::kHeld) != held_)
    Violation("Q1: held, and nobody holds it, or the reverse");
  if (pending) return;
  if ((row.state == State::kParked) != parked_)
    Violation("Q4: parked, and should not be, or the reverse");
  if (HasWork() && row.attempts != attempts_) Violation("attempts are not those that were made");
  const bool waits = row.state == State::kReady;
  if (waits != (HasWork() && !held_ && !parked_))
    Violation("Q4: it is not ready though it has messages, or ready without any");
  if (waits && row.position == 0 && row.due_ms == 0)
    Violation("Q4: it has no place in line, and nobody will look");
  if (!waits && row.position != 0) Violation("it stands in line, and cannot be had");
  if (held_ && (row.due_ms == 0 || row.due_ms > row.lease_until_ms))
    Violation("Q4: nobody will look when its deadline is over");
}

}  // namespace tenure::sim
