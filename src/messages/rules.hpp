#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "messages/message.hpp"

/// What is decided about messages without looking at a store.
namespace tenure::messages {

/// How the messages of a topic are treated; what nobody set is as here.
struct TopicSettings {
  std::int64_t max_attempts = 20;  ///< reported failures until it is dead; 0: without limit
  std::int64_t max_crashes = 3;    ///< claims that ended without a word; 0: without limit
  std::int64_t lease_ms = kDefaultLeaseMs;
  std::int64_t retention_ms = 0;  ///< of finished messages; 0: they leave no trace
  std::int64_t backoff_ms = 1'000;
  std::int64_t backoff_max_ms = 60'000;
  std::int64_t dedup_ms = 600'000;

  friend bool operator==(const TopicSettings&, const TopicSettings&) = default;
};

/// Where a message stands while it is ready: one line for each priority, and one more for those
/// that are suspected of killing their workers (crashes > 0), which are handed out alone.
constexpr std::int64_t LineOf(int priority, std::int64_t crashes) {
  return 2 * static_cast<std::int64_t>(priority) + (crashes > 0 ? 1 : 0);
}
/// The bits of both lines of a priority. A topic has both from its first message of that priority
/// on, so whoever puts a suspect back need not touch the topic's row.
constexpr std::int64_t LinesOf(int priority) { return std::int64_t{3} << (2 * priority); }
inline constexpr std::int64_t kAllLines = (std::int64_t{1} << 2 * kPriorities) - 1;
constexpr int PriorityOf(std::int64_t line) { return static_cast<int>(line / 2); }
constexpr bool IsSuspect(std::int64_t line) { return line % 2 != 0; }

/// The fence of the next claim: above the last one, and above all that a store may have forgotten
/// (docs/ground.md, Incarnation).
std::int64_t NextFence(std::int64_t last, std::int64_t incarnation);

/// How long to wait after the nth failure: base, twice that, four times … up to the topic's most;
/// of that, between a half and all. By chance, but the same whenever it is computed for the same
/// failure: a batch that is run again decides the same.
std::int64_t BackoffMs(const TopicSettings& topic, std::int64_t failures, const base::Uuid& id);

/// What becomes of a message after one more failure, or one more crash.
std::optional<DeathReason> AfterFailure(const TopicSettings& topic, std::int64_t failures);
std::optional<DeathReason> AfterCrash(const TopicSettings& topic, std::int64_t crashes);

/// A ready message that one of a batch of claims may get.
struct Candidate {
  std::size_t topic = 0;  ///< index of one of the batch's topics
  std::int64_t line = 0;
  std::int64_t pos = 0;
  base::Uuid id{};
  std::int64_t fence = 0;
  std::int64_t size = 0;   ///< of the payload
  std::size_t source = 0;  ///< where the caller keeps the rest of it
};
/// What one claim of a batch may get.
struct Demand {
  std::vector<std::size_t> topics{};
  std::int64_t max = 0;
};

/// Sorts the candidates (by priority, then position) and gives each claim, in order of arrival, the
/// first ones that it may have and nobody before it got, within `max` and kMaxClaimBytes. A suspect
/// is given only when it is the first, and then alone: if it kills its worker, it takes no
/// neighbour along. Returns indexes into `candidates`, per demand. When kMaxClaimsBytes
/// are given, the demands that are left get no share at all, not even an empty one.
std::vector<std::vector<std::size_t>> Share(std::vector<Candidate>& candidates,
                                            std::span<const Demand> demands);

/// What one claim row stands for: the messages that were handed out together. 24 bytes each.
struct Handed {
  base::Uuid id{};
  std::int64_t fence = 0;
};
std::string EncodeHanded(const std::vector<Handed>& messages);
std::vector<Handed> DecodeHanded(std::string_view bytes);

}  // namespace tenure::messages
