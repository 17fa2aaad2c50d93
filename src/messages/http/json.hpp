#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/caller.hpp"
#include "base/json_writer.hpp"
#include "messages/dead_groups.hpp"
#include "messages/dead_letters.hpp"
#include "messages/enqueue/enqueue.hpp"
#include "messages/message.hpp"
#include "messages/reads.hpp"
#include "messages/topics/topics.hpp"

/// Messages in JSON, as the HTTP API has them.
namespace tenure::messages {

/// {"id": …} for one message, {"ids": […]} for a list; duplicates are marked.
std::string EnqueuedJson(const EnqueueReply& reply);
/// 201, or 200 when every one of them is a duplicate.
int EnqueuedStatus(const EnqueueReply& reply);
/// The same as it is kept for an idempotency key.
std::optional<base::StoredAnswer> EnqueueAnswer(const EnqueueReply& reply);

std::string ClaimJson(const ClaimReply& reply);
/// The ids by what became of them: {"done": […], "stale": […], "gone": […]}.
std::string SettleJson(const std::vector<Settlement>& settlements,
                       const std::vector<SettleOutcome>& outcomes);

/// Everything that is known of it, and why it does not move.
std::string MessageJson(const MessageView& message);
/// The same of a timer: whether it has fired comes first.
std::string TimerJson(const MessageView& message);

std::string TopicJson(const TopicView& topic);
std::string MessagesJson(const MessagesReply& reply);
std::string TopicsJson(const TopicsReply& reply);
std::string DeadGroupsJson(const GroupsReply& reply);
std::string DeadLettersJson(const DeadReply& reply);
std::string DeadChangeJson(const DeadChangeReply& reply);
/// The same as it is kept for an idempotency key.
std::optional<base::StoredAnswer> DeadChangeAnswer(const DeadChangeReply& reply);
/// That a topic was changed, for an idempotency key; without a body, as the topic itself is told.
std::optional<base::StoredAnswer> TopicChangeAnswer(const TopicChangeReply& reply);

}  // namespace tenure::messages
