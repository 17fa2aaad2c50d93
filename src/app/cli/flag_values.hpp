#pragma once

#include <string>
#include <string_view>

#include "base/uuid.hpp"

namespace tenure::app {

/// The UUID in `text`. Throws UsageError that names `flag`.
base::Uuid UuidFlag(std::string_view flag, std::string_view text);

/// `text` as it may stand in the query of a URL.
std::string PercentEncoded(std::string_view text);

}  // namespace tenure::app
