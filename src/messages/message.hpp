#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "db/lane_name.hpp"
#include "db/weight.hpp"

/// Messages: work that somebody must do once. Times are milliseconds of the store's
/// clock.
namespace tenure::messages {

inline constexpr std::size_t kMaxTopicBytes = 255;
inline constexpr std::size_t kMaxCorrelationBytes = 255;
inline constexpr std::size_t kMaxDedupKeyBytes = 255;
inline constexpr std::size_t kMaxHeadersBytes = 16 << 10;
inline constexpr std::size_t kMaxOwnerBytes = 200;
inline constexpr std::size_t kMaxErrorBytes = 4 << 10;
inline constexpr std::size_t kMaxOutputBytes = 64 << 10;
inline constexpr std::size_t kMaxBatch = 1'000;  ///< messages of one enqueue, claim or settlement
inline constexpr int kPriorities = 10;           ///< 0 is first
inline constexpr int kDefaultPriority = 5;
inline constexpr std::int64_t kDefaultClaim = 50;
inline constexpr std::int64_t kDefaultLeaseMs = 30'000;
inline constexpr std::int64_t kMinLeaseMs = 1'000;
inline constexpr std::int64_t kMaxLeaseMs = 24 * 3'600'000;
inline constexpr std::int64_t kMaxCounted = 100'000;  ///< where counting for people stops
inline constexpr std::size_t kMaxClaimTopics = 100;
inline constexpr std::int64_t kMaxWaitMs = 60'000;
inline constexpr std::int64_t kMaxRetryMs = 366LL * 86'400'000;
inline constexpr std::int64_t kMaxDelayMs = 100LL * 365 * 86'400'000;
inline constexpr std::int64_t kLastDueMs = 253'402'300'799'999;  ///< the end of the year 9999
/// A claim hands out no more payload than this, or one message.
inline constexpr std::int64_t kMaxClaimBytes = 8 << 20;
/// All claims of one transaction hand out no more than this, and what the last of them takes.
inline constexpr std::int64_t kMaxClaimsBytes = 4 * kMaxClaimBytes;

/// Claims share a lane, so that those of one process never look for messages at the same time;
/// settlements and what else keeps messages moving have the other one.
inline constexpr db::LaneName kClaimLane = db::LaneName::Shared(0);
inline constexpr db::LaneName kSettleLane = db::LaneName::Shared(1);

enum class PayloadKind : std::uint8_t { kJson = 0, kBytes = 1 };

/// What somebody wants to be done.
struct NewMessage {
  std::string topic{};
  std::string payload{};  ///< JSON text, or bytes
  PayloadKind kind = PayloadKind::kJson;
  std::optional<std::int64_t> due_at_ms{};  ///< not before; none of the two: at once
  std::optional<std::int64_t> delay_ms{};
  int priority = kDefaultPriority;
  std::string correlation_id{};
  std::string headers{};  ///< a JSON object, or empty
  std::string trace{};    ///< W3C traceparent, or empty
  std::string dedup_key{};
  std::optional<base::Uuid> id{};  ///< none: a new one

  std::size_t bytes() const {
    return db::BytesOf(topic, payload, correlation_id, headers, trace, dedup_key);
  }
};

struct EnqueueRequest {
  std::string tenant{};
  std::vector<NewMessage> messages{};
  bool is_list = false;  ///< they came as a list, and are answered as one, be it of one

  std::size_t bytes() const { return db::BytesOf(tenant, messages); }
};
struct EnqueuedMessage {
  base::Uuid id{};
  bool duplicate = false;  ///< `id` is of the earlier one with the same key
};
struct EnqueueReply {
  std::vector<EnqueuedMessage> messages{};  ///< in the order of the request
  bool is_list = false;
};

/// Who wants work, and which.
struct ClaimRequest {
  std::string tenant{};
  std::vector<std::string> topics{};  ///< each once
  std::int64_t max = kDefaultClaim;
  std::optional<std::int64_t> lease_ms{};  ///< none: the topic's
  std::string owner{};
  /// With a heartbeat (heartbeat.hpp): what is claimed is held for as long as that goes on.
  std::optional<std::int64_t> worker{};
  /// The same again, while the lease lasts, is answered with the same messages and fences.
  std::optional<base::Uuid> claim_id{};
  /// How many of the messages, from the first, count as begun: if the claim ends without a word,
  /// they have crashed. A worker that says when it begins each claims with 0.
  std::int64_t started = static_cast<std::int64_t>(kMaxBatch);
  bool waits = false;  ///< who gets nothing will ask again, and wants to know of `has_locked`

  std::size_t bytes() const { return db::BytesOf(tenant, topics, owner); }
};

/// A message in the hands of a worker.
struct ClaimedMessage {
  base::Uuid id{};
  std::int64_t fence = 0;
  std::string topic{};
  std::string payload{};
  PayloadKind kind = PayloadKind::kJson;
  int priority = kDefaultPriority;
  std::int64_t attempts = 0;  ///< that failed before
  std::int64_t crashes = 0;
  std::int64_t enqueued_ms = 0;
  std::int64_t due_ms = 0;
  std::int64_t lease_until_ms = 0;
  std::string correlation_id{};
  std::string headers{};
  std::string trace{};
};
struct ClaimReply {
  base::Uuid claim{};
  /// By priority, then in the order in which they became ready.
  std::vector<ClaimedMessage> messages{};
  std::vector<std::string> paused{};  ///< of the topics that were asked for
  std::int64_t now_ms = 0;
  bool has_locked = false;  ///< nothing was to be had, but something is ready and locked
};

/// What a worker says of a message that it claimed.
enum class Disposition {
  kDone,       ///< acknowledged
  kRetry,      ///< it failed; later again, until its attempts are spent
  kDead,       ///< it failed for good
  kUntouched,  ///< it was not begun: ready again at once, nothing is counted
  kExtend,     ///< still at it
};
struct Settlement {
  base::Uuid id{};
  std::int64_t fence = 0;
  std::string error{};
  std::optional<std::int64_t> retry_after_ms{};  ///< kRetry: instead of the back-off
  std::string output{};                          ///< kDone: JSON, kept where the topic keeps

  std::size_t bytes() const { return db::BytesOf(error, output); }
};
struct SettleRequest {
  std::string tenant{};
  Disposition disposition = Disposition::kDone;
  std::vector<Settlement> settlements{};
  std::optional<std::int64_t> lease_ms{};  ///< kExtend; none: the topic's

  std::size_t bytes() const { return db::BytesOf(tenant, settlements); }
};
enum class SettleOutcome {
  kDone,
  kStale,       ///< the message lives on, and not in these hands
  kGone,        ///< there is no such message: finished earlier, perhaps by this very settlement
  kPassedOver,  ///< some transaction has it locked; not known outside of settler.hpp
};
struct SettleReply {
  std::vector<SettleOutcome> outcomes{};  ///< in the order of the request
};

enum class DeathReason { kFailed = 1, kAttempts = 2, kCrashes = 3 };
std::string_view ToText(DeathReason reason);

/// The key of a topic in the registry and in NOTIFY.
std::string WakeKey(std::string_view tenant, std::string_view topic);
/// Of the one who promotes timers.
inline constexpr std::string_view kTimerKey = "m\n\n";

}  // namespace tenure::messages
