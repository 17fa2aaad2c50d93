#pragma once

#include <vector>

#include "base/error.hpp"
#include "leases/lease.hpp"
#include "telemetry/trace.hpp"

namespace tenure::leases {

// What the spans Lease.Acquire, Lease.Renew and Lease.Release say. All of it costs nothing when the
// request is not traced.

/// Before anything is known: `lease.result` is "refused" until there is an outcome, so that a
/// request that was never carried out says so.
void Begin(telemetry::Span& span);
void Describe(telemetry::Span& span, const LeaseKey& key, const base::Uuid& term);

// The outcome becomes `lease.result`: granted, renewed, released; held, queued, guarded or frozen;
// lost:<reason>; fault:<kind>; abandoned.

void Conclude(telemetry::Span& span, const AcquireOutcome& outcome);
void Conclude(telemetry::Span& span, const RenewOutcome& outcome);
void Conclude(telemetry::Span& span, const ReleaseOutcome& outcome);
void Conclude(telemetry::Span& span, const base::Fault& fault);
/// A heartbeat of many is one span: `lease.count` of them, `lease.lost` of which are lost; it names
/// the first of those, or the first of all.
void Conclude(telemetry::Span& span, const std::vector<RenewCommand>& commands,
              const std::vector<RenewOutcome>& outcomes);
/// Who waited has gone.
void Abandoned(telemetry::Span& span);

}  // namespace tenure::leases
