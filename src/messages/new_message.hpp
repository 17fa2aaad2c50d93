#pragma once

#include <cstddef>
#include <string>

#include "http/exchange.hpp"
#include "http/json_fields.hpp"
#include "messages/message.hpp"

namespace tenure::messages {

/// What a request to enqueue is held to.
struct NewMessageRules {
  std::size_t payload_max = 0;  ///< messages.payload_max
  bool is_timer = false;        ///< it must say when, and has no dedup_key
  std::string trace{};          ///< where it hangs when its headers do not say
};

/// Reads one message, or a list of them under `list`. Throws a 400 that names every field that is
/// wrong ("messages[3].topic").
EnqueueRequest ReadEnqueue(const http::ExchangePtr& exchange, std::string_view list,
                           const NewMessageRules& rules);

/// 1 to `max_bytes` of text.
std::string RequiredText(http::JsonObject& object, std::string_view name, std::size_t max_bytes);

}  // namespace tenure::messages
