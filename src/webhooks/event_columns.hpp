#pragma once

#include <string>
#include <string_view>

#include "db/columns.hpp"
#include "webhooks/delivery.hpp"

namespace tenure::webhooks {

// As the queries have them.

inline constexpr auto kEventColumns = db::Members(
    &EventRow::event_id, &EventRow::tenant, &EventRow::source, &EventRow::hook,
    &EventRow::delivery_id, &EventRow::event, &EventRow::action, &EventRow::repository_id,
    &EventRow::repository, &EventRow::entity_type, &EventRow::entity_id, &EventRow::entity_previous,
    &EventRow::sender_id, &EventRow::sender, &EventRow::organization, &EventRow::installation_id,
    &EventRow::content_type, &EventRow::signature, &EventRow::headers, &EventRow::trace,
    &EventRow::bytes, &EventRow::messages, &EventRow::topic_messages);

inline constexpr std::string_view kTopicPrefix = "queue:";
/// The topic of a bot whose messages keep no order, and back.
inline std::string TopicOf(std::string_view bot) {
  return std::string(kTopicPrefix) + std::string(bot);
}
inline std::string_view BotOf(std::string_view topic) { return topic.substr(kTopicPrefix.size()); }

}  // namespace tenure::webhooks
