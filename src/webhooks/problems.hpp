#pragma once

#include "base/error.hpp"
#include "http/message.hpp"

namespace tenure::webhooks {

/// Whether an operation failed because a bot's queue is full.
bool IsQueueFull(const base::Fault& fault);
/// Whose it is, strangers need not know.
http::Problem QueueFull();

}  // namespace tenure::webhooks
