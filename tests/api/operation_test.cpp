// How processes start, on a store of an earlier or a later schema and several on one PostgreSQL;
// what an operator sees: probes, metrics, refused settings, reload; and SIGTERM, after which what
// is under way is answered and the process ends with 0.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpConnection;
using support::HttpResponse;
using support::Json;
using support::ServerProcess;
using support::TempDir;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Migration : public testing::TestWithParam<Engine> {
 protected:
  ProgramResult Run(std::vector<std::string> arguments) {
    const auto flags = store_.Flags();
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunTenure(std::move(arguments));
  }
  ProgramResult Serve(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"serve", "--listen", "127.0.0.1:0"});
    return Run(std::move(more));
  }
  std::string Table(const std::string& name) {
    return GetParam() == Engine::kPostgres ? "tenure." + name : name;
  }
  /// Whether the database is as empty as it was made.
  bool IsEmpty() {
    if (GetParam() == Engine::kPostgres)
      return store_.Execute("select count(*) from pg_namespace where nspname = 'tenure'") == "0";
    return !std::filesystem::exists(store_.data_dir() / "tenure.db") ||
           store_.Execute("select count(*) from sqlite_schema") == "0";
  }

  StoreUnderTest store_{GetParam()};
};

TEST_P(Migration, ShowingThemChangesNothing) {
  const auto dry = Run({"migrate", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("Would apply 0002_sessions"));
  EXPECT_TRUE(IsEmpty());

  const auto print = Run({"migrate", "--print"});
  EXPECT_EQ(print.exit_code, 0) << print.err;
  EXPECT_THAT(print.out, HasSubstr("create table " + Table("sessions")));
  EXPECT_TRUE(IsEmpty());
}

TEST_P(Migration, AppliedOnceTheyAreUpToDate) {
  EXPECT_EQ(Run({"migrate"}).exit_code, 0);
  EXPECT_THAT(Run({"migrate"}).out, HasSubstr("up to date"));
  EXPECT_EQ(Run({"migrate", "--print"}).out, "");
  const auto server = store_.Serve({"--set", "store.migrate=check"});
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
}

TEST_P(Migration, CheckRefusesAnEmptyStore) {
  const auto result = Serve({"--set", "store.migrate=check"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("tenure migrate"));
  EXPECT_TRUE(IsEmpty());
}

TEST_P(Migration, AStoreOfANewerProgramIsRefused) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  store_.Execute("insert into " + Table("migrations") +
                 " values (9000, '9000_future', 'x', '99.0.0', '2030-01-01 00:00:00+00')");
  for (const auto& result : {Serve(), Run({"migrate"})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("9000_future"));
    EXPECT_THAT(result.err, HasSubstr("99.0.0"));
  }
}

TEST_P(Migration, ANewerMigrationThatThisProgramCanLiveWithIsAccepted) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  store_.Execute("insert into " + Table("migrations") +
                 " values (9000, '9000_future', 'x', '0.1.0', '2030-01-01 00:00:00+00')");
  const auto server = store_.Serve();
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
}

TEST_P(Migration, AnEditedMigrationIsRefused) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  store_.Execute("update " + Table("migrations") + " set checksum = 'edited' where version = 2");
  const auto result = Serve();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("0002_sessions"));
  EXPECT_THAT(result.err, HasSubstr("edited"));
}

TEST_P(Migration, AStoreFromBeforeTheCommentsOfAMigrationChangedGoesOn) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  const std::string earlier =
      GetParam() == Engine::kPostgres ? "bd1e40580b2e3b82" : "fb8fae3999b8dc05";
  store_.Execute("update " + Table("migrations") + " set checksum = '" + earlier +
                 "' where version = 2");
  const auto server = store_.Serve();
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
}

TEST_P(Migration, CommandsOnAStoreThatWasNeverSetUpSaySo) {
  const auto result = Run({"admin", "new-incarnation"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("tenure migrate"));
}

INSTANTIATE_TEST_SUITE_P(Engines, Migration, EachEngine(), EngineName);

TEST(Ensemble, WhatOneProcessAnsweredTheOthersKnow) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto one = store.Serve();
  const auto two = store.Serve();
  const Key key = NewKey();
  const std::string id = Api(*one).Put(key, 1).Json()["sessionId"].Text();
  EXPECT_EQ(Api(*two).Put(key, 1).Json()["sessionId"].Text(), id);
  EXPECT_EQ(Api(*two).Delete(id).status, 204);
  EXPECT_FALSE(Api(*one).Session(id)["isActive"].Bool());
  EXPECT_EQ(Api(*one).Get("/health").Json()["store"]["installation"].Text(),
            Api(*two).Get("/health").Json()["store"]["installation"].Text());
}

