// Seats while everything around them breaks: machines that are stopped for longer than their deadline or killed,
// servers that are killed, a PostgreSQL that restarts, a standby that is promoted, an older copy that is put back.
// Afterwards: at no instant did more machines believe in a seat than there are seats (K1), and the log proves it.

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "standby.hpp"
#include "support/postgres_cluster.hpp"
#include "support/server_process.hpp"

namespace tenure::chaos {
namespace {

using support::PostgresCluster;
using support::Process;
using support::ServerProcess;

constexpr int kSeats = 2;
constexpr std::size_t kMachines = 4;
constexpr std::chrono::seconds kHadAgain{120};
const std::vector<std::string> kFlags = {"--set", "rate_limits=off", "--set", "store.freeze=3s"};

/// A licence, and machines that want more of its seats than there are.
class Machines {
 public:
  Machines(const ServerProcess& first, std::vector<std::string> urls) : urls_(std::move(urls)) {
    const auto made = api::Api(first).Call(
        "POST", "/api/v1/licenses", fmt::format(R"({{"seats":{},"ttl_seconds":2}})", kSeats));
    if (made.status != 201) throw std::runtime_error("no licence: " + made.body);
    id_ = made.Json()["id"].Text();
    key_ = made.Json()["license_key"].Text();
    for (std::size_t i = 0; i < kMachines; ++i) Start(i);
  }

  /// For longer than its deadline.
  void Pause(std::size_t i) {
    processes_[i]->Kill(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
    processes_[i]->Kill(SIGCONT);
  }
  void KillAndRestart(std::size_t i) {
    processes_[i]->Kill(SIGKILL);
    processes_[i]->Wait();
    outputs_[i] += processes_[i]->Output();
    Start(i);
  }
  /// Until seats were had so many more times.
  void AwaitHolds(std::size_t count) {
    const std::size_t wanted = Periods().size() + count;
    api::Eventually(
        "seats are had again", [&] { return Periods().size() >= wanted; }, kHadAgain);
  }
  void Stop() {
    for (auto& [i, process] : processes_) {
      process->Kill(SIGKILL);
      process->Wait();
    }
  }

  /// The most machines that believed at once.
  int MostAtOnce() const {
    struct Edge {
      std::int64_t at_ms;
      int change;
    };
    std::vector<Edge> edges;
    for (const auto& [from_ms, until_ms] : Periods()) {
      edges.push_back({from_ms, 1});
      edges.push_back({until_ms, -1});
    }
    // One that ends when another begins was before it.
    std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
      return std::pair(a.at_ms, a.change) < std::pair(b.at_ms, b.change);
    });
    int now = 0;
    int most = 0;
    for (const Edge& edge : edges) most = std::max(most, now += edge.change);
    return most;
  }

