#pragma once

#include <cstdint>

namespace tenure::support {

/// A free TCP port of 127.0.0.1 that stays ours while this object lives, also while nothing listens
/// on it (a server between stop and start).
///
/// The port is below the range from which the kernel takes ports for outgoing connections, and its
/// number is claimed among all test programs by an abstract Unix socket, which the kernel frees
/// with the process.
class ReservedPort {
 public:
  ReservedPort();
  ~ReservedPort();
  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  std::uint16_t number() const { return number_; }

 private:
  std::uint16_t number_ = 0;
  int claim_ = -1;
};

}  // namespace tenure::support
