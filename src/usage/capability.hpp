#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::messages {
class Messages;
}

namespace tenure::usage {
class Usage;

cli::Commands Commands();
/// `tenure usage audit`.
cli::Command AuditCommand();
/// `tenure usage-sink`: runs `sink/` and prints its totals.
cli::Command SinkCommand();
/// `/usage/*`.
void AddRoutes(http::Router& router, Usage& usage, messages::Messages& messages);

server::Capability Capability();

}  // namespace tenure::usage
