#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "push/parcel.hpp"

/// CloudEvents 1.0 over HTTP: how a message looks on the wire.
namespace tenure::push {

enum class Format : std::uint8_t { kBinary = 0, kStructured = 1 };
std::string_view ToText(Format format);

/// A message as an event; views it.
struct Event {
  std::string_view id{};
  std::string_view tenant{};
  std::string_view topic{};
  std::string_view type{};  ///< empty: the topic
  std::int64_t time_ms = 0;
  std::string_view trace_parent{};  ///< empty: there is none
  messages::PayloadKind kind = messages::PayloadKind::kJson;
  std::string_view payload{};
  const Turn* turn = nullptr;  ///< of an ordered queue
};

struct EncodedEvent {
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};
/// Binary: the attributes are headers and the body is the payload. Structured: the body is a JSON
/// document with both.
EncodedEvent Encode(const Event& event, Format format);

/// What the header `type` of a message says; empty when it says nothing that a type can be.
std::string TypeOf(std::string_view message_headers);

}  // namespace tenure::push
