// The incarnation of the embedded store: it rises when answered commits may have been forgotten,
// and only then. (A promoted PostgreSQL standby is in chaos/.) And what it does to leases
// (docs/ground.md, Incarnation): fences jump, what is held is renewed, nothing is granted for a
// while.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

namespace fs = std::filesystem;

/// Copies the database and what belongs to it from one folder to another.
void CopyDatabase(const fs::path& from, const fs::path& to) {
  for (const char* name : {"tenure.db", "tenure.db-wal", "tenure.db-shm"}) {
    fs::remove(to / name);
    if (fs::exists(from / name)) fs::copy_file(from / name, to / name);
  }
}

class Incarnation : public testing::Test {
 protected:
  static std::int64_t Of(const support::ServerProcess& server) {
    return Api(server).Get("/health").Json()["store"]["incarnation"].Int();
  }
  /// Starts, writes something, stops; the incarnation it ran in.
  std::int64_t RunOnce() {
    const auto server = store_.Serve();
    EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
    const std::int64_t incarnation = Of(*server);
    EXPECT_EQ(server->Terminate(), 0);
    return incarnation;
  }
  StoreUnderTest store_{Engine::kSqlite};
};

TEST_F(Incarnation, AnOlderCopyPutBackRaisesItOnce) {
  EXPECT_EQ(RunOnce(), 1);
  const support::TempDir backup;
  CopyDatabase(store_.data_dir(), backup.path());
  EXPECT_EQ(RunOnce(), 1);
  CopyDatabase(backup.path(), store_.data_dir());
  EXPECT_EQ(RunOnce(), 2);
  EXPECT_EQ(RunOnce(), 2) << "once is enough";
  CopyDatabase(backup.path(), store_.data_dir());
  EXPECT_EQ(RunOnce(), 3) << "the copy itself is of 1: fences of 2 would have been given twice";
}

TEST_F(Incarnation, ACopyThatIsNoOlderIsTakenForOneToo) {
  EXPECT_EQ(RunOnce(), 1);
  const support::TempDir backup;
  CopyDatabase(store_.data_dir(), backup.path());
  CopyDatabase(backup.path(), store_.data_dir());
  EXPECT_EQ(RunOnce(), 2) << "nobody can tell how old it is; it does no harm";
}

/// How an operator may put back what was copied while the server ran or not, seconds ago.
struct Restoring {
  std::string name;
  bool whole_folder;       ///< with the side file
  bool into_files;         ///< the files that are there are written over, as cp does
  bool was_running;        ///< when it was copied
  bool by_backup = false;  ///< copied by sqlite3's .backup
};
class Restore : public testing::TestWithParam<Restoring> {};

