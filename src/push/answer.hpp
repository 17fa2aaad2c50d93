#pragma once

#include <cstdint>
#include <string_view>

#include "http/outgoing.hpp"

/// What an endpoint's answer means.
namespace tenure::push {

enum class AnswerKind {
  kAcknowledged,   ///< the receiver has it
  kMessageFault,   ///< it does not want this message: an attempt, and the topic's back-off
  kEndpointFault,  ///< it speaks of the endpoint: no attempt of the message
  kHold,           ///< it asks for a pause: neither an attempt nor a failure
  kDisable,        ///< it is gone for good
  kDropped,        ///< we gave it up ourselves: nothing is known, and nothing is counted
};

struct Judgement {
  AnswerKind kind = AnswerKind::kAcknowledged;
  std::string_view reason;   ///< a word for metrics
  std::int64_t hold_ms = 0;  ///< kHold
};

/// The longest pause that an endpoint may ask for.
inline constexpr std::int64_t kMaxHoldMs = 3'600'000;

/// Of an answer, or of none. A request that left and was not answered may have been carried out, so
/// it is the message's attempt; one that never left is the endpoint's fault, unless this process had no place
/// for it or gave it up.
Judgement Judge(const http::OutgoingReply& reply);

}  // namespace tenure::push
