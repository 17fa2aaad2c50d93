// Webhooks and ordered queues while everything around them breaks: servers are killed, PostgreSQL crashes, consumers are
// killed and stand still past their leases. What handlers did is on record, in the order in which it happened; who keeps it
// takes nothing of an older fence, as a receiver of effects should. No message of a session begins before the one before it
// has ended (Q1), a delivery that was sent again is one message (Q2), there are never more holds than the cap (Q3), and
// everything that was answered ends (Q4).

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/github.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "support/long_run.hpp"
#include "support/temp_dir.hpp"

namespace tenure::chaos {
namespace {

using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using support::PostgresCluster;
using support::Process;

constexpr std::size_t kQueueServers = 3;
constexpr std::size_t kConsumers = 3;
constexpr std::int64_t kCap = 3;
constexpr std::chrono::seconds kQueuePatience{180};

/// What handlers said of the messages of sessions, in its order.
class HandledRecord {
 public:
  explicit HandledRecord(std::string path) : path_(std::move(path)) {}

  /// What runs for each message: long enough to be killed in the middle of it.
  std::string Script() const {
    const std::string what = " $TENURE_SESSION $TENURE_SEQUENCE $TENURE_FENCE\" >> " + path_;
    return "echo \"begin" + what + "; sleep 0.03; echo \"end" + what;
  }
  std::size_t Ends() const {
    std::size_t ends = 0;
    for (const Line& each : Read()) ends += each.ends ? 1 : 0;
    return ends;
  }
  /// What contradicts Q1, in sentences; and how far each session came.
  std::vector<std::string> Lies(std::map<std::string, std::int64_t>& done) const {
    std::vector<std::string> lies;
    std::map<std::string, std::int64_t> fences;
    std::map<std::string, std::int64_t> begun;  // under the fence that counts
    for (const Line& line : Read()) {
      std::int64_t& fence = fences[line.session];
      if (line.fence < fence) continue;  // its receiver takes nothing of an older one
      if (line.fence > fence) begun[line.session] = 0;
      fence = line.fence;
      if (!line.ends) {
        if (line.sequence > done[line.session] + 1)
          lies.push_back(fmt::format("{}: {} began, and only {} had ended", line.session,
                                     line.sequence, done[line.session]));
        if (line.sequence <= begun[line.session])
          lies.push_back(fmt::format("{}: {} was handed out twice under fence {}", line.session,
                                     line.sequence, fence));
        begun[line.session] = line.sequence;
      } else {
        done[line.session] = std::max(done[line.session], line.sequence);
      }
    }
    return lies;
  }

 private:
  struct Line {
    bool ends = false;
    std::string session{};
    std::int64_t sequence = 0;
    std::int64_t fence = 0;
  };
  std::vector<Line> Read() const {
    std::vector<Line> lines;
    std::ifstream record(path_);
    std::string what;
    for (Line line; record >> what >> line.session >> line.sequence >> line.fence;) {
      line.ends = what == "end";
      lines.push_back(line);
    }
    return lines;
  }

  const std::string path_;
};

class QueueChaos : public testing::Test {
 protected:
  void SetUp() override {
    const auto applied =
        api::Api(servers_[0])
            .Call("PUT", "/api/v1/bots",
                  github_.Bots(fmt::format(R"({{"name":"q","events":["issues"],)"
                                           R"("ordering_scope":"entity","retry_backoff":"0s",)"
                                           R"("max_delivery_count":1000,)"
                                           R"("max_concurrent_sessions":{}}})",
                                           kCap)));
    ASSERT_EQ(applied.status, 200) << applied.body;
    processes_.resize(kConsumers);
    for (std::size_t i = 0; i < kConsumers; ++i) Start(i);
  }

  std::size_t Any(std::size_t bound) { return random_() % bound; }
  static std::string Name(std::size_t i) { return fmt::format("c{}", i); }
  void Start(std::size_t i) {
    processes_[i] = std::make_unique<Process>(
        support::ProcessOptions{.argv = {support::TenureBinary(), "queue", "run", "q", "--sessions",
                                         "2", "--lease", "1s", "--consumer", Name(i), "--server",
                                         fmt::format("http://127.0.0.1:{}", servers_.Ports()[i]),
                                         "--", "sh", "-c", record_.Script()}});
  }
  /// One that found no server gave up.
  void StartAgain() {
    for (std::size_t i = 0; i < kConsumers; ++i)
      if (!processes_[i]->IsRunning()) Start(i);
  }

