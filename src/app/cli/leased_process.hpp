#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/held_signals.hpp"
#include "tenure/leases/lease.hpp"

namespace tenure::app {

/// A command that runs while a lease is held.
struct LeasedCommand {
  std::vector<std::string> words{};                                ///< looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to ours
  std::int64_t grace_ms = 5'000;  ///< between SIGTERM and SIGKILL once the lease is lost
};

struct LeasedEnd {
  bool lost = false;  ///< the lease was lost before the command had ended
  int exit_code = 0;  ///< the command's own; 128 + signal as shells have it; 126, 127: not started
};

/// Runs the command in a process group of its own until it ends.
///
/// - A signal for us goes to the whole group; the lease is kept until the command has ended.
/// - When the lease is lost, the group gets SIGTERM at once, and SIGKILL after the grace.
/// - When the command ends, what it left in its group is killed: nothing goes on without the lease.
/// - Should this program be killed, the kernel kills the command (not its children): nobody would
///   renew the lease any more. Should it be stopped, the lease runs out unseen, as with any holder;
///   only the fence protects then.
///
/// REQUIRES: called by the thread that outlives the command (the main thread): the kernel ends the
/// command with the thread that started it.
LeasedEnd RunLeased(const LeasedCommand& command, const leases::Lease& lease, HeldSignals& signals);

}  // namespace tenure::app
