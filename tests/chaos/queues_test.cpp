// Ordered queues while everything around them breaks: servers are killed, PostgreSQL crashes, consumers are killed and stand
// still past their leases. What each handler began is on record, in the order in which it happened: no message of a session
// begins before the one before it was completed (Q1), and everything that was answered is done in the end (Q4).

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "support/temp_dir.hpp"

namespace tenure::chaos {
namespace {

using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using support::Process;

constexpr int kQueueSessions = 6;
constexpr int kEachSession = 25;
constexpr std::size_t kQueueServers = 3;
constexpr std::size_t kConsumers = 3;

class QueueChaos : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("TENURE_TEST_LONG")) GTEST_SKIP() << "only in ./test --long";
    const auto applied =
        api::Api(servers_[0])
            .Call("PUT", "/api/v1/bots",
                  R"({"sources":[],"bots":[{"name":"q","events":[],"ordering_scope":"custom",)"
                  R"("retry_backoff":"0s","max_delivery_count":1000}]})");
    ASSERT_EQ(applied.status, 200) << applied.body;
    processes_.resize(kConsumers);
    for (std::size_t i = 0; i < kConsumers; ++i) Start(i);
  }

  std::size_t Any(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  /// A consumer of one of the servers: what it begins is a line of the record.
  void Start(std::size_t i) {
    processes_[i] = std::make_unique<Process>(support::ProcessOptions{
        .argv = {support::TenureBinary(), "queue", "run", "q", "--sessions", "2", "--lease", "1s",
                 "--server", fmt::format("http://127.0.0.1:{}", servers_.Ports()[i]), "--", "sh",
                 "-c", "echo \"$TENURE_SESSION $TENURE_SEQUENCE\" >> " + record_}});
  }

  /// To whichever server is next, until it is answered.
  void Send(const std::string& key, int number) {
    const std::string body = fmt::format(
        R"({{"session_key":"{}","payload":{},"dedup_key":"{}/{}"}})", key, number, key, number);
    Eventually("a message is taken", [&] {
      try {
        const int status = support::Call(servers_.Ports()[next_++ % kQueueServers], "POST",
                                         "/api/v1/queues/q/messages", body)
                               .status;
        return status == 200 || status == 201;
      } catch (const std::exception&) {
        return false;  // it is killed just now
      }
    });
  }

  void Break(std::size_t step) {
    const std::size_t i = Any(kConsumers);
    switch (step % 4) {
      case 0:
        processes_[i]->Kill(SIGKILL);
        processes_[i]->Wait();
        return Start(i);
      case 1:
        return processes_[i]->Kill(SIGSTOP);  // until somebody else has its sessions
      case 2:
        servers_.Kill(Any(kQueueServers));
        return;
      default:
        for (auto& each : processes_) each->Kill(SIGCONT);
    }
  }

  /// What was begun, session by session, in its order.
  std::map<std::string, std::vector<int>> Begun() const {
    std::map<std::string, std::vector<int>> begun;
    std::ifstream record(record_);
    std::string session;
    for (int sequence = 0; record >> session >> sequence;) begun[session].push_back(sequence);
    return begun;
  }
  std::int64_t Left() const {
    return std::stoll(
        store_.Execute("select coalesce(sum(next - head), 0) from tenure.queue_sessions"));
  }

  support::PostgresCluster cluster_;
  const StoreUnderTest store_{Engine::kPostgres, &cluster_};
  Servers servers_{kQueueServers, [this] { return store_.Options(); }};
  const support::TempDir folder_;
  const std::string record_ = folder_ / "record";
  std::vector<std::unique_ptr<Process>> processes_;
  std::mt19937 random_{17};
  std::size_t next_ = 0;
};

TEST_F(QueueChaos, Q1_Q4_SessionsGoOnInTheirOrderWhateverIsKilled) {
  std::size_t step = 0;
  for (int number = 1; number <= kEachSession; ++number) {
    for (int session = 0; session < kQueueSessions; ++session)
      Send("k" + std::to_string(session), number);
    if (number % 3 == 0) Break(step++);
    if (number == kEachSession / 2) {
      cluster_.Stop(support::PostgresCluster::StopMode::kImmediate);
      cluster_.Start();
    }
  }
  for (auto& each : processes_) each->Kill(SIGCONT);
  Eventually(
      "everything is done",
      [&] {
        try {
          return Left() == 0;
        } catch (const std::exception&) {
          return false;  // PostgreSQL has not recovered yet
        }
      },
      std::chrono::seconds(120));
  for (auto& each : processes_) each->Kill(SIGTERM);
  for (auto& each : processes_) EXPECT_EQ(each->Wait(), 0);

  const auto begun = Begun();
  ASSERT_EQ(begun.size(), static_cast<std::size_t>(kQueueSessions));
  for (const auto& [session, sequences] : begun) {
    int most = 0;
    for (const int sequence : sequences) {
      EXPECT_LE(sequence, most + 1) << session << ": begun before the one before it was done";
      most = std::max(most, sequence);
    }
    EXPECT_EQ(most, kEachSession) << session;
  }
  EXPECT_EQ(store_.Execute("select count(*) from (select from tenure.queue_messages m "
                           "join tenure.queue_sessions s on s.session_id = m.session_id "
                           "where convert_from(m.payload, 'UTF8')::bigint <> m.sequence) as moved"),
            "0")
      << "each has the place in which it was sent";
}

}  // namespace
}  // namespace tenure::chaos
