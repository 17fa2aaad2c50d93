#include "app/rate_classes.hpp"

namespace tenure::app {

std::vector<http::RateClass> RateClassesOf(const config::RateLimitSettings& settings) {
  std::vector<http::RateClass> classes{
      {"sessions", {"/sessions"}, settings.sessions},
      {"usage", {"/usage"}, settings.usage},
      {"leases", {"/api/v1/leases"}, settings.leases},
      {"tasks", {"/api/v1/tasks"}, settings.tasks},
      {"messages",
       {"/api/v1/messages", "/api/v1/timers", "/api/v1/topics", "/api/v1/dead-letters"},
       settings.messages},
      {"inbox", {"/api/v1/inbox"}, settings.inbox},
      {"ops", {"/health", "/metrics", "/openapi.json", "/api/v1/audit"}, settings.ops},
  };
  if (!settings.enabled)
    for (http::RateClass& each : classes) each.rate = {};
  return classes;
}

}  // namespace tenure::app
