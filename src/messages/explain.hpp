#pragma once

#include <string>

#include "explain/explanation.hpp"
#include "messages/reads.hpp"
#include "messages/topics/topics.hpp"

namespace tenure::messages {

/// Where a message is, who has it, what it waits for and until when. Timers and dead letters are
/// messages.
explain::Explanation Explain(const MessageView& message);
/// Its sentence.
std::string Why(const MessageView& message);

/// What the messages of a topic wait for.
explain::Explanation Explain(const TopicView& topic);

}  // namespace tenure::messages
