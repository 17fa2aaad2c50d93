#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/uuid.hpp"

namespace tenure::app {

/// The UUID in `text`. Throws UsageError that names `flag`.
base::Uuid UuidFlag(std::string_view flag, std::string_view text);

/// The duration in `text`, "30s", from `least` to `most`. Throws UsageError that names `flag`.
struct DurationBounds {
  std::int64_t least_ms = 0;
  std::int64_t most_ms = 0;
};
std::int64_t DurationFlag(std::string_view flag, std::string_view text,
                          const DurationBounds& bounds);

/// The number in `text`. Throws UsageError that names `flag`.
struct NumberBounds {
  int least = 0;
  int most = 0;
};
int NumberFlag(std::string_view flag, std::string_view text, const NumberBounds& bounds);

/// The path of a lease, from its name. Throws UsageError when no lease can be called that.
std::string LeasePath(std::string_view name);

/// `text` as it may stand in the path or the query of a URL.
std::string PercentEncoded(std::string_view text);

}  // namespace tenure::app
