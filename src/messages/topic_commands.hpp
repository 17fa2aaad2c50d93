#pragma once

#include "cli/command.hpp"

namespace tenure::messages {

/// `tenure topic …` and `why topic`.
cli::Commands TopicCommands();

}  // namespace tenure::messages
