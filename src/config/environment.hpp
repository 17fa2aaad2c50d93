#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/given.hpp"

namespace tenure::config {

/// Names and values. A parameter everywhere, so that tests need not change their own process.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The variables of this process that start with "TENURE_".
Environment CurrentEnvironment();

std::optional<std::string> FindVariable(const Environment& environment, std::string_view name);

/// The values that environment variables give to settings. A TENURE_ variable that names no setting
/// is a problem (a misspelt one would silently do nothing), except those that other parts of the
/// program, the tests or Kubernetes use.
std::vector<Given> FromEnvironment(const Environment& environment, Problems& problems);

}  // namespace tenure::config
