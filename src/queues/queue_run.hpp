#pragma once

#include "cli/command.hpp"

namespace tenure::queues {

/// `tenure queue run`.
cli::Command QueueRunCommand();

}  // namespace tenure::queues
