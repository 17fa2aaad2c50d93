#include "base/error.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace tenure::base {

std::string_view ToText(FaultKind kind) {
  switch (kind) {
    case FaultKind::kStoreUnavailable:
      return "store-unavailable";
    case FaultKind::kOutcomeUnknown:
      return "outcome-unknown";
    case FaultKind::kContended:
      return "contended";
    case FaultKind::kOverloaded:
      return "overloaded";
    case FaultKind::kTimeout:
      return "timeout";
    case FaultKind::kSerialization:
      return "serialization";
    case FaultKind::kStatement:
    case FaultKind::kDenied:
      return "internal";
    case FaultKind::kStopping:
      return "stopping";
    case FaultKind::kFenceStale:
      return "fence-stale";
  }
  return "internal";
}

void Panic(std::string_view message, const char* file, int line) {
  fmt::print(stderr, "tenure: broken invariant: {} ({}:{})\n", message, file, line);
  std::abort();
}

}  // namespace tenure::base
