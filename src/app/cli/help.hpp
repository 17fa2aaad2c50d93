#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.hpp"

namespace tenure::app {

using Commands = std::vector<std::unique_ptr<Command>>;

/// `tenure --help`: what Tenure is, its commands in groups, examples, exit codes.
std::string MainPage(const Commands& commands);

/// `tenure session`: the commands that start with one word. Empty when there are none.
std::string GroupPage(std::string_view group, const Commands& commands);

/// `tenure session put --help`.
std::string CommandPage(const Command& command, const Flags& flags);

}  // namespace tenure::app
