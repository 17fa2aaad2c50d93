#pragma once

#include <string>

#include "base/error.hpp"
#include "http/exchange.hpp"
#include "messages/report.hpp"
#include "telemetry/trace.hpp"

namespace tenure::messages {

// What the spans Message.Enqueue, Message.Claim, Message.Acknowledge, Message.Abandon and
// Message.Fail say; and Message.Handle, which puts the work on a message into the trace of whoever
// sent it. All of it costs nothing when nothing is traced.

/// Before anything is known: `message.result` is "refused" until there is an outcome.
void Begin(telemetry::Span& span);

/// Where a message hangs: below the span of the request that brings it, or where that hangs itself.
std::string TraceOf(const http::ExchangePtr& exchange);

void Conclude(telemetry::Span& span, const EnqueueReply& reply);
void Conclude(telemetry::Span& span, const ClaimReply& reply);
void Conclude(telemetry::Span& span, const ReportReply& reply);
void Conclude(telemetry::Span& span, const base::Fault& fault);
/// Who waited has gone.
void Abandoned(telemetry::Span& span);

/// A span Message.Handle for each message that has left a worker's hands: from its claim to now,
/// below the stored trace of the message. `verdict` is what the worker said of them.
void RecordHandling(telemetry::Tracer& tracer, Verdict verdict, const ReportResult& result);

}  // namespace tenure::messages