TEST_P(Restore, IsNoticedAndNoFenceIsGivenTwice) {
  const StoreUnderTest store(Engine::kSqlite);
  const support::TempDir backup;
  const auto copy = [](const fs::path& from, const fs::path& to) {
    for (const auto& file : fs::directory_iterator(from)) {
      const std::string name = file.path().filename();
      const bool belongs =
          name.starts_with("tenure.db") || (GetParam().whole_folder && name == "tenure.side");
      if (!belongs) continue;
      if (!GetParam().into_files) fs::remove(to / name);
      std::ofstream(to / name) << std::ifstream(file.path()).rdbuf();
    }
  };
  auto server = store.Serve();
  Lease lease{Api(*server)};
  lease.Acquire();
  lease.Release();
  if (!GetParam().was_running) server->Terminate();
  if (GetParam().by_backup)
    support::RunCommand({.argv = {"sqlite3", store.data_dir() / "tenure.db",
                                  ".backup " + (backup / "tenure.db").string()}});
  else
    copy(store.data_dir(), backup.path());
  if (!GetParam().was_running) server = store.Serve();
  Lease forgotten = lease.SeenBy(Api(*server));
  ASSERT_EQ(forgotten.Acquire().status, 200);
  EXPECT_EQ(server->Terminate(), 0);

  for (const char* name : {"tenure.db-wal", "tenure.db-shm"}) fs::remove(store.data_dir() / name);
  copy(backup.path(), store.data_dir());
  server = store.Serve({"--set", "store.freeze=0s"});
  EXPECT_EQ(Api(*server).Get("/health").Json()["store"]["incarnation"].Int(), 2);
  Lease after = lease.SeenBy(Api(*server));
  EXPECT_EQ(after.Acquire().Json()["reason"].Text(), "frozen") << "for its own ttl";
  EXPECT_EQ(server->Terminate(), 0);
  auto thaw = store.Flags();
  thaw.insert(thaw.begin(), {"admin", "thaw"});
  EXPECT_EQ(RunTenure(thaw).exit_code, 0);
  server = store.Serve();
  after = lease.SeenBy(Api(*server));
  EXPECT_EQ(after.Acquire().status, 200);
  EXPECT_GT(after.fence(), forgotten.fence());
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Restore,
    testing::Values(Restoring{"TheFileByCp", false, true, false},
                    Restoring{"TheFileOfARunningServerByCp", false, true, true},
                    Restoring{"ABackupOfARunningServerByCp", false, true, true, true},
                    Restoring{"ABackupMadeAnew", false, false, false, true},
                    Restoring{"TheFileMadeAnew", false, false, false},
                    Restoring{"TheFolderMadeAnew", true, false, false},
                    Restoring{"TheFolderByCp", true, true, false},
                    Restoring{"TheFolderOfARunningServer", true, false, true},
                    Restoring{"TheFolderOfARunningServerByCp", true, true, true}),
    [](const auto& one) { return one.param.name; });

/// A PostgreSQL that is put back to what it was.
class PostgresRestore : public testing::Test {
 protected:
  static void Run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::int64_t Incarnation() const {
    return std::stoll(SqlSession(store_.url()).Execute("select incarnation from tenure.store"));
  }
  /// A grant that is forgotten, and whose fence must not be given again.
  void GrantAndForget(const std::function<void()>& restore) {
    lease_.Acquire();
    lease_.Release();
    restore();
    Lease after = lease_.SeenBy(Api(*server_));
    Eventually("it is back", [&] { return Api(*server_).Get("/readyz").status == 200; });
    EXPECT_EQ(Incarnation(), 2);
    EXPECT_EQ(after.Acquire().Json()["reason"].Text(), "frozen");
    auto thaw = store_.Flags();
    thaw.insert(thaw.begin(), {"admin", "thaw"});
    EXPECT_EQ(RunTenure(thaw).exit_code, 0);
    EXPECT_EQ(after.Acquire().status, 200);
    EXPECT_GT(after.fence(), lease_.fence());
  }

  const support::TempDir backup_;
  support::PostgresCluster cluster_;
  const StoreUnderTest store_{Engine::kPostgres, &cluster_};
  std::unique_ptr<support::ServerProcess> server_ = store_.Serve();
  Lease lease_{Api(*server_)};
};

TEST_F(PostgresRestore, ADumpThatIsPutBackIsNoticed) {
  const std::string dump = (backup_ / "dump.sql").string();
  Run("pg_dump -n tenure '" + store_.url() + "' > " + dump);
  GrantAndForget([&] {
    EXPECT_EQ(server_->Terminate(), 0);
    SqlSession(store_.url()).Execute("drop schema tenure cascade");
    Run("psql -q -v ON_ERROR_STOP=1 -f " + dump + " '" + store_.url() + "' > /dev/null");
    server_ = store_.Serve();
  });
}

TEST_F(PostgresRestore, ABaseBackupThatIsPutBackUnderARunningServerIsNoticed) {
  const std::string data = cluster_.data_dir().string();
  const std::string copy = (backup_ / "data").string();
  cluster_.Stop(support::PostgresCluster::StopMode::kFast);
  Run("cp -a " + data + " " + copy);
  cluster_.Start();
  Eventually("it is back", [&] { return Api(*server_).Get("/readyz").status == 200; });
  GrantAndForget([&] {
    cluster_.Stop(support::PostgresCluster::StopMode::kFast);
    Run("rm -rf " + data + " && cp -a " + copy + " " + data);
    cluster_.Start();
    Eventually("it was noticed", [&] { return Incarnation() > 1; });
  });
}

