// S1 under real concurrency: 64 clients ask for one key at the same moment, over several processes.
#include <algorithm>
#include <barrier>
#include <map>
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
using testing::IsEmpty;

constexpr int kClients = 64;
constexpr int kKeys = 20;

class Race : public testing::TestWithParam<Engine> {
 protected:
  Race() : store_(GetParam()) {
    const int processes = GetParam() == Engine::kPostgres ? 3 : 1;
    for (int i = 0; i < processes; ++i) servers_.push_back(store_.Serve());
    for (int i = 0; i < kKeys; ++i) keys_.push_back(NewKey());
  }

  /// Every client asks for every key; all clients turn to the next key at the same moment.
  /// `kind_of(client, key)` is what it asks for. The answers of each key.
  template <class KindOf>
  std::vector<std::vector<HttpResponse>> Run(KindOf kind_of) {
    std::vector answers(kKeys, std::vector<HttpResponse>(kClients));
    std::barrier start(kClients);
    std::vector<std::jthread> clients;
    for (int client = 0; client < kClients; ++client)
      clients.emplace_back([&, client] {
        const auto& server = *servers_[static_cast<std::size_t>(client) % servers_.size()];
        HttpConnection connection(server.Port(), std::chrono::seconds(30));
        for (int key = 0; key < kKeys; ++key) {
          start.arrive_and_wait();
          const auto k = static_cast<std::size_t>(key);
          try {
            answers[k][static_cast<std::size_t>(client)] =
                connection.Call("PUT", "/sessions", PutBody(keys_[k], kind_of(client, key)));
          } catch (const std::exception& error) {
            ADD_FAILURE() << "client " << client << ", key " << key << ": " << error.what();
          }
        }
      });
    clients.clear();
    for (const auto& of_key : answers)
      for (const HttpResponse& answer : of_key) ExpectDocumented("PUT", "/sessions", answer);
    return answers;
  }

  StoreUnderTest store_;
  std::vector<std::unique_ptr<support::ServerProcess>> servers_;
  std::vector<Key> keys_;
};

TEST_P(Race, S1_OfManyAtOnceOneCreatesAndAllGetTheSameSession) {
  for (const auto& answers : Run([](int, int) { return 1; })) {
    std::map<std::pair<int, std::string>, int> seen;
    std::set<std::string> ids;
    for (const HttpResponse& answer : answers) {
      ASSERT_LT(answer.status, 300) << answer.body;
      ++seen[{answer.status, answer.Json()["status"].Text()}];
      ids.insert(answer.Json()["sessionId"].Text());
    }
    EXPECT_EQ((seen[{201, "created"}]), 1);
    EXPECT_EQ((seen[{200, "existing"}]), kClients - 1);
    EXPECT_EQ(ids.size(), 1U);
  }
  EXPECT_EQ(store_.Rows().size(), static_cast<std::size_t>(kKeys));
  EXPECT_THAT(Contradictions(store_.Rows()), IsEmpty());
}

TEST_P(Race, S1_MixedKindsOnlyRiseAndNeverOverlap) {
  const auto answers = Run([](int client, int key) { return (client * 7 + key * 3) % 3 + 1; });
  for (const auto& of_key : answers)
    for (const HttpResponse& answer : of_key) EXPECT_LT(answer.status, 300) << answer.body;

  const auto rows = store_.Rows();
  EXPECT_THAT(Contradictions(rows), IsEmpty());
  std::map<std::string, SessionRow> by_id;
  for (const SessionRow& row : rows) by_id[row.id] = row;
  for (int key = 0; key < kKeys; ++key) {
    const auto k = static_cast<std::size_t>(key);
    std::map<std::string, int> made;  // how many answers claim to have made a session
    for (const HttpResponse& answer : answers[k]) {
      const Json body = answer.Json();
      const SessionRow& row = by_id.at(body["sessionId"].Text());
      EXPECT_EQ(row.kind, body["sessionKind"].Int());
      EXPECT_EQ(TimeText(row.start_ms), body["sessionStartUtc"].Text());
      if (answer.status == 201) ++made[row.id];
      if (body["status"].Text() != "upgraded") continue;
      const SessionRow& old = by_id.at(body["previousSessionId"].Text());
      EXPECT_EQ(old.end_ms, row.start_ms);
      EXPECT_LT(old.kind, row.kind);
    }
    std::int64_t highest = 0;
    std::size_t sessions = 0;
    for (const SessionRow& row : rows)
      if (row.user == keys_[k].user) {
        highest = std::max(highest, row.kind);
        ++sessions;
      }
    EXPECT_EQ(sessions, made.size());
    EXPECT_LE(sessions, 3U) << "created, upgraded, upgraded";
    EXPECT_EQ(highest, 3);
    for (const auto& [id, times] : made) EXPECT_EQ(times, 1) << id;
  }
}

TEST_P(Race, S1_DeletesInBetweenLeaveNoTwoActiveSessions) {
  // Every client ends what it was given, so creating and ending race for each key.
  std::vector<std::jthread> clients;
  for (int client = 0; client < 16; ++client)
    clients.emplace_back([&, client] {
      const Api api(*servers_[static_cast<std::size_t>(client) % servers_.size()]);
      for (int round = 0; round < 10; ++round) {
        const Key& key = keys_[static_cast<std::size_t>(round % 3)];
        const HttpResponse answer = api.Put(key, client % 3 + 1);
        EXPECT_LT(answer.status, 300) << answer.body;
        if (answer.status < 300 && client % 2 == 0) {
          EXPECT_EQ(api.Delete(answer.Json()["sessionId"].Text()).status, 204);
        }
      }
    });
  clients.clear();
  EXPECT_THAT(Contradictions(store_.Rows()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Engines, Race, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
