#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "client/messages/backend.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {

/// A message in the hands of a worker.
struct WorkItem {
  Delivery delivery{};
  std::int64_t hold = 0;
  std::stop_source stop{};
  std::atomic<std::int64_t> until_ms = 0;  ///< of the worker's clock: held for sure until then

  // What became of it: the handler's thread's, then the reporter's.
  Disposition disposition = Disposition::kDone;
  std::string error{};
  std::optional<Milliseconds> retry_after{};
  bool acknowledged = false;  ///< in a transaction of the handler's
  bool was_told = false;      ///< at least once, with an unknown outcome

  bool is_lost = false;  ///< guarded by PrefetchBuffer's mutex
};
using WorkItemPtr = std::shared_ptr<WorkItem>;

/// Everything that a worker has in hand, and whose turn it is: what its threads share. No I/O.
///
/// The way of a message: claimed (Add) -> waits -> begun (Next) -> finished (Finish) -> reported
/// (Drop). One that was not begun when the worker stops, or when its hold is lost, skips to
/// "finished", as untouched: if it was claimed after the hold had ended in the store, it would
/// otherwise wait for its lease to end.
///
/// Invariants:
///  (1) At most `most` messages are in hand, those that are being reported included.
///  (2) A message is begun only after a mark that covers it was answered (MessageBackend::Started),
///      so one that ends the process always counts its crash; the messages of one claim are begun
///      in their order.
///  (3) A suspect (crashes > 0) is begun when it is the only message in hand, and while one is in
///      hand nothing more is claimed: whatever it does to the process, no other message counts a
///      crash for it.
///  (4) A hold that was lost is never renewed again: messages of it of which we never heard would
///      otherwise stay in nobody's hands for as long as this process lives.
///  (5) When a message is lost its stop token is requested, once.
///
/// Marks go ahead of the work by a group: as many messages as there are threads, twice as many
/// after each group that was begun within kQuickMs (up to kMaxGroup), half as many after one that
/// was not. A larger group is fewer round trips, and more messages that are suspects once if one of
/// them ends the process.
///
/// Threads: any. Stop callbacks of handlers run on the thread that found the loss, without a lock
/// held.
class PrefetchBuffer {
 public:
  struct Options {
    std::size_t most = 50;
    std::size_t threads = 4;
    /// MessageBackend::beats. False: nothing is to be marked, and each message is renewed by
    /// itself.
    bool beats = true;
  };
  static constexpr std::size_t kMaxGroup = 64;
  static constexpr std::int64_t kQuickMs = 10;

  PrefetchBuffer(const Options& options, const Clock& clock) : options_(options), clock_(clock) {}

  // The fetching thread.

  struct Room {
    std::size_t count = 0;  ///< 0: the worker stops
    std::int64_t hold = 0;
  };
  /// Waits until at least half of the room is free (or, while it is small, any), there is a hold,
  /// and no suspect is in hand.
  Room AwaitRoom();
  /// `until_ms`: until when they are held; none: as long as their hold.
  void Add(ClaimedMessages claimed, std::int64_t hold, std::optional<std::int64_t> until_ms);
  /// Waits after a trouble; ends early when the worker stops.
  void Pause(Milliseconds time);

  // The handlers' threads.

  using Mark = std::function<void(const std::string& claim, std::int64_t count)>;
  /// The next to be begun; null: the worker stops. `mark` throws Unavailable when it did not
  /// succeed, and is called again later.
  WorkItemPtr Next(const Mark& mark);
  /// The handler is through with it.
  void Finish(const WorkItemPtr& item);

  // The reporting thread.

  /// Everything that was finished since the last call; empty: Close was called, and all is
  /// reported.
  std::vector<WorkItemPtr> AwaitFinished();
  /// They are to be reported again, after a while. False: no more time for that.
  bool PutBack(const std::vector<WorkItemPtr>& items, Milliseconds pause);
  void Drop(const WorkItemPtr& item);

  // The heartbeat's thread.