TEST(Ensemble, AnotherSessionDurationIsRefusedUntilItIsAppliedForAll) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto first = store.Serve();
  const std::vector<std::string> serve{"serve",     "--listen", "127.0.0.1:0",         "--store",
                                       store.url(), "--set",    "sessions.duration=7d"};
  const auto refused = RunTenure(serve);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("sessions.duration: 30d in the store, 7d here"));
  EXPECT_THAT(refused.err, HasSubstr("tenure config apply"));

  const TempDir dir;
  std::ofstream(dir / "new.yaml") << "store: {url: \"" << store.url()
                                  << "\"}\nsessions: {duration: 7d}\n";
  const auto applied = RunTenure({"config", "apply", dir / "new.yaml"});
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  EXPECT_THAT(applied.out, HasSubstr("sessions.duration"));
  const auto again = RunTenure({"config", "apply", dir / "new.yaml"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("Nothing to change"));

  const ServerProcess joined(
      {.store_url = store.url(), .flags = {"--set", "sessions.duration=7d"}});
  const Json session = Api(joined).Put(NewKey(), 1).Json();
  EXPECT_EQ(TimeMs(session["sessionEndUtc"].Text()) - TimeMs(session["sessionStartUtc"].Text()),
            7LL * 24 * 3'600'000);
  const auto old = RunTenure({"serve", "--listen", "127.0.0.1:0", "--store", store.url()});
  EXPECT_EQ(old.exit_code, 1) << "now the old value is the other one";
}

TEST(Ensemble, TheSameHoldsForTheEmbeddedStoreAcrossRestarts) {
  const StoreUnderTest store(Engine::kSqlite);
  EXPECT_EQ(store.Serve()->Terminate(), 0);
  const std::vector<std::string> other{"--set", "sessions.duration=7d"};
  auto serve =
      std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--data", store.data_dir()};
  serve.insert(serve.end(), other.begin(), other.end());
  EXPECT_EQ(RunTenure(serve).exit_code, 1);
}

TEST(Ensemble, TwoProcessesStartedAtOnceOnAnEmptyDatabaseBothComeUp) {
  for (int round = 0; round < 3; ++round) {
    const StoreUnderTest store(Engine::kPostgres);
    auto start = [&] { return store.Serve(); };
    auto one = std::async(std::launch::async, start);
    auto two = std::async(std::launch::async, start);
    auto three = std::async(std::launch::async, start);
    const Key key = NewKey();
    std::set<std::string> ids;
    for (auto* started : {&one, &two, &three})
      ids.insert(Api(*started->get()).Put(key, 1).Json()["sessionId"].Text());
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_EQ(store.Execute("select count(*) from tenure.store"), "1");
  }
}

class Operation : public testing::TestWithParam<Engine> {
 protected:
  StoreUnderTest store_{GetParam()};
};

TEST_P(Operation, TheProbesSayThatAllIsWell) {
  const auto server = store_.Serve();
  const Api api(*server);
  EXPECT_EQ(api.Get("/livez").status, 200);
  EXPECT_EQ(api.Get("/livez").body, R"({"status":"ok"})") << "it tells nothing else";
  EXPECT_EQ(api.Get("/readyz").status, 200);
  // The tests' PostgreSQL has no standby, and that is the one thing it tells besides.
  EXPECT_EQ(api.Get("/readyz").body,
            GetParam() == Engine::kSqlite
                ? R"({"status":"ok"})"
                : R"({"status":"ok","warnings":["no-synchronous-standby"]})");
  const Json health = api.Get("/health").Json();
  EXPECT_EQ(health["status"].Text(), "ok");
  EXPECT_EQ(health["store"]["engine"].Text(),
            GetParam() == Engine::kSqlite ? "sqlite" : "postgres");
  EXPECT_EQ(health["store"]["incarnation"].Int(), 1);
  EXPECT_NE(health["store"]["installation"].Text(), "");
  // A task is there from its first offer on, which each process makes when it starts.
  Eventually("the tasks are there", [&] {
    const auto tasks = api.Get("/health").Json()["tasks"].Elements();
    return std::any_of(tasks.begin(), tasks.end(), [](const Json& task) {
      return task["name"].Text() == "sessions.expiry" && task["status"].Text() == "ok";
    });
  });
}

