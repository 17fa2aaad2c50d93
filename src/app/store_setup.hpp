#pragma once

#include <memory>
#include <span>

#include "base/clock.hpp"
#include "config/settings.hpp"
#include "db/engine.hpp"
#include "db/store.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::app {

/// The store that the settings name: PostgreSQL, or the embedded one in the data folder. Nothing is
/// changed in it yet. Throws base::UserError or base::Fault.
std::unique_ptr<db::Engine> OpenEngine(const config::Settings& settings, const base::Clock& clock,
                                       telemetry::Registry& metrics);

/// Every query of every capability: what connections prepare, and what the tests hold to be run.
std::span<const db::Query* const> AllQueries();

/// Brings the schema up to date or refuses, notices a restored database, and agrees with the
/// ensemble on the shared settings.
void PrepareStore(const config::Settings& settings, db::Engine& engine);

db::StoreOptions StoreOptionsOf(const config::Settings& settings);

}  // namespace tenure::app
