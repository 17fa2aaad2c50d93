// What an operator sees: probes, metrics, refused settings, reload.
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::Json;
using support::TempDir;
using testing::HasSubstr;
using testing::Not;

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
    return Metric(api, "sessions_" + what + "_total");
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
  const std::string text = api.Get("/metrics").body;
  for (const char* name : {"sessions_active", "sessions_expiry_duration_seconds"})
    EXPECT_THAT(text, HasSubstr(std::string("# TYPE ") + name));
}

TEST_P(Operation, SettingsInTheFileTheEnvironmentAndFlagsAllCountAndTheLaterWins) {
  const TempDir dir;
  std::ofstream(dir / "tenure.yaml") << "sessions:\n  duration: 1h\n  retention: 1d\n";
  auto options = store_.Options({"--config", dir / "tenure.yaml"});
  options.environment = {{"TENURE_SESSIONS_DURATION", "2h"}};
  const support::ServerProcess server(options);
  const Json session = Api(server).Put(NewKey(), 1).Json();
  EXPECT_EQ(TimeMs(session["sessionEndUtc"].Text()) - TimeMs(session["sessionStartUtc"].Text()),
            2 * 3'600'000);
}

INSTANTIATE_TEST_SUITE_P(Engines, Operation, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

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

TEST(Start, WrongSettingsAreRefusedWithFileAndLine) {
  const TempDir dir;
  const std::string file = dir / "wrong.yaml";
  std::ofstream(file) << "listen: 127.0.0.1:0\n"
                         "sessions:\n"
                         "  duration: soon\n"
                         "  durration: 1d\n"
                         "http:\n"
                         "  max_body: -1\n";
  const auto result = RunTenure({"serve", "--data", dir / "data", "--config", file});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr(file + ":3"));
  EXPECT_THAT(result.err, HasSubstr(file + ":4"));
  EXPECT_THAT(result.err, HasSubstr(file + ":6"));
  EXPECT_THAT(result.err, HasSubstr("sessions.duration")) << "what was meant, or is wrong";
  EXPECT_FALSE(std::filesystem::exists(dir / "data")) << "nothing was begun";
}

TEST(Start, WrongFlagsAndVariablesAreRefusedByName) {
  const auto flag = RunTenure({"serve", "--set", "sessions.duration=never"});
  EXPECT_EQ(flag.exit_code, 2);
  EXPECT_THAT(flag.err, HasSubstr("sessions.duration"));
  const auto variable = RunTenure({"serve"}, {{"TENURE_LOG_LEVEL", "loud"}});
  EXPECT_EQ(variable.exit_code, 2);
  EXPECT_THAT(variable.err, HasSubstr("TENURE_LOG_LEVEL"));
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

}  // namespace
}  // namespace tenure::api
