#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "tenure/clock.hpp"
#include "tenure/messages/errors.hpp"
#include "tenure/messages/message.hpp"

struct pg_conn;  // libpq's PGconn

namespace tenure::messages {

/// What a handler may ask and say about the message that it handles. Valid until the handler
/// returns; for its thread only, except `stop` and `IsHeld`.
class Context {
 public:
  virtual ~Context() = default;

  /// Requested when the claim is lost: the store said so, or the time has passed for which the last
  /// heartbeat vouches. Also when the worker stops and its grace time is over. Whatever the handler
  /// does from then on somebody else may be doing as well.
  virtual std::stop_token stop() const = 0;
  /// Whether the claim is surely held at this moment, by the clock, without any I/O. A process that
  /// was paused sees false at once, even before its stop token is requested.
  virtual bool IsHeld() const = 0;

  /// Of a run of a job (tenure/jobs): the time of its schedule that it is for, in milliseconds since
  /// 1970, however late or often it is handled; of a triggered one the instant of the call. Nothing:
  /// the message is no run.
  virtual std::optional<std::int64_t> nominal_time() const = 0;

  /// Acknowledges in the handler's own transaction: its effect happens exactly once (outbox.hpp).
  /// Throws StaleClaim: let it pass, and roll back. The worker then says nothing more about the
  /// message when the handler returns.
  /// REQUIRES: if the transaction is not committed after all, or that is unknown, the handler
  /// throws; the message is then tried again unless it is finished. (One that returns all the same
  /// leaves the message in the worker's hands until the worker ends.)
  virtual void Acknowledge(pg_conn* connection) = 0;

  /// When the handler has returned or thrown: it failed, and is tried again after this time.
  virtual void RetryAfter(Milliseconds time) = 0;
  /// When the handler has returned or thrown: it failed for good, and becomes a dead letter.
  virtual void Fail(std::string reason) = 0;
};

/// Returns: the message is done. Throws: it failed, and is tried again later.
using Handler = std::function<void(const Delivery&, Context&)>;

struct WorkerOptions {
  /// Handlers at a time, each on a thread of its own. More where they wait for others.
  int concurrency = 4;
  /// Messages in hand, those under way included; 0: 50, over HTTP `concurrency` (what is in hand
  /// there counts a crash if the process dies). More where handlers take less than a millisecond.
  int prefetch = 0;
  std::string owner{};           ///< for people who look; empty: "host:pid"
  Milliseconds grace{30'000};    ///< Stop: how long handlers may take before they are told to end
  Milliseconds lease{30'000};    ///< over HTTP: how long claims outlive this process; from 1 s
  Milliseconds timeout{10'000};  ///< for one call to the store
  bool pooled = false;           ///< as in ClientOptions
  std::string ca_file{};         ///< as in ClientOptions
  bool insecure = false;         ///< as in ClientOptions
  std::stop_token stop{};        ///< once requested no new messages are taken; Stop does the rest
  /// The store refused what a handler made of a message: it was lost meanwhile, so somebody else
  /// handles it as well, and effects outside of a transaction may be doubled.
  std::function<void(const Delivery&)> on_stale{};
  /// Troubles with the store, which the worker goes on trying to reach; the log says so from time
  /// to time (tenure/log.hpp). Both are called on the worker's threads: return soon.
  std::function<void(const std::string&)> on_trouble{};
  const Clock* clock = nullptr;  ///< null: the machine's. A test's
};

struct WorkerStats {
  std::int64_t done = 0;  ///< acknowledged, by the worker or in the handler's transaction
  std::int64_t retried = 0;
  std::int64_t failed = 0;      ///< for good
  std::int64_t given_back = 0;  ///< not begun
  std::int64_t stale = 0;
  std::int64_t lost = 0;     ///< claims that were lost before their end
  std::int64_t in_hand = 0;  ///< now
};

/// Handles the messages of some topics for as long as it lives.
///
///   tenure::messages::Worker worker("postgres://localhost/app", {
///       {"mail", [](const Delivery& mail, Context& context) {
///          Send(mail.payload, context.stop());
///        }},
///   }, {.concurrency = 8});
///
/// Directly on PostgreSQL (or a SQLite file) it holds what it claimed by a heartbeat every two
/// seconds, on a thread and a connection of its own: neither long handlers nor a busy store delay
/// it. When the process dies, others have its messages within ten seconds. Over HTTP it prolongs
/// what it holds every third of `lease`.
///
/// What it promises:
///  (1) At least once: a message is acknowledged only after its handler returned. What was not
///      acknowledged comes again, here or elsewhere.
///  (2) Exactly once for effects in PostgreSQL: a handler that writes and calls
///      Context::Acknowledge in one transaction has its effect once, whatever crashes, pauses or is
///      lost; of two handlers of one message at most one commits.
///  (3) At most `concurrency` handlers run at a time.
///  (4) A message that ends the process (crashes > 0) is handled while nothing else is in hand, so
///      it takes no other with it; after three it is a dead letter. The others that were under way
///      the first time are suspects once, and are done by themselves.
///  (5) Messages of one claim are begun in order of priority and readiness. Nothing is promised
///      about the order in which they end.
///
/// What it cannot promise: that nobody else handles a message at the same time. A process that is
/// paused for a minute was given up meanwhile, and goes on in the middle of its handler until it
/// looks: IsHeld says so at once, the stop token as soon as the heartbeat's thread has run. Between
/// a look and the next effect there is always a gap; only the store can close it, by (2). Without a
/// transaction make the effect idempotent by the message's id. What a handler says too late the
/// store refuses, and `on_stale` hears of it.
///
/// Life: the constructor connects (Unavailable when it cannot; later troubles are the worker's own
/// business) and begins at once. The destructor calls Stop.
/// Threads: any; Stop not from a handler.
class Worker {
 public:
  Worker(std::string_view url, std::map<std::string, Handler> handlers, WorkerOptions options = {});
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Takes no more, gives back what was not begun, waits for the handlers: for `grace`, then their
  /// stop tokens are requested. What became of them is reported before it returns, unless the store
  /// cannot be reached for `timeout` longer.
  void Stop();

  WorkerStats stats() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::messages
