#include "support/port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>

#include "support/system_call.hpp"

namespace tenure::support {
namespace {

constexpr std::uint16_t kFirst = 10'000;

/// One behind the last port that the kernel does not hand out by itself.
std::uint16_t End() {
  int low = 32'768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> low;
  return static_cast<std::uint16_t>(std::clamp(low, kFirst + 1'000, 32'768));
}

/// Claims the number among test programs; -1 when another has it.
int Claim(std::uint16_t number) {
  const int fd = Checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const auto name = "tenure-test-port-" + std::to_string(number);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading zero byte: abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) return fd;
  close(fd);
  return -1;
}

bool CanListen(std::uint16_t number) {
  const int fd = Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    listen(fd, 1) == 0;
  close(fd);
  return free;
}

}  // namespace

ReservedPort::ReservedPort() {
  std::random_device random;
  std::uniform_int_distribution<unsigned> any(kFirst, End() - 1U);
  for (int attempt = 0; attempt < 1'000; ++attempt) {
    number_ = static_cast<std::uint16_t>(any(random));
    claim_ = Claim(number_);
    if (claim_ < 0) continue;
    if (CanListen(number_)) return;
    close(claim_);
  }
  throw std::runtime_error("no free port on 127.0.0.1");
}

ReservedPort::~ReservedPort() { close(claim_); }

}  // namespace tenure::support
