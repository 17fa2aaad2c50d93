#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "tenure/clock.hpp"
#include "tenure/queues/errors.hpp"
#include "tenure/queues/message.hpp"

struct pg_conn;  // libpq's PGconn

namespace tenure::queues {

/// What a handler may ask and say about the message that it handles. Valid until the handler
/// returns; for its thread only, except `stop` and `IsHeld`.
class Context {
 public:
  virtual ~Context() = default;

  /// Requested when the hold is lost, and when the consumer stops and its grace time is over.
  /// Whatever the handler does from then on somebody else may be doing as well.
  virtual std::stop_token stop() const = 0;
  /// Whether the session is surely held at this moment, by the clock, without any I/O.
  virtual bool IsHeld() const = 0;
  /// Of the hold: send it along with effects, so that their receiver can refuse a former holder.
  virtual std::int64_t fence() const = 0;

  /// What consumers keep with the session, as the handlers before this one left it.
  virtual const std::optional<std::string>& State() const = 0;
  /// Is written in the transaction that completes this message.
  virtual void SetState(std::string state) = 0;

  /// Completes in the handler's own transaction: its effect happens exactly once (outbox.hpp). The
  /// COMMIT fails when the hold was lost, or the message is done.
  /// REQUIRES: if the transaction is not committed after all, or that is unknown, the handler throws.
  virtual void Complete(pg_conn* connection) = 0;

  // When the handler has returned or thrown:

  /// It failed, and comes again after this time.
  virtual void RetryAfter(Milliseconds time) = 0;
  /// It can never be processed; what becomes of it is the queue's `on_dead_letter`.
  virtual void DeadLetter(std::string reason) = 0;
  /// It is not done, and the session is given back: nothing is counted.
  virtual void Release() = 0;
  /// It is done, and the session goes to this consumer, who has `time` to accept it.
  virtual void Transfer(std::string to, Milliseconds time = Milliseconds(30'000)) = 0;
};

/// Returns: the message is done. Throws: it failed, and comes again later.
using Handler = std::function<void(const Delivery&, Context&)>;

struct ConsumerOptions {
  int sessions = 4;  ///< at a time, each on a thread of its own
  int slice = 10;    ///< messages that are fetched together
  /// How long holds outlive this process; from 1 s to the queue's session_timeout.
  Milliseconds lease{30'000};
  std::string consumer{};        ///< who it is for people who look; empty: "host:pid"
  Milliseconds grace{30'000};    ///< Stop: how long handlers may take before they are told to end
  Milliseconds timeout{10'000};  ///< for one call to the store
  bool pooled = false;           ///< as in ClientOptions
  std::string ca_file{};         ///< as in ClientOptions
  bool insecure = false;         ///< as in ClientOptions
  std::stop_token stop{};        ///< once requested no new sessions are taken; Stop does the rest
  /// The store refused what a handler made of a message: the hold was lost meanwhile.
  std::function<void(const Delivery&)> on_stale{};
  /// Troubles with the store, which the consumer goes on trying to reach. Both are called on its
  /// threads: return soon.
  std::function<void(const std::string&)> on_trouble{};
  const Clock* clock = nullptr;  ///< null: the machine's. A test's
};

struct ConsumerStats {
  std::int64_t done = 0;
  std::int64_t failed = 0;  ///< abandoned, or dead letters
  std::int64_t stale = 0;
  std::int64_t lost = 0;     ///< holds that were lost before their end
  std::int64_t in_hand = 0;  ///< sessions, now
};

/// Handles the messages of an ordered queue for as long as it lives.
///
///   Consumer consumer("http://127.0.0.1:8080", "orders",
///                     [](const Delivery& step, Context& context) { Ship(step.payload); });
///
/// What it promises:
///  (1) The handlers of one session run one after another, in the order of its messages, never two
///      at a time in this process. After a failure, a loss or a stop nothing more of what was
///      fetched of that session is begun.
///  (2) At least once: a message is completed only after its handler returned. Up to `slice`
///      messages that were handled come again when the process dies before it said so.
///  (3) Exactly once for effects in PostgreSQL that call Context::Complete in their transaction.
///
/// What it cannot promise: that nobody else works on a session at the same time. A process that is
/// paused past its lease was given up; IsHeld says so at once, the stop token as soon as the
/// renewing thread has run. Between a look and the next effect there is a gap, which only the fence
/// closes, or the transaction of (3).
///
/// Life: the constructor connects (Unavailable when it cannot) and begins at once. The destructor
/// calls Stop. Threads: any; Stop not from a handler.
class Consumer {
 public:
  Consumer(std::string_view url, std::string queue, Handler handler, ConsumerOptions options = {});
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Takes no more sessions and begins no more messages, waits for the handlers: for `grace`, then
  /// their stop tokens are requested. What became of them is reported before it returns.
  void Stop();

  ConsumerStats stats() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::queues