TEST_F(PostgresRestore, ADumpThatIsPutBackUnderARunningServerIsNoticed) {
  const std::string dump = (backup_ / "dump.sql").string();
  Run("pg_dump -n tenure '" + store_.url() + "' > " + dump);
  const std::string restore =
      "psql -q -1 -v ON_ERROR_STOP=1 -c 'set client_min_messages = warning' "
      "-c 'drop schema tenure cascade' -f " +
      dump + " '" + store_.url() + "' > /dev/null";
  GrantAndForget([&] {
    Run(restore);
    Eventually("it was noticed", [&] { return Incarnation() > 1; });
  });
  // Once more: the dump is of incarnation 1, and what was granted in 2 is forgotten.
  Run(restore);
  Eventually("it was noticed again", [&] { return Incarnation() > 2; });
}

TEST_F(PostgresRestore, ARealBaseBackupThatIsPutBackUnderARunningServerIsNoticed) {
  const std::string data = cluster_.data_dir().string();
  const std::string copy = (backup_ / "data").string();
  Run("pg_basebackup -D " + copy + " -X stream -c fast --no-sync -d " + cluster_.Url());
  Run("chown -R --reference=" + data + " " + copy);
  GrantAndForget([&] {
    cluster_.Stop(support::PostgresCluster::StopMode::kFast);
    Run("rm -rf " + data + " && cp -a " + copy + " " + data);
    cluster_.Start();
    Eventually("it was noticed", [&] { return Incarnation() > 1; });
  });
}

TEST_F(PostgresRestore, AServerThatCrashedHasForgottenNothing) {
  lease_.Acquire();
  cluster_.Restart(support::PostgresCluster::StopMode::kImmediate);
  Eventually("it is back", [&] { return Api(*server_).Get("/readyz").status == 200; });
  EXPECT_EQ(Incarnation(), 1);
}

TEST_F(Incarnation, ACopyThatIsUsedElsewhereRaisesIt) {
  EXPECT_EQ(RunOnce(), 1);
  const support::TempDir elsewhere;
  CopyDatabase(store_.data_dir(), elsewhere.path());
  const support::ServerProcess server({.data_dir = elsewhere.path()});
  EXPECT_EQ(Of(server), 2);
}

