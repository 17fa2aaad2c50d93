#pragma once

#include <sys/types.h>

#include <cstdint>

#include "leases/descriptor.hpp"

namespace tenure::leases {

/// A small process beside a command that runs while something is held. It ends the command's
/// process group when the hold is over: also when the program that keeps the hold is stopped,
/// starved or killed.
///
/// - It is told until when the hold is good, each time that this moves, and acts at that instant of
///   CLOCK_BOOTTIME: SIGTERM (and SIGCONT, since one that is stopped could not end), SIGKILL at
///   `kill_by`. A machine that slept past it is no excuse: the guard acts as soon as it runs again.
/// - When the program dies, the guard kills the group at once: nobody renews any more.
/// - The command does not begin before the guard knows it (`gate`).
/// - It has a process group of its own, and the signals of the keyboard do not reach it.
///
/// The guard may be killed too: then the program sees it (`pid` ends) and ends the command itself.
/// Not covered is that both are stopped at once, and what leaves the command's group; there the
/// fence protects.
///
/// The program has threads when it forks, so the guard allocates nothing and takes no lock.
class GuardProcess {
 public:
  GuardProcess();
  /// Ends it. Afterwards it sends no signal any more, so the group's number may be given away.
  ~GuardProcess();
  GuardProcess(const GuardProcess&) = delete;
  GuardProcess& operator=(const GuardProcess&) = delete;

  /// Readable when the guard has begun to end the command; when the guard itself has ended.
  int fired_fd() const { return fired_.get(); }
  int ended_fd() const { return ended_.get(); }

  struct Order {
    std::int64_t group = 0;            ///< of the command
    std::int64_t good_until_boot = 0;  ///< CLOCK_BOOTTIME, ms
    std::int64_t kill_by_boot = 0;
  };
  void Tell(const Order& order) const;

  /// In the command's process, before exec: returns when the guard has had its first order. False:
  /// there is no guard. Allocates nothing.
  bool AwaitArmed() const;

 private:
  [[noreturn]] static void Watch(int orders, int gate, int fired, int timer);

  Descriptor fired_;
  Descriptor orders_;  // to the guard
  Descriptor gate_;    // from the guard to the command
  pid_t pid_ = -1;
  Descriptor ended_;  // a pidfd of the guard
};

}  // namespace tenure::leases
