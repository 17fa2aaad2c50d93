#include "support/process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "support/system_call.hpp"

extern char** environ;

namespace tenure::support {
namespace {

/// The files that become the child's standard output and error.
struct SpawnOutput {
  int standard_output;
  int standard_error;
};

/// Everything the child needs, made before fork(): in a copy of a process with threads, nothing may
/// be called that could wait for a lock of a thread that was not copied, malloc first of all.
struct Prepared {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  const char* working_dir = nullptr;
  std::optional<User> user;
  SpawnOutput output{-1, -1};
  bool own_group = false;
  int parent_death_signal = 0;
  int null_fd = -1;
  int error_pipe = -1;
  pid_t parent = -1;
};

/// The child's half, between fork and exec: async-signal-safe calls only. Returns what failed.
const char* Become(const Prepared& prepared) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);  // "ignored" is inherited by exec

  if (prepared.own_group && setpgid(0, 0) != 0) return "setpgid";
  if (dup2(prepared.null_fd, 0) < 0) return "dup2 of standard input";
  if (dup2(prepared.output.standard_output, 1) < 0) return "dup2 of standard output";
  if (dup2(prepared.output.standard_error, 2) < 0) return "dup2 of standard error";
  // Sockets and locks of the test program must not live on in its children.
  if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return "close_range";

  if (prepared.user) {
    // The bare calls: glibc's would speak to the threads it believes to exist.
    const auto [uid, gid] = *prepared.user;
    if (syscall(SYS_setgroups, 1, &gid) != 0) return "setgroups";
    if (syscall(SYS_setresgid, gid, gid, gid) != 0) return "setresgid";
    if (syscall(SYS_setresuid, uid, uid, uid) != 0) return "setresuid";
  }
  // After the change of user, which clears it.
  if (prctl(PR_SET_PDEATHSIG, prepared.parent_death_signal) != 0) return "prctl";
  if (getppid() != prepared.parent) _exit(1);  // it died before the line above
  if (prepared.working_dir != nullptr && chdir(prepared.working_dir) != 0) return "chdir";

  execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
  return "execve";
}

struct ExecFailure {
  int error;
  const char* what;  // a literal: at the same address in parent and child
};

pid_t ForkAndExec(Prepared& prepared) {
  int pipe_fds[2];
  Checked(pipe2(pipe_fds, O_CLOEXEC), "pipe2");
  prepared.error_pipe = pipe_fds[1];
  prepared.parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    const char* what = Become(prepared);
    const ExecFailure failure{errno, what};
    [[maybe_unused]] const auto written = write(prepared.error_pipe, &failure, sizeof failure);
    _exit(127);
  }
  const int fork_error = errno;
  close(pipe_fds[1]);
  if (pid < 0) {
    close(pipe_fds[0]);
    errno = fork_error;
    ThrowErrno("fork");
  }
  // A successful exec closes the pipe: end of file.
  ExecFailure failure{};
  ssize_t size = 0;
  do {
    size = read(pipe_fds[0], &failure, sizeof failure);
  } while (size < 0 && errno == EINTR);
  close(pipe_fds[0]);
  if (size == 0) return pid;
  waitpid(pid, nullptr, 0);
  errno = failure.error;
  ThrowErrno(std::string(failure.what) + " for " + prepared.program);
}

/// The thread that forks. The kernel sends the parent-death signal when the forking *thread* ends,
/// not the process; a child that is started from a test's own short-lived thread must live on.
class SpawnThread {
 public:
  static SpawnThread& Instance() {
    // Made before the first Process is, hence destroyed after the last static one.
    static SpawnThread instance;
    return instance;
  }

  ~SpawnThread() {
    if (getpid() != owner_) {  // a forked child that exits: this thread does not exist in it
      thread_.detach();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  pid_t Run(Prepared& prepared) {
    const std::lock_guard one_at_a_time(callers_);
    std::unique_lock lock(mutex_);
    request_ = &prepared;
    changed_.notify_all();
    changed_.wait(lock, [this] { return request_ == nullptr; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return pid_;
  }

 private:
  SpawnThread() : owner_(getpid()), thread_([this] { Loop(); }) {}

  void Loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return request_ != nullptr || stopping_; });
      if (stopping_) return;
      try {
        pid_ = ForkAndExec(*request_);
      } catch (...) {
        failure_ = std::current_exception();
      }
      request_ = nullptr;
      changed_.notify_all();
    }
  }

  const pid_t owner_;
  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Prepared* request_ = nullptr;  // guarded by mutex_, as the three below
  pid_t pid_ = -1;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses everything above
};

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const auto candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  throw std::runtime_error("no program '" + name + "' in PATH");
}

std::vector<std::string> MergedEnvironment(
    const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(additions.begin(), additions.end(), [text](const auto& add) {
      return text.starts_with(add.first + "=");
    });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : additions) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Forks and executes; returns the pid when the new program is running, throws when it cannot be
/// executed. Thread-safe.
pid_t Spawn(const ProcessOptions& options, SpawnOutput output) {
  Prepared prepared;
  prepared.program = FindProgram(options.argv.at(0));
  prepared.arguments = options.argv;
  prepared.environment = MergedEnvironment(options.environment);
  prepared.argv = Pointers(prepared.arguments);
  prepared.envp = Pointers(prepared.environment);
  if (!options.working_dir.empty()) prepared.working_dir = options.working_dir.c_str();
  prepared.user = options.user;
  prepared.output = output;
  prepared.own_group = options.own_group;
  prepared.parent_death_signal = options.parent_death_signal;
  prepared.null_fd = Checked(open("/dev/null", O_RDONLY | O_CLOEXEC), "open /dev/null");
  try {
    const pid_t pid = SpawnThread::Instance().Run(prepared);
    close(prepared.null_fd);
    return pid;
  } catch (...) {
    close(prepared.null_fd);
    throw;
  }
}

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

std::string ReadFile(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) throw std::runtime_error("cannot read " + path.string());
  return ReadFrom(path, 0);
}

std::filesystem::path SourceDir() {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  if (source == nullptr) throw std::runtime_error("TENURE_SOURCE_DIR is not set");
  return source;
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
