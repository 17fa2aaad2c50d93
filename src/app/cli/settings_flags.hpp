#pragma once

#include "cli/flags.hpp"
#include "config/load.hpp"

namespace tenure::app {

/// The flags of a command that runs by the settings: --config, the short ones of the table
/// (--listen, --store, …) and --set for every setting.
cli::Flags SettingsFlags();

/// The same for a command that works on the store itself: of the short ones only those that say
/// where the store is.
cli::Flags StoreFlags();

/// What was given, with the environment and the file that is in effect. An argument FILE is that
/// file.
config::Sources SourcesOf(const cli::Given& given);

}  // namespace tenure::app
