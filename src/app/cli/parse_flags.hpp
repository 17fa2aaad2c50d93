#pragma once

#include <string>
#include <vector>

#include "app/cli/flags.hpp"

namespace tenure::app {

enum class Parsed {
  kRun,   ///< the targets are filled
  kHelp,  ///< somebody asked for help instead
};

/// Fills the targets of `flags` from the arguments behind the command's words. Throws UsageError.
Parsed ParseFlags(const Flags& flags, std::vector<std::string> arguments);

}  // namespace tenure::app
