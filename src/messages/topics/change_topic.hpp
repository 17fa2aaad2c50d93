#pragma once

#include "messages/topics/topics.hpp"

namespace tenure::messages {

/// Changes a topic in the transaction of somebody else; makes it where there is none.
/// Lock order: topics, in ascending order of their names.
TopicChangeReply ChangeTopic(db::Transaction& tx, const TopicChange& wish, std::int64_t now_ms);

}  // namespace tenure::messages
