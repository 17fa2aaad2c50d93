// Webhooks and ordered queues while everything around them breaks: servers are killed, PostgreSQL crashes, consumers are
// killed and stand still past their leases. What handlers did is on record, in the order in which it happened; who keeps it
// takes nothing of an older fence, as a receiver of effects should. No message of a session begins before the one before it
// has ended, and none is handled again that was completed under an earlier fence (Q1), a delivery that was sent again is one
// message (Q2), there are never more holds than the cap (Q3), and everything that was answered ends (Q4).

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
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
using support::HttpResponse;
using support::Json;
using support::PostgresCluster;
using support::Process;

constexpr std::int64_t kCap = 3;

/// What handlers said of the messages of sessions, in its order.
class HandledRecord {
 public:
  explicit HandledRecord(std::string path) : path_(std::move(path)) {}

  /// What runs for each message: long enough to be killed in the middle of it.
  std::string Script() const {
    const std::string what = " $TENURE_SESSION $TENURE_SEQUENCE $TENURE_FENCE\" >> " + path_;
    return "echo \"begin" + what + "; sleep 0.02; echo \"end" + what;
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
    std::map<std::string, std::int64_t>
        reached;  // under any that did: those before it are completed
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
        if (line.sequence < reached[line.session])
          lies.push_back(fmt::format("{}: {} is completed under two fences, the later is {}",
                                     line.session, line.sequence, fence));
        begun[line.session] = reached[line.session] = line.sequence;
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

/// One thing after another is sent of each issue by webhooks, and of each key by `send`: the next one when the one before
/// it was answered.
class QueueChaos : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    const auto applied =
        api::Api(servers_[0])
            .Call("PUT", "/api/v1/bots",
                  github_.Bots(fmt::format(R"({{"name":"q","events":["issues"],)"
                                           R"("ordering_scope":"entity","retry_backoff":"0s",)"
                                           R"("max_delivery_count":1000,)"
                                           R"("max_concurrent_sessions":{}}})",
                                           cap_)));
    ASSERT_EQ(applied.status, 200) << applied.body;
    processes_.resize(consumers_);
    for (std::size_t i = 0; i < consumers_; ++i) Start(i);
    for (std::size_t i = 0; i < kSenders; ++i) senders_.emplace_back([this, i] { SendAll(i); });
  }

  // Who sends.

  void SendAll(std::size_t sender) {
    for (std::size_t number = 1; number <= each_; ++number)
      for (std::size_t place = 1 + sender; place <= issues_ + keys_; place += kSenders)
        place <= issues_ ? Deliver(place, number) : Send(place, number);
  }
  /// To whichever server is next, until it is answered.
  template <class Ask>
  void UntilAnswered(const Ask& ask) {
    Eventually(
        "it is taken",
        [&] {
          try {
            return ask(api::Api(servers_.Ports()[next_++ % servers_.size()]));
          } catch (const std::exception&) {
            return false;  // it is killed just now
          }
        },
        patience_);
    ++answered_;
  }
  /// Every fourth once more.
  void Deliver(std::size_t issue, std::size_t number) {
    api::GitHub::Sent sent;
    sent.id = fmt::format("d-{}-{}", issue, number);
    sent.body = fmt::format(R"({{"action":"edited","issue":{{"number":{}}},)"
                            R"("repository":{{"id":1,"full_name":"acme/shop"}}}})",
                            issue);
    for (std::size_t times = number % 4 == 0 ? 2 : 1; times > 0; --times)
      UntilAnswered([&](const api::Api& api) { return github_.Post(api, sent).status == 200; });
  }
  void Send(std::size_t key, std::size_t number) {
    const std::string body = fmt::format(
        R"({{"session_key":"sent-{0}","payload":{1},"dedup_key":"{0}-{1}"}})", key, number);
    UntilAnswered([&](const api::Api& api) {
      return api.Call("POST", "/api/v1/queues/q/messages", body).status / 100 == 2;
    });
  }

