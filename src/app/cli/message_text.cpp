#include "app/cli/message_text.hpp"

#include "app/cli/flag_values.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/usage_error.hpp"
#include "messages/message.hpp"

namespace tenure::app {

std::string MessageText(const Answer& answer) {
  return JsonRow::Parse(answer.body)
      .Lines({{"message", "id"},
              {"topic", "topic"},
              {"state", "state"},
              {"why", "why"},
              {"fired", "fired"},
              {"priority", "priority"},
              {"attempts", "attempts"},
              {"crashes", "crashes"},
              {"enqueued", "enqueued_at"},
              {"due", "due_at"},
              {"owner", "owner"},
              {"fence", "fence"},
              {"claimed", "claimed_at"},
              {"lease until", "lease_expires_at"},
              {"died", "died_at"},
              {"reason", "reason"},
              {"finished", "finished_at"},
              {"output", "output"},
              {"last error", "last_error"},
              {"correlation", "correlation_id"},
              {"headers", "headers"},
              {"traceparent", "traceparent"},
              {"payload", "payload"},
              {"bytes (base64)", "payload_base64"}});
}

std::string MessagePath(const std::string& id) {
  return "/api/v1/messages/" + UuidFlag("ID", id).ToString();
}

std::string TimerPath(const std::string& id) {
  return "/api/v1/timers/" + UuidFlag("ID", id).ToString();
}

std::string TopicPath(const std::string& topic) {
  if (topic.empty() || topic.size() > messages::kMaxTopicBytes)
    throw UsageError("TOPIC has 1 to 255 bytes");
  return "/api/v1/topics/" + PercentEncoded(topic);
}

}  // namespace tenure::app
