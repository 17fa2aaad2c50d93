#include "app/cli/leased_process.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <stop_token>
#include <system_error>

#include "base/clock.hpp"

namespace tenure::app {
namespace {

[[noreturn]] void Fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int Checked(int result, const char* what) {
  if (result < 0) Fail(what);
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Pointers into `texts`, with a null at the end, as exec wants it.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentOf(const LeasedCommand& command) {
  std::vector<std::string> all;
  for (const auto& [name, value] : command.environment) all.push_back(name + "=" + value);
  const std::size_t ours = all.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (std::size_t i = 0; i < ours; ++i)
      replaced = replaced || text.substr(0, text.find('=')) == command.environment[i].first;
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

/// The terminal belongs to the command while it runs, so that it may read from it and gets the
/// keyboard's signals. Does nothing where there is none, or where it is not ours to give.
class LentTerminal {
 public:
  explicit LentTerminal(pid_t group) : ours_(getpgrp()) {
    if (isatty(STDIN_FILENO) != 1 || tcgetpgrp(STDIN_FILENO) != ours_) return;
    lent_ = tcsetpgrp(STDIN_FILENO, group) == 0;
  }
  ~LentTerminal() {
    if (!lent_) return;
    // Who takes the terminal from the background is stopped, unless it does not mind the signal.
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGTTOU, &ignore, &before);
    tcsetpgrp(STDIN_FILENO, ours_);
    sigaction(SIGTTOU, &before, nullptr);
  }
  LentTerminal(const LentTerminal&) = delete;
  LentTerminal& operator=(const LentTerminal&) = delete;

 private:
  const pid_t ours_;
  bool lent_ = false;
};

/// In the child: other threads of the parent may have held any lock, so nothing here allocates.
[[noreturn]] void Exec(char* const* words, char* const* environment, const sigset_t& mask,
                       pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it died before the line above
  // A command that is stopped from the keyboard would keep a lease under which nobody works.
  signal(SIGTSTP, SIG_IGN);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvpe(words[0], words, environment);
  const int error = errno;
  for (const char* part : {"tenure: cannot run ", static_cast<const char*>(words[0]), ": ",
                           strerrordesc_np(error), "\n"})
    if (part != nullptr && write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  _exit(error == ENOENT ? 127 : 126);
}

pid_t Start(const LeasedCommand& command, const HeldSignals& signals) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = EnvironmentOf(command);
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) Fail("fork");
  if (child == 0) Exec(argv.data(), envp.data(), signals.mask_before(), parent);
  setpgid(child, child);  // whichever of us comes first: kill(-child) must find the group
  return child;
}

/// Waits for one of three things: the end of the command, a signal for us, the loss of the lease.
class Watch {
 public:
  Watch(pid_t child, HeldSignals& signals, std::int64_t grace_ms)
      : child_(child),
        signals_(signals),
        grace_ms_(grace_ms),
        ended_(Checked(static_cast<int>(syscall(SYS_pidfd_open, child, 0)), "pidfd_open")),
        lost_(Checked(eventfd(0, EFD_CLOEXEC), "eventfd")) {}

  /// By any thread; short and without locks.
  void TellLost() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(lost_.get(), &one, sizeof one);
  }

  LeasedEnd Run() {
    while (true) {
      pollfd polled[] = {{ended_.get(), POLLIN, 0},
                         {signals_.fd(), POLLIN, 0},
                         {lost_seen_ ? -1 : lost_.get(), POLLIN, 0}};
      if (poll(polled, 3, PatienceMs()) < 0 && errno != EINTR) Fail("poll");
      if ((polled[0].revents & POLLIN) != 0) return Reap();
      if ((polled[1].revents & POLLIN) != 0)
        if (const int signal = signals_.Take()) kill(-child_, signal);
      if ((polled[2].revents & POLLIN) != 0) OnLost();
      if (kill_at_ms_ && base::SystemClock().BootMs() >= *kill_at_ms_) kill(-child_, SIGKILL);
    }
  }

 private:
  int PatienceMs() const {
    if (!kill_at_ms_) return -1;
    return static_cast<int>(std::max<std::int64_t>(*kill_at_ms_ - base::SystemClock().BootMs(), 0));
  }

  void OnLost() {
    lost_seen_ = true;
    kill(-child_, SIGTERM);
    kill(-child_, SIGCONT);  // one that is stopped could not end
    kill_at_ms_ = base::SystemClock().BootMs() + grace_ms_;
  }

  /// The group is killed before its leader is reaped: until then nobody else can have its number.
  LeasedEnd Reap() const {
    kill(-child_, SIGKILL);
    int status = 0;
    while (waitpid(child_, &status, 0) < 0)
      if (errno != EINTR) Fail("waitpid");
    return {lost_seen_, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
  }

  const pid_t child_;
  HeldSignals& signals_;
  const std::int64_t grace_ms_;
  const Descriptor ended_;
  const Descriptor lost_;
  bool lost_seen_ = false;
  std::optional<std::int64_t> kill_at_ms_;
};

}  // namespace

LeasedEnd RunLeased(const LeasedCommand& command, const leases::Lease& lease,
                    HeldSignals& signals) {
  const pid_t child = Start(command, signals);
  const LentTerminal terminal(child);
  Watch watch(child, signals, command.grace_ms);
  // Also when it was lost before this line: then it is called here and now.
  const std::stop_callback on_loss(lease.token(), [&watch] { watch.TellLost(); });
  return watch.Run();
}

}  // namespace tenure::app