TEST_P(Operation, TheMetricsOfSessionsMoveByWhatHappened) {
  const auto server = store_.Serve();
  const Api api(*server);
  const auto count = [&](const std::string& what) {
    const bool promised = what == "created" || what == "upgraded" || what == "contention";
    return Metric(api, (promised ? "sessions_" : "tenure_sessions_") + what + "_total");
  };
  EXPECT_EQ(count("created") + count("upgraded") + count("existing"), 0);
  const Key key = NewKey();
  Key foreign = key;
  foreign.tenant = NewUuid();
  api.Put(key, 1);
  api.Put(NewKey(), 1);
  for (int i = 0; i < 3; ++i) api.Put(key, 1);
  const std::string id = api.Put(key, 2).Json()["sessionId"].Text();
  api.Put(foreign, 1);
  api.Delete(id);
  api.Delete(id);
  EXPECT_EQ(count("created"), 2);
  EXPECT_EQ(count("existing"), 3);
  EXPECT_EQ(count("upgraded"), 1);
  EXPECT_EQ(count("foreign"), 1);
  EXPECT_EQ(count("deleted"), 1);
  EXPECT_EQ(count("contention"), 0);
  for (const char* name : {"sessions_active", "sessions_expiry_duration_seconds"})
    Eventually(std::string(name) + " is there", [&] {
      return api.Get("/metrics").body.find(std::string("# TYPE ") + name) != std::string::npos;
    });
}

INSTANTIATE_TEST_SUITE_P(Engines, Operation, EachEngine(), EngineName);

TEST(Start, ASecondProcessOnTheSameFolderIsRefused) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve();
  const auto second = RunTenure({"serve", "--data", store.data_dir(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("already served by another Tenure process (pid " +
                                    std::to_string(server->pid()) + ")"));
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201) << "the first one goes on";
}

TEST(Start, APortThatIsTakenIsRefusedInWords) {
  const StoreUnderTest store(Engine::kSqlite);
  const std::string address = "127.0.0.1:" + std::to_string(SharedServer(Engine::kSqlite).Port());
  const auto result = RunTenure({"serve", "--data", store.data_dir(), "--listen", address});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot listen on " + address));
}

