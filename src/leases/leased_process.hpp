#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cli/held_signals.hpp"
#include "tenure/leases/lease.hpp"

namespace tenure::leases {

/// A command that runs while something is held.
struct LeasedCommand {
  std::vector<std::string> words{};                                ///< looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to ours
  std::int64_t grace_ms = 5'000;  ///< at most between SIGTERM and SIGKILL once it is lost
};

/// What the command's runner must know of what is held.
struct Holding {
  /// How much longer it is good, by our own clock; 0: it is over. Cheap: it is asked often.
  std::function<std::chrono::milliseconds()> remaining;
  /// For so long after that nobody else can have it.
  std::chrono::milliseconds spare{};
  /// Requested when it is lost.
  std::stop_token lost{};
};

struct LeasedEnd {
  bool lost = false;       ///< it was lost before the command had ended
  bool unguarded = false;  ///< the guard was ended, and so the command was
  int exit_code = 0;  ///< the command's own; 128 + signal as shells have it; 126, 127: not started
};

/// Runs the command in a process group of its own until it ends, with a guard beside it
/// (guard_process.hpp).
///
/// - A signal for us goes to the whole group; the hold is kept until the command has ended.
/// - When the hold is lost, the group gets SIGTERM at once. SIGKILL follows after the grace, and
///   before anybody else can have what was held, where its time allows that.
/// - Should this program be stopped or starved, the guard does the same at the end of the hold.
///   Should it be killed, the kernel kills the command and the guard the rest of its group. Should
///   the guard be ended, this program ends the command.
/// - When the command ends, what it left in its group is killed: nothing goes on without the hold.
/// - Should both this program and the guard be stopped at once, the hold runs out unseen; then only
///   the fence protects.
///
/// REQUIRES: called by the thread that outlives the command (the main thread): the kernel ends the
/// command with the thread that started it.
LeasedEnd RunHeld(const LeasedCommand& command, const Holding& holding, cli::HeldSignals& signals);

/// The same for a lease.
LeasedEnd RunLeased(const LeasedCommand& command, const leases::Lease& lease,
                    cli::HeldSignals& signals);

}  // namespace tenure::leases
