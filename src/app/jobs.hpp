#pragma once

#include "app/background.hpp"
#include "config/settings.hpp"
#include "db/once.hpp"
#include "db/store.hpp"
#include "sessions/sessions.hpp"

namespace tenure::app {

/// Expiry, retention and the gauge of sessions, on this process's timer.
void AddSessionJobs(Background& background, sessions::Sessions& sessions,
                    const config::SessionSettings& settings);

/// Forgets answers that were kept for idempotency keys.
void AddAnswerJob(Background& background, db::Store& store, db::ForgetHandler& forget);

}  // namespace tenure::app
