#include "app/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "base/log.hpp"

namespace tenure::app {

void RaiseDescriptorLimit(int connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto needed = static_cast<rlim_t>(connections) + kReservedDescriptors;
  if (limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);  // where it is refused, the limit stays as it is
}

int ConnectionsWithinLimit(int connections, int others) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  const auto needed =
      static_cast<rlim_t>(connections) + static_cast<rlim_t>(others) + kReservedDescriptors;
  if (limit.rlim_cur >= needed) return connections;
  const int room = std::max(1, static_cast<int>(limit.rlim_cur) - others - kReservedDescriptors);
  base::LogWarn("http.max_connections",
                "fewer connections are served than http.max_connections: the limit of open files "
                "(ulimit -n) has no room for more",
                {{"served", room}, {"open_files", static_cast<std::int64_t>(limit.rlim_cur)}});
  return room;
}

}  // namespace tenure::app
