#include "sim/queue_run.hpp"

#include <utility>

#include <fmt/format.h>

namespace tenure::sim {
namespace {

using queues::Session;
using queues::SessionRow;
using queues::State;

constexpr std::int64_t kQueueLeaseMs = 2'000;
constexpr int kQueueSteps = 80;
constexpr std::int64_t kNobodyLooks = std::int64_t{1} << 60;

}  // namespace

void QueueRun::Counters::Add(const SessionRow& row, std::int64_t sign) {
  messages += sign * row.depth();
  ready += row.state == State::kReady ? sign : 0;
  held += row.state == State::kHeld ? sign : 0;
  parked += row.state == State::kParked ? sign : 0;
}

std::string QueueRun::Run(std::uint64_t seed) {
  Begin(seed);
  for (int step = 0; step < kQueueSteps && violations_.empty(); ++step) {
    Step();
    Check();
  }
  if (violations_.empty()) Settle();
  return violations_.empty() ? "" : fmt::format("seed {}:\n{}{}", seed, trace_, violations_);
}

void QueueRun::Begin(std::uint64_t seed) {
  random_.seed(seed * 7919 + 17);
  trace_.clear();
  violations_.clear();
  now_ms_ = 1'000'000;
  queue_ = {};
  queue_.id = 1;
  queues::QueueSettings& settings = queue_.settings;
  settings.max_concurrent_sessions = static_cast<std::int64_t>(Random(3));
  settings.session_timeout_ms = kQueueLeaseMs;
  settings.idle_timeout_ms = 1'000;
  settings.max_duration_ms = 10'000;
  settings.max_messages = static_cast<std::int64_t>(Random(6));
  settings.max_delivery_count = static_cast<std::int64_t>(Random(4));
  settings.backoff_ms = Chance(50) ? 500 : 0;
  settings.on_dead_letter = static_cast<queues::DeadLetterPolicy>(Random(3));
  rules_ = {settings.max_delivery_count, settings.on_dead_letter};
  sessions_.clear();
  for (std::uint8_t i = 1; i <= 3; ++i) {
    sessions_.emplace_back(rules_, violations_);
    sessions_.back().row.id.bytes[15] = i;
    sessions_.back().row.queue = queue_.id;
  }
  counters_ = {};
  holders_.clear();
  place_ = 0;
  asleep_until_ms_ = kNobodyLooks;
}

void QueueRun::Step() {
  const auto roll = Random(100);
  if (roll < 22) return Send();
  if (roll < 44) return Accept(Chance(50) ? "ann" : "ben");
  if (roll < 62) return Complete();
  if (roll < 67) return CompleteAsUser();
  if (roll < 76) return Fail();
  if (roll < 81) return GiveBack();
  if (roll < 84) return Renew();
  if (roll < 92) return Operate();
  now_ms_ += static_cast<std::int64_t>(Chance(30) ? 2'500 : Random(600));
}

/// The row under its lock, or what was read of it before.
SessionRow QueueRun::Seen(Stored& stored) const {
  SessionRow row = stored.row;
  const std::int64_t before = std::exchange(stored.next_before, 0);
  if (flaw_ == QueueFlaw::kDecidedBeforeTheLock && row.state == State::kHeld && before > row.handed)
    row.next = before;
  return row;
}

/// The row as it is written, with the flaw in it.
SessionRow QueueRun::Flawed(const Stored& stored, const Session& session) {
  SessionRow row = session.row();
  const SessionRow& old = stored.row;
  switch (flaw_) {
    case QueueFlaw::kSliceOutlivesAbandon:
      if (row.attempts > old.attempts) row.handed = old.handed;
      break;
    case QueueFlaw::kCompleteHolds:
      if (session.completed() > 0 && old.state == State::kReady && row.state == State::kReady) {
        row.state = State::kHeld;
        row.position = 0;
        row.due_ms = row.lease_until_ms = now_ms_ + kQueueLeaseMs;
      }
      break;
    case QueueFlaw::kResumeMovesTheHead:
      if (old.state == State::kParked && row.state == State::kReady && row.head == old.head &&
          row.head + 1 < row.next)
        ++row.head;
      break;
    case QueueFlaw::kRewindKeepsTheFence:
      if (row.head < old.head) --row.fence;
      break;
    case QueueFlaw::kBreakKeepsTheFence:
      if (row.ended == queues::End::kBroken && old.state == State::kHeld) {
        --row.fence;
        row.handed = old.handed;
      }
      break;
    case QueueFlaw::kDecidedBeforeTheLock:
      row.next = std::max(row.next, old.next);
      break;
    default:
      break;
  }
  return row;
}

void QueueRun::Write(Stored& stored, const Session& session) {
  SessionRow row = Flawed(stored, session);
  if (row.position == queues::kNewPlace) row.position = ++place_;
  for (const queues::Death& death : session.deaths())
    if (flaw_ != QueueFlaw::kExpiredHeadSkipped || death.reason != queues::DeathReason::kTtl)
      stored.book.Died(death, now_ms_);
  // What stands in the store of a session that nobody sent to is nothing.
  if (stored.row.next > 0) counters_.Add(stored.row, -1);
  const bool was_parked = stored.row.state == State::kParked;
  stored.row = std::move(row);
  counters_.Add(stored.row, 1);
  if (flaw_ == QueueFlaw::kCountersForgetParked && was_parked && stored.row.state == State::kReady)
    ++counters_.parked;
  if (session.pauses_queue()) queue_.paused_ms = now_ms_;
  const bool wakes = flaw_ != QueueFlaw::kEndWakesNobody || stored.row.HasWork();
  if (session.tells_queue() && wakes) asleep_until_ms_.reset();
}

void QueueRun::Check() {
  Counters recount;
  for (Stored& each : sessions_) {
    if (each.row.next == 0) continue;
    recount.Add(each.row, 1);
    const bool pending =
        each.mark && each.mark->fence == each.row.fence && each.mark->sequence >= each.row.head;
    each.book.Compare(each.row, pending);
  }
  if (recount != counters_) Violation("Q3: the counters are not what a recount says");
  const std::int64_t cap = queue_.settings.max_concurrent_sessions;
  if (cap > 0 && recount.held > cap) Violation("Q3: more holds than the cap allows");
  CheckSleeper();
}

/// Whoever found nothing sleeps until somebody tells it, or until the time that it was told.
void QueueRun::CheckSleeper() {
  if (!asleep_until_ms_) return;
  if (*asleep_until_ms_ <= now_ms_) {
    asleep_until_ms_.reset();
    return;
  }
  const std::int64_t cap = queue_.settings.max_concurrent_sessions;
  if (queue_.paused() || (cap > 0 && counters_.held >= cap)) return;
  for (const Stored& each : sessions_)
    if (each.row.position > 0 && each.book.MayBeHadBy("somebody", now_ms_))
      Violation("Q4: a session may be had, and who waits for one was not woken");
}

void QueueRun::Send() {
  Stored& stored = Any();
  const auto count = 1 + static_cast<std::int64_t>(Random(3));
  const std::int64_t read_before = stored.row.next;
  Touch(stored, [&](Session& session) {
    std::vector<std::int64_t> expires_ms;
    for (std::int64_t i = 0; i < count; ++i)
      expires_ms.push_back(Chance(10) ? now_ms_ + 1 + static_cast<std::int64_t>(Random(2'000)) : 0);
    const std::int64_t first = session.Put(count);
    stored.expires_ms.insert(stored.expires_ms.end(), expires_ms.begin(), expires_ms.end());
    stored.book.Sent(first, expires_ms);
    Trace("{} gets {} from {} on", stored.row.id.bytes[15], count, first);
  });
  stored.next_before = read_before;
}

/// From the head on, as many as are asked for, none that is too old.
std::vector<std::int64_t> QueueRun::HandOut(const Stored& stored, Session& session) {
  std::vector<std::int64_t> slice;
  const SessionRow& row = session.row();
  const std::int64_t most = session.SliceLimit(1 + static_cast<std::int64_t>(Random(4)));
  for (std::int64_t each = row.head; each < row.next && std::ssize(slice) < most; ++each) {
    const std::int64_t expires_ms = stored.expires_ms[static_cast<std::size_t>(each - 1)];
    if (expires_ms > 0 && expires_ms <= now_ms_ && each >= row.ttl_free) break;
    slice.push_back(each);
  }
  if (!slice.empty()) session.HandOut(slice.back());
  handed_ += std::ssize(slice);
  return slice;
}

void QueueRun::LookAtDue() {
  for (Stored& each : sessions_)
    if (each.row.due_ms > 0 && each.row.due_ms <= now_ms_)
      Touch(each, [&](Session& session) {
        each.book.LookedAt(now_ms_);
        session.ComeDue();
        Trace("{} came due: {}", each.row.id.bytes[15], ToText(session.row().state));
      });
}

bool QueueRun::Grant(Stored& stored, const std::string& consumer) {
  bool granted = false;
  Touch(stored, [&](Session& session) {
    while (session.IsReadyFor(consumer)) {
      const auto head = static_cast<std::size_t>(session.row().head - 1);
      if (!session.ExpireHead(stored.expires_ms[head])) break;
      Trace("{} has a head that is too old", stored.row.id.bytes[15]);
      if (flaw_ == QueueFlaw::kExpiredHeadSkipped) continue;
      stored.book.Expired(now_ms_);
      // What dies in one transaction is told to the judge one after another.
      if (session.deaths().size() > 0) return;
    }
    if (!session.IsReadyFor(consumer)) return;
    session.Accept({consumer, kQueueLeaseMs, {}}, {});
    const auto slice = HandOut(stored, session);
    const SessionRow& row = session.row();
    stored.book.Granted({row.fence, consumer, row.lease_until_ms, slice}, now_ms_);
    Trace("{} is {}'s, fence {}, {} messages from {} on", row.id.bytes[15], consumer, row.fence,
          slice.size(), row.head);
    if (!slice.empty())
      holders_.push_back({static_cast<std::size_t>(row.id.bytes[15] - 1), row.fence, slice.back()});
    granted = true;
  });
  return granted;
}

void QueueRun::Accept(const std::string& consumer) {
  LookAtDue();
  if (queue_.paused()) return;
  const std::int64_t cap = queue_.settings.max_concurrent_sessions;
  std::vector<Stored*> line;
  for (Stored& each : sessions_)
    if (each.row.position > 0 || each.row.reserved_for == consumer) line.push_back(&each);
  std::ranges::sort(line, {}, [](const Stored* each) { return each->row.position; });
  bool granted = false;
  for (Stored* each : line)
    if (!granted && (cap == 0 || counters_.held < cap)) granted = Grant(*each, consumer);
  const bool is_full = cap > 0 && counters_.held >= cap;
  if (granted || (!line.empty() && !is_full)) return;
  // It found nothing: it sleeps until somebody tells it, or until a time that it knows.
  std::int64_t next_ms = kNobodyLooks;
  for (const Stored& each : sessions_)
    if (each.row.due_ms > 0) next_ms = std::min(next_ms, each.row.due_ms);
  asleep_until_ms_ = next_ms;
}

std::optional<QueueRun::Holder> QueueRun::AnyHolder() {
  if (holders_.empty()) return std::nullopt;
  return holders_[holders_.size() - 1 - Random(std::min<std::size_t>(holders_.size(), 5))];
}

void QueueRun::Complete() {
  const auto holder = AnyHolder();
  if (!holder) return;
  Stored& stored = sessions_[holder->session];
  const std::int64_t through = std::max<std::int64_t>(
      1, Chance(80) ? holder->last - static_cast<std::int64_t>(Random(2)) : holder->last + 1);
  Touch(stored, [&](Session& session) {
    const std::int64_t fence =
        flaw_ == QueueFlaw::kCompleteByAnyFence ? session.row().fence : holder->fence;
    const queues::Completed answer = session.Complete(fence, through);
    Trace("{}: complete {} under {}: {}", stored.row.id.bytes[15], through, holder->fence,
          static_cast<int>(answer));
    stored.book.Completed(holder->fence, through, answer);
    if (answer != queues::Completed::kDone && answer != queues::Completed::kGone) return;
    std::vector<std::int64_t> slice;
    bool goes_on = session.GoOn(fence, Chance(70), Chance(40)) == queues::Hold::kHeld;
    if (goes_on && session.row().HasWork()) {
      slice = HandOut(stored, session);
      if (slice.empty()) {  // its head is too old
        session.Release(fence);
        goes_on = false;
      } else {
        holders_.push_back({holder->session, fence, slice.back()});
      }
    }
    stored.book.WentOn(holder->fence,
                       goes_on ? std::optional(session.row().lease_until_ms) : std::nullopt, slice,
                       now_ms_);
  });
}

/// tenure.queue_complete: compared at its COMMIT, and put down as a mark.
void QueueRun::CompleteAsUser() {
  const auto holder = AnyHolder();
  if (!holder) return;
  Stored& stored = sessions_[holder->session];
  const SessionRow& row = stored.row;
  const std::int64_t marked =
      stored.mark && stored.mark->fence == holder->fence ? stored.mark->sequence : 0;
  if (row.fence != holder->fence || holder->last > row.handed || holder->last < row.head ||
      holder->last <= marked)
    return;
  stored.mark = {holder->fence, holder->last};
  stored.book.Completed(holder->fence, holder->last, queues::Completed::kDone);
  Trace("{}: a user's transaction completes {} under {}", row.id.bytes[15], holder->last,
        holder->fence);
}

void QueueRun::Fail() {
  const auto holder = AnyHolder();
  if (!holder) return;
  Stored& stored = sessions_[holder->session];
  Touch(stored, [&](Session& session) {
    const queues::Failure failure{.fence = holder->fence,
                                  .sequence = Chance(85) ? session.row().head : holder->last,
                                  .rejected = Chance(20),
                                  .error = "no",
                                  .error_class = "",
                                  .retry_after_ms = std::nullopt};
    const queues::Failed answer = session.Fail(failure);
    Trace("{}: {} fails under {}: {}", stored.row.id.bytes[15], failure.sequence, failure.fence,
          static_cast<int>(answer.outcome));
    stored.book.Failed(failure, answer, now_ms_);
  });
}

void QueueRun::GiveBack() {
  const auto holder = AnyHolder();
  if (!holder) return;
  Stored& stored = sessions_[holder->session];
  const bool transfers = Chance(50);
  Touch(stored, [&](Session& session) {
    const std::string to = transfers ? "ann" : "";
    const bool counted =
        transfers ? session.Transfer(holder->fence, to, 1'000) : session.Release(holder->fence);
    Trace("{}: given back under {}: {}", stored.row.id.bytes[15], holder->fence, counted);
    stored.book.GivenBack(holder->fence, counted, to, transfers ? now_ms_ + 1'000 : 0);
  });
}

void QueueRun::Renew() {
  const auto holder = AnyHolder();
  if (!holder) return;
  Stored& stored = sessions_[holder->session];
  Touch(stored, [&](Session& session) {
    const bool held = session.Renew(holder->fence, Chance(50) ? 1'000 : 0) == queues::Lost::kHeld;
    Trace("{}: renewed under {}: {}", stored.row.id.bytes[15], holder->fence, held);
    stored.book.Renewed(holder->fence,
                        held ? std::optional(session.row().lease_until_ms) : std::nullopt);
  });
}

void QueueRun::Resume(Stored& stored) {
  Touch(stored, [&](Session& session) {
    const bool counted = session.Resume();
    Trace("{}: resumed: {}", stored.row.id.bytes[15], counted);
    stored.book.Resumed(counted);
  });
}

/// Over dead letters only, as a report of it looks (queues/report.cpp).
void QueueRun::Rewind(Stored& stored) {
  if (stored.row.state == State::kHeld) return;
  std::int64_t from = stored.book.head();
  if (from != stored.row.head) return;  // a user's completion is not in the row yet
  while (from > 1 && stored.book.fate(from - 1) == QueueBook::Fate::kDead) --from;
  if (from == stored.row.head) return;
  Touch(stored, [&](Session& session) {
    if (!session.Rewind(from)) return;
    Trace("{}: rewound to {}", stored.row.id.bytes[15], from);
    stored.book.Rewound(from);
  });
}

void QueueRun::Operate() {
  Stored& stored = Any();
  if (stored.row.next == 0) return;
  const auto roll = Random(100);
  if (queue_.paused() && Chance(60)) {
    queue_.paused_ms = 0;
    asleep_until_ms_.reset();  // all waiters are told
    return Trace("the queue goes on");
  }
  if (roll < 35) return Resume(stored);
  if (roll < 60) return Rewind(stored);
  Touch(stored, [&](Session& session) {
    if (roll < 75) {
      const bool counted = session.Break();
      Trace("{}: broken: {}", stored.row.id.bytes[15], counted);
      stored.book.Broken(counted);
    } else if (roll < 90) {
      const bool counted = session.Skip(session.row().head, "why");
      Trace("{}: skipped: {}", stored.row.id.bytes[15], counted);
      stored.book.Skipped(counted);
    } else {
      const bool counted = session.Discard();
      Trace("{}: discarded: {}", stored.row.id.bytes[15], counted);
      stored.book.Discarded(counted);
    }
  });
}

/// Whatever happened: one healthy consumer, and an operator who resumes, get and finish all that is left.
void QueueRun::Settle() {
  const auto is_left = [&] {
    return std::ranges::any_of(sessions_, [](const Stored& each) { return each.book.HasWork(); });
  };
  for (int round = 0; round < 200 && is_left() && violations_.empty(); ++round) {
    now_ms_ += 70'000;
    queue_.paused_ms = 0;
    asleep_until_ms_.reset();
    for (Stored& each : sessions_)
      if (each.row.state == State::kParked) Resume(each);
    LookAtDue();
    for (Stored& each : sessions_) {
      if (each.row.position == 0 || !Grant(each, "ann")) continue;
      const Holder holder = holders_.back();
      Touch(each, [&](Session& session) {
        const queues::Completed answer = session.Complete(holder.fence, holder.last);
        each.book.Completed(holder.fence, holder.last, answer);
        session.GoOn(holder.fence, false, false);
        each.book.WentOn(holder.fence, std::nullopt, {}, now_ms_);
      });
      Check();
    }
  }
  if (violations_.empty() && is_left()) Violation("Q4: something is left that nobody can have");
}

}  // namespace tenure::sim
