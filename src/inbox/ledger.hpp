#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "inbox/message.hpp"

namespace tenure::inbox {

/// The row of a message.
struct MessageRow {
  State state = State::kNew;
  std::int64_t fence = 0;
  std::optional<base::Uuid> term{};
  std::string hash{};
  std::int64_t lease_until_ms = 0;
  std::int64_t not_before_ms = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::string result{};
  std::string error{};
  std::int64_t received_ms = 0;
  std::int64_t updated_ms = 0;
};

/// As the queries read and write it.
inline constexpr auto kMessageColumns =
    db::Members(&MessageRow::state, &MessageRow::fence, &MessageRow::term, &MessageRow::hash,
                &MessageRow::lease_until_ms, &MessageRow::not_before_ms, &MessageRow::attempts,
                &MessageRow::crashes, &MessageRow::result, &MessageRow::error,
                &MessageRow::received_ms, &MessageRow::updated_ms);

/// When to give up.
struct Budget {
  /// Failures that may be reported. The document's budget.
  std::int64_t max_attempts = 3;

  /// Claims that may end without a word. They count apart from failures and have three times their
  /// budget: a worker that was killed says little about the message (a deployment kills them all),
  /// but a message that kills its worker each time must come to an end too.
  std::int64_t max_crashes() const { return 3 * max_attempts; }
};

/// What holds for the whole store.
struct Limits {
  std::int64_t incarnation = 1;
  Budget budget{};
};

/// How long the next delivery waits after the n-th failure: 1 s, 2 s, 4 s … 60 s, a quarter more or
/// less, so that what failed together does not come back together. The same for the same key and n:
/// a batch that is run again decides the same. REQUIRES: attempt >= 1.
std::int64_t BackOffMs(const MessageKey& key, std::int64_t attempt);

/// What is known of one message inside of a transaction, and what the transaction changes: the pure
/// part of the inbox, without I/O. Commands on one message are decided one after another on it, and
/// only the net change is applied.
///
/// It is `locked` when the transaction holds its row from before the row and the clock were
/// read until COMMIT. One that is not (a look without locks; somebody else's transaction has the
/// row) is never changed: it is answered by what is committed, and where that would need a change,
/// with "not now".
///
/// Why I1 holds: only a locked message is handed out, and only when no claim is live by the store's
/// clock. Handing out moves the fence, which every end of a claim must name: so of all that ever
/// were told to process a message, one can end it. After a crash the lease passes, and the next
/// delivery finds the message free. A completion that is under way in a user's transaction
/// (tenure.inbox_complete) has the row: until it has ended, no delivery can lock the row, and
/// each is told `in_progress`, which is the truth.
///
/// Fences: the new one is larger than the row's, than the floor of removed entries and than
/// everything of earlier incarnations; the row is never deleted without raising the floor. So also
/// a worker that slept for longer than the retention completes nothing but its own claim.
class Ledger {
 public:
  struct Loaded {
    MessageRow row{};
    std::int64_t floor = 0;  ///< the highest fence of removed entries of the tenant
    bool locked = false;
  };

  Ledger(MessageKey key, Loaded loaded, const Limits& limits, std::int64_t now_ms);

  BeginOutcome Begin(const BeginCommand& command);
  FinishOutcome Complete(const CompleteCommand& command);
  FinishOutcome Fail(const FailCommand& command);

  /// What `Begin` says where that needs no change: most deliveries of a message but the first.
  std::optional<BeginOutcome> Answer(const BeginCommand& command) const;

  // What is to be applied.
  const MessageKey& key() const { return key_; }
  const MessageRow& row() const { return loaded_.row; }
  bool changed() const { return changed_; }

  /// The first hash that comes for a message whose hash nobody told is stored: a change.
  bool LearnsHash(const BeginCommand& command) const;

 private:
  /// A claim keeps others away.
  bool IsClaimLive() const;
  BeginOutcome Wait(std::int64_t until_ms, bool retrying) const;
  BeginOutcome Claimed() const;
  BeginOutcome Dead() const;
  BeginOutcome HandOut(const BeginCommand& command);
  FinishOutcome Finished(FinishOutcome::Kind kind) const;
  /// Why a claim cannot be ended now (`completes`: as done), if it cannot.
  std::optional<FinishOutcome> WhyNot(std::int64_t fence, bool completes) const;
  void Touch();

  MessageKey key_;
  Loaded loaded_;
  Limits limits_;
  std::int64_t now_ms_;
  bool changed_ = false;
};

}  // namespace tenure::inbox
