#pragma once

#include <string>

#include "db/once.hpp"
#include "messages/enqueue.hpp"

/// Messages in JSON, as the HTTP API has them.
namespace tenure::messages {

/// {"id": …} for one message, {"ids": […]} for several; duplicates are marked.
std::string EnqueuedJson(const EnqueueReply& reply);
/// The same as it is kept for an idempotency key.
db::Answer EnqueueAnswer(const EnqueueResult& result);

}  // namespace tenure::messages
