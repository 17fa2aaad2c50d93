#include "cli/held_signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace tenure::cli {
namespace {

int Checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace

HeldSignals::HeldSignals(std::initializer_list<int> also) {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&held, signal);
  for (const int signal : also) sigaddset(&held, signal);
  fd_ = Checked(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() {
  close(fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int HeldSignals::Take() {
  signalfd_siginfo info{};
  return read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

Impatience::Impatience(HeldSignals& signals)
    : over_(Checked(eventfd(0, EFD_CLOEXEC), "eventfd")),
      watcher_([this, &signals] { Watch(signals); }) {}

Impatience::~Impatience() {
  End();
  close(over_);
}

void Impatience::Watch(HeldSignals& signals) {
  while (signal_ == 0) {
    pollfd polled[] = {{over_, POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    poll(polled, 2, -1);
    if ((polled[0].revents & POLLIN) != 0) return;
    if ((polled[1].revents & POLLIN) != 0) signal_ = signals.Take();
  }
  stop_.request_stop();
}

int Impatience::End() {
  if (watcher_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(over_, &one, sizeof one);
    watcher_.join();
  }
  return signal_;
}

}  // namespace tenure::cli
