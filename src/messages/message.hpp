#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"

/// Messages: work that somebody must do once (spec 30). Times are milliseconds of the store's
/// clock.
namespace tenure::messages {

inline constexpr std::size_t kMaxTopicBytes = 255;
inline constexpr std::size_t kMaxCorrelationBytes = 255;
inline constexpr std::size_t kMaxDedupKeyBytes = 255;
inline constexpr std::size_t kMaxHeadersBytes = 16 << 10;
inline constexpr std::size_t kMaxOwnerBytes = 200;
inline constexpr std::size_t kMaxErrorBytes = 4 << 10;
inline constexpr std::size_t kMaxOutputBytes = 64 << 10;
inline constexpr std::size_t kMaxBatch = 1'000;  ///< messages of one enqueue, claim or report
inline constexpr int kPriorities = 10;           ///< 0 is first
inline constexpr int kDefaultPriority = 5;
inline constexpr std::int64_t kDefaultClaim = 50;
inline constexpr std::int64_t kDefaultLeaseMs = 30'000;
inline constexpr std::int64_t kMinLeaseMs = 1'000;
inline constexpr std::int64_t kMaxLeaseMs = 24 * 3'600'000;
/// A claim hands out no more payload than this, or one message.
inline constexpr std::int64_t kMaxClaimBytes = 8 << 20;

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
};

struct EnqueueRequest {
  std::string tenant{};
  std::vector<NewMessage> messages{};
  bool is_list = false;  ///< they came as a list, and are answered as one, be it of one

  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const NewMessage& each : messages)
      bytes += 256 + each.payload.size() + each.headers.size();
    return bytes;
  }
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
  std::vector<ClaimedMessage>
      messages{};                     ///< by priority, then in the order in which they became ready
  std::vector<std::string> paused{};  ///< of the topics that were asked for
  std::int64_t now_ms = 0;
};

/// What a worker says of a message that it claimed.
enum class Verdict {
  kDone,       ///< acknowledged
  kRetry,      ///< it failed; later again, until its attempts are spent
  kDead,       ///< it failed for good
  kUntouched,  ///< it was not begun: ready again at once, nothing is counted
  kExtend,     ///< still at it
};
struct Report {
  base::Uuid id{};
  std::int64_t fence = 0;
  std::string error{};
  std::optional<std::int64_t> retry_after_ms{};  ///< kRetry: instead of the back-off
  std::string output{};                          ///< kDone: JSON, kept where the topic keeps
};
struct ReportRequest {
  std::string tenant{};
  Verdict verdict = Verdict::kDone;
  std::vector<Report> reports{};
  std::optional<std::int64_t> lease_ms{};  ///< kExtend; none: the topic's

  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const Report& each : reports) bytes += 64 + each.error.size() + each.output.size();
    return bytes;
  }
};
enum class ReportOutcome {
  kDone,
  kStale,       ///< the message lives on, and not in these hands
  kGone,        ///< there is no such message: finished earlier, perhaps by this very report
  kPassedOver,  ///< some transaction has it locked; not known outside of reports.hpp
};
struct ReportReply {
  std::vector<ReportOutcome> outcomes{};  ///< in the order of the request
};

enum class DeathReason { kFailed = 1, kAttempts = 2, kCrashes = 3 };
std::string_view ToText(DeathReason reason);

/// Which topics wait to be told of news in the registry, here and in NOTIFY.
std::string WakeKey(std::string_view tenant, std::string_view topic);
/// Of the one who promotes timers.
inline constexpr std::string_view kTimerKey = "m\n\n";

}  // namespace tenure::messages
