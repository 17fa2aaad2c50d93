#include "leases/leased_process.hpp"

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
#include <utility>

#include "base/clock.hpp"
#include "client/leases/keeper.hpp"
#include "leases/descriptor.hpp"
#include "leases/guard_process.hpp"

namespace tenure::leases {
namespace {

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
    // Secrets of ours, not the command's.
    bool replaced = text.starts_with("TENURE_TOKEN=") || text.starts_with("TENURE_LICENSE=");
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
                       pid_t parent, const GuardProcess& guard) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it died before the line above
  if (!guard.AwaitArmed()) _exit(126);
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

pid_t Start(const LeasedCommand& command, const cli::HeldSignals& signals,
            const GuardProcess& guard) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = EnvironmentOf(command);
  const std::vector<char*> argv = Pointers(words);
  const std::vector<char*> envp = Pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = CheckedCall(fork(), "fork");
  if (child == 0) Exec(argv.data(), envp.data(), signals.mask_before(), parent, guard);
  setpgid(child, child);  // whichever of us comes first: kill(-child) must find the group
  return child;
}

std::int64_t NowBootMs() { return base::SystemClock().BootMs(); }

/// Waits for what may happen: the end of the command, a signal for us, the loss of what is held,
/// the guard acting or ending. And tells the guard how long the hold is good.
class Watch {
 public:
  Watch(pid_t child, const GuardProcess& guard, const Holding& holding, cli::HeldSignals& signals,
        std::int64_t grace_ms)
      : child_(child),
        guard_(guard),
        holding_(holding),
        signals_(signals),
        grace_ms_(grace_ms),
        ended_(CheckedCall(static_cast<int>(syscall(SYS_pidfd_open, child, 0)), "pidfd_open")),
        lost_(CheckedCall(eventfd(0, EFD_CLOEXEC), "eventfd")) {}

  /// By any thread; short and without locks.
  void TellLost() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(lost_.get(), &one, sizeof one);
  }

  /// Returns when the command has ended; it is not reaped yet.
  void Run() {
    while (true) {
      TellGuard();
      pollfd polled[] = {{ended_.get(), POLLIN, 0},
                         {signals_.fd(), POLLIN, 0},
                         {lost_seen_ ? -1 : lost_.get(), POLLIN, 0},
                         {fired_seen_ ? -1 : guard_.fired_fd(), POLLIN, 0},
                         {unguarded_ ? -1 : guard_.ended_fd(), POLLIN, 0}};
      if (poll(polled, std::size(polled), PatienceMs()) < 0 && errno != EINTR)
        FailSystemCall("poll");
      if ((polled[0].revents & POLLIN) != 0) {
        // Why it ended, if others ended it while we were stopped.
        lost_seen_ = lost_seen_ || (polled[2].revents & POLLIN) != 0;
        fired_seen_ = fired_seen_ || (polled[3].revents & POLLIN) != 0;
        return;
      }
      if ((polled[1].revents & POLLIN) != 0)
        if (const int signal = signals_.Take()) kill(-child_, signal);
      if ((polled[2].revents & POLLIN) != 0) OnLost();
      if ((polled[3].revents & POLLIN) != 0) OnFired();
      if ((polled[4].revents & POLLIN) != 0) OnGuardGone();
      if (kill_at_ms_ && NowBootMs() >= *kill_at_ms_) kill(-child_, SIGKILL);
    }
  }

  /// The group is killed before its leader is reaped: until then nobody else can have its number.
  /// REQUIRES: the guard has ended.
  LeasedEnd Reap() const {
    kill(-child_, SIGKILL);
    int status = 0;
    while (waitpid(child_, &status, 0) < 0)
      if (errno != EINTR) FailSystemCall("waitpid");
    return {lost_seen_ || fired_seen_, unguarded_ && !lost_seen_ && !fired_seen_,
            WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
  }

 private:
  /// When the command must be gone: a moment before somebody else can have what was held.
  std::int64_t KillByMs(std::int64_t ending_since_ms) const {
    return std::min(ending_since_ms + grace_ms_,
                    std::max(good_until_ms_ + holding_.spare.count() * 3 / 4, ending_since_ms));
  }

  void TellGuard() {
    const std::int64_t now_ms = NowBootMs();  // first: what takes time must not be added
    const std::int64_t left_ms = holding_.remaining().count();
    if (left_ms <= 0 && good_until_ms_ == 0) good_until_ms_ = now_ms;  // over before it began
    if (left_ms <= 0 && told_) return;
    if (left_ms > 0 && now_ms + left_ms <= good_until_ms_) return;
    if (left_ms > 0) good_until_ms_ = now_ms + left_ms;
    told_ = true;
    guard_.Tell({child_, good_until_ms_, KillByMs(good_until_ms_)});
  }

  /// Until the next look at how long the hold is good: several times before it would be over.
  int PatienceMs() const {
    if (kill_at_ms_) return static_cast<int>(std::max<std::int64_t>(*kill_at_ms_ - NowBootMs(), 0));
    return static_cast<int>(std::clamp<std::int64_t>((good_until_ms_ - NowBootMs()) / 8, 5, 1'000));
  }

  void OnLost() {
    lost_seen_ = true;
    End();
  }
  /// We were not in time, or did not know.
  void OnFired() {
    fired_seen_ = true;
    End();
  }
  void OnGuardGone() {
    unguarded_ = true;
    End();
  }
  void End() {
    kill(-child_, SIGTERM);
    kill(-child_, SIGCONT);  // one that is stopped could not end
    if (!kill_at_ms_) kill_at_ms_ = KillByMs(NowBootMs());
  }

  const pid_t child_;
  const GuardProcess& guard_;
  const Holding& holding_;
  cli::HeldSignals& signals_;
  const std::int64_t grace_ms_;
  const Descriptor ended_;
  const Descriptor lost_;
  std::int64_t good_until_ms_ = 0;
  bool told_ = false;
  bool lost_seen_ = false;
  bool fired_seen_ = false;
  bool unguarded_ = false;
  std::optional<std::int64_t> kill_at_ms_;
};

}  // namespace

LeasedEnd RunHeld(const LeasedCommand& command, const Holding& holding, cli::HeldSignals& signals) {
  std::optional<GuardProcess> guard(std::in_place);
  const pid_t child = Start(command, signals, *guard);
  const LentTerminal terminal(child);
  Watch watch(child, *guard, holding, signals, command.grace_ms);
  // Also when it was lost before this line: then it is called here and now.
  const std::stop_callback on_loss(holding.lost, [&watch] { watch.TellLost(); });
  watch.Run();
  guard.reset();
  return watch.Reap();
}

LeasedEnd RunLeased(const LeasedCommand& command, const leases::Lease& lease,
                    cli::HeldSignals& signals) {
  return RunHeld(command,
                 {.remaining = [&lease] { return lease.Remaining(); },
                  .spare = client::MarginOf(lease.grant().ttl, LeaseOptions().safety_threshold),
                  .lost = lease.token()},
                 signals);
}

}  // namespace tenure::leases
