#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "queues/session.hpp"
#include "sim/queue_book.hpp"

namespace tenure::sim {

/// What is wrong on purpose with the rule book of ordered queues, or with who asks it.
enum class QueueFlaw {
  kNothing,
  kCompleteByAnyFence,    ///< a completion counts whoever says it
  kSliceOutlivesAbandon,  ///< the rest of a slice is valid after a failure
  kCompleteHolds,         ///< a completion after the end of a hold makes one
  kExpiredHeadSkipped,    ///< a head that is too old goes, and nobody is told
  kResumeMovesTheHead,
  kRewindKeepsTheFence,
  kBreakKeepsTheFence,
  kDecidedBeforeTheLock,  ///< ready or idle, by `next` of before
  kEndWakesNobody,        ///< a place under the cap is free, and nobody is told
  kMarkNotRead,           ///< what users' transactions completed is not looked at
  kCountersForgetParked,  ///< the counters do not follow
};

/// Histories of a few sessions of one queue by `queues::Session` alone, in memory: a transaction is a
/// copy of a row under its lock, a decision, and the row written back. Producers, consumers that crash,
/// sleep past their leases and report late and twice, users' transactions that complete, operators,
/// messages that expire, a cap. What a transaction must be on a store is tests/stepped's.
class QueueRun {
 public:
  explicit QueueRun(QueueFlaw flaw) : flaw_(flaw) {}

  /// What is wrong, with the trace; empty when nothing is.
  std::string Run(std::uint64_t seed);
  const std::string& trace() const { return trace_; }
  /// Messages that were handed out, of all seeds.
  std::int64_t handed() const { return handed_; }

 private:
  struct Stored {
    explicit Stored(const QueueBook::Rules& rules, std::string& violations)
        : book(rules, violations) {}

    queues::SessionRow row{};
    std::vector<std::int64_t> expires_ms{};  ///< of each message
    std::optional<queues::Mark> mark{};
    std::int64_t next_before = 0;  ///< what somebody read who had not the lock yet; 0: nobody did
    QueueBook book;
  };
  struct Counters {
    std::int64_t messages = 0;
    std::int64_t ready = 0;
    std::int64_t held = 0;
    std::int64_t parked = 0;

    void Add(const queues::SessionRow& row, std::int64_t sign);
    friend bool operator==(const Counters&, const Counters&) = default;
  };
  /// A report that is on its way, perhaps for long.
  struct Holder {
    std::size_t session = 0;
    std::int64_t fence = 0;
    std::int64_t last = 0;  ///< of its slice
  };

  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(std::uint64_t percent) { return Random(100) < percent; }
  template <class... Args>
  void Trace(fmt::format_string<Args...> text, Args&&... args) {
    trace_ +=
        fmt::format("{:>8} ", now_ms_) + fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  void Violation(const std::string& what) { violations_ += "  VIOLATION: " + what + "\n"; }

  void Begin(std::uint64_t seed);
  void Step();
  void Settle();

  /// One transaction on a session.
  template <class Act>
  void Touch(Stored& stored, const Act& act) {
    queues::Session session(Seen(stored), queue_, now_ms_);
    if (stored.mark && flaw_ != QueueFlaw::kMarkNotRead) session.Apply(*stored.mark);
    act(session);
    Write(stored, session);
  }
  queues::SessionRow Seen(Stored& stored) const;
  void Write(Stored& stored, const queues::Session& session);
  queues::SessionRow Flawed(const Stored& stored, const queues::Session& session);
  void Check();
  void CheckSleeper();

  void Send();
  void Accept(const std::string& consumer);
  void LookAtDue();
  bool Grant(Stored& stored, const std::string& consumer);
  std::vector<std::int64_t> HandOut(const Stored& stored, queues::Session& session);
  void Complete();
  void CompleteAsUser();
  void Fail();
  void GiveBack();
  void Renew();
  void Operate();
  void Resume(Stored& stored);
  void Rewind(Stored& stored);
  Stored& Any() { return sessions_[Random(sessions_.size())]; }
  std::optional<Holder> AnyHolder();

  const QueueFlaw flaw_;
  std::int64_t handed_ = 0;

  // Of one seed.
  std::mt19937_64 random_;
  std::string trace_;
  std::string violations_;
  std::int64_t now_ms_ = 0;
  queues::QueueRow queue_;
  QueueBook::Rules rules_;
  std::deque<Stored> sessions_;
  Counters counters_;
  std::vector<Holder> holders_;
  std::int64_t place_ = 0;
  std::optional<std::int64_t> asleep_until_ms_;  // an accept of nobody in particular waits
};

}  // namespace tenure::sim
