#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queues/session.hpp"

namespace tenure::sim {

/// The judge of a session of an ordered queue: it knows what was asked and answered, and the contract;
/// nothing of the rule book's code. Times are milliseconds.
class QueueBook {
 public:
  struct Rules {
    std::int64_t max_delivery_count = 0;  ///< 0: without limit
    queues::DeadLetterPolicy policy = queues::DeadLetterPolicy::kPark;
  };

  QueueBook(const Rules& rules, std::string& violations) : rules_(rules), violations_(violations) {}

  // Requests with their answers.

  void Sent(std::int64_t first, const std::vector<std::int64_t>& expires_ms);
  struct Grant {
    std::int64_t fence = 0;
    std::string consumer{};
    std::int64_t until_ms = 0;
    std::vector<std::int64_t> slice{};
  };
  void Granted(const Grant& grant, std::int64_t now_ms);
  void Completed(std::int64_t fence, std::int64_t through, queues::Completed answer);
  /// After a completion: it is held until then, with what was handed out; nullopt: it is not held.
  void WentOn(std::int64_t fence, std::optional<std::int64_t> until_ms,
              const std::vector<std::int64_t>& slice, std::int64_t now_ms);
  void Renewed(std::int64_t fence, std::optional<std::int64_t> until_ms);
  void Failed(const queues::Failure& failure, const queues::Failed& answer, std::int64_t now_ms);
  /// Released; or transferred: reserved for somebody.
  void GivenBack(std::int64_t fence, bool counted, const std::string& reserved_for,
                 std::int64_t reserved_until_ms);
  /// Somebody looked because a deadline may be over.
  void LookedAt(std::int64_t now_ms);
  /// The head is too old, and went by policy.
  void Expired(std::int64_t now_ms);

  // Operators. `counted`: it was done.

  void Broken(bool counted);
  void Resumed(bool counted);
  void Skipped(bool counted);
  void Discarded(bool counted);
  void Rewound(std::int64_t sequence);

  // What the tables say.

  /// A dead letter was written.
  void Died(const queues::Death& death, std::int64_t now_ms);
  /// After each transaction. `pending`: what a user's transaction completed is not in them yet.
  void Compare(const queues::SessionRow& row, bool pending);

  // What the scheduler asks.

  enum class Fate { kWaiting, kDone, kDead, kDiscarded };
  Fate fate(std::int64_t sequence) const {
    return messages_[static_cast<std::size_t>(sequence - 1)].fate;
  }
  /// The lowest that waits; one more than the last when none does.
  std::int64_t head() const;
  std::int64_t next() const { return std::ssize(messages_) + 1; }
  bool HasWork() const { return head() < next(); }
  bool is_held() const { return held_; }
  bool MayBeHadBy(const std::string& consumer, std::int64_t now_ms) const {
    return HasWork() && !held_ && !parked_ && not_before_ms_ <= now_ms &&
           (reserved_until_ms_ <= now_ms || reserved_for_ == consumer);
  }
  /// The latest that was given, and what was handed out under it.
  std::int64_t fence() const { return fence_; }
  std::int64_t handed() const { return handed_; }

 private:
  struct Message {
    std::int64_t expires_ms = 0;
    Fate fate = Fate::kWaiting;
  };

  void Violation(const std::string& what) const { violations_ += "  VIOLATION: " + what + "\n"; }
  Message& At(std::int64_t sequence) { return messages_[static_cast<std::size_t>(sequence - 1)]; }
  void Slice(const std::vector<std::int64_t>& slice, std::int64_t now_ms);
  void Finish(std::int64_t through);
  void CountAttempt();
  void End() { held_ = false; }
  void LiftTtl();
  bool IsTooOld(std::int64_t sequence, std::int64_t now_ms) const;

  const Rules& rules_;
  std::string& violations_;
  std::vector<Message> messages_;
  std::int64_t fence_ = 0;
  bool is_void_ = true;  // nobody has this fence: broken, rewound, or never given
  bool held_ = false;
  std::int64_t until_ms_ = 0;
  std::int64_t handed_ = 0;
  std::int64_t attempts_ = 0;  // of the head
  bool rejected_ = false;      // the head was, and is to die
  bool skipped_ = false;       // an operator wants it dead
  bool must_die_ = false;      // the head is at its budget, or rejected: by policy
  bool parked_ = false;
  std::int64_t not_before_ms_ = 0;
  std::string reserved_for_;
  std::int64_t reserved_until_ms_ = 0;
};

}  // namespace tenure::sim
