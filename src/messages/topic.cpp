#include "messages/topic.hpp"

namespace tenure::messages {

TopicRow ReadTopic(const db::Rows::Row& row, std::size_t first) {
  TopicRow topic;
  topic.topic_id = row.Int(first);
  topic.lines = row.Int(first + 1);
  std::int64_t* const settings[] = {&topic.settings.max_attempts, &topic.settings.max_crashes,
                                    &topic.settings.lease_ms,     &topic.settings.retention_ms,
                                    &topic.settings.backoff_ms,   &topic.settings.backoff_max_ms,
                                    &topic.settings.dedup_ms};
  std::size_t column = first + 2;
  for (std::int64_t* const setting : settings) {
    const std::int64_t value = row.Int(column++);
    if (value >= 0) *setting = value;
  }
  topic.paused_ms = row.Int(column);
  topic.paused_reason = row.Text(column + 1);
  topic.asked_ms = row.Int(column + 2);
  return topic;
}

}  // namespace tenure::messages
