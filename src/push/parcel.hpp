#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "messages/message.hpp"

namespace tenure::push {

/// Where a message of an ordered queue has its place, and what else is said of it.
struct Turn {
  std::string queue{};
  base::Uuid session{};
  std::int64_t fence = 0;
  std::int64_t sequence = 0;
  std::string key{};
  std::string name{};         ///< printed
  std::string event_type{};   ///< of an event of GitHub: com.github.…; else empty
  std::string delivery_id{};  ///< the same
};

/// A message on its way to an endpoint.
struct Parcel : messages::ClaimedMessage {
  std::optional<Turn> turn{};  ///< nothing: it was claimed from a topic
};

}  // namespace tenure::push
