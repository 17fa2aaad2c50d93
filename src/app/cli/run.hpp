#pragma once

#include <string>
#include <vector>

#include "app/cli/console.hpp"

namespace tenure::app {

/// The whole program: finds the command that `arguments` (without the program's name) start with,
/// parses its flags, runs it and turns what it throws into a message and an exit code.
int Run(const std::vector<std::string>& arguments, Console& console);

}  // namespace tenure::app
