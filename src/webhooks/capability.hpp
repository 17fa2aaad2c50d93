#pragma once

#include "server/capability.hpp"

namespace tenure::webhooks {

server::Capability Capability();
cli::Commands WebhookCommands();

}  // namespace tenure::webhooks
