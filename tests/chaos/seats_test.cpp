// Seats while everything around them breaks: machines that are stopped for longer than their deadline or killed,
// servers that are killed, a PostgreSQL that restarts, a standby that is promoted, an older copy that is put back.
// Afterwards: at no instant did more machines believe in a seat than there are seats (K1), and the log proves it.

#include <filesystem>

#include "api/store_under_test.hpp"
#include "machines.hpp"
#include "standby.hpp"
#include "support/postgres_cluster.hpp"
#include "support/server_process.hpp"

namespace tenure::chaos {
namespace {

using support::PostgresCluster;
using support::ServerProcess;

const std::vector<std::string> kFlags = {"--set", "rate_limits=off", "--set", "store.freeze=3s"};

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
