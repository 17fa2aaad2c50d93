// Installs the library, builds the examples against it as another project would, and runs them on
// real stores.

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/postgres_cluster.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::package {
namespace {

using support::Process;
using support::ProcessOptions;
using support::RunCommand;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The examples, built once for all tests.
class Examples : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string prefix = (Dir().path() / "prefix").string();
    RunCommand({.argv = {"cmake", "--install", Env("TENURE_BUILD_DIR"), "--prefix", prefix,
                         "--component", "library"}});
    const std::string sanitize = Env("TENURE_SANITIZE");
    RunCommand({.argv = {"cmake", "-S", Env("TENURE_SOURCE_DIR") + "/examples", "-B", BuildDir(),
                         "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + prefix,
                         "-DCMAKE_CXX_COMPILER=" + Env("TENURE_COMPILER"),
                         "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
                         "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" +
                             (sanitize.empty() ? "" : " -fsanitize=" + sanitize)}},
               std::chrono::minutes(5));
    RunCommand({.argv = {"cmake", "--build", BuildDir()}}, std::chrono::minutes(5));
  }

  static const support::TempDir& Dir() {
    static const support::TempDir dir;
    return dir;
  }
  static std::string BuildDir() { return (Dir().path() / "build").string(); }
  static ProcessOptions Example(std::vector<std::string> argv) {
    argv.front() = BuildDir() + "/" + argv.front();
    return {.argv = std::move(argv)};
  }
  std::string SqliteUrl() const { return "sqlite://" + (own_.path() / "leases.db").string(); }
  static std::string PostgresUrl() {
    return support::SharedPostgres().Url(support::SharedPostgres().CreateDatabase());
  }

 private:
  support::TempDir own_;
};

TEST_F(Examples, LeadersTakeTurns) {
  for (const std::string& url : {SqliteUrl(), PostgresUrl()}) {
    Process first(Example({"leader", url, "2"}));
    Process second(Example({"leader", url, "2"}));
    EXPECT_EQ(first.Wait(), 0) << first.Output();
    EXPECT_EQ(second.Wait(), 0) << second.Output();
    first.WaitForLine("leading with fence");
    second.WaitForLine("leading with fence");
  }
}

TEST_F(Examples, PartitionsAreSharedOut) {
  const std::string output = RunCommand(Example({"partitioned_work", PostgresUrl(), "4"}));
  EXPECT_NE(output.find("done with 4 of 4"), std::string::npos) << output;
}

TEST_F(Examples, ASingletonServiceRunsOncePerGridTime) {
  const std::string url = SqliteUrl();
  Process first(Example({"singleton_service", url, "2"}));
  const std::string second = RunCommand(Example({"singleton_service", url, "2"}));
  EXPECT_EQ(first.Wait(), 0);
  // The nominal times of all runs are different.
  std::multiset<std::string> nominals;
  for (const std::string& output : {first.Output(), second}) {
    for (std::size_t at = 0; (at = output.find("runs for ", at)) != std::string::npos; ++at)
      nominals.insert(output.substr(at + 9, output.find(' ', at + 9) - at - 9));
  }
  EXPECT_GE(nominals.size(), 4u);
  EXPECT_EQ(nominals.size(), std::set<std::string>(nominals.begin(), nominals.end()).size());
}

TEST_F(Examples, EachOrderIsInvoicedOnce) {
  const std::string database = support::SharedPostgres().CreateDatabase();
  const std::string url = support::SharedPostgres().Url(database);
  RunCommand(Example({"outbox_worker", url, "order", "20"}));
  Process worker(Example({"outbox_worker", url, "invoice", "50"}));
  RunCommand(Example({"outbox_worker", url, "order", "30"}));
  EXPECT_EQ(worker.Wait(), 0) << worker.Output();
  EXPECT_EQ(support::SharedPostgres().Execute(
                database, "select count(*) || ' ' || count(distinct message) from invoices"),
            "50 50");
}

TEST_F(Examples, AStaleWriteOfAPausedLeaderBounces) {
  const std::string database = support::SharedPostgres().CreateDatabase();
  const std::string url = support::SharedPostgres().Url(database);
  Process paused(Example({"fenced_writer", url, "--stop-before-write"}));
  paused.WaitForLine("leads with fence 1$");
  // It is stopped, or about to be; its renewals end with it, and the next one takes over.
  Process next(Example({"fenced_writer", url}));
  next.WaitForLine("wrote with fence 2$");
  EXPECT_EQ(next.Wait(), 0);
  paused.Kill(SIGCONT);
  paused.WaitForLine("refused: fence 1 is stale \\(TN001\\)");
  EXPECT_EQ(paused.Wait(), 3);
  EXPECT_EQ(support::SharedPostgres().Execute(database,
                                              "select string_agg(fence::text, ',') from writes"),
            "2");
}

}  // namespace
}  // namespace tenure::package
