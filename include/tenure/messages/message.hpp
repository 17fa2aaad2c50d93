#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// Messages: work that somebody must do once. Enqueued, claimed, acknowledged; retried after a
/// failure, kept as a dead letter when that does not help. A timer is a message that is not due
/// yet.
namespace tenure::messages {

using Milliseconds = std::chrono::milliseconds;

/// What somebody wants to be done.
struct Message {
  std::string topic{};    ///< 1 to 255 bytes
  std::string payload{};  ///< JSON text; with `is_bytes` anything
  bool is_bytes = false;
  std::optional<std::int64_t> due_at_ms{};  ///< not before; milliseconds since 1970
  std::optional<Milliseconds> delay{};      ///< the same from now on, by the store's clock
  int priority = 5;                         ///< 0 (first) to 9
  std::string correlation_id{};
  std::string headers{};      ///< a JSON object, or empty
  std::string traceparent{};  ///< W3C trace context, or empty
  /// A second message of the topic with the same key, within the topic's window (10 minutes), is
  /// none: it answers with the id of the first. It makes enqueuing again after an unknown outcome
  /// safe.
  std::string dedup_key{};
};

struct Enqueued {
  std::string id{};
  bool duplicate = false;  ///< `id` is of the earlier one with the same key
};

/// A message in the hands of whoever claimed it, until it says what became of it.
struct Delivery {
  std::string id{};
  std::int64_t fence = 0;  ///< of this claim; later claims of the message have higher ones
  std::string topic{};
  std::string payload{};
  bool is_bytes = false;
  int priority = 5;
  std::int64_t attempt = 1;      ///< the how manieth; those that failed before count
  std::int64_t crashes = 0;      ///< how many claims ended without a word
  std::int64_t enqueued_ms = 0;  ///< times are milliseconds since 1970, of the store's clock
  std::int64_t due_ms = 0;
  std::int64_t lease_until_ms = 0;  ///< of a claim without a heartbeat (Client::Claim)
  std::string correlation_id{};
  std::string headers{};
  std::string traceparent{};
};

/// What the store says to a report on a message.
enum class Outcome {
  kDone,   ///< it is as was reported
  kStale,  ///< nothing was changed: the message lives on, and not in these hands
  kGone,   ///< there is no such message: finished earlier, perhaps by this very report
};

}  // namespace tenure::messages