  // Who consumes.

  static std::string Name(std::size_t i) { return fmt::format("c{}", i); }
  void Start(std::size_t i) {
    processes_[i] = std::make_unique<Process>(support::ProcessOptions{
        .argv = {support::TenureBinary(), "queue", "run", "q", "--sessions", "2", "--lease", "1s",
                 "--consumer", Name(i), "--server",
                 fmt::format("http://127.0.0.1:{}", servers_.Ports()[i % servers_.size()]), "--",
                 "sh", "-c", record_.Script()}});
  }
  /// One that found no server gave up.
  void StartAgain() {
    for (std::size_t i = 0; i < consumers_; ++i)
      if (!processes_[i]->IsRunning()) Start(i);
  }

  // The tables, past the servers.

  /// 0 while PostgreSQL has not recovered yet. `T.`: the schema.
  std::int64_t Number(std::string sql, std::int64_t otherwise = 0) const {
    for (std::size_t at = 0; (at = sql.find("T.")) != std::string::npos;)
      sql.replace(at, 2, GetParam() == Engine::kSqlite ? "" : "tenure.");
    try {
      return std::stoll(store_.Execute(sql));
    } catch (const std::exception&) {
      return otherwise;
    }
  }
  void Look() {
    StartAgain();
    most_held_ =
        std::max(most_held_, Number("select count(*) from T.queue_sessions where state = 2"));
  }
  std::int64_t Left() const {
    return Number("select coalesce(sum(next - head), 0) from T.queue_sessions", 1);
  }

  // What breaks.

  void KillServer() { servers_.Kill(Any(servers_.size())); }
  void KillConsumer() {
    const std::size_t i = Any(consumers_);
    processes_[i]->Kill(SIGKILL);
    processes_[i]->Wait();
    Start(i);
  }
  /// Past its lease: until somebody else has what it held.
  void StopConsumer() {
    const std::size_t i = Any(consumers_);
    const std::string held = fmt::format(
        "select count(*) from T.queue_sessions where state = 2 and consumer = '{}'", Name(i));
    Eventually(
        "it has something in hand, or nothing is left",
        [&] {
          Look();
          return Number(held) > 0 || Left() == 0;
        },
        patience_);
    processes_[i]->Kill(SIGSTOP);
    Eventually(
        "others have its sessions", [&] { return Number(held, 1) == 0; }, patience_);
    processes_[i]->Kill(SIGCONT);
  }
  void RestartStore() { cluster_->Restart(PostgresCluster::StopMode::kImmediate); }

  using Blow = void (QueueChaos::*)();
  /// In any order; under TENURE_TEST_LONG one every few seconds.
  std::vector<Blow> Blows() {
    const bool is_sqlite = GetParam() == Engine::kSqlite;
    std::vector<Blow> blows;
    const auto often = [&](int times, Blow blow) {
      blows.insert(blows.end(), static_cast<std::size_t>(times), blow);
    };
    often(is_long_ ? 40 : 1, &QueueChaos::StopConsumer);
    often(is_long_ ? 40 : 1, &QueueChaos::KillConsumer);
    often(is_long_ ? 10 : is_sqlite ? 4 : 2, &QueueChaos::KillServer);
    if (!is_sqlite) often(is_long_ ? 2 : 1, &QueueChaos::RestartStore);
    std::ranges::shuffle(blows, random_);
    return blows;
  }
  /// Each thing in its turn, whenever so much more was answered.
  void Break() {
    const std::vector<Blow> blows = Blows();
    for (std::size_t i = 0; i < blows.size(); ++i) {
      const std::size_t wanted = (i + 1) * sent() / (blows.size() + 1);
      Eventually(
          "more is answered",
          [&] {
            Look();
            return answered_ >= wanted;
          },
          patience_);
      (this->*blows[i])();
    }
    senders_.clear();
    Eventually(
        "everything is done",
        [&] {
          Look();
          return Left() == 0;
        },
        patience_);
    for (auto& each : processes_) each->Kill(SIGTERM);
    for (auto& each : processes_) EXPECT_EQ(each->Wait(), 0);
  }

