#include "leases/guard_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>

namespace tenure::leases {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    CheckedCall(pipe2(ends.data(), O_CLOEXEC), "pipe2");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
  Descriptor read;
  Descriptor write;
};

// In the guard, which is a copy of a process with threads: system calls only.

/// Keeps nothing of the program open: neither its connections nor its output.
void CloseAllBut(std::array<int, 4> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned int next = 0;
  for (const int each : kept) {
    const auto number = static_cast<unsigned int>(each);
    if (number > next) syscall(SYS_close_range, next, number - 1, 0);
    next = number + 1;
  }
  syscall(SYS_close_range, next, ~0U, 0);
}

/// The timer runs out at once where the instant has passed, also while the machine slept.
void SetTimer(int timer, std::int64_t boot_ms) {
  itimerspec at{};
  boot_ms = std::max<std::int64_t>(boot_ms, 1);
  at.it_value.tv_sec = boot_ms / 1'000;
  at.it_value.tv_nsec = boot_ms % 1'000 * 1'000'000;
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, nullptr);
}

void Signal(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(fd, &one, sizeof one);
}

}  // namespace

GuardProcess::GuardProcess() : fired_(CheckedCall(eventfd(0, EFD_CLOEXEC), "eventfd")) {
  Pipe orders, gate;
  const Descriptor timer(
      CheckedCall(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"));
  // Neither of the two ever waits for the other: one of them may be stopped.
  for (const int end : {orders.read.get(), orders.write.get()})
    CheckedCall(fcntl(end, F_SETFL, O_NONBLOCK), "fcntl");
  pid_ = CheckedCall(fork(), "fork");
  if (pid_ == 0) Watch(orders.read.get(), gate.write.get(), fired_.get(), timer.get());
  orders_ = std::move(orders.write);
  gate_ = std::move(gate.read);
  ended_ =
      Descriptor(CheckedCall(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)), "pidfd_open"));
}

GuardProcess::~GuardProcess() {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// An order is written whole or not at all. A pipe is full only when the guard has been stopped for
/// thousands of them: then it knows less, and acts sooner than it need.
void GuardProcess::Tell(const Order& order) const {
  [[maybe_unused]] const auto written = write(orders_.get(), &order, sizeof order);
}

bool GuardProcess::AwaitArmed() const {
  char armed = 0;
  ssize_t got = 0;
  while ((got = read(gate_.get(), &armed, 1)) < 0 && errno == EINTR) {
  }
  return got == 1;
}

void GuardProcess::Watch(int orders, int gate, int fired, int timer) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "tenure-guard");
  // The keyboard's stop, and the signals that the program keeps for the command, are not for us:
  // the latter are blocked already.
  signal(SIGTSTP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  CloseAllBut({orders, gate, fired, timer});
  Order order;
  bool is_ending = false;
  while (true) {
    pollfd polled[] = {{orders, POLLIN, 0}, {timer, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;
    // What was said comes before what is due.
    Order next;
    ssize_t got = 0;
    while ((got = read(orders, &next, sizeof next)) == sizeof next) {
      if (order.group == 0) {
        const char armed = 1;
        [[maybe_unused]] const auto written = write(gate, &armed, 1);
        close(gate);
      }
      order = next;
      if (!is_ending) SetTimer(timer, order.good_until_boot);
    }
    const auto group = static_cast<pid_t>(order.group);
    if (got == 0) {  // the program is dead
      if (group > 0) kill(-group, SIGKILL);
      _exit(0);
    }
    std::uint64_t expirations = 0;
    if (read(timer, &expirations, sizeof expirations) != sizeof expirations) continue;
    if (is_ending) {
      kill(-group, SIGKILL);
      _exit(0);
    }
    is_ending = true;
    kill(-group, SIGTERM);
    kill(-group, SIGCONT);
    Signal(fired);
    SetTimer(timer, order.kill_by_boot);
  }
}

}  // namespace tenure::leases
