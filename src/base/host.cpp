#include "base/host.hpp"

#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "base/uuid.hpp"

namespace tenure::base {

std::string HostName() {
  std::array<char, 256> host{};
  const bool known = gethostname(host.data(), host.size() - 1) == 0 && host.front() != '\0';
  return known ? host.data() : "localhost";
}

std::string HostAndPid() { return fmt::format("{:.150}:{}", HostName(), getpid()); }

std::string NewProcessName() { return fmt::format("{}:{}", HostAndPid(), RandomHex(4)); }

}  // namespace tenure::base