  void ExpectTruth() const {
    std::map<std::string, std::int64_t> done;
    for (const std::string& lie : record_.Lies(done)) ADD_FAILURE() << "Q1: " << lie;
    EXPECT_EQ(done.size(), issues_ + keys_);
    for (const auto& [session, last] : done)
      EXPECT_EQ(last, static_cast<std::int64_t>(each_)) << "Q4: " << session;
    EXPECT_EQ(Number("select count(*) from T.webhook_events"),
              static_cast<std::int64_t>(issues_ * each_))
        << "Q2";
    EXPECT_EQ(Number("select count(*) from T.queue_messages"), static_cast<std::int64_t>(sent()))
        << "Q2";
    const std::string number = GetParam() == Engine::kSqlite ? "cast(m.payload as text)"
                                                             : "convert_from(m.payload, 'UTF8')";
    EXPECT_EQ(Number("select (select count(*) from T.queue_messages m join T.webhook_events e on "
                     "e.event_id = m.event_id where e.delivery_id <> 'd-' || e.entity_id || '-' || "
                     "m.sequence) + (select count(*) from T.queue_messages m where m.event_id is "
                     "null and " +
                         number + " <> cast(m.sequence as text))",
                     1),
              0)
        << "Q1: each has the place in which it was sent";
    EXPECT_LE(most_held_, cap_) << "Q3";
    EXPECT_GT(most_held_, 0);
    std::cout << record_.Ends() << " handlers ended for " << sent() << " messages\n";
  }

  std::size_t Any(std::size_t bound) { return random_() % bound; }
  std::size_t sent() const { return (issues_ + keys_) * each_; }

  static constexpr std::size_t kSenders = 3;
  const bool is_long_ = support::IsLongRun();
  const std::size_t issues_ = is_long_ ? 64 : 5;
  const std::size_t keys_ = is_long_ ? 8 : 2;
  const std::size_t each_ = is_long_ ? 300 : 16;
  const std::size_t consumers_ = is_long_ ? 4 : 3;
  const std::int64_t cap_ = is_long_ ? 6 : kCap;
  const std::chrono::seconds patience_{is_long_ ? 1'800 : 180};

  std::optional<PostgresCluster> cluster_ = GetParam() == Engine::kPostgres
                                                ? std::optional<PostgresCluster>(std::in_place)
                                                : std::nullopt;
  const StoreUnderTest store_{GetParam(), cluster_ ? &*cluster_ : nullptr};
  const api::GitHub github_;
  Servers servers_{GetParam() == Engine::kSqlite ? 1U : 3U, [this] { return store_.Options(); }};
  const support::TempDir folder_;
  const HandledRecord record_{(folder_ / "record").string()};
  std::vector<std::unique_ptr<Process>> processes_;
  std::mt19937_64 random_{ChooseSeed()};
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> answered_ = 0;
  std::int64_t most_held_ = 0;
  std::vector<std::jthread> senders_;
};
INSTANTIATE_TEST_SUITE_P(Stores, QueueChaos, api::EachEngine(), api::EngineName);

TEST_P(QueueChaos, Q1_Q2_Q3_Q4_SessionsGoOnInTheirOrderWhateverIsKilled) {
  Break();
  ExpectTruth();
}

/// Q3: three servers, consumers that go without a word.
class QueueCap {
 public:
  static constexpr int kMost = 5, kReady = 200, kConsumers = 50;

  QueueCap() {
    const api::Api api(*servers_[0]);
    const HttpResponse applied = api.Call(
        "PUT", "/api/v1/bots",
        fmt::format(R"({{"sources":[],"bots":[{{"name":"q","events":[],"ordering_scope":)"
                    R"("custom","max_concurrent_sessions":{},"max_delivery_count":1000}}]}})",
                    kMost));
    EXPECT_EQ(applied.status, 200) << applied.body;
    std::string messages;
    for (int i = 0; i < kReady; ++i)
      messages += fmt::format(R"({}{{"session_key":"k{}","payload":1}})", i ? "," : "", i);
    EXPECT_EQ(
        api.Call("POST", "/api/v1/queues/q/messages", R"({"messages":[)" + messages + "]}").status,
        201);
  }

