#pragma once

#include "config/settings.hpp"

namespace tenure::app {

// The commands that work on the store itself, without a server. Each returns the exit code.

enum class MigrateMode {
  kApply,   ///< bring the schema up to date
  kDryRun,  ///< say what would be done
  kPrint,   ///< print the SQL for a DBA
};

int RunMigrate(const config::Settings& settings, MigrateMode mode);

/// Writes the settings that an ensemble shares (config::SharedValues) to the store.
int RunConfigApply(const config::Settings& settings);

/// Raises the store's incarnation: for a database that was restored or may have lost commits.
int RunNewIncarnation(const config::Settings& settings);

}  // namespace tenure::app
