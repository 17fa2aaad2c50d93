#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace tenure::cli {

/// The whole program: finds the command that `arguments` (without the program's name) start with,
/// parses its flags, runs it and turns what it throws into a message and an exit code. The flags of
/// `ServerFlags` may also stand before the command's words.
int Run(const std::vector<std::string>& arguments, const Commands& commands, Console& console);

/// `tenure --help`: what Tenure is, its commands by parts, examples, exit codes.
std::string MainPage(const Commands& commands);

/// `tenure session`: the commands that start with one word. Empty when there are none.
std::string GroupPage(std::string_view group, const Commands& commands);

/// `tenure session put --help`.
std::string CommandPage(const Command& command);

/// The flags in the order of the help page: arguments, values, lists, switches, the rest.
Flags InOrder(Flags flags);

}  // namespace tenure::cli
