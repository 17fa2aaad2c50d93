#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "config/settings.hpp"
#include "db/engine.hpp"
#include "db/store.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::app {

db::FreezePolicy FreezePolicyOf(const config::Settings& settings);

/// The store that the settings name: PostgreSQL, or the embedded one in the data folder. Nothing is
/// changed in it yet. Throws base::UserError or base::Fault.
std::unique_ptr<db::Engine> OpenEngine(const config::Settings& settings, const base::Clock& clock,
                                       telemetry::Registry& metrics);

/// Every query of every capability: what connections prepare, and what the tests hold to be run.
std::span<const db::Query* const> AllQueries();

/// Brings the schema up to date (and the rights of `tenure_app`) or refuses, notices a restored database, and agrees with the
/// ensemble on the shared settings.
void PrepareStore(const config::Settings& settings, db::Engine& engine);

/// A command on a store that was never set up would fail on a missing table; this says it in words.
/// Throws base::UserError.
void RequireMigrated(db::Engine& engine);

db::StoreOptions StoreOptionsOf(const config::Settings& settings);

// The commands that work on the store itself, without a server. Each returns the exit code.

enum class MigrateMode {
  kApply,   ///< bring the schema up to date
  kDryRun,  ///< say what would be done
  kPrint,   ///< print the SQL for a DBA
};

/// `grant`: the role whose transactions may call Tenure's functions besides `tenure_app`; empty:
/// none. REQUIRES: that is for PostgreSQL, and for kApply.
int RunMigrate(const config::Settings& settings, MigrateMode mode, const std::string& grant);

/// Writes the settings that an ensemble shares (config::SharedValues) to the store.
int RunConfigApply(const config::Settings& settings);

/// Raises the store's incarnation: for a database that was restored or may have lost commits.
int RunNewIncarnation(const config::Settings& settings);
/// Ends the freeze of a new incarnation early.
int RunThaw(const config::Settings& settings);

}  // namespace tenure::app
