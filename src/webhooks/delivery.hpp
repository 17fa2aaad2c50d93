#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "db/weight.hpp"
#include "webhooks/rules/event.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

/// A webhook that arrived, whose signature is good. Made by the route, constant afterwards.
struct Delivery {
  Delivery() = default;
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  std::shared_ptr<const void> keeps;  ///< what `body` lies in
  std::string source;
  std::string hook;
  std::string delivery_id;
  std::string event;
  std::string content_type;
  std::string signature;
  std::string headers;    ///< a JSON object
  std::string trace;      ///< W3C traceparent, or empty
  std::string_view body;  ///< as it came, and was signed
  std::string decoded;    ///< of a form: its payload
  std::optional<rules::Payload> payload;
  SnapshotPtr judged_by;  ///< the bots by which it was let in; null: nobody asked

  /// Where it came from. The source decides the host.
  rules::Origin OriginAt(std::string_view host) const {
    return {.source = source, .host = host, .hook = hook, .event = event};
  }
};
using DeliveryPtr = std::shared_ptr<const Delivery>;

/// An event, as it is stored.
struct EventRow {
  base::Uuid event_id{};
  std::string tenant{};
  std::string source{};
  std::string hook{};
  std::string delivery_id{};
  std::string event{};
  std::string action{};
  std::string repository_id{};
  std::string repository{};
  std::string entity_type{};
  std::string entity_id{};
  std::string entity_previous{};
  std::string sender_id{};
  std::string sender{};
  std::string organization{};
  std::string installation_id{};
  std::string content_type{};
  std::string signature{};
  std::string headers{};
  std::string trace{};
  std::int64_t bytes = 0;        ///< of the body
  std::int64_t messages = 0;     ///< that it became
  std::string topic_messages{};  ///< JSON: of each bot without order the id of its message
  std::int64_t received_ms = 0;
  std::int64_t number = 0;
};

/// Whether a body of that type is a form, whose one field is the payload.
inline bool IsForm(std::string_view content_type) {
  return content_type.find("form") != std::string_view::npos;
}

/// What is read of a delivery, for its row; nothing of the store's own yet.
EventRow RowOf(const Delivery& delivery, const rules::Event& event, std::string_view tenant);

/// The largest payload that stands in a message itself, unless somebody says otherwise.
inline constexpr std::size_t kInlinePayloadBytes = 1024 * 1024;

/// What a consumer of a bot's messages is handed.
struct MessageContext {
  std::string_view bot;
  std::string_view copy;  ///< "2/3": of a check that became several messages; else empty
  bool ordered = false;
  std::int64_t processed_ms = 0;
};
/// Where an event's payload is, as JSON.
std::string PayloadUrl(const EventRow& row);
/// The envelope; the payload stands last. `payload` is the event's JSON; empty: it is too large, and has an address instead.
std::string EnvelopeJson(const EventRow& row, const MessageContext& context,
                         std::string_view payload);

}  // namespace tenure::webhooks
