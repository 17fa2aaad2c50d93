#pragma once

#include <csignal>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace tenure::queues {

/// A command that handles one message, which it reads from its standard input.
struct HandlingCommand {
  std::vector<std::string> words{};                                ///< looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment{};  ///< added to ours
  std::string input{};
  std::int64_t grace_ms = 5'000;  ///< between SIGTERM and SIGKILL
  sigset_t mask{};                ///< of signals that it does not want
};

/// Runs it to its end, in a process group of its own. When one of `stops` is requested the group
/// gets SIGTERM, and SIGKILL after the grace. What it leaves in its group is killed when it ends;
/// should this program be killed, the kernel kills the command.
///
/// Returns its exit code, 128 + signal as shells have it; 126 or 127: it was not started. Throws
/// std::system_error where nothing can be started at all.
int RunHandling(const HandlingCommand& command, const std::vector<std::stop_token>& stops);

}  // namespace tenure::queues