  void Consume() {
    std::vector<std::jthread> consumers;
    for (int i = 0; i < kConsumers; ++i)
      consumers.emplace_back([this, i] { ConsumeAs(fmt::format("c{}", i), *servers_[i % 3]); });
    while (done_ < kReady && !testing::Test::HasFailure())
      most_in_tables_ = std::max<std::int64_t>(
          most_in_tables_, std::stoll(database_.Execute(
                               "select count(*) from tenure.queue_sessions where state = 2")));
  }
  std::int64_t most_in_tables() const { return most_in_tables_; }
  int crashes() const { return crashes_; }
  /// As its consumers know it: from an answer until it says something, or until the deadline that it was told.
  int MostAtOnce() const {
    std::vector<std::pair<std::int64_t, int>> edges;  // an end comes before a beginning
    for (const auto& [from_ms, until_ms] : holds_) {
      edges.emplace_back(from_ms, 1);
      edges.emplace_back(until_ms, -1);
    }
    std::ranges::sort(edges);
    int now = 0, most = 0;
    for (const auto& [at_ms, change] : edges) most = std::max(most, now += change);
    return most;
  }

 private:
  void ConsumeAs(const std::string& name, const support::ServerProcess& server) {
    std::mt19937_64 random(std::hash<std::string>()(name));
    const api::Api api(server);
    const std::string accept =
        fmt::format(R"({{"consumer":"{}","lease_ms":1000,"wait_ms":2000}})", name);
    while (done_ < kReady && !testing::Test::HasFailure()) {
      api::WaitingCall waiting(api, "/api/v1/queues/q/accept", accept);
      if (random() % 16 == 0) {
        ++crashes_;
        waiting.Leave();
        continue;
      }
      const Json sessions = waiting.Answer().Json()["sessions"];
      const std::int64_t from_ms = api::WallMs();
      if (sessions.Size() == 0) continue;
      const bool crashes = random() % 16 == 0;
      const std::int64_t until_ms =
          crashes ? api::TimeMs(sessions[0]["lease_expires_at"].Text()) : api::WallMs();
      {
        const std::lock_guard lock(mutex_);
        holds_.emplace_back(from_ms, until_ms);
      }
      if (crashes) {
        ++crashes_;
        continue;
      }
      const Json told =
          api.Call("POST", "/api/v1/queues/q/complete",
                   fmt::format(R"({{"sessions":[{{"session":"{}","fence":{},"sequence":1}}]}})",
                               sessions[0]["session"].Text(), sessions[0]["fence"].Int()))
              .Json()["sessions"][0];
      if (told["outcome"].Text() == "done") ++done_;
    }
  }

  const StoreUnderTest store_{Engine::kPostgres};
  const std::unique_ptr<support::ServerProcess> servers_[3] = {store_.Serve(), store_.Serve(),
                                                               store_.Serve()};
  api::SqlSession database_{store_.url()};
  std::atomic<int> done_ = 0, crashes_ = 0;
  std::int64_t most_in_tables_ = 0;
  std::mutex mutex_;
  std::vector<std::pair<std::int64_t, std::int64_t>> holds_;  // guarded by mutex_
};

TEST(QueueCap, Q3_FiftyConsumersThatCrashHoldNoMoreThanFiveOfTwoHundredSessions) {
  QueueCap cap;
  cap.Consume();
  EXPECT_EQ(cap.most_in_tables(), QueueCap::kMost);
  EXPECT_LE(cap.MostAtOnce(), QueueCap::kMost);
  EXPECT_GT(cap.crashes(), 5);
}

}  // namespace
}  // namespace tenure::chaos
