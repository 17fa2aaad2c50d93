#include "db/query_latency.hpp"

#include <string>

namespace tenure::db {

telemetry::Histogram& QueryLatency(telemetry::Registry& metrics, const Query& query) {
  return metrics.GetHistogram(
      "tenure_store_query_seconds",
      "Time of one query; within a PostgreSQL flush, from the answer before.", {},
      telemetry::kMicrosPerSecond, {{"query", std::string(query.name)}});
}

}  // namespace tenure::db