TEST(Start, ADatabaseThatDoesNotAnswerIsSaidInWordsAndIsWorthTryingAgain) {
  const auto result = RunTenure(
      {"serve", "--listen", "127.0.0.1:0", "--store", "postgres://nobody@127.0.0.1:1/nothing"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("cannot connect to PostgreSQL"));
}

TEST(Reload, SighupChangesTheLogLevelAndNamesWhatNeedsARestart) {
  const TempDir dir;
  const std::string file = dir / "tenure.yaml";
  std::ofstream(file) << "log: {level: info}\n";
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--config", file});

  std::ofstream(file) << "log: {level: warn}\nhttp: {max_body: 3MiB}\n";
  server->process().Kill(SIGHUP);
  server->process().WaitForLine(
      "config.needs_restart.*http.max_body|http.max_body.*config.needs_restart");

  std::ofstream(file) << "log: {level: error}\nnonsense: 1\n";
  server->process().Kill(SIGHUP);
  const std::string refused = server->process().WaitForLine("config.refused");
  EXPECT_THAT(refused, HasSubstr("nonsense"));
  EXPECT_EQ(Api(*server).Get("/livez").status, 200);

  EXPECT_EQ(server->Terminate(), 0);
  EXPECT_THAT(server->Output(), Not(HasSubstr("serve.stopping")))
      << "an event of level info was logged at level warn";
}

TEST(Reload, SighupChangesTheRateLimits) {
  const TempDir dir;
  const std::string file = dir / "tenure.yaml";
  std::ofstream(file) << "rate_limits: {leases: 1/h}\n";
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--config", file});
  const Api api(*server);
  EXPECT_EQ(api.Get("/api/v1/leases").status, 200);
  EXPECT_EQ(api.Get("/api/v1/leases").status, 429);

  std::ofstream(file) << "rate_limits: {leases: 1000/h, tasks: 1/h}\n";
  server->process().Kill(SIGHUP);
  server->process().WaitForLine(
      "config.changed.*rate_limits.tasks|rate_limits.tasks.*config.changed");
  Eventually("the new limits count", [&] { return api.Get("/api/v1/leases").status == 200; });
  EXPECT_EQ(api.Get("/api/v1/tasks").status, 200);
  EXPECT_EQ(api.Get("/api/v1/tasks").status, 429);

  std::ofstream(file) << "rate_limits: off\n";
  server->process().Kill(SIGHUP);
  Eventually("no limit counts", [&] { return api.Get("/api/v1/tasks").status == 200; });
}

TEST(Stop, ARequestThatWaitsInTheStoreIsAnsweredBeforeTheProcessEnds) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto server = store.Serve({"--set", "store.lock_timeout=50s", "--set",
                                   "store.statement_timeout=60s", "--set", "http.stop_grace=60s"});
  const Key key = NewKey();
  SqlSession holder(store.url());
  holder.Execute("begin");
  holder.Execute("insert into tenure.session_keys values ('" + key.user + "', '" + key.capacity +
                 "')");

  HttpConnection waiting(server->Port(), std::chrono::seconds(60));
  HttpConnection idle(server->Port());
  idle.Call("GET", "/livez");
  waiting.Send(support::FormatRequest(server->Port(), "PUT", "/sessions", PutBody(key, 1)));
  Eventually("the request waits for the lock", [&] {
    return store.Execute(
               "select count(*) from pg_stat_activity where datname = current_database()"
               " and wait_event_type = 'Lock'") == "1";
  });
  server->process().Kill(SIGTERM);
  server->process().WaitForLine("serve.stopping");
  EXPECT_EQ(idle.ReadUntilClose(), "") << "an idle connection is closed at once";
  EXPECT_TRUE(server->IsRunning());

  holder.Execute("rollback");
  const HttpResponse answer = waiting.ReadResponse();
  EXPECT_EQ(answer.status, 201) << answer.body;
  ExpectDocumented("PUT", "/sessions", answer);
  EXPECT_EQ(answer.FindHeader("Connection"), "close");
  EXPECT_EQ(server->process().Wait(), 0);
  EXPECT_EQ(store.Rows().size(), 1U);
}

class StopUnderLoad : public testing::TestWithParam<Engine> {};

TEST_P(StopUnderLoad, EverythingThatWasAnsweredIsThereAndTheExitCodeIsZero) {
  const StoreUnderTest store(GetParam());
  const auto server = store.Serve();
  std::atomic<int> answered = 0;
  std::vector<std::vector<std::string>> ids(8);
  std::vector<std::jthread> clients;
  for (auto& mine : ids)
    clients.emplace_back([&] {
      try {
        HttpConnection connection(server->Port());
        while (true) {
          const HttpResponse answer = connection.Call("PUT", "/sessions", PutBody(NewKey(), 1));
          if (answer.status == 201) {
            mine.push_back(answer.Json()["sessionId"].Text());
            ++answered;
          } else {
            EXPECT_EQ(answer.status, 503) << answer.body;
          }
        }
      } catch (const std::exception&) {  // NOLINT: the server has hung up, as it should
      }
    });
  Eventually("some hundred are answered", [&] { return answered >= 200; });
  EXPECT_EQ(server->Terminate(), 0);
  clients.clear();

  std::set<std::string> stored;
  for (const SessionRow& row : store.Rows()) stored.insert(row.id);
  for (const auto& mine : ids)
    for (const std::string& id : mine) EXPECT_TRUE(stored.contains(id)) << id;
  EXPECT_THAT(Contradictions(store.Rows()), IsEmpty());
}

TEST_P(StopUnderLoad, AServerWithNothingToDoEndsAtOnceAndComesBackWithItsData) {
  const StoreUnderTest store(GetParam());
  const Key key = NewKey();
  std::string id;
  for (int round = 0; round < 3; ++round) {
    const auto server = store.Serve();
    const auto answer = Api(*server).Put(key, 1).Json();
    if (round == 0) id = answer["sessionId"].Text();
    EXPECT_EQ(answer["sessionId"].Text(), id);
    EXPECT_EQ(server->Terminate(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, StopUnderLoad, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
