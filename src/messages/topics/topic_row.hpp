#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/rows.hpp"
#include "db/weight.hpp"
#include "messages/rules.hpp"

namespace tenure::messages {

/// A topic as it is on record.
struct TopicRow {
  std::int64_t topic_id = 0;
  std::int64_t lines = 0;
  TopicSettings settings{};
  std::int64_t paused_ms = 0;  ///< since when; 0: it is not
  std::string paused_reason{};
  std::int64_t asked_ms = 0;  ///< when somebody asked for its messages, to the minute; 0: never
};

inline constexpr std::int64_t kDefaultOfTopic = -1;
/// What is to be different about a topic. A value: set it; kDefaultOfTopic: as the default is.
struct TopicChange {
  std::string tenant{};
  std::string name{};
  std::optional<std::int64_t> max_attempts{};
  std::optional<std::int64_t> max_crashes{};
  std::optional<std::int64_t> lease_ms{};
  std::optional<std::int64_t> retention_ms{};
  std::optional<std::int64_t> backoff_ms{};
  std::optional<std::int64_t> backoff_max_ms{};
  std::optional<std::int64_t> dedup_ms{};
  std::optional<bool> paused{};
  std::string paused_reason{};

  std::size_t bytes() const { return db::BytesOf(tenant, name, paused_reason); }
};
/// Every setting of a topic: what it is called, and what may be asked for.
struct TopicSetting {
  std::string_view name;
  std::int64_t TopicSettings::*value;
  std::optional<std::int64_t> TopicChange::*change;
  std::int64_t least = 0;
  std::int64_t most = 0;
};
inline constexpr std::int64_t kMaxBudget = 1'000'000;
inline constexpr std::int64_t kMaxKeptMs = 3'650LL * 86'400'000;
inline constexpr std::int64_t kMaxBackoffMs = 366LL * 86'400'000;
/// In the order of the columns of load_topics.sql.
inline constexpr std::array kTopicSettings = {
    TopicSetting{"max_attempts", &TopicSettings::max_attempts, &TopicChange::max_attempts, 0,
                 kMaxBudget},
    TopicSetting{"max_crashes", &TopicSettings::max_crashes, &TopicChange::max_crashes, 0,
                 kMaxBudget},
    TopicSetting{"lease_ms", &TopicSettings::lease_ms, &TopicChange::lease_ms, kMinLeaseMs,
                 kMaxLeaseMs},
    TopicSetting{"retention_ms", &TopicSettings::retention_ms, &TopicChange::retention_ms, 0,
                 kMaxKeptMs},
    TopicSetting{"backoff_ms", &TopicSettings::backoff_ms, &TopicChange::backoff_ms, 0,
                 kMaxBackoffMs},
    TopicSetting{"backoff_max_ms", &TopicSettings::backoff_max_ms, &TopicChange::backoff_max_ms, 0,
                 kMaxBackoffMs},
    TopicSetting{"dedup_ms", &TopicSettings::dedup_ms, &TopicChange::dedup_ms, 0, kMaxKeptMs}};

/// Of the columns of load_topics.sql, from `first` on.
TopicRow ReadTopic(const db::Rows::Row& row, std::size_t first = 0);

}  // namespace tenure::messages
