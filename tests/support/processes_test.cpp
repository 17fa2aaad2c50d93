// What other tests stand on: folders, processes, servers and PostgreSQL that leave nothing behind.
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "support/postgres_cluster.hpp"
#include "support/process.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::support {
namespace {

TEST(TempDir, IsRemovedWithEverythingInIt) {
  std::filesystem::path path;
  {
    const TempDir dir;
    path = dir.path();
    std::filesystem::create_directories(dir / "a/b");
    std::ofstream(dir / "a/b/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempDir, OnlyTheOwnerLooksIntoItUntilReadingIsAllowed) {
  TempDir dir;
  struct stat status {};
  ASSERT_EQ(stat(dir.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  dir.AllowReading();
  ASSERT_EQ(stat(dir.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0755U);
}

/// Points TMPDIR elsewhere for one test.
class TempRootAt {
 public:
  explicit TempRootAt(const std::filesystem::path& root) {
    if (const char* old = std::getenv("TMPDIR"); old != nullptr) old_ = old;
    setenv("TMPDIR", root.c_str(), 1);
  }
  ~TempRootAt() {
    if (old_)
      setenv("TMPDIR", old_->c_str(), 1);
    else
      unsetenv("TMPDIR");
  }
  TempRootAt(const TempRootAt&) = delete;
  TempRootAt& operator=(const TempRootAt&) = delete;

 private:
  std::optional<std::string> old_;
};

TEST(TempDir, WhatAKilledProgramLeftIsSweptAndWhatIsInUseIsNot) {
  const TempDir root;
  const TempRootAt here(root.path());
  const TempDir in_use;
  ASSERT_EQ(in_use.path().parent_path(), root.path());
  std::filesystem::create_directories(root / "tenure-test-left/data");
  std::filesystem::create_directories(root / "another");

  RemoveAbandonedTempDirs(root.path());
  EXPECT_TRUE(std::filesystem::exists(root / "tenure-test-left")) << "too young to be swept";
  // The clock of files may be a tick ahead of time(), into the next second.
  RemoveAbandonedTempDirs(root.path(), /*least_age_s=*/-1);
  EXPECT_FALSE(std::filesystem::exists(root / "tenure-test-left"));
  EXPECT_TRUE(std::filesystem::exists(root / "another"));
  EXPECT_TRUE(std::filesystem::exists(in_use.path()));
}

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

/// A program that behaves like `tenure serve` as far as ServerProcess looks at it.
std::filesystem::path Script(const TempDir& dir, const std::string& body) {
  auto path = dir / "program";
  std::ofstream(path) << "#!/bin/bash\n" << body;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(ServerProcess, KnowsThePortFromTheStartText) {
  const TempDir dir;
  ServerProcess server({.store_url = "postgresql://somewhere/db",
                        .flags = {"--workers", "off"},
                        .environment = {{"TENURE_X", "y"}},
                        .binary = Script(dir,
                                         "echo args $* env $TENURE_X\n"
                                         "echo '  Tenure listens on http://127.0.0.1:4711'\n"
                                         "exec tail -f /dev/null\n")});
  EXPECT_EQ(server.Port(), 4711);
  EXPECT_EQ(server.Url(), "http://127.0.0.1:4711");
  EXPECT_THAT(server.Output(), testing::HasSubstr("args serve --listen 127.0.0.1:0 --store "
                                                  "postgresql://somewhere/db --workers off env y"));
  server.Pause();
  server.Resume();
  EXPECT_TRUE(server.IsRunning());
  EXPECT_EQ(server.Terminate(), 128 + SIGTERM);
  EXPECT_FALSE(server.IsRunning());
}

TEST(ServerProcess, OneThatDoesNotStartIsAnErrorWithItsOutput) {
  const TempDir dir;
  const auto binary = Script(dir, "echo 'port is taken' >&2; exit 1\n");
  try {
    const ServerProcess server({.data_dir = dir.path(), .binary = binary});
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("port is taken"));
  }
}

TEST(PostgresCluster, GivesEmptyDatabasesWithNamesOfTheirOwn) {
  auto& postgres = SharedPostgres();
  const auto one = postgres.CreateDatabase();
  const auto two = postgres.CreateDatabase();
  EXPECT_NE(one, two);
  postgres.Execute(one, "CREATE TABLE t (x int)");
  EXPECT_EQ(postgres.Execute(two, "SELECT count(*) FROM pg_class WHERE relname = 't'"), "0");
  EXPECT_EQ(postgres.Execute(two, "SHOW server_encoding"), "UTF8");
  postgres.DropDatabase(one);
  EXPECT_THROW(postgres.Execute(one, "SELECT 1"), std::runtime_error);
}

TEST(PostgresCluster, ThreadsMakeDatabasesAtOnce) {
  auto& postgres = SharedPostgres();
  std::vector<std::string> names(4);
  std::vector<std::thread> threads;
  for (auto& name : names)
    threads.emplace_back([&name, &postgres] { name = postgres.CreateDatabase(); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(PostgresCluster, CutsAllConnections) {
  auto& postgres = SharedPostgres();
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(
      PQconnectdb(postgres.Url(postgres.CreateDatabase()).c_str()), &PQfinish);
  ASSERT_EQ(PQstatus(connection.get()), CONNECTION_OK);
  EXPECT_GE(postgres.KillAllBackends(), 1);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), "SELECT 1"),
                                                             &PQclear);
  EXPECT_EQ(PQresultStatus(result.get()), PGRES_FATAL_ERROR);
}

TEST(PostgresCluster, TwoRunAtOnceAndCommitsSurviveEveryRestart) {
  PostgresCluster one;
  PostgresCluster two;
  EXPECT_NE(one.port(), two.port());
  const auto port = one.port();
  const auto database = one.CreateDatabase();
  one.Execute(database, "CREATE TABLE t (x int); INSERT INTO t VALUES (1)");
  one.Restart(PostgresCluster::StopMode::kFast);
  one.Execute(database, "INSERT INTO t VALUES (2)");
  one.Restart(PostgresCluster::StopMode::kImmediate);
  EXPECT_EQ(one.port(), port);
  EXPECT_EQ(one.Execute(database, "SELECT sum(x) FROM t"), "3");

  one.Stop(PostgresCluster::StopMode::kImmediate);
  EXPECT_FALSE(one.IsRunning());
  EXPECT_THROW(one.Execute(database, "SELECT 1"), std::runtime_error);
  EXPECT_EQ(two.Execute("postgres", "SELECT 1"), "1");
}

TEST(PostgresCluster, ADurableOneSyncs) {
  const PostgresCluster durable({.durable = true, .settings = {"work_mem=5MB"}});
  EXPECT_EQ(durable.Execute("postgres", "SHOW fsync"), "on");
  EXPECT_EQ(durable.Execute("postgres", "SHOW work_mem"), "5MB");
}

TEST(PostgresCluster, AKilledTestProgramLeavesNoPostgresBehind) {
  Process victim({.argv = {std::getenv("TENURE_SUPPORT_VICTIM")}});
  const auto postmaster = std::stoi(victim.WaitForLine("^[0-9]+$"));
  const auto pidfd = static_cast<int>(syscall(SYS_pidfd_open, postmaster, 0));
  ASSERT_GE(pidfd, 0);
  victim.Kill(SIGKILL);
  pollfd waiting{pidfd, POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 20'000), 1) << "postmaster " << postmaster << " lives on";
  close(pidfd);
}

}  // namespace
}  // namespace tenure::support
