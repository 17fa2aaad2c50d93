#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

namespace tenure::support {

struct User {
  uid_t uid;
  gid_t gid;
};

/// Who to run a program as that refuses to run as root: none when we are not root.
std::optional<User> UnprivilegedUser();

struct ProcessOptions {
  std::vector<std::string> argv = {};  ///< argv[0] is looked up in PATH when it has no slash
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
  std::filesystem::path working_dir = {};                             ///< empty: ours
  std::optional<User> user = {};                                      ///< REQUIRES: we are root
  /// Where standard output is appended; empty: a temporary file.
  std::filesystem::path output = {};
  /// Where standard error is appended; empty: the same file as standard output.
  std::filesystem::path error_output = {};
  /// A process group of its own: signals go to all of it, and when the process ends, the rest of
  /// the group is killed (what a shell left in the background).
  bool own_group = false;
  /// What the kernel sends it should this program die before it.
  int parent_death_signal = SIGKILL;
};

/// A child process. At the latest the destructor kills and reaps it; when the test program itself
/// is killed, the kernel ends it (PR_SET_PDEATHSIG), so nothing is left behind in any case.
///
/// Output goes to a file, not to a pipe: the child never blocks on a reader, and what it wrote
/// before it died is there. Waiting for a line sleeps in poll() on the file's changes and on the
/// child's end.
///
/// One thread at a time may use an object. Failures are exceptions that carry the output.
class Process {
 public:
  /// Returns when the program is running; throws if it cannot be started.
  explicit Process(ProcessOptions options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool IsRunning();

  /// Sends a signal; nothing happens if the process has ended (its pid is ours until it is reaped).
  void Kill(int signal = SIGKILL);

  /// Waits for the end. The exit code, or 128 + signal as shells have it. Throws after `timeout`.
  int Wait(std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Waits until standard output has a whole line that contains a match of the ECMAScript regular
  /// expression, and returns that line. The next call looks behind it. Throws after `timeout`, and
  /// at once when the process ends without it.
  std::string WaitForLine(const std::string& pattern,
                          std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Everything this process has written to standard output until now.
  std::string Output() const;

 private:
  /// Sleeps until the process has ended, or `also_fd` is readable. False after the deadline.
  bool Sleep(int also_fd, std::chrono::steady_clock::time_point deadline) const;
  std::string Describe(const std::string& what) const;

  std::string name_;
  std::unique_ptr<TempDir> own_dir_;  // when no output file was named
  std::filesystem::path output_;
  std::size_t output_start_ = 0;  // the file may hold the output of an earlier process
  std::size_t scanned_ = 0;       // lines of Output() before this were matched or passed over
  bool own_group_ = false;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<int> exit_code_;
  pid_t owner_;  // a forked child of ours must not kill our children when it exits
};

/// Everything in a file; throws when it cannot be read.
std::string ReadFile(const std::filesystem::path& path);

/// The root of the source tree. REQUIRES: TENURE_SOURCE_DIR is set, as ctest does.
std::filesystem::path SourceDir();

/// Runs a command to its end and returns its output; throws with the output if it fails.
std::string RunCommand(ProcessOptions options,
                       std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace tenure::support
