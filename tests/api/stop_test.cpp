// SIGTERM: what is under way is answered, then the process ends with 0.
#include <atomic>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/sql_session.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpConnection;
using support::HttpResponse;
using testing::IsEmpty;

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
            answered.notify_all();
          } else {
            EXPECT_EQ(answer.status, 503) << answer.body;
          }
        }
      } catch (const std::exception&) {  // NOLINT: the server has hung up, as it should
      }
    });
  for (int seen = answered; seen < 200; seen = answered) answered.wait(seen);
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

INSTANTIATE_TEST_SUITE_P(Engines, StopUnderLoad,
                         testing::Values(Engine::kSqlite, Engine::kPostgres), EngineName);

}  // namespace
}  // namespace tenure::api
