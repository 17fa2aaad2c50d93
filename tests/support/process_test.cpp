#include "support/process.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::support {
namespace {

ProcessOptions Shell(const std::string& script) { return {.argv = {"bash", "-c", script}}; }

/// Whether the process, which need not be our child, ends within ten seconds.
bool Ends(pid_t pid) {
  const auto fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return true;
  pollfd waiting{fd, POLLIN, 0};
  const bool ended = poll(&waiting, 1, 10'000) == 1;
  close(fd);
  return ended;
}

TEST(Process, TellsExitCodeAndSignalAsShellsDo) {
  EXPECT_EQ(Process(Shell("exit 7")).Wait(), 7);
  EXPECT_EQ(Process(Shell("kill -9 $$")).Wait(), 128 + SIGKILL);
}

TEST(Process, GetsItsEnvironmentAndFolder) {
  auto options = Shell("echo $GREETING; pwd; echo lost >&2");
  const TempDir dir;
  options.environment = {{"GREETING", "hello"}};
  options.working_dir = dir.path();
  options.error_output = dir / "errors";
  EXPECT_EQ(RunCommand(options), "hello\n" + dir.path().string() + "\n");
}

TEST(Process, WaitsForALineAndThenForTheNext) {
  Process process(Shell("echo one; echo two >&2; echo listening on 17; exec tail -f /dev/null"));
  EXPECT_EQ(process.WaitForLine("^o"), "one");
  EXPECT_EQ(process.WaitForLine("on [0-9]+"), "listening on 17");
  EXPECT_TRUE(process.IsRunning());
  process.Kill(SIGTERM);
  EXPECT_EQ(process.Wait(), 128 + SIGTERM);
  EXPECT_FALSE(process.IsRunning());
  EXPECT_EQ(process.Output(), "one\ntwo\nlistening on 17\n");
}

TEST(Process, ALineThatNeverComesIsAnErrorWithTheOutput) {
  Process ended(Shell("echo something else; exit 3"));
  try {
    ended.WaitForLine("ready");
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("exit code 3"));
    EXPECT_THAT(error.what(), testing::HasSubstr("something else"));
  }
  Process silent(Shell("exec tail -f /dev/null"));
  EXPECT_THROW(silent.WaitForLine("ready", std::chrono::milliseconds(1)), std::runtime_error);
  EXPECT_THROW(silent.Wait(std::chrono::milliseconds(1)), std::runtime_error);
}

TEST(Process, AProgramThatCannotRunIsAnErrorThatNamesIt) {
  EXPECT_THROW(Process process({.argv = {"no-such-program-anywhere"}}), std::runtime_error);
  try {
    const Process process({.argv = {"/no/such/file"}});
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_THAT(error.what(), testing::HasSubstr("/no/such/file"));
  }
}

TEST(Process, EndsWithItsObject) {
  pid_t pid = 0;
  {
    Process process(Shell("trap '' TERM; echo up; exec tail -f /dev/null"));
    process.WaitForLine("up");
    pid = process.pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(Process, ItsGroupEndsWithIt) {
  auto options = Shell("tail -f /dev/null & echo child $!");
  options.own_group = true;
  Process process(options);
  const auto child = std::stoi(process.WaitForLine("child ").substr(6));
  EXPECT_EQ(process.Wait(), 0);
  EXPECT_TRUE(Ends(child));
}

TEST(Process, OutlivesTheThreadThatStartedIt) {
  std::unique_ptr<Process> process;
  std::thread([&process] {
    process = std::make_unique<Process>(Shell("exec tail -f /dev/null"));
  }).join();
  process->Kill(SIGTERM);
  EXPECT_EQ(process->Wait(), 128 + SIGTERM);  // not SIGKILL, which the thread's end would send
}

TEST(Process, ManyStartAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      const auto text = std::to_string(i);
      EXPECT_EQ(RunCommand(Shell("echo " + text)), text + "\n");
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Process, AnotherUserWhenWeAreRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change users";
  auto options = Shell("id -u; id -g; id -G");
  options.user = User{65534, 65534};
  options.working_dir = "/";
  EXPECT_EQ(RunCommand(options), "65534\n65534\n65534\n");
}

}  // namespace
}  // namespace tenure::support
