#pragma once

#include <string>

#include "audit/audit.hpp"
#include "http/router.hpp"
#include "push/courier.hpp"
#include "push/subscriptions.hpp"
#include "queues/queues.hpp"

namespace tenure::push {

/// What the routes need; the objects outlive the router.
struct RouteParts {
  Subscriptions& subscriptions;
  queues::Queues& queues;
  const Vault* vault = nullptr;  ///< null: secrets.key_file is not set
  Courier* courier = nullptr;    ///< null: push is off
  std::string off{};             ///< then: why, naming the setting
  audit::Audit& audit;
};

void AddRoutes(http::Router& router, const RouteParts& parts);

}  // namespace tenure::push
