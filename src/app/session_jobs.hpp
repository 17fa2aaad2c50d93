#pragma once

#include "app/background.hpp"
#include "config/settings.hpp"
#include "sessions/sessions.hpp"

namespace tenure::app {

/// Expiry, retention and the gauge of sessions, on this process's timer.
void AddSessionJobs(Background& background, sessions::Sessions& sessions,
                    const config::SessionSettings& settings);

}  // namespace tenure::app
