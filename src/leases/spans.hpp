#pragma once

#include <string_view>
#include <vector>

#include "leases/lease.hpp"
#include "telemetry/trace.hpp"

namespace tenure::leases {

// What the spans Lease.Acquire, Lease.Renew and Lease.Release say. All of it costs nothing when the
// request is not traced.

inline constexpr std::string_view kSpanResult = "lease.result";

void Describe(telemetry::Span& span, const LeaseKey& key, const base::Uuid& term);

// The outcome becomes `lease.result`: granted, renewed, released; held, queued, guarded or frozen;
// lost:<reason>. What http says by itself: refused, fault:<kind>, abandoned.

void Conclude(telemetry::Span& span, const AcquireOutcome& outcome);
void Conclude(telemetry::Span& span, const RenewOutcome& outcome);
void Conclude(telemetry::Span& span, const ReleaseOutcome& outcome);
/// A heartbeat of many is one span: `lease.count` of them, `lease.lost` of which are lost; it names
/// the first of those, or the first of all.
void Conclude(telemetry::Span& span, const std::vector<RenewCommand>& commands,
              const std::vector<RenewOutcome>& outcomes);

}  // namespace tenure::leases
