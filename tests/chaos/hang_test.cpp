// A store that does not go on: a full disk, a synchronous standby that stands still, a PostgreSQL
// that stands still. Every answer is true, no process piles up connections, and the probes say so
// from memory (docs/ground.md, Lanes).

#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "standby.hpp"
#include "support/postgres_cluster.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::chaos {
namespace {

namespace fs = std::filesystem;

/// A disk of a few megabytes. Whoever may not mount one has none.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = mount("tmpfs", dir_.path().c_str(), "tmpfs", 0, "size=4m") == 0; }
  ~SmallDisk() {
    if (mounted_) umount2(dir_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_there() const { return mounted_; }
  const fs::path& path() const { return dir_.path(); }
  /// Leaves no byte free.
  void Fill() const {
    std::ofstream file(path() / "filler", std::ios::binary);
    for (const std::string block(1024, 'x'); file;) file << block << std::flush;
  }
  void MakeRoom() const { fs::remove(path() / "filler"); }

 private:
  support::TempDir dir_;
  bool mounted_ = false;
};

TEST(FullDisk, NothingHappenedAndTheAnswersSaySo) {
  const SmallDisk disk;
  if (!disk.is_there()) GTEST_SKIP() << "only root may mount a small disk";
  const fs::path data = disk.path() / "data";
  auto server = std::make_unique<support::ServerProcess>(support::ServerOptions{.data_dir = data});
  const auto put = [&](const api::Key& key) { return api::Api(*server).Put(key, 1); };
  const api::Key kept = api::NewKey();
  ASSERT_EQ(put(kept).status, 201);
  disk.Fill();
  std::vector<api::Key> refused;
  // What the log has room for is still written; then nothing is.
  for (int i = 0; i < 2'000 && refused.size() < 5; ++i) {
    const api::Key key = api::NewKey();
    const auto response = put(key);
    if (response.status == 201) continue;
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(api::ProblemType(response), "store-unavailable") << response.body;
    refused.push_back(key);
  }
  ASSERT_EQ(refused.size(), 5u);
  const auto sessions = [&](const api::Key& key) {
    return api::Api(*server).Get("/sessions?userObjectId=" + key.user).Json()["items"].Size();
  };
  EXPECT_EQ(sessions(kept), 1u) << "what is there can be read";
  api::Eventually("it is out of the load balancer",
                  [&] { return api::Api(*server).Get("/readyz").status == 503; });

  // Whoever reads the log again must find what was answered.
  server->Kill();
  disk.MakeRoom();
  server = std::make_unique<support::ServerProcess>(support::ServerOptions{.data_dir = data});
  for (const api::Key& key : refused) EXPECT_EQ(sessions(key), 0u);
  EXPECT_EQ(sessions(kept), 1u);
}

TEST(FullDisk, WhenThereIsRoomAgainItGoesOnByItself) {
  const SmallDisk disk;
  if (!disk.is_there()) GTEST_SKIP() << "only root may mount a small disk";
  const support::ServerProcess server({.data_dir = disk.path() / "data"});
  const api::Api api(server);
  disk.Fill();
  api::Eventually("the disk is full", [&] { return api.Put(api::NewKey(), 1).status == 503; });
  disk.MakeRoom();
  api::Eventually("it writes", [&] { return api.Put(api::NewKey(), 1).status == 201; });
  api::Eventually("it is ready", [&] { return api.Get("/readyz").status == 200; });
}

/// Calls until it is told to stop; what was answered does not matter.
class Traffic {
 public:
  explicit Traffic(const api::Api& api)
      : thread_([api](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            try {
              api.Put(api::NewKey(), 1);
            } catch (const std::exception&) {
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

/// Both probes answer while the store does not, also beside requests that wait for it.
void ExpectProbesFromMemory(const support::ServerProcess& server) {
  const api::Api api(server);
  api::Eventually("it is out of the load balancer",
                  [&] { return api.Get("/readyz").status == 503; });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(api.Get("/health").status, 503);
}

const std::vector<std::string> kImpatient = {"--set", "store.statement_timeout=500ms", "--set",
                                             "store.lock_timeout=200ms"};

TEST(StalledStandby, NoServerGathersConnectionsAndAllGoesOnWhenItIsBack) {
  support::PostgresCluster primary;
  const std::string database = primary.CreateDatabase();
  SynchronousStandby standby(primary);
  Servers servers(2, [&] {
    return support::ServerOptions{.store_url = primary.Url(database), .flags = kImpatient};
  });
  api::SqlSession look(primary.Url("postgres"));
  look.Execute("set synchronous_commit = local");
  const auto count = [&](const std::string& where) {
    return std::stoi(look.Execute("select count(*) from pg_stat_activity where datname = '" +
                                  database + "' and " + where));
  };
  const int at_rest = count("true");
  const pid_t receiver = std::stoi(
      api::SqlSession(standby.Url("postgres")).Execute("select pid from pg_stat_wal_receiver"));
  {
    const Traffic first{api::Api(servers[0])};
    const Traffic second{api::Api(servers[1])};
    kill(receiver, SIGSTOP);
    for (std::size_t i = 0; i < 2; ++i) ExpectProbesFromMemory(servers[i]);
    // Each of three lanes that write has one process that waits for the standby, and tries anew
    // beside it, with nobody else.
    api::Eventually("the first connections were given up", [&] {
      return look.Execute(
                 "select count(*) > 0 from pg_stat_activity where "
                 "wait_event = 'SyncRep' and state_change < "
                 "clock_timestamp() - interval '6 s'") == "t";
    });
    for (int i = 0; i < 100; ++i) {
      ASSERT_LE(count("wait_event = 'SyncRep'"), 6);
      ASSERT_LE(count("true"), at_rest + 2 * 4);
      look.Execute("select pg_sleep(0.02)");
    }
  }
  kill(receiver, SIGCONT);
  for (std::size_t i = 0; i < 2; ++i)
    api::Eventually("it is ready again",
                    [&] { return api::Api(servers[i]).Get("/readyz").status == 200; });
  EXPECT_EQ(api::Api(servers[0]).Put(api::NewKey(), 1).status, 201);
}

/// Every process of a PostgreSQL.
std::vector<pid_t> ProcessesOf(const support::PostgresCluster& cluster) {
  std::vector<pid_t> all{cluster.pid()};
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    const auto close = text.rfind(')');
    if (close != std::string::npos && std::stoi(text.substr(close + 4)) == cluster.pid())
      all.push_back(std::stoi(text));
  }
  return all;
}

TEST(StoppedPostgres, IsToldFromMemoryAndOutlasted) {
  support::PostgresCluster postgres;
  const std::string database = postgres.CreateDatabase();
  const support::ServerProcess server({.store_url = postgres.Url(database), .flags = kImpatient});
  const api::Api api(server);
  ASSERT_EQ(api.Put(api::NewKey(), 1).status, 201);
  {
    const Traffic load(api);
    const std::vector<pid_t> processes = ProcessesOf(postgres);
    for (const pid_t each : processes) kill(each, SIGSTOP);
    ExpectProbesFromMemory(server);
    for (const pid_t each : processes) kill(each, SIGCONT);
  }
  api::Eventually("it is ready again", [&] { return api.Get("/readyz").status == 200; });
  EXPECT_EQ(api.Put(api::NewKey(), 1).status, 201);
}

}  // namespace
}  // namespace tenure::chaos
