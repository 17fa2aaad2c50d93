#pragma once

#include <span>
#include <string>
#include <string_view>

#include "telemetry/trace.hpp"

namespace tenure::telemetry {

/// The spans as the body of an OTLP/HTTP request in its JSON form (ExportTraceServiceRequest):
/// ids in hexadecimal, 64-bit numbers as strings. `instance` names this process.
std::string OtlpJson(std::span<const SpanRecord> spans, std::string_view instance);

}  // namespace tenure::telemetry