  /// To whichever server is next, until it is answered; some of them once more.
  void Deliver(std::size_t issue, std::size_t number) {
    api::GitHub::Sent sent;
    sent.id = fmt::format("d-{}-{}", issue, number);
    sent.body = fmt::format(R"({{"action":"edited","issue":{{"number":{}}},)"
                            R"("repository":{{"id":1,"full_name":"acme/shop"}}}})",
                            issue);
    for (std::size_t times = 1 + Any(4) / 3; times > 0; --times)
      Eventually(
          "a delivery is taken",
          [&] {
            const api::Api api(servers_.Ports()[next_++ % kQueueServers]);
            try {
              return github_.Post(api, sent).status == 200;
            } catch (const std::exception&) {
              return false;  // it is killed just now
            }
          },
          kQueuePatience);
  }

  /// 0 while PostgreSQL has not recovered yet.
  std::int64_t Number(const std::string& sql, std::int64_t otherwise = 0) const {
    try {
      return std::stoll(store_.Execute(sql));
    } catch (const std::exception&) {
      return otherwise;
    }
  }
  void LookAtHolds() {
    most_held_ =
        std::max(most_held_, Number("select count(*) from tenure.queue_sessions where state = 2"));
  }
  std::int64_t Left() const {
    return Number("select coalesce(sum(next - head), 0) from tenure.queue_sessions", 1);
  }

  /// Until somebody else has what it held.
  void StopPastItsLease(std::size_t i) {
    const std::string held = fmt::format(
        "select count(*) from tenure.queue_sessions where state = 2 and consumer = '{}'", Name(i));
    Eventually(
        "it has something in hand, or nothing is left",
        [&] { return Number(held) > 0 || Left() == 0; }, kQueuePatience);
    processes_[i]->Kill(SIGSTOP);
    Eventually(
        "others have its sessions", [&] { return Number(held, 1) == 0; }, kQueuePatience);
    processes_[i]->Kill(SIGCONT);
  }
  void Break(std::size_t step) {
    const std::size_t i = Any(kConsumers);
    switch (step % 4) {
      case 0:
        processes_[i]->Kill(SIGKILL);
        processes_[i]->Wait();
        return Start(i);
      case 1:
        return servers_.Kill(Any(kQueueServers));
      case 2:
        return StopPastItsLease(i);
      default:
        return cluster_.Restart(PostgresCluster::StopMode::kImmediate);
    }
  }

  const bool is_long_ = support::IsLongRun();
  const std::size_t issues_ = is_long_ ? 64 : 6;
  const std::size_t each_ = is_long_ ? 300 : 24;
  const std::size_t break_every_ = is_long_ ? 5 : 3;

  PostgresCluster cluster_;
  const StoreUnderTest store_{Engine::kPostgres, &cluster_};
  const api::GitHub github_;
  Servers servers_{kQueueServers, [this] { return store_.Options(); }};
  const support::TempDir folder_;
  const HandledRecord record_{(folder_ / "record").string()};
  std::vector<std::unique_ptr<Process>> processes_;
  std::mt19937_64 random_{ChooseSeed()};
  std::size_t next_ = 0;
  std::int64_t most_held_ = 0;
};

TEST_F(QueueChaos, Q1_Q2_Q3_Q4_SessionsGoOnInTheirOrderWhateverIsKilled) {
  std::size_t step = 0;
  for (std::size_t number = 1; number <= each_; ++number) {
    for (std::size_t issue = 1; issue <= issues_; ++issue) {
      Deliver(issue, number);
      LookAtHolds();
    }
    if (number % break_every_ == 0) Break(step++);
    StartAgain();
  }
  Eventually(
      "everything is done",
      [&] {
        StartAgain();
        LookAtHolds();
        return Left() == 0;
      },
      kQueuePatience);
  for (auto& each : processes_) each->Kill(SIGTERM);
  for (auto& each : processes_) EXPECT_EQ(each->Wait(), 0);

  std::map<std::string, std::int64_t> done;
  for (const std::string& lie : record_.Lies(done)) ADD_FAILURE() << "Q1: " << lie;
  EXPECT_EQ(done.size(), issues_);
  for (const auto& [session, last] : done)
    EXPECT_EQ(last, static_cast<std::int64_t>(each_)) << "Q4: " << session;
  const auto sent = static_cast<std::int64_t>(issues_ * each_);
  EXPECT_EQ(Number("select count(*) from tenure.webhook_events"), sent) << "Q2";
  EXPECT_EQ(Number("select count(*) from tenure.queue_messages"), sent) << "Q2";
  EXPECT_EQ(Number("select count(*) from tenure.queue_messages m join tenure.webhook_events e on "
                   "e.event_id = m.event_id where split_part(e.delivery_id, '-', 3)::bigint <> "
                   "m.sequence",
                   1),
            0)
      << "Q1: each has the place in which it was sent";
  EXPECT_LE(most_held_, kCap) << "Q3";
  EXPECT_GT(most_held_, 0);
  std::cout << record_.Ends() << " handlers ended for " << sent << " messages\n";
}

}  // namespace
}  // namespace tenure::chaos
