#pragma once

#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "db/once.hpp"
#include "messages/admin.hpp"
#include "messages/enqueue.hpp"
#include "messages/look.hpp"
#include "messages/message.hpp"

/// Messages in JSON, as the HTTP API has them.
namespace tenure::messages {

/// {"id": …} for one message, {"ids": […]} for a list; duplicates are marked.
std::string EnqueuedJson(const EnqueueReply& reply);
/// 201, or 200 when every one of them is a duplicate.
int EnqueuedStatus(const EnqueueReply& reply);
/// The same as it is kept for an idempotency key.
db::Answer EnqueueAnswer(const EnqueueResult& result);

std::string ClaimJson(const ClaimReply& reply);
/// The ids by what became of them: {"done": […], "stale": […], "gone": […]}.
std::string ReportJson(const std::vector<Report>& reports,
                       const std::vector<ReportOutcome>& outcomes);

/// Everything that is known of it, and why it does not move.
std::string MessageJson(const MessageView& message);
/// The same of a timer: whether it has fired comes first.
std::string TimerJson(const MessageView& message);

std::string TopicJson(const TopicView& topic);
std::string TopicsJson(const TopicsReply& reply);
std::string DeadLettersJson(const DeadReply& reply);
std::string DeadChangeJson(const DeadChangeReply& reply);
/// The same as it is kept for an idempotency key.
db::Answer DeadChangeAnswer(const DeadChangeReply& reply);
/// That a topic was changed, for an idempotency key; without a body, as the topic itself is told.
db::Answer TopicChangeAnswer(const TopicChangeReply& reply);

}  // namespace tenure::messages
