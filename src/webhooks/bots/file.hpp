#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.hpp"
#include "base/rate.hpp"
#include "webhooks/rules/route.hpp"

/// The bots of a tenant as its file has them.
namespace tenure::webhooks::bots {

inline constexpr std::size_t kMaxFileBytes = 1024 * 1024;
inline constexpr std::size_t kMaxBots = 200;
inline constexpr std::size_t kMaxSources = 20;
inline constexpr std::size_t kMaxPatterns = 100;
inline constexpr std::size_t kMaxSecrets = 4;
inline constexpr std::size_t kMaxNameBytes = 100;

/// What becomes of a message that cannot be processed. The values stand in the store.
enum class OnDeadLetter : std::uint8_t {
  kPark = 0,  ///< it stays in its place, and its session stops
  kSkip = 1,  ///< it goes to the dead letters, and its session goes on
  kStop = 2,  ///< as kPark, and the whole queue is paused
};
std::string_view ToText(OnDeadLetter policy);

/// What a bot's queue is given. 0 is "without limit" where nothing else is said.
struct Limits {
  std::int64_t max_concurrent_sessions = 0;
  std::int64_t session_timeout_ms = 300'000;  ///< default and longest lease of a hold
  std::int64_t session_idle_timeout_ms = 120'000;
  std::int64_t session_max_duration_ms = 1'800'000;
  std::int64_t session_max_messages = 100;
  std::int64_t max_delivery_count = 5;
  std::int64_t retry_backoff_ms = 1'000;
  std::int64_t retry_backoff_max_ms = 60'000;
  OnDeadLetter on_dead_letter = OnDeadLetter::kPark;
  std::int64_t default_message_ttl_ms = 0;
  std::int64_t queue_depth_threshold = 0;
  std::int64_t max_size_in_megabytes = 0;
  std::int64_t duplicate_detection_window_ms = 600'000;  ///< 0: none
  std::int64_t history_ms = 8LL * 86'400'000;

  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Bot {
  std::string name;
  rules::Routing routing;
  Limits limits;
};

/// Where a secret is kept. Its text is read by each process and never stored.
struct SecretPlace {
  enum class Kind { kFile, kEnvironment };
  Kind kind = Kind::kFile;
  std::string name;  ///< the path, or the variable

  friend bool operator==(const SecretPlace&, const SecretPlace&) = default;
};

/// Who may send webhooks.
struct Source {
  std::string name;
  std::string host = "github.com";  ///< the first part of every key
  std::vector<SecretPlace> secrets;
  std::vector<base::IpBlock> allow_from;  ///< empty: anybody
  base::Rate rate;                        ///< of each process

  friend bool operator==(const Source&, const Source&) = default;
};

struct File {
  std::string tenant = "default";
  std::vector<Source> sources;
  std::vector<Bot> bots;
};

/// The file as the API shows it and takes it: one JSON object with every option of every bot that
/// has a meaning for it, written out. Reading it gives the same file.
std::string ToJson(const File& file);

/// What makes the keys of a bot's queue: two bots with the same text give every event the same
/// session.
std::string KeyRuleOf(const rules::Routing& routing);

}  // namespace tenure::webhooks::bots
