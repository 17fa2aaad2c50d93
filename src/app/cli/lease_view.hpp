#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/answer.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::app {

/// A page of a list. `json` are the same leases as the server wrote them.
struct LeasePage {
  std::vector<leases::LeaseView> items;
  std::vector<std::string> json;
  std::optional<std::string> next_cursor;
};

/// Both throw when the server's answer is not what it should be. REQUIRES: answer.ok().
leases::LeaseView ParseLease(const Answer& answer);
LeasePage ParseLeasePage(const Answer& answer);

/// A time as a server named it, "2025-12-21T10:00:00.000Z"; "-" for none.
std::string TimeText(std::int64_t ms);

/// How long it will be held without a renewal, "12s", or "-" when it is free.
std::string LeftText(const leases::LeaseView& lease, std::optional<std::int64_t> now_ms);

/// A lease as a block of lines, "holder    host:4711".
std::string LeaseText(const leases::LeaseView& lease);

}  // namespace tenure::app
