#pragma once

#include "db/query.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db {

/// How long a query takes: a sum and a count. There are hundreds of queries, so none has buckets of
/// its own; those of the batches that they are part of (lane.cpp) tell how the times are spread.
telemetry::Histogram& QueryLatency(telemetry::Registry& metrics, const Query& query);

}  // namespace tenure::db
