#include "messages/rules.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "base/random_bits.hpp"

namespace tenure::messages {
namespace {

constexpr int kFenceBitsPerIncarnation = 40;
constexpr std::size_t kHandedBytes = 24;

/// Evenly spread bits of a failure's own identity.
std::uint64_t Mix(const base::Uuid& id, std::int64_t failures) {
  std::uint64_t bits = base::RandomBitsOf(id) + static_cast<std::uint64_t>(failures);
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31);
}

}  // namespace

std::string_view ToText(DeathReason reason) {
  switch (reason) {
    case DeathReason::kFailed:
      return "failed";
    case DeathReason::kAttempts:
      return "attempts";
    case DeathReason::kCrashes:
      return "crashes";
  }
  return "failed";
}

std::string WakeKey(std::string_view tenant, std::string_view topic) {
  std::string key = "m\n";
  key += tenant;
  key += '\n';
  key += topic;
  return key;
}

std::int64_t NextFence(std::int64_t last, std::int64_t incarnation) {
  // Incarnation 1 forgot nothing: its fences begin at 1.
  const std::int64_t floor = incarnation > 1 ? incarnation << kFenceBitsPerIncarnation : 0;
  return std::max(last, floor) + 1;
}

std::int64_t BackoffMs(const TopicSettings& topic, std::int64_t failures, const base::Uuid& id) {
  // Whatever the row of a topic says: no loop is longer than a few turns, and no sum overflows.
  const std::int64_t most_ms = std::clamp<std::int64_t>(topic.backoff_max_ms, 0, kMaxRetryMs);
  std::int64_t full_ms = std::clamp<std::int64_t>(topic.backoff_ms, 0, most_ms);
  for (std::int64_t i = 1; i < failures && full_ms > 0 && full_ms < most_ms; ++i)
    full_ms = std::min(full_ms * 2, most_ms);
  const std::int64_t half_ms = full_ms / 2;
  const auto spread = static_cast<std::uint64_t>(full_ms - half_ms + 1);
  return half_ms + static_cast<std::int64_t>(Mix(id, failures) % spread);
}

std::optional<DeathReason> AfterFailure(const TopicSettings& topic, std::int64_t failures) {
  if (topic.max_attempts == 0 || failures < topic.max_attempts) return std::nullopt;
  return DeathReason::kAttempts;
}

std::optional<DeathReason> AfterCrash(const TopicSettings& topic, std::int64_t crashes) {
  if (topic.max_crashes == 0 || crashes < topic.max_crashes) return std::nullopt;
  return DeathReason::kCrashes;
}

std::vector<std::vector<std::size_t>> Share(std::vector<Candidate>& candidates,
                                            std::span<const Demand> demands) {
  std::stable_sort(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::tuple(PriorityOf(a.line), a.pos) < std::tuple(PriorityOf(b.line), b.pos);
      });
  std::vector<bool> taken(candidates.size());
  std::size_t first_free = 0;
  std::vector<std::vector<std::size_t>> shares;
  std::int64_t all_bytes = 0;
  for (const Demand& demand : demands) {
    if (all_bytes >= kMaxClaimsBytes) break;
    std::vector<std::size_t>& share = shares.emplace_back();
    std::int64_t bytes = 0;
    while (first_free < taken.size() && taken[first_free]) ++first_free;
    for (std::size_t i = first_free; i < candidates.size(); ++i) {
      if (static_cast<std::int64_t>(share.size()) == demand.max) break;
      const Candidate& each = candidates[i];
      if (taken[i] ||
          std::find(demand.topics.begin(), demand.topics.end(), each.topic) == demand.topics.end())
        continue;
      if (!share.empty() && IsSuspect(each.line)) continue;
      if (!share.empty() && bytes + each.size > kMaxClaimBytes) break;
      bytes += each.size;
      taken[i] = true;
      share.push_back(i);
      if (IsSuspect(each.line)) break;
    }
    all_bytes += bytes;
  }
  return shares;
}

std::string EncodeHanded(const std::vector<Handed>& messages) {
  std::string bytes;
  bytes.reserve(messages.size() * kHandedBytes);
  for (const Handed& each : messages) {
    bytes.append(reinterpret_cast<const char*>(each.id.bytes.data()), each.id.bytes.size());
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(each.fence) >> shift));
  }
  return bytes;
}

std::vector<Handed> DecodeHanded(std::string_view bytes) {
  std::vector<Handed> messages;
  for (; bytes.size() >= kHandedBytes; bytes.remove_prefix(kHandedBytes)) {
    Handed& each = messages.emplace_back();
    std::memcpy(each.id.bytes.data(), bytes.data(), each.id.bytes.size());
    std::uint64_t fence = 0;
    for (std::size_t i = 16; i < kHandedBytes; ++i)
      fence = fence << 8 | static_cast<std::uint8_t>(bytes[i]);
    each.fence = static_cast<std::int64_t>(fence);
  }
  return messages;
}

}  // namespace tenure::messages
