// Behind PgBouncer in transaction mode: every transaction on another connection of the database,
// shared with everybody. With a direct address for LISTEN and migrations (`store.listen`), and
// without, where migrations go through it too and looking again is all there is.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "support/port.hpp"
#include "support/postgres_cluster.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;
using support::PostgresCluster;
using support::ServerProcess;

/// A real PgBouncer in transaction mode before a cluster, on a port of 127.0.0.1 of its own. Each
/// transaction goes to any of a few connections that all clients share, so whatever a session
/// would remember (prepared statements, settings, session locks, LISTEN) is lost or, worse,
/// somebody else's.
///
/// The constructor returns when it accepts connections. It ends with this object, and when the test
/// program is killed. REQUIRES: the cluster outlives it.
class PgBouncer {
 public:
  explicit PgBouncer(const PostgresCluster& cluster) : user_(support::UnprivilegedUser()) {
    const auto file = dir_ / "pgbouncer.ini";
    std::ofstream(file) << fmt::format(kSettings, cluster.port(), port_.number(), kConnections);
    // The log is a file of ours in that folder; PgBouncer itself only reads.
    if (user_) dir_.GiveTo(user_->uid, user_->gid);
    // Where Debian has it; the variable is for other systems.
    const char* configured = std::getenv("TENURE_PGBOUNCER");
    server_ = std::make_unique<support::Process>(support::ProcessOptions{
        .argv = {configured != nullptr ? configured : "/usr/sbin/pgbouncer", file},
        .working_dir = dir_.path(),
        .user = user_,
        .output = dir_ / "pgbouncer.log"});
    server_->WaitForLine("process up");
  }

  std::string Url(std::string_view database) const {
    return fmt::format("postgresql://postgres@127.0.0.1:{}/{}", port_.number(), database);
  }

 private:
  /// To each database. Fewer than clients, so that they do share.
  static constexpr int kConnections = 3;
  /// Everybody is let in, as the superuser: the cluster trusts all of this machine as well.
  static constexpr const char* kSettings = R"([databases]
* = host=127.0.0.1 port={} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {}
max_client_conn = 200
)";

  support::TempDir dir_;
  support::ReservedPort port_;
  const std::optional<support::User> user_;
  std::unique_ptr<support::Process> server_;
};

enum class News { kListens, kPolls };

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

  Api api(std::size_t i = 0) const { return Api(*servers_[i]); }
  Topic topic() const { return Topic(api()); }
  static Json Claim(const Topic& topic) {
    return topic.Claim(R"(,"wait_ms":30000)").Json()["messages"];
  }
  /// How many of these claims were carried out.
  std::size_t Report(const std::string& how, const Json& messages) const {
    std::string list;
    for (const auto& message : messages.Elements())
      list +=
          (list.empty() ? "" : ",") + Claimed{message["id"].Text(), message["fence"].Int()}.Json();
    const auto answer =
        api().Call("POST", "/api/v1/messages/" + how, R"({"claims":[)" + list + "]}");
    return answer.Json()["done"].Size();
  }

  PostgresCluster& cluster_ = support::SharedPostgres();
  const std::string database_ = cluster_.CreateDatabase();
  const std::string direct_ = cluster_.Url(database_);
  const PgBouncer pooler_{cluster_};
  std::unique_ptr<ServerProcess> servers_[2];
};

TEST_P(Pooler, MessagesAreSentClaimedAndAcknowledged) {
  const Topic mail = topic();
  for (int i = 0; i < 20; ++i) mail.Send();
  const Json messages = Claim(mail);
  EXPECT_EQ(messages.Size(), 20U);
  EXPECT_EQ(Report("ack", messages), 20U);
  EXPECT_EQ(Report("ack", messages), 0U);
}

TEST_P(Pooler, AWaitingClaimIsAnsweredWhenAnotherServerIsSentTheMessage) {
  const Topic mail = topic();
  WaitingClaim claim(mail.SeenBy(api(1)));
  const std::string id = mail.Send();
  EXPECT_EQ(claim.Answer().Json()["messages"][0]["id"].Text(), id);
}

TEST_P(Pooler, AWaitingClaimIsAnsweredWhenTheMessageIsSentInATransactionOfItsOwner) {
  const Topic mail = topic();
  WaitingClaim claim(mail.SeenBy(api(1)));
  const std::string id =
      cluster_.Execute(database_, "select tenure.enqueue('" + mail.name() + "', '{}')");
  EXPECT_EQ(claim.Answer().Json()["messages"][0]["id"].Text(), id);
}

TEST_P(Pooler, TimersFire) {
  const Topic reminder = topic();
  const std::string id = reminder.SetTimer(200);
  const Json messages = Claim(reminder);
  ASSERT_EQ(messages.Size(), 1U);
  EXPECT_EQ(messages[0]["id"].Text(), id);
  EXPECT_EQ(Report("ack", messages), 1U);
}

TEST_P(Pooler, WhatIsAbandonedComesAgainAndWhatFailedIsADeadLetter) {
  const Topic mail = topic();
  const std::string id = mail.Send();
  EXPECT_EQ(Report("abandon", Claim(mail)), 1U);
  const Json again = Claim(mail);
  ASSERT_EQ(again.Size(), 1U);
  EXPECT_EQ(again[0]["attempt"].Int(), 2);
  EXPECT_EQ(Report("fail", again), 1U);
  EXPECT_EQ(api(1).Get("/api/v1/dead-letters").Json()["items"][0]["id"].Text(), id);
  EXPECT_EQ(api()
                .Call("POST", "/api/v1/dead-letters/redrive", R"({"topic":")" + mail.name() + "\"}")
                .Json()["redriven"]
                .Int(),
            1);
  EXPECT_EQ(Report("ack", Claim(mail)), 1U);
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

TEST(PoolerThatNobodyTold, IsNamedByWhoConnectsToIt) {
  PostgresCluster& cluster = support::SharedPostgres();
  const PgBouncer pooler(cluster);
  const std::string url = pooler.Url(cluster.CreateDatabase());
  const auto refused = RunTenure({"serve", "--listen", "127.0.0.1:0", "--store", url});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, testing::HasSubstr("unsupported startup parameter"));
  EXPECT_THAT(refused.err, testing::HasSubstr("store.pooled"));
}

std::string NewsName(const testing::TestParamInfo<News>& info) {
  return info.param == News::kListens ? "Listens" : "Polls";
}
INSTANTIATE_TEST_SUITE_P(News, Pooler, testing::Values(News::kListens, News::kPolls), NewsName);

}  // namespace
}  // namespace tenure::api