  /// What `prove` says of the licence's log.
  api::ProgramResult Prove(const std::string& url) const {
    return api::RunTenure({"seat", "prove", id_, "--server", url, "--json"});
  }
  const std::string& id() const { return id_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> Periods() const {
    static const std::regex kLine("held (\\d+) (\\d+)\n");
    std::vector<std::pair<std::int64_t, std::int64_t>> periods;
    for (const auto& [i, process] : processes_) {
      const std::string all = outputs_[i] + process->Output();
      for (std::sregex_iterator at(all.begin(), all.end(), kLine), end; at != end; ++at)
        periods.emplace_back(std::stoll((*at)[1]), std::stoll((*at)[2]));
    }
    return periods;
  }
  void Start(std::size_t i) {
    processes_[i] = std::make_unique<Process>(support::ProcessOptions{
        .argv = {std::getenv("SEAT_HOLDER_BINARY"), urls_[i % urls_.size()], fmt::format("m{}", i)},
        .environment = {{"TENURE_LICENSE", key_}}});
  }

  const std::vector<std::string> urls_;
  std::string id_;
  std::string key_;
  std::map<std::size_t, std::unique_ptr<Process>> processes_;
  mutable std::array<std::string, kMachines> outputs_{};  // of those that were killed
};

void TormentSeats(Machines& machines, const std::vector<std::function<void()>>& others) {
  std::mt19937_64 random(ChooseSeed());
  machines.AwaitHolds(3);
  std::vector<std::size_t> blows{0, 1};
  for (std::size_t i = 0; i < others.size(); ++i) blows.push_back(2 + i);
  blows.push_back(random() % blows.size());
  std::ranges::shuffle(blows, random);
  for (const std::size_t blow : blows) {
    const std::size_t victim = random() % kMachines;
    if (blow == 0)
      machines.Pause(victim);
    else if (blow == 1)
      machines.KillAndRestart(victim);
    else
      others[blow - 2]();
    machines.AwaitHolds(2);
  }
  machines.Stop();
}

/// K1 as the machines believed, and what the log says of it.
void ExpectProven(const Machines& machines, const std::string& url) {
  EXPECT_EQ(machines.MostAtOnce(), kSeats) << "all are used, and never more";
  const auto proof = machines.Prove(url);
  EXPECT_EQ(proof.exit_code, 0) << proof.out << proof.err;
  EXPECT_NE(proof.out.find(fmt::format(R"("highest":{})", kSeats)), std::string::npos) << proof.out;
}

TEST(SeatChaos, K1_OverServersThatAreKilledAndAPostgresThatRestarts) {
  PostgresCluster postgres;
  const std::string database = postgres.CreateDatabase();
  Servers servers(2, [&] {
    return support::ServerOptions{.store_url = postgres.Url(database), .flags = kFlags};
  });
  Machines machines(servers[0], {servers[0].Url(), servers[1].Url()});
  TormentSeats(machines, {[&] { servers.Kill(1); },
                          [&] { postgres.Restart(PostgresCluster::StopMode::kImmediate); },
                          [&] { postgres.KillAllBackends(); }});
  ExpectProven(machines, servers[0].Url());
}

/// A server died of it: the refusal was there before anybody waited for its end.
TEST(SeatChaos, WhoWantsToWaitWhileTheStoreIsAwayIsRefusedAndTheServerLivesOn) {
  PostgresCluster postgres;
  const ServerProcess server(
      {.store_url = postgres.Url(postgres.CreateDatabase()), .flags = kFlags});
  const api::Api api(server);
  const auto made = api.Call("POST", "/api/v1/licenses", R"({"seats":1})").Json();
  const std::string ask = fmt::format(
      R"({{"license_key":"{}","machine_id":"m","wait_seconds":30}})", made["license_key"].Text());
  postgres.Stop(PostgresCluster::StopMode::kFast);
  api::Eventually("the server knows", [&] { return api.Get("/readyz").status == 503; });
  EXPECT_EQ(api.Call("POST", "/api/v1/licenses/acquire", ask).status, 503);
  EXPECT_EQ(api.Get("/api/v1/licenses/tickets/" + api::NewUuid() + "?wait_seconds=30").status, 503);
  EXPECT_EQ(api::Lease(api).Acquire({.wait_ms = 30'000}).status, 503);
  EXPECT_EQ(api::Topic(api).Claim(R"(,"wait_ms":30000)").status, 503);
  EXPECT_EQ(api.Get("/livez").status, 200);
}

TEST(SeatChaos, K1_OverAPromotedStandby) {
  PostgresCluster primary;
  const std::string database = primary.CreateDatabase();
  SynchronousStandby standby(primary);
  const std::string url = fmt::format("postgresql://postgres@127.0.0.1:{},127.0.0.1:{}/{}",
                                      primary.port(), standby.port(), database);
  const ServerProcess server({.store_url = url, .flags = kFlags});
  Machines machines(server, {server.Url()});
  machines.AwaitHolds(3);
  primary.Stop(PostgresCluster::StopMode::kImmediate);
  standby.Promote();
  machines.AwaitHolds(4);
  machines.Stop();
  ExpectProven(machines, server.Url());
}

TEST(SeatChaos, K1_OverAnOlderCopyThatIsPutBack) {
  namespace fs = std::filesystem;
  const api::StoreUnderTest store(api::Engine::kSqlite);
  auto options = store.Options(kFlags);
  auto server = std::make_unique<ServerProcess>(options);
  options.port = server->Port();
  Machines machines(*server, {server->Url()});
  machines.AwaitHolds(2);
  EXPECT_EQ(server->Terminate(), 0);
  const support::TempDir backup;
  fs::copy(store.data_dir() / "tenure.db", backup / "tenure.db");
  server = std::make_unique<ServerProcess>(options);
  machines.AwaitHolds(3);
  server->Kill();
  server.reset();
  for (const char* name : {"tenure.db", "tenure.db-wal", "tenure.db-shm"})
    fs::remove(store.data_dir() / name);
  fs::copy(backup / "tenure.db", store.data_dir() / "tenure.db");
  server = std::make_unique<ServerProcess>(options);
  machines.AwaitHolds(4);
  machines.Stop();
  ExpectProven(machines, server->Url());
}

}  // namespace
}  // namespace tenure::chaos
