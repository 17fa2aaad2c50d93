#include "queues/handling_process.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <system_error>

#include "leases/descriptor.hpp"

namespace tenure::queues {
namespace {

using leases::Descriptor;

constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;
constexpr int kSignalled = 128;

int Checked(long result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return static_cast<int>(result);
}

/// A file without a name that holds the input: whoever does not read it keeps nobody waiting.
Descriptor InputOf(const std::string& text) {
  Descriptor file(Checked(memfd_create("message", MFD_CLOEXEC), "memfd_create"));
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    at += static_cast<std::size_t>(Checked(written, "write"));
  }
  Checked(lseek(file.get(), 0, SEEK_SET), "lseek");
  return file;
}

/// What exec takes, made before the fork: nothing is allocated after it.
class Texts {
 public:
  void Add(std::string text) { texts_.push_back(std::move(text)); }
  char** Pointers() {
    pointers_.clear();
    for (std::string& each : texts_) pointers_.push_back(each.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::deque<std::string> texts_;
  std::vector<char*> pointers_;
};

Texts EnvironmentOf(const HandlingCommand& command) {
  Texts environment;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string text = *at;
    bool is_replaced = text.starts_with("TENURE_TOKEN=");  // ours, not the command's
    for (const auto& [name, value] : command.environment)
      is_replaced = is_replaced || text.starts_with(name + "=");
    if (!is_replaced) environment.Add(text);
  }
  for (const auto& [name, value] : command.environment) environment.Add(name + "=" + value);
  return environment;
}

[[noreturn]] void Become(char** words, char** environment, int input, const sigset_t& mask) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (dup2(input, STDIN_FILENO) >= 0) execvpe(words[0], words, environment);
  _exit(errno == ENOENT ? kNotFound : kNotRunnable);
}

}  // namespace

int RunHandling(const HandlingCommand& command, const std::vector<std::stop_token>& stops) {
  const Descriptor input = InputOf(command.input);
  const Descriptor told(Checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"));
  Texts words;
  for (const std::string& word : command.words) words.Add(word);
  Texts environment = EnvironmentOf(command);
  char** const all_words = words.Pointers();
  char** const all_environment = environment.Pointers();
  const pid_t pid = fork();
  Checked(pid, "fork");
  if (pid == 0) Become(all_words, all_environment, input.get(), command.mask);
  setpgid(pid, pid);
  const Descriptor process(Checked(syscall(SYS_pidfd_open, pid, 0), "pidfd_open"));
  const std::function<void()> tell = [&told] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(told.get(), &one, sizeof one);
  };
  std::deque<std::stop_callback<std::function<void()>>> callbacks;
  for (const std::stop_token& stop : stops) callbacks.emplace_back(stop, tell);

  bool is_told = false;
  while (true) {
    pollfd polled[] = {{process.get(), POLLIN, 0}, {told.get(), POLLIN, 0}};
    const int ready =
        poll(polled, is_told ? 1 : 2, is_told ? static_cast<int>(command.grace_ms) : -1);
    if (ready < 0 && errno == EINTR) continue;
    if ((polled[0].revents & POLLIN) != 0) break;
    kill(-pid, is_told ? SIGKILL : SIGTERM);
    is_told = true;
  }
  kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tenure::queues
