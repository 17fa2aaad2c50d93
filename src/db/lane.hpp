#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "db/guard.hpp"
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
};

/// A thread with a connection of its own and a bounded queue. It takes everything of one kind that
/// waits, runs one transaction for all of it and answers each operation; what arrives meanwhile is
/// the next batch. There is no timer: an idle lane begins at once, which for an operation from an
/// executor's own thread means at the end of its round: what came in together is one batch.
///
/// Invariants:
///  (1) An operation is completed exactly once, or its lane was destroyed by a simulated crash.
///  (2) It is completed with a reply only after COMMIT, or when no change was needed.
///  (3) kOutcomeUnknown is said only when COMMIT was sent; every other fault means that nothing
///  happened. (4) The queue never holds more than `queue_items` and `queue_bytes` (one larger
///  operation may stand alone). (5) Operations of one kind are taken in order of arrival. So, as a
///  key always goes to the same lane, the
///      operations of one key are decided in order of arrival, one batch after the other.
///  (6) An operation with fences is carried out only in a transaction in which the guard found all
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
///  one, and
///    only those that fail alone get the fault.
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
  void SetGuard(Guard& guard) { guard_ = &guard; }
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
  Connection& connection() { return *connection_; }

 private:
  using Batch = std::vector<std::unique_ptr<Operation>>;

  void Loop();
  void Wake();
  /// Why it is not taken, if it is not. REQUIRES: mutex_ held.
  std::optional<base::Fault> Refusal(const Operation& operation) const;
  /// REQUIRES: mutex_ held.
  void Enqueue(std::unique_ptr<Operation> operation);
  /// REQUIRES: mutex_ held. Empty when nothing waits.
  Batch TakeBatch();
  void RunBatch(Batch batch);
  /// Answers those whose time is over; false when nothing is left.
  bool DropLate(Batch& batch);
  void RunReads(Batch& batch);
  void RunWrites(Batch batch, Access access);
  std::vector<StaleOperation> Attempt(std::span<Operation* const> operations, Access access);
  void FinishWrites(Batch batch, std::span<const StaleOperation> stale);
  /// Carries out a batch that failed as a whole in parts; false when it cannot be divided any more.
  bool RunDivided(Batch& batch, base::FaultKind fault);
  bool Connect();
  void Finish(Batch batch, const base::Fault* fault);
  static Batch Single(std::unique_ptr<Operation> operation);
  std::vector<Operation*> View(const Batch& batch) const;

  const std::string name_;
  const LaneOptions options_;
  const base::Clock& clock_;
  const std::unique_ptr<Connection> connection_;  // used by the lane's thread only
  Guard* guard_ = nullptr;                        // null: no fence is live
  Recorder* recorder_ = nullptr;                  // null: nothing goes on record

  struct {
    telemetry::Histogram* batch_size;
    telemetry::Histogram* batch_duration;
    telemetry::Gauge* depth;
    telemetry::Counter* retried;
    telemetry::Counter* refused;
    telemetry::Counter* connections;
  } probe_;

  std::mutex mutex_;
  std::condition_variable arrived_;
  // The rest is guarded by mutex_.
  struct Queue {
    explicit Queue(Handler* kind) : handler(kind) {}
    Handler* handler;
    std::deque<std::unique_ptr<Operation>> waiting;
  };
  std::deque<Queue> queues_;    // one per kind that was ever seen here: a handful
  std::size_t next_queue_ = 0;  // kinds take turns
  std::size_t waiting_items_ = 0;
  std::size_t waiting_bytes_ = 0;
  bool stopping_ = false;
  bool idle_ = false;           // the thread sleeps and must be woken
  bool wake_promised_ = false;  // somebody will call Wake

  std::atomic<bool> up_{true};  // written by the lane's thread
  std::thread thread_;
};

}  // namespace tenure::db
