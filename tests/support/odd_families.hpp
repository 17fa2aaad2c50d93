#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::support {

/// What belongs together: tables, by the beginnings of their names, and the routes that read them.
struct OddFamily {
  std::string_view name;
  std::vector<std::string_view> tables;
  std::vector<std::string_view> routes;  ///< beginnings of targets; none: all

  bool Reads(std::string_view target) const {
    return routes.empty() || target.starts_with("/api/v1/search") ||
           std::ranges::any_of(routes, [&](auto at) { return target.starts_with(at); });
  }
};
inline const std::vector<OddFamily>& OddFamilies() {
  static const std::vector<OddFamily> families{
      {"sessions",
       {"session", "usage"},
       {"/sessions", "/usage", "/api/v1/why/session", "/api/v1/why/usage"}},
      {"leases", {"lease"}, {"/api/v1/leases", "/api/v1/why/lease"}},
      {"seats",
       {"license", "seat", "organization"},
       {"/api/v1/licenses", "/api/v1/organizations", "/api/v1/seat-ledger", "/api/v1/why/seat",
        "/api/v1/why/license"}},
      {"tasks", {"task"}, {"/api/v1/tasks", "/health", "/api/v1/why/task"}},
      {"inbox", {"inbox"}, {"/api/v1/inbox", "/api/v1/why/inbox"}},
      {"messages",
       {"message", "unsorted", "finished", "dead", "topic"},
       {"/api/v1/messages", "/api/v1/timers", "/api/v1/topics", "/api/v1/dead-letters",
        "/api/v1/why/message", "/api/v1/why/topic"}},
      {"jobs", {"job"}, {"/api/v1/jobs", "/api/v1/why/job"}},
      {"push", {"subscription"}, {"/api/v1/subscriptions", "/api/v1/why/subscription"}},
      {"queues", {"queue"}, {"/api/v1/queues", "/api/v1/topics", "/api/v1/why/queue"}},
      {"webhooks", {"webhook", "bot"}, {"/webhooks", "/api/v1/webhooks", "/api/v1/bots"}},
      {"audit", {"audit"}, {"/api/v1/audit"}},
      {"answers", {"answers"}, {"/api/v1/messages"}},
      {"processes", {"processes"}, {"/health", "/readyz"}},
      {"instances",
       {"instances"},
       {"/api/v1/instances", "/api/v1/overview", "/api/v1/why/instance"}},
      {"store", {"store", "clock"}, {}},
  };
  return families;
}
/// Throws where a table has none: somebody must say where it is seen.
inline const OddFamily& FamilyOf(std::string_view table) {
  for (const OddFamily& family : OddFamilies())
    if (std::ranges::any_of(family.tables, [&](auto each) { return table.starts_with(each); }))
      return family;
  throw std::runtime_error("table " + std::string(table) + " is of no family of odd rows");
}

}  // namespace tenure::support
