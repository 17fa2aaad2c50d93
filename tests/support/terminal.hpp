#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure::support {

/// How many rows and columns.
struct TerminalSize {
  unsigned short columns = 100;
  unsigned short rows = 30;
};

/// A program at a terminal of its own (a pseudo-terminal), with the test at the keyboard. At the
/// latest the destructor kills and reaps it. Failures are exceptions that carry what was shown.
///
/// One thread may use an object: the one that made it must live as long as the program.
class Terminal {
 public:
  explicit Terminal(std::vector<std::string> argv,
                    const std::vector<std::pair<std::string, std::string>>& environment = {},
                    const TerminalSize& size = {});
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void Type(std::string_view keys);
  void Resize(const TerminalSize& size);
  void Kill(int signal) const;

  /// Waits until `text` is written, behind where the last call looked, and returns what was written
  /// from there up to its end.
  std::string WaitFor(std::string_view text,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60));
  /// Waits for the program's end and returns its exit code, or 128 + signal.
  int Wait(std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Everything that was written to the terminal until now.
  const std::string& shown() const { return shown_; }
  /// How the terminal treats keys, as the program left it.
  termios Settings() const;

 private:
  /// Reads what is there, waiting for it until `deadline`. False when nothing more comes.
  bool Read(std::chrono::steady_clock::time_point deadline);

  int ours_ = -1;      // the keyboard and the screen
  int programs_ = -1;  // kept open, so that settings can be read after the program's end
  pid_t pid_ = -1;
  bool reaped_ = false;
  int exit_code_ = 0;
  std::string shown_;
  std::size_t looked_at_ = 0;
};

/// Whether two terminals treat keys alike.
bool SameSettings(const termios& one, const termios& other);

}  // namespace tenure::support
