#pragma once

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tenure::leases {

[[noreturn]] inline void FailSystemCall(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}
inline int CheckedCall(int result, const char* what) {
  if (result < 0) FailSystemCall(what);
  return result;
}

/// A file descriptor that is closed at its end.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void Reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

}  // namespace tenure::leases
