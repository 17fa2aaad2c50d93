#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::jobs {
class Jobs;

struct RouteParts {
  Jobs& jobs;
  std::size_t payload_max_bytes = 0;
};
void AddRoutes(http::Router& router, const RouteParts& parts);

cli::Commands Commands();

server::Capability Capability();

}  // namespace tenure::jobs
