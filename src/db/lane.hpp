#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/fence_check.hpp"
#include "db/operation.hpp"
#include "db/recorder.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db {

/// Bounds of a lane. Raise the queue for more patience under bursts (and more memory and latency),
/// the batch for more work per commit (and longer transactions).
struct LaneOptions {
  std::size_t queue_items = 4096;
  std::size_t queue_bytes = 64 << 20;
  std::size_t batch_items = 512;
  std::size_t batch_bytes = 4 << 20;
  std::int64_t max_wait_ms = 5'000;  ///< an operation that waited longer for its turn is not begun
  int retries = 4;                   ///< of a batch after a serialization failure or deadlock
  bool impatient = false;  ///< waits for locks only a moment: whoever holds one may hold it long
};

/// A thread with a connection of its own and a bounded queue. It takes everything of one kind that
/// waits, runs one transaction for all of it and answers each operation; what arrives meanwhile is
/// the next batch. There is no timer: an idle lane begins at once, which for an operation from an
/// executor's own thread means at the end of its round: what came in together is one batch.
///
/// Invariants:
///  (1) An operation is completed exactly once, or its lane was destroyed by a simulated crash.
///  (2) An operation is completed with a reply only after COMMIT, or when no change was needed.
///  (3) The fault kOutcomeUnknown is said only when COMMIT was sent; every other fault means that
///      nothing happened.
///  (4) The queue never holds more than `queue_items` and `queue_bytes` (one larger operation may
///      stand alone, and what a batch left undecided comes back on top).
///  (5) Operations of one kind are taken in order of arrival. So, as a key always goes to the same
///      lane, the operations of one key are decided in order of arrival, one batch after the other.
///      (What a batch left undecided is first in the next one.)
///  (6) An operation with fences is carried out only in a transaction in which the fence check found all
///      of them live, before the handler took its first lock, and which ended before any of them
///      could be taken over by another transaction. One with a stale fence never reaches the
///      handler; it is answered when the transaction of the others has ended, so that no retry of
///      theirs can change what was said.
///  (7) What a handler did for an actor is put on record in the transaction that did it, when the
///      lane has a recorder.
///
/// What happens to a batch that fails:
///  - serialization failure, deadlock: it is run again, `retries` times;
///  - the connection was lost before COMMIT: connect again at once and run it again, once;
///  - lost in COMMIT: outcome unknown for all;
///  - anything else (a refused value, a lock that was not to be had): its operations are run one by
///    one, and only those that fail alone get the fault.
/// While the store cannot be reached the lane refuses operations at once and tries to connect with
/// back-off.
///
/// Threads: `Submit` from any; everything else from the owner. Without `Start` the owner drives it
/// by hand with `RunOnce`, which is what the simulation and the stepped tests do.
class Lane {
 public:
  Lane(std::string name, std::unique_ptr<Connection> connection, const LaneOptions& options,
       const base::Clock& clock, telemetry::Registry& metrics);
  ~Lane();

  /// Queues it. When the lane is full, down or stopping it is completed with that fault before
  /// Submit returns, on the calling thread.
  void Submit(std::unique_ptr<Operation> operation);

  /// REQUIRES: before Start.
  void SetFenceCheck(FenceCheck& check) { fence_check_ = &check; }
  /// REQUIRES: before Start.
  void SetRecorder(Recorder& recorder) { recorder_ = &recorder; }

  /// Connects now rather than with the first batch. Throws kStoreUnavailable.
  void Open();
  void Start();
  /// Takes no more, finishes what waits, ends the thread.
  void Stop();

  /// Runs one batch of what waits, if anything does; connects first where needed. By hand only.
  bool RunOnce();

  bool is_up() const { return up_.load(); }
  /// When it last committed a change; 0: never. Any thread.
  std::int64_t committed_boot_ms() const { return committed_boot_ms_.load(); }
  Connection& connection() { return *connection_; }

 private:
  using Batch = std::vector<std::unique_ptr<Operation>>;

  void Loop();
  void Wake();
  bool IsPromisedBy(const base::Executor& home) const TENURE_REQUIRES(mutex_);
  /// Why it is not taken, if it is not.
  std::optional<base::Fault> Refusal(const Operation& operation) const TENURE_REQUIRES(mutex_);
  void Enqueue(std::unique_ptr<Operation> operation) TENURE_REQUIRES(mutex_);
  /// Empty when nothing waits.
  Batch TakeBatch() TENURE_REQUIRES(mutex_);
  void RunBatch(Batch batch);
  /// Answers those whose time is over; false when nothing is left.
  bool DropLate(Batch& batch);
  void RunReads(Batch& batch);
  void RunWrites(Batch batch, Access access);
  /// What a transaction came to.
  struct Written {
    std::vector<StaleOperation> stale;    // those that were left out for a stale fence
    std::unique_ptr<BatchResult> result;  // of the others
  };
  Written Attempt(std::span<Operation* const> operations, Access access);
  void FinishWrites(Batch batch, const Written& written);
  void PutBack(Batch left);
  /// Carries out a batch that failed as a whole in parts; false when it cannot be divided any more.
  bool RunDivided(Batch& batch, base::FaultKind fault);
  bool Connect();
  void NoteDenial(const char* text);
  /// REQUIRES: the connection is not open. Throws WhyDown().
  void ConnectOrThrow();
  base::Fault WhyDown() const TENURE_REQUIRES(mutex_);
  void Finish(Batch batch, const base::Fault* fault);
  static Batch Single(std::unique_ptr<Operation> operation);
  std::vector<Operation*> View(const Batch& batch) const;

  const std::string name_;
  const LaneOptions options_;
  const base::Clock& clock_;
  const std::unique_ptr<Connection> connection_;  // used by the lane's thread only
  FenceCheck* fence_check_ = nullptr;             // null: no fence is live
  Recorder* recorder_ = nullptr;                  // null: nothing goes on record

  struct {
    telemetry::Histogram* batch_size;
    telemetry::Histogram* batch_duration;
    telemetry::Gauge* depth;
    telemetry::Counter* retried;
    telemetry::Counter* refused;
    telemetry::Counter* connections;
  } probe_;

  mutable base::Mutex mutex_;
  std::condition_variable arrived_;
  struct Queue {
    explicit Queue(Handler* kind) : handler(kind) {}
    Handler* handler;
    std::deque<std::unique_ptr<Operation>> waiting;
  };
  Queue& QueueOf(Handler& handler) TENURE_REQUIRES(mutex_);
  std::deque<Queue> queues_
      TENURE_GUARDED_BY(mutex_);  // one per kind that was ever seen here: a handful
  std::size_t next_queue_ TENURE_GUARDED_BY(mutex_) = 0;  // kinds take turns
  std::size_t waiting_items_ TENURE_GUARDED_BY(mutex_) = 0;
  std::size_t waiting_bytes_ TENURE_GUARDED_BY(mutex_) = 0;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  bool idle_ TENURE_GUARDED_BY(mutex_) = false;  // the thread sleeps and must be woken
  std::vector<base::Executor*> promised_by_
      TENURE_GUARDED_BY(mutex_);  // they will call Wake at the end of their rounds

  std::atomic<bool> up_{true};                    // written by the lane's thread
  std::string denied_ TENURE_GUARDED_BY(mutex_);  // which right was missing when it last connected
  std::atomic<std::int64_t> committed_boot_ms_{0};
  std::thread thread_;
};

}  // namespace tenure::db
