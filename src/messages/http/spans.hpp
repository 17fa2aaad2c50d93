#pragma once

#include <string>
#include <string_view>

#include "http/exchange.hpp"
#include "messages/settle/settle.hpp"
#include "telemetry/trace.hpp"

namespace tenure::messages {

// What the spans Message.Enqueue, Message.Claim, Message.Acknowledge, Message.Abandon and
// Message.Fail say; and Message.Handle, which puts the work on a message into the trace of whoever
// sent it. All of it costs nothing when nothing is traced.

inline constexpr std::string_view kSpanResult = "message.result";

/// Where a message hangs: below the span of the request that brings it, or where that hangs itself.
std::string TraceOf(const http::ExchangePtr& exchange);

void Conclude(telemetry::Span& span, const EnqueueReply& reply);
void Conclude(telemetry::Span& span, const ClaimReply& reply);
void Conclude(telemetry::Span& span, const SettleReply& reply);

/// A span Message.Handle for each message that has left a worker's hands: from its claim to now,
/// below the stored trace of the message. `disposition` is what the worker said of them.
void RecordHandling(telemetry::Tracer& tracer, Disposition disposition, const SettleResult& result);

}  // namespace tenure::messages
