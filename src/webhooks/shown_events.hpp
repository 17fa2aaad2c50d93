#pragma once

#include "queues/events.hpp"
#include "webhooks/delivery.hpp"

namespace tenure::webhooks {

/// What a consumer of an ordered bot is handed in place of a stored event: the envelope that bots
/// without order get, made when the message is handed out, since the event is stored once.
class ShownEvents final : public queues::Events {
 public:
  explicit ShownEvents(std::size_t inline_payload_bytes = kInlinePayloadBytes)
      : inline_payload_bytes_(static_cast<std::int64_t>(inline_payload_bytes)) {}
  void Show(db::Transaction& tx, const std::vector<queues::Message*>& messages) const override;

 private:
  const std::int64_t inline_payload_bytes_;
};

}  // namespace tenure::webhooks
