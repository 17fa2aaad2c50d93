#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "support/spawn.hpp"
#include "support/system_call.hpp"

namespace tenure::support {
namespace {

using std::chrono::steady_clock;

/// An open file that closes itself.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(fd_); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int OpenForAppending(const std::filesystem::path& path) {
  return Checked(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644),
                 "open " + path.string());
}

std::string ReadFrom(const std::filesystem::path& path, std::size_t start) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(start));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<User> UnprivilegedUser() {
  if (geteuid() != 0) return std::nullopt;
  for (const char* name : {"postgres", "nobody"}) {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 4096> buffer{};
    if (getpwnam_r(name, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
      return User{entry.pw_uid, entry.pw_gid};
  }
  throw std::runtime_error("neither a user 'postgres' nor 'nobody' to run a program as");
}

Process::Process(ProcessOptions options)
    : name_(options.argv.at(0)),
      output_(std::move(options.output)),
      own_group_(options.own_group),
      owner_(getpid()) {
  if (output_.empty()) {
    own_dir_ = std::make_unique<TempDir>();
    output_ = *own_dir_ / "output";
  }
  const Fd standard_output(OpenForAppending(output_));
  const Fd standard_error(
      OpenForAppending(options.error_output.empty() ? output_ : options.error_output));
  struct stat status {};
  Checked(fstat(standard_output.get(), &status), "fstat");
  output_start_ = static_cast<std::size_t>(status.st_size);

  pid_ = Spawn(options, {standard_output.get(), standard_error.get()});
  pidfd_ = static_cast<int>(Checked(syscall(SYS_pidfd_open, pid_, 0), "pidfd_open"));
}

Process::~Process() {
  if (getpid() != owner_) return;
  try {
    Kill(SIGKILL);
    Wait();
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing more can be done about it here
  }
  close(pidfd_);
}

bool Process::IsRunning() {
  if (exit_code_) return false;
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  Checked(waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT), "waitid");
  if (info.si_pid == 0) return true;
  // What a shell left in the background ends with it. Before it is reaped: from then on its number
  // may be another group's.
  if (own_group_) kill(-pid_, SIGKILL);
  Checked(waitid(P_PID, id, &info, WEXITED), "waitid");
  exit_code_ = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  return false;
}

void Process::Kill(int signal) {
  if (!IsRunning()) return;
  Checked(kill(own_group_ ? -pid_ : pid_, signal), "kill");
}

int Process::Wait(std::chrono::milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  while (IsRunning()) {
    if (!Sleep(-1, deadline)) throw std::runtime_error(Describe("did not end in time"));
  }
  return *exit_code_;
}

std::string Process::WaitForLine(const std::string& pattern, std::chrono::milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  const std::regex expression(pattern);
  // Watched before the first look, so that no change falls between looking and sleeping.
  const Fd changes(Checked(inotify_init1(IN_CLOEXEC | IN_NONBLOCK), "inotify_init1"));
  Checked(inotify_add_watch(changes.get(), output_.c_str(), IN_MODIFY), "inotify_add_watch");
  while (true) {
    const bool was_running = IsRunning();
    const auto output = Output();
    for (auto end = output.find('\n', scanned_); end != std::string::npos;
         end = output.find('\n', scanned_)) {
      auto line = output.substr(scanned_, end - scanned_);
      scanned_ = end + 1;
      if (std::regex_search(line, expression)) return line;
    }
    if (!was_running)
      throw std::runtime_error(Describe("ended without the line /" + pattern + "/"));
    if (!Sleep(changes.get(), deadline))
      throw std::runtime_error(Describe("did not write the line /" + pattern + "/ in time"));
    char events[4096];
    while (read(changes.get(), events, sizeof events) > 0) {
    }
  }
}

std::string Process::Output() const { return ReadFrom(output_, output_start_); }

bool Process::Sleep(int also_fd, steady_clock::time_point deadline) const {
  pollfd waiting[2] = {{pidfd_, POLLIN, 0}, {also_fd, POLLIN, 0}};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) return false;
    const int ready = poll(waiting, 2, static_cast<int>(std::min<std::int64_t>(left, 1 << 30)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) ThrowErrno("poll");
  }
}

std::string Process::Describe(const std::string& what) const {
  constexpr std::size_t kTail = 8192;
  auto output = Output();
  if (output.size() > kTail) output = "[...]" + output.substr(output.size() - kTail);
  return name_ + " (pid " + std::to_string(pid_) + ") " + what +
         (exit_code_ ? "; exit code " + std::to_string(*exit_code_) : "") + "; its output:\n" +
         output;
}

std::string RunCommand(ProcessOptions options, std::chrono::milliseconds timeout) {
  const auto command = options.argv.at(0);
  Process process(std::move(options));
  const int code = process.Wait(timeout);
  if (code != 0) {
    throw std::runtime_error(command + " failed with exit code " + std::to_string(code) + ":\n" +
                             process.Output());
  }
  return process.Output();
}

}  // namespace tenure::support
