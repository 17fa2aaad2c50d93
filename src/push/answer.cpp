#include "push/answer.hpp"

#include <algorithm>

namespace tenure::push {
namespace {

/// Until there may be a place.
constexpr std::int64_t kBusyMs = 1'000;

}  // namespace

Judgement Judge(const http::OutgoingReply& reply) {
  const int status = reply.status;
  if (status == 0) {
    using OwnDoing = http::OutgoingReply::OwnDoing;
    if (reply.own_doing == OwnDoing::kGivenUp) return {AnswerKind::kDropped, "dropped"};
    if (reply.own_doing == OwnDoing::kTooMany) return {AnswerKind::kHold, "busy", kBusyMs};
    if (reply.maybe_received) return {AnswerKind::kMessageFault, "no_answer"};
    return {AnswerKind::kEndpointFault, "no_connection"};
  }
  if (reply.acknowledged()) return {AnswerKind::kAcknowledged, "delivered"};
  if (status == 410) return {AnswerKind::kDisable, "gone"};
  if ((status == 429 || status == 503) && reply.retry_after_ms)
    return {AnswerKind::kHold, "held",
            std::clamp<std::int64_t>(*reply.retry_after_ms, 0, kMaxHoldMs)};
  if (status >= 300 && status < 400) return {AnswerKind::kEndpointFault, "redirect"};
  switch (status) {
    case 401:
    case 403:
      return {AnswerKind::kEndpointFault, "forbidden"};
    case 404:
    case 408:
    case 425:
    case 429:
    case 502:
    case 503:
    case 504:
      return {AnswerKind::kEndpointFault, "unavailable"};
    default:
      return {AnswerKind::kMessageFault, "refused"};
  }
}

}  // namespace tenure::push
