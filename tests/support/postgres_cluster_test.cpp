#include "support/postgres_cluster.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <libpq-fe.h>

namespace tenure::support {
namespace {

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
