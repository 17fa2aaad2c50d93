#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace tenure::cli {

/// The whole program: finds the command that `arguments` (without the program's name) start with,
/// parses its flags, runs it and turns what it throws into a message and an exit code. The flags of
/// `ServerFlags` may also stand before the command's words.
int Run(const std::vector<std::string>& arguments, const Commands& commands, Console& console);

}  // namespace tenure::cli
