#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Ordered queues: the messages of one session are handed out in the order of their commits, to one
/// consumer at a time; sessions go on in parallel.
namespace tenure::queues {

using Milliseconds = std::chrono::milliseconds;

/// What somebody sends into a session.
struct SessionMessage {
  std::string session_key{};  ///< 1 to 200 bytes
  std::string payload{};      ///< JSON text; with `is_bytes` anything
  bool is_bytes = false;
  std::string correlation_id{};
  std::string headers{};  ///< a JSON object, or empty
  /// A second message with the same key, within the queue's window, is none: it answers with the
  /// first. It makes sending again after an unknown outcome safe.
  std::string dedup_key{};
  std::optional<Milliseconds> ttl{};  ///< none: the queue's; 0: it never expires
  std::string share{};                ///< sessions of one share have their turns together
};

struct Sent {
  std::string id{};
  std::string session{};  ///< its id
  std::int64_t sequence = 0;
  bool duplicate = false;  ///< all of it is of the earlier one with the same key
};

/// A message in the hands of a consumer.
struct Delivery {
  std::string id{};  ///< what to know it by when it comes again
  std::int64_t sequence = 0;
  std::int64_t attempt = 1;
  std::string payload{};  ///< of a large event empty: it is at payload_url
  bool is_bytes = false;
  std::string payload_url{};
  /// Of a webhook's event: a JSON object with what is said of it (docs/queues.md); else empty. Only
  /// a server says it: directly on a store an event has a payload_url and no more.
  std::string event{};
  std::int64_t enqueued_ms = 0;  ///< times are milliseconds since 1970, of the store's clock
  std::int64_t expires_ms = 0;   ///< 0: never
  std::string correlation_id{};
  std::string headers{};
  // Its session.
  std::string session{};  ///< the id
  std::string key{};
  std::string name{};  ///< printed
  std::int64_t fence = 0;
};

/// A session in the hands of a consumer.
struct Held {
  std::string session{};  ///< the id
  std::string key{};
  std::string name{};
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;
  std::int64_t depth = 0;
  std::optional<std::string> state{};  ///< what consumers keep with it
  std::vector<Delivery> messages{};    ///< the first ones, in order
};

/// What the store says to a report on a session.
enum class Outcome {
  kDone,
  kGone,        ///< it was finished earlier, perhaps by this very report
  kStale,       ///< the hold is over: nothing was changed
  kOutOfOrder,  ///< it was never handed out: nothing was changed
  kContended,   ///< a transaction that completes a message of this session is open
};

/// What became of a report, and what comes next.
struct Reported {
  Outcome outcome = Outcome::kStale;
  bool held = false;                 ///< the hold goes on
  std::string reason{};              ///< why not
  std::vector<Delivery> messages{};  ///< of a completion: the next ones
};

}  // namespace tenure::queues
