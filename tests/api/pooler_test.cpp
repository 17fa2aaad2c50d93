// Behind PgBouncer in transaction mode: every transaction on another connection of the database,
// shared with everybody. With a direct address for LISTEN and migrations (`store.listen`), and
// without, where migrations go through it too and looking again is all there is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "support/pgbouncer.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using support::PgBouncer;
using support::PostgresCluster;
using support::ServerProcess;

constexpr const char* kMessages = "/api/v1/messages";

enum class News { kListens, kPolls };

/// A request that is sent and not yet answered, on a connection of its own.
class Waiting {
 public:
  Waiting(int port, const std::string& target, const std::string& body)
      : connection_(port, std::chrono::seconds(30)) {
    connection_.Send(support::FormatRequest(port, "POST", target, body));
  }
  HttpResponse Answer() { return connection_.ReadResponse(); }

 private:
  support::HttpConnection connection_;
};

class Pooler : public testing::TestWithParam<News> {
 protected:
  Pooler() {
    for (auto& server : servers_) server = std::make_unique<ServerProcess>(Options());
  }

  support::ServerOptions Options() const {
    support::ServerOptions options{.store_url = pooler_.Url(database_)};
    options.environment = {{"TENURE_STORE_POOLED", "on"}};
    if (GetParam() == News::kListens)
      options.environment.emplace_back("TENURE_STORE_LISTEN", direct_);
    return options;
  }

  HttpResponse Post(const std::string& target, const std::string& body) const {
    return Api(*servers_[0]).Call("POST", target, body);
  }
  std::string Enqueue(const std::string& topic) const {
    const auto answer =
        Post(kMessages, fmt::format(R"({{"topic":"{}","payload":{{"n":1}}}})", topic));
    EXPECT_EQ(answer.status, 201) << answer.body;
    return answer.Json()["id"].Text();
  }
  static std::string ClaimBody(const std::string& topic, int wait_ms) {
    return fmt::format(R"({{"topics":["{}"],"owner":"test","wait_ms":{}}})", topic, wait_ms);
  }
  Json Claim(const std::string& topic, int wait_ms = 30'000) const {
    const auto answer = Post(std::string(kMessages) + "/claim", ClaimBody(topic, wait_ms));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.Json()["messages"];
  }
  /// How many of these claims were carried out.
  std::size_t Report(const std::string& how, const Json& messages) const {
    std::string list;
    for (const auto& message : messages.Elements())
      list += fmt::format(R"({}{{"id":"{}","fence":{}}})", list.empty() ? "" : ",",
                          message["id"].Text(), message["fence"].Int());
    const auto answer = Post(kMessages + ("/" + how), R"({"claims":[)" + list + "]}");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.Json()["done"].Size();
  }
  int port(std::size_t i) const { return servers_[i]->Port(); }

  PostgresCluster& cluster_ = support::SharedPostgres();
  const std::string database_ = cluster_.CreateDatabase();
  const std::string direct_ = cluster_.Url(database_);
  const PgBouncer pooler_{cluster_};
  std::unique_ptr<ServerProcess> servers_[2];
};

TEST_P(Pooler, MessagesAreSentClaimedAndAcknowledged) {
  for (int i = 0; i < 20; ++i) Enqueue("mail");
  const Json messages = Claim("mail");
  EXPECT_EQ(messages.Size(), 20U);
  EXPECT_EQ(Report("ack", messages), 20U);
  EXPECT_EQ(Report("ack", messages), 0U);
}

TEST_P(Pooler, AWaitingClaimIsAnsweredWhenAnotherServerIsSentTheMessage) {
  Waiting claim(port(1), std::string(kMessages) + "/claim", ClaimBody("mail", 30'000));
  const std::string id = Enqueue("mail");
  EXPECT_EQ(claim.Answer().Json()["messages"][0]["id"].Text(), id);
}

TEST_P(Pooler, AWaitingClaimIsAnsweredWhenTheMessageIsSentInATransactionOfItsOwner) {
  Waiting claim(port(1), std::string(kMessages) + "/claim", ClaimBody("mail", 30'000));
  const std::string id = cluster_.Execute(database_, "select tenure.enqueue('mail', '{}')");
  EXPECT_EQ(claim.Answer().Json()["messages"][0]["id"].Text(), id);
}

TEST_P(Pooler, TimersFire) {
  const auto set = Post("/api/v1/timers", R"({"topic":"reminder","payload":1,"delay_ms":200})");
  ASSERT_EQ(set.status, 201) << set.body;
  const Json messages = Claim("reminder");
  ASSERT_EQ(messages.Size(), 1U);
  EXPECT_EQ(messages[0]["id"].Text(), set.Json()["id"].Text());
  EXPECT_EQ(Report("ack", messages), 1U);
}

TEST_P(Pooler, WhatIsAbandonedComesAgainAndWhatFailedIsADeadLetter) {
  const std::string id = Enqueue("mail");
  EXPECT_EQ(Report("abandon", Claim("mail")), 1U);
  const Json again = Claim("mail");
  ASSERT_EQ(again.Size(), 1U);
  EXPECT_EQ(again[0]["attempt"].Int(), 2);
  EXPECT_EQ(Report("fail", again), 1U);
  const Api api(*servers_[1]);
  EXPECT_EQ(api.Get("/api/v1/dead-letters?topic=mail").Json()["items"][0]["id"].Text(), id);
  EXPECT_EQ(Post("/api/v1/dead-letters/redrive", R"({"topic":"mail"})").Json()["redriven"].Int(),
            1);
  EXPECT_EQ(Report("ack", Claim("mail")), 1U);
}

TEST_P(Pooler, LeasesAreAcquiredRenewedWaitedForAndReleased) {
  const Api here(*servers_[0]);
  const Api there(*servers_[1]);
  Lease lease(here);
  ASSERT_EQ(lease.Acquire().status, 200);
  EXPECT_EQ(lease.Renew().status, 200);
  Lease other = lease.SeenBy(there);
  EXPECT_EQ(other.Acquire().status, 409);
  WaitingAcquire waiting(there, lease, {.wait_ms = 60'000});
  EXPECT_EQ(lease.Release().status, 200);
  EXPECT_EQ(waiting.Answer().status, 200);
}

TEST_P(Pooler, SessionsAreStartedUpgradedAndEnded) {
  const Api here(*servers_[0]);
  const Api there(*servers_[1]);
  const Key key = NewKey();
  ASSERT_EQ(here.Put(key, 1).status, 201);
  const auto upgraded = there.Put(key, 2);
  ASSERT_EQ(upgraded.status / 100, 2) << upgraded.body;
  const std::string id = upgraded.Json()["sessionId"].Text();
  EXPECT_EQ(here.Delete(id).status / 100, 2);
  EXPECT_EQ(there.Get("/health").status, 200);
}

std::string NewsName(const testing::TestParamInfo<News>& info) {
  return info.param == News::kListens ? "Listens" : "Polls";
}
INSTANTIATE_TEST_SUITE_P(News, Pooler, testing::Values(News::kListens, News::kPolls), NewsName);

}  // namespace
}  // namespace tenure::api
