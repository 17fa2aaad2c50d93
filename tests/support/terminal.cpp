#include "support/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace tenure::support {
namespace {

using Clock = std::chrono::steady_clock;

winsize SizeOf(const TerminalSize& size) {
  winsize window{};
  window.ws_col = size.columns;
  window.ws_row = size.rows;
  return window;
}

int Left(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

/// Our environment with additions, which come first where names are looked up.
std::vector<std::string> Environment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const bool replaced = std::ranges::any_of(
        added, [&](const auto& pair) { return entry.starts_with(pair.first + "="); });
    if (!replaced) all.emplace_back(entry);
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Terminal::Terminal(std::vector<std::string> argv,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   const TerminalSize& size) {
  const winsize window = SizeOf(size);
  if (openpty(&ours_, &programs_, nullptr, nullptr, &window) != 0)
    throw std::runtime_error(std::string("openpty: ") + std::strerror(errno));
  fcntl(ours_, F_SETFD, FD_CLOEXEC);
  std::vector<std::string> variables = Environment(environment);
  const std::vector<char*> words = Pointers(argv);
  const std::vector<char*> settings = Pointers(variables);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid_ > 0) return;
  // From here on nothing may allocate: other threads may have held the lock.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  ioctl(programs_, TIOCSCTTY, 0);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(programs_, fd);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(words.front(), words.data(), settings.data());
  _exit(127);
}

Terminal::~Terminal() {
  if (!reaped_ && pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(ours_);
  close(programs_);
}

void Terminal::Type(std::string_view keys) {
  if (write(ours_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::runtime_error("the terminal takes no more keys");
}

void Terminal::Resize(const TerminalSize& size) {
  const winsize window = SizeOf(size);
  ioctl(ours_, TIOCSWINSZ, &window);
}

void Terminal::Kill(int signal) const { kill(pid_, signal); }

bool Terminal::Read(Clock::time_point deadline) {
  pollfd screen{.fd = ours_, .events = POLLIN, .revents = 0};
  if (poll(&screen, 1, Left(deadline)) <= 0) return false;
  char piece[4096];
  const ssize_t size = read(ours_, piece, sizeof piece);
  if (size <= 0) return false;
  shown_.append(piece, static_cast<std::size_t>(size));
  return true;
}

std::string Terminal::WaitFor(std::string_view text, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    if (const std::size_t at = shown_.find(text, looked_at_); at != std::string::npos) {
      const std::size_t end = at + text.size();
      const std::string seen = shown_.substr(looked_at_, end - looked_at_);
      looked_at_ = end;
      return seen;
    }
    if (!Read(deadline))
      throw std::runtime_error("the terminal does not show \"" + std::string(text) + "\", but:\n" +
                               shown_.substr(looked_at_));
  }
}

int Terminal::Wait(std::chrono::milliseconds timeout) {
  if (reaped_) return exit_code_;
  const auto deadline = Clock::now() + timeout;
  const int end = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  // What it writes must be read, or it would wait for room.
  while (true) {
    pollfd both[2] = {{.fd = end, .events = POLLIN, .revents = 0},
                      {.fd = ours_, .events = POLLIN, .revents = 0}};
    if (poll(both, 2, Left(deadline)) <= 0) {
      close(end);
      throw std::runtime_error("the program does not end; it shows:\n" + shown_);
    }
    if (both[1].revents != 0 && Read(Clock::now())) continue;
    if (both[0].revents != 0) break;
  }
  close(end);
  int status = 0;
  waitpid(pid_, &status, 0);
  reaped_ = true;
  while (Read(Clock::now())) {
  }
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

termios Terminal::Settings() const {
  termios settings{};
  tcgetattr(programs_, &settings);
  return settings;
}

bool SameSettings(const termios& one, const termios& other) {
  return one.c_iflag == other.c_iflag && one.c_oflag == other.c_oflag &&
         one.c_cflag == other.c_cflag && one.c_lflag == other.c_lflag &&
         std::equal(std::begin(one.c_cc), std::end(one.c_cc), std::begin(other.c_cc));
}

}  // namespace tenure::support
