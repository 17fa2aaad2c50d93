#pragma once

#include <cstdint>
#include <string>

#include "db/rows.hpp"
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

/// Of the columns of load_topics.sql, from `first` on.
TopicRow ReadTopic(const db::Rows::Row& row, std::size_t first = 0);

}  // namespace tenure::messages
