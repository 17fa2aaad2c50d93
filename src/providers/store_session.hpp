#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "leases/leases.hpp"
#include "tasks/tasks.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::providers {

/// What a session works on. It is kept alive by the session.
struct Stack {
  virtual ~Stack() = default;
  virtual leases::Leases& leases() = 0;
  virtual tasks::Tasks& tasks() = 0;
  /// A call that waits for its turn begins or ends: the place to begin or end polling for news.
  virtual void Waiting(bool /*begins*/) {}
};

/// The blocking face of leases and tasks on a store. A call submits to a lane and waits; when its
/// time is over the outcome is unknown, and whatever comes later is dropped (what was granted to a
/// waiting call is given back).
std::unique_ptr<leases::Session> MakeStoreSession(std::shared_ptr<Stack> stack, std::string tenant);

/// A provider on leases and tasks that belong to somebody else (the server's own).
std::unique_ptr<leases::Provider> MakeLocalProvider(leases::Leases& leases, tasks::Tasks& tasks,
                                                    std::string tenant);

}  // namespace tenure::providers