TEST_F(Incarnation, ItCanBeRaisedByHand) {
  EXPECT_EQ(RunOnce(), 1);
  const auto result = RunTenure({"admin", "new-incarnation", "--data", store_.data_dir()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(RunOnce(), 2);
}

class LeaseIncarnation : public testing::TestWithParam<Engine> {
 protected:
  static std::string ReasonOf(const support::HttpResponse& response) {
    return response.status == 409 ? response.Json()["reason"].Text() : "";
  }

  StoreUnderTest store_{GetParam()};
};

TEST_P(LeaseIncarnation, WhatIsHeldIsRenewedAndNothingIsGrantedForAWhile) {
  auto server = store_.Serve();
  Lease held{Api(*server)};
  Lease free{Api(*server)};
  held.Acquire();
  free.Acquire();
  free.Release();
  server->Terminate();
  auto command = store_.Flags();
  command.insert(command.begin(), {"admin", "new-incarnation"});
  EXPECT_EQ(RunTenure(command).exit_code, 0);

  server = store_.Serve();
  const Api api(*server);
  const auto renewed = held.SeenBy(api).Post("renew", held.FenceAndTerm());
  EXPECT_EQ(renewed.status, 200) << renewed.body;
  EXPECT_EQ(renewed.Json()["fence"].Int(), held.fence()) << "a renewal never changes the fence";
  const auto frozen = free.SeenBy(api).Acquire();
  EXPECT_EQ(ReasonOf(frozen), "frozen");
  EXPECT_GT(frozen.Json()["retry_after_ms"].Int(), 0);
  EXPECT_EQ(ReasonOf(Lease(api).Acquire()), "frozen") << "also a name that was never used";
  EXPECT_EQ(ReasonOf(held.SeenBy(api).Acquire()), "held");

  const std::string url = "http://127.0.0.1:" + std::to_string(api.port());
  for (const std::string& name : {free.name(), std::string("never/used")}) {
    const auto why = RunTenure({"why", "lease", name, "--server", url});
    EXPECT_EQ(why.exit_code, 0) << why.err;
    EXPECT_NE(why.out.find("It is not granted before "), std::string::npos) << why.out;
    EXPECT_EQ(why.out.find("is free"), std::string::npos) << why.out;
    const auto shown = RunTenure({"lease", "show", name, "--server", url});
    EXPECT_NE(shown.out.find("state     frozen\n"), std::string::npos) << shown.out;
  }
  const auto list = RunTenure({"lease", "list", "--prefix", free.name(), "--server", url});
  EXPECT_NE(list.out.find(" frozen "), std::string::npos) << list.out;
}

TEST_P(LeaseIncarnation, ALeaseOfADayFreezesItselfAndNobodyElse) {
  auto server = store_.Serve();
  Lease day{Api(*server)};
  Lease hour{Api(*server)};
  day.Acquire({.ttl_ms = 86'400'000});
  hour.Acquire({.ttl_ms = 60'000});
  for (Lease* each : {&day, &hour}) each->Release();
  const auto runs = [&] {
    std::int64_t sum = 0;
    const auto health = Api(*server).Get("/health").Json();
    for (const auto& task : health["tasks"].Elements()) sum += task["runs"].Int();
    return sum;
  };
  Eventually("the tasks have run", [&] { return runs() > 0; });
  const std::int64_t runs_before = runs();
  server->Terminate();
  const auto admin = [&](const std::string& command) {
    auto words = store_.Flags();
    words.insert(words.begin(), {"admin", command});
    const ProgramResult result = RunTenure(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  };
  admin("new-incarnation");
  // As if store.freeze and the tasks' lock time-out were over.
  const std::string table = GetParam() == Engine::kPostgres ? "tenure.store" : "store";
  store_.Execute("update " + table + " set incarnation_ms = incarnation_ms - 121000");

  server = store_.Serve();
  EXPECT_EQ(hour.SeenBy(Api(*server)).Acquire().status, 200);
  EXPECT_EQ(Lease(Api(*server)).Acquire().status, 200);
  EXPECT_EQ(ReasonOf(day.SeenBy(Api(*server)).Acquire()), "frozen");
  Eventually("Tenure's own tasks run", [&] { return runs() > runs_before; });
  const auto warns = [&] {
    return Api(*server).Get("/readyz").body.find("\"frozen\"") != std::string::npos;
  };
  Eventually("it warns", warns);
  const auto health = Api(*server).Get("/health").Json();
  EXPECT_GT(TimeMs(health["store"]["frozen_until"].Text()), WallMs() + 80'000'000);
  EXPECT_EQ(Api(*server).Get("/readyz").status, 200);

  if (GetParam() == Engine::kSqlite) server->Terminate();
  admin("thaw");
  if (GetParam() == Engine::kSqlite) server = store_.Serve();
  Eventually("the warning ends", [&] { return !warns(); });
  EXPECT_EQ(day.SeenBy(Api(*server)).Acquire().status, 200);
  EXPECT_THAT(Api(*server).Get("/api/v1/audit").body, testing::HasSubstr("store.thaw"));
}

TEST_P(LeaseIncarnation, ANameThatIsGoneKeepsNobodyWarned) {
  auto server = store_.Serve();
  Lease day{Api(*server)};
  day.Acquire({.ttl_ms = 86'400'000});
  day.Release();
  server->Terminate();
  const std::string schema = GetParam() == Engine::kPostgres ? "tenure." : "";
  store_.Execute("delete from " + schema + "leases");  // as the retention of names does
  store_.Execute("update " + schema + "store set incarnation_ms = " +
                 std::to_string(WallMs() - 120'000) + ", freeze_ms = 60000");
  server = store_.Serve();
  Eventually("the store was looked at",
             [&] { return Api(*server).Get("/health").Json()["tasks"].Size() > 0; });
  EXPECT_EQ(Api(*server).Get("/readyz").body.find("\"frozen\""), std::string::npos);
  EXPECT_EQ(Api(*server).Get("/health").body.find("frozen_until"), std::string::npos);
}

TEST_P(LeaseIncarnation, AFenceThatWasNeverGivenIsToldWithTheCommandAndChangesNothing) {
  const auto server = store_.Serve();
  const Api api(*server);
  Lease lease(api);
  lease.Acquire();
  const auto evidence = [&] { return Metric(api, "tenure_store_forgotten_evidence_total"); };
  EXPECT_EQ(lease.Post("renew", GrantJson(lease.fence(), NewUuid())).status, 409);
  EXPECT_EQ(evidence(), 0) << "a term that is over is nothing special";
  const std::string beyond = GrantJson(lease.fence() + 100, lease.term());
  EXPECT_EQ(lease.Post("renew", beyond).Json()["reason"].Text(), "unknown");
  EXPECT_EQ(evidence(), 1);
  const std::string claim = lease.name() + "=" + std::to_string(lease.fence() + 100);
  EXPECT_EQ(api.Call("PUT", "/sessions", PutBody(NewKey(), 1), {{"Tenure-Fence", claim}}).status,
            412);
  EXPECT_EQ(evidence(), 2);
  const Topic topic(api);
  topic.Send();
  const Claimed claimed = topic.Take();
  EXPECT_EQ(OutcomeOf(topic.Report("ack", {claimed.id, claimed.fence + 100})), "stale");
  EXPECT_EQ(OutcomeOf(topic.Report("fail", {claimed.id, claimed.fence + 100})), "stale");
  EXPECT_EQ(evidence(), 4);

  EXPECT_THAT(api.Get("/readyz").body, testing::HasSubstr("forgotten-commits"));
  const auto health = api.Get("/health").Json()["store"];
  EXPECT_THAT(health["forgotten_commits"]["hint"].Text(),
              testing::HasSubstr("tenure admin new-incarnation"));
  EXPECT_EQ(health["incarnation"].Int(), 1);
  EXPECT_EQ(lease.Renew().status, 200);
}

INSTANTIATE_TEST_SUITE_P(Engines, LeaseIncarnation, EachEngine(), EngineName);

TEST(LeaseRestore, AnOlderCopyPutBackForgetsAGrantAndDoesNotRepeatItsFence) {
  const StoreUnderTest store(Engine::kSqlite);
  auto server = store.Serve();
  Lease lease{Api(*server)};
  lease.Acquire();
  lease.Release();
  server->Terminate();
  const support::TempDir backup;
  CopyDatabase(store.data_dir(), backup.path());

  server = store.Serve();
  Lease forgotten = lease.SeenBy(Api(*server));
  EXPECT_EQ(forgotten.Acquire().status, 200);
  EXPECT_GT(forgotten.fence(), lease.fence());
  server->Terminate();
  CopyDatabase(backup.path(), store.data_dir());

  server = store.Serve();
  Lease after = lease.SeenBy(Api(*server));
  const auto frozen = after.Acquire();
  EXPECT_EQ(frozen.status, 409) << "the holder that the copy does not know has time to find out";
  EXPECT_EQ(frozen.Json()["reason"].Text(), "frozen");
  EXPECT_EQ(after.Post("renew", forgotten.FenceAndTerm()).Json()["reason"].Text(), "unknown");
  server->Terminate();
  store.Execute("update store set incarnation_ms = 1");
  server = store.Serve();
  after = lease.SeenBy(Api(*server));
  EXPECT_EQ(after.Acquire().status, 200);
  EXPECT_GT(after.fence(), forgotten.fence());
}

}  // namespace
}  // namespace tenure::api
