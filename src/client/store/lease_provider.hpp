#pragma once

#include <memory>
#include <string>

#include "leases/leases.hpp"
#include "tasks/tasks.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client {

/// A provider on leases and tasks that belong to somebody else (the server's own).
std::unique_ptr<leases::Provider> MakeLocalProvider(leases::Leases& leases, tasks::Tasks& tasks,
                                                    std::string tenant);

}  // namespace tenure::client