  /// Waits until `beat_ms`, the end of anything that is held, or (while a hold is needed)
  /// `join_ms`. False: EndBeat was called.
  bool AwaitBeat(std::int64_t beat_ms, std::int64_t join_ms);
  bool NeedsHold() const;
  void SetHold(std::int64_t hold, std::int64_t until_ms);
  struct Holds {
    std::int64_t current = 0;  ///< 0: none
    std::vector<HeldMessage> messages{};
    std::int64_t first_end_ms = kNever;  ///< when the first of all this ends
  };
  Holds Snapshot() const;
  /// Those of `asked` that are not in `renewed` are held until `until_ms`; the others are lost.
  void Renewed(const Holds& asked, const client::RenewedHolds& renewed, std::int64_t until_ms);
  /// Loses what is not surely held any more by the clock.
  void LoseOverdue();
  /// Nothing more is claimed under it, and it is renewed for as long as something of it is in hand:
  /// there may be a claim of which we never heard, and its messages come back only when it ends.
  void Retire(std::int64_t hold);

  // The owner.

  /// No more is begun; what waits is given back.
  void Stop();
  bool is_stopping() const;
  /// Requests all stop tokens.
  void Hurry();
  /// Waits until nothing is in hand, or `until_ms`.
  bool AwaitEmpty(std::int64_t until_ms);
  /// What cannot be reported until then is dropped; the reporting thread ends.
  void Close(std::int64_t until_ms);
  /// The heartbeat's thread ends.
  void EndBeat();

  std::int64_t count() const;
  std::int64_t lost() const;

 private:
  /// What one claim brought, and how far it is begun.
  struct Batch {
    std::string claim{};
    std::vector<WorkItemPtr> items{};
    std::size_t next = 0;
    std::size_t marked = 0;
    bool marking = false;
  };
  using BatchPtr = std::shared_ptr<Batch>;

  bool HasRoom() const TENURE_REQUIRES(mutex_);
  /// Marks the next group of the batch. `lock` is let go meanwhile, which the analysis cannot follow.
  void MarkMore(base::Lock& lock, const BatchPtr& batch, const Mark& mark)
      TENURE_REQUIRES(mutex_) TENURE_NOT_ANALYSED;
  /// Those that were begun go to `running`.
  template <class Lost>
  void LoseWhere(Lost lost, std::vector<WorkItemPtr>& running) TENURE_REQUIRES(mutex_);
  void DropLocked(const WorkItemPtr& item) TENURE_REQUIRES(mutex_);
  std::int64_t FirstEnd() const TENURE_REQUIRES(mutex_);

  const Options options_;
  const Clock& clock_;

  mutable base::Mutex mutex_;
  // All of these are waited for with mutex_.
  std::condition_variable room_;      // the fetching thread
  std::condition_variable work_;      // handlers
  std::condition_variable finished_;  // the reporting thread
  std::condition_variable beat_;      // the heartbeat's thread
  std::condition_variable empty_;     // the owner
  std::set<WorkItemPtr> items_ TENURE_GUARDED_BY(mutex_);
  std::size_t suspects_ TENURE_GUARDED_BY(mutex_) = 0;       // of items_
  std::deque<BatchPtr> batches_ TENURE_GUARDED_BY(mutex_);   // with something to begin
  std::vector<WorkItemPtr> done_ TENURE_GUARDED_BY(mutex_);  // to be reported
  std::size_t group_ TENURE_GUARDED_BY(mutex_) = 1;
  std::int64_t marked_at_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t hold_ TENURE_GUARDED_BY(mutex_) = 0;  // 0: none
  std::int64_t hold_until_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t lost_ TENURE_GUARDED_BY(mutex_) = 0;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  bool hurried_ TENURE_GUARDED_BY(mutex_) = false;
  bool beat_ended_ TENURE_GUARDED_BY(mutex_) = false;
  std::int64_t close_ms_ TENURE_GUARDED_BY(mutex_) = kNever;  // set by Close
  bool closed_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::client
