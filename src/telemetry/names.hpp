#pragma once

#include <span>
#include <string_view>

namespace tenure::telemetry {

/// Names of metrics that operators were promised as they are. Every other one of Tenure's begins with
/// kOwnPrefix, so that it meets nobody else's in their Prometheus.
std::span<const std::string_view> PromisedNames();
inline constexpr std::string_view kOwnPrefix = "tenure_";

/// Whether a metric of Tenure's may be called so.
bool IsProperName(std::string_view name);

}  // namespace tenure::telemetry
