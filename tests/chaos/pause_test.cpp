// A server that stands still in the middle of its work, while others go on with the same keys.
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/store_under_test.hpp"
#include "load.hpp"

namespace tenure::chaos {
namespace {

using api::Contradictions;
using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using support::ServerProcess;
using testing::IsEmpty;

class PausedServer : public testing::Test {
 protected:
  PausedServer() {
    for (const char* name : {"first", "second", "third"}) {
      auto options = store_.Options();
      options.store_url += std::string("?application_name=") + name;
      servers_.push_back(std::make_unique<ServerProcess>(options));
    }
  }

  /// How many connections of a server are in that state.
  int Connections(const std::string& name, const std::string& state) {
    return std::stoi(
        store_.Execute("select count(*) from pg_stat_activity where application_name = '" + name +
                       "' and state = '" + state + "'"));
  }
  /// How many connections wait for a lock that this server holds.
  int WaitingFor(const std::string& name) {
    return std::stoi(
        store_.Execute("select count(*) from pg_stat_activity waiting join pg_stat_activity holder"
                       " on holder.pid = any (pg_blocking_pids(waiting.pid))"
                       " where holder.application_name = '" +
                       name + "'"));
  }

  /// Stops a server at a moment when it has locked keys that others want.
  void PauseWhileOthersWaitForIt(ServerProcess& server, const std::string& name, Load& load) {
    for (int attempt = 0; attempt < 300; ++attempt) {
      load.WaitForAnswers(7);
      server.Pause();
      Eventually("PostgreSQL has done what it was sent",
                 [&] { return Connections(name, "active") == 0; });
      const bool holds_locks = Connections(name, "idle in transaction") > 0;
      // The others go on and may come to the same keys; a few looks are enough to see them wait.
      for (int look = 0; holds_locks && look < 20; ++look)
        if (WaitingFor(name) > 0) return;
      server.Resume();
    }
    FAIL() << "nobody ever waited for it";
  }

  StoreUnderTest store_{Engine::kPostgres};
  std::vector<std::unique_ptr<ServerProcess>> servers_;
};

TEST_F(PausedServer, TheHistoriesAgreeWhenItGoesOn) {
  LoadOptions options{.clients = 9, .seed = ChooseSeed(), .patience = std::chrono::seconds(30)};
  for (const auto& server : servers_) options.ports.push_back(server->Port());
  Witness witness;
  Load load(options, witness);
  for (const std::size_t victim : {0U, 2U}) {
    PauseWhileOthersWaitForIt(*servers_[victim], victim == 0 ? "first" : "third", load);
    // The pause is the fault itself: longer than the 2 s that others wait for its locks.
    const std::int64_t until = api::WallMs() + 3'000;
    Eventually("it has stood still for 3 s", [&] { return api::WallMs() >= until; });
    servers_[victim]->Resume();
    load.WaitForAnswers(100);
  }
  load.Stop();
  std::cout << witness.Summary() << std::endl;

  RepeatUnknown(witness, servers_.front()->Port());
  const auto rows = store_.Rows();
  EXPECT_THAT(witness.Lies(rows), IsEmpty());
  EXPECT_THAT(Contradictions(rows), IsEmpty());
  for (const auto& server : servers_) EXPECT_EQ(api::Api(*server).Get("/readyz").status, 200);
}

}  // namespace
}  // namespace tenure::chaos
