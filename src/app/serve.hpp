#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"

namespace tenure::app {

/// Serves until SIGTERM or SIGINT and returns the exit code. `sources` is what `settings` were
/// loaded from: SIGHUP loads them again and applies what config::Differences allows.
int RunServe(const config::Loaded& loaded, const config::Sources& sources);

}  // namespace tenure::app
