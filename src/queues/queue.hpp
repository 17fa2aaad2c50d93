#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "db/weight.hpp"

/// Ordered queues: messages of one session are handed out one after another, in the order in which
/// they were committed, to one consumer at a time. Times are milliseconds of the store's clock.
namespace tenure::queues {

inline constexpr std::size_t kMaxNameBytes = 100;
inline constexpr std::size_t kMaxKeyBytes = 200;  ///< of a session's key, a consumer, a share
inline constexpr std::size_t kMaxErrorBytes = 4 << 10;
inline constexpr std::size_t kMaxStateBytes = 64 << 10;
inline constexpr std::size_t kMaxSessions = 100;  ///< of one accept
inline constexpr std::int64_t kMaxSlice = 100;    ///< messages of one session handed out together
inline constexpr std::int64_t kDefaultSlice = 10;
inline constexpr std::size_t kMaxItems = 1'000;  ///< of one report
inline constexpr std::int64_t kMaxWaitMs = 60'000;
inline constexpr std::int64_t kMinLeaseMs = 1'000;
inline constexpr std::int64_t kMaxRetryMs = 366LL * 86'400'000;
inline constexpr std::int64_t kMaxReserveMs = 24LL * 3'600'000;
inline constexpr std::int64_t kDefaultReserveMs = 30'000;
/// An accept hands out no more payload than this, or one message of each session.
inline constexpr std::int64_t kMaxAcceptBytes = 8 << 20;
/// Expired messages that one accept passes in one session.
inline constexpr int kMaxExpired = 100;

/// What decides the session of a message. Queues of scope `kNone` keep no order: they are topics.
enum class Scope : std::uint8_t { kNone, kEntity, kRepository, kCustom };
std::string_view ToText(Scope scope);

/// What becomes of a message that cannot be processed.
enum class DeadLetterPolicy : std::uint8_t {
  kPark,  ///< it stays in its place, and its session stops
  kSkip,  ///< it goes to the dead letters, and its session goes on
  kStop,  ///< as kPark, and the whole queue is paused
};

std::string_view ToText(DeadLetterPolicy policy);

enum class DeathReason : std::uint8_t {
  kNone,
  kMaxDeliveryCount,
  kTtl,
  kRejected,
  kSkipped,
  kDropped
};
std::string_view ToText(DeathReason reason);

/// Whether a queue takes messages: it does, it only hands out what is left, it is empty for good.
enum class QueueState : std::uint8_t { kActive, kDraining, kDropped };
std::string_view ToText(QueueState state);

/// What a queue's owner sets. 0 is "without limit" where nothing else is said.
struct QueueSettings {
  Scope scope = Scope::kEntity;
  std::int64_t max_concurrent_sessions = 0;
  std::int64_t session_timeout_ms = 300'000;  ///< default and longest lease of a hold
  std::int64_t idle_timeout_ms = 120'000;     ///< how long a drained session stays held
  std::int64_t max_duration_ms = 1'800'000;   ///< longest turn
  std::int64_t max_messages = 100;            ///< of one turn
  std::int64_t max_delivery_count = 5;
  std::int64_t backoff_ms = 1'000;
  std::int64_t backoff_max_ms = 60'000;
  DeadLetterPolicy on_dead_letter = DeadLetterPolicy::kPark;
  std::int64_t ttl_ms = 0;
  std::int64_t depth_threshold = 0;
  std::int64_t max_bytes = 0;
  std::int64_t dedup_ms = 600'000;
  std::int64_t history_ms = 8LL * 86'400'000;

  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

/// A setting that is a number, as clients call it.
struct QueueSetting {
  std::string_view name;
  std::int64_t QueueSettings::*value;
  std::int64_t least;
  std::int64_t most;
};
inline constexpr std::int64_t kMostMs = 366LL * 86'400'000;
inline constexpr std::array kQueueSettings{
    QueueSetting{"max_concurrent_sessions", &QueueSettings::max_concurrent_sessions, 0, 1'000'000},
    QueueSetting{"session_timeout_ms", &QueueSettings::session_timeout_ms, 1'000, 86'400'000},
    QueueSetting{"session_idle_timeout_ms", &QueueSettings::idle_timeout_ms, 1'000, 86'400'000},
    QueueSetting{"session_max_duration_ms", &QueueSettings::max_duration_ms, 0, kMostMs},
    QueueSetting{"session_max_messages", &QueueSettings::max_messages, 0, 1'000'000'000},
    QueueSetting{"max_delivery_count", &QueueSettings::max_delivery_count, 0, 1'000},
    QueueSetting{"retry_backoff_ms", &QueueSettings::backoff_ms, 0, kMostMs},
    QueueSetting{"retry_backoff_max_ms", &QueueSettings::backoff_max_ms, 0, kMostMs},
    QueueSetting{"default_message_ttl_ms", &QueueSettings::ttl_ms, 0, kMostMs},
    QueueSetting{"queue_depth_threshold", &QueueSettings::depth_threshold, 0, 1'000'000'000'000},
    QueueSetting{"max_bytes", &QueueSettings::max_bytes, 0, 1'000'000'000'000'000},
    QueueSetting{"duplicate_detection_window_ms", &QueueSettings::dedup_ms, 0, kMostMs},
    QueueSetting{"history_ms", &QueueSettings::history_ms, 0, kMostMs},
};

/// The row of a queue.
struct QueueRow {
  std::int64_t id = 0;
  std::string tenant{};
  std::string name{};
  QueueState state = QueueState::kActive;
  std::int64_t generation = 1;
  std::int64_t oldest = 1;  ///< no older generation has anything to hand out
  std::string key_rule{};   ///< what makes the keys of this generation
  std::int64_t paused_ms = 0;
  std::string paused_reason{};
  std::int64_t floor_fence = 0;     ///< sessions that come back start above
  std::int64_t floor_sequence = 0;  ///< the same of their messages
  QueueSettings settings{};

  bool paused() const { return paused_ms > 0; }
  std::int64_t most_lease_ms() const { return std::max(kMinLeaseMs, settings.session_timeout_ms); }
  /// Whether an accept must take the gate.
  bool gated() const { return settings.max_concurrent_sessions > 0 || oldest < generation; }
};

/// The id of a session, the same in every process: whoever has the key knows the row to lock
/// before it looks. A UUID of version 8.
base::Uuid SessionIdOf(std::int64_t queue_id, std::int64_t generation, std::string_view key);

/// What errors have in common that are told apart by numbers and ids only: the first line with
/// digits, hexadecimal and ids folded to `#`.
std::string ErrorClassOf(std::string_view error);

/// In the registry and in NOTIFY these are topics of the kernel (messages/waiting).
std::string QueueTopic(std::string_view name);
/// Of those of one consumer, for what is reserved for it.
std::string ConsumerTopic(std::string_view name, std::string_view consumer);
std::string SessionTopic(const base::Uuid& session);

}  // namespace tenure::queues
