// SIGKILL at any time loses nothing that was answered.
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/store_under_test.hpp"
#include "load.hpp"
#include "support/port.hpp"

namespace tenure::chaos {
namespace {

using api::Contradictions;
using api::Engine;
using api::StoreUnderTest;
using support::ServerProcess;
using testing::IsEmpty;

class KillUnderLoad : public testing::TestWithParam<Engine> {
 protected:
  /// On its own port, again and again.
  std::unique_ptr<ServerProcess> ServeOn(const support::ReservedPort& port) {
    auto options = store_.Options();
    options.port = port.number();
    return std::make_unique<ServerProcess>(options);
  }

  StoreUnderTest store_{GetParam()};
};

TEST_P(KillUnderLoad, NothingThatWasAnsweredIsLost) {
  const std::uint64_t seed = ChooseSeed();
  std::mt19937_64 random(seed);
  // The embedded store has one process; of an ensemble one dies while the other goes on.
  const std::size_t count = GetParam() == Engine::kSqlite ? 1 : 2;
  std::vector<support::ReservedPort> ports(count);
  std::vector<std::unique_ptr<ServerProcess>> servers;
  for (const auto& port : ports) servers.push_back(ServeOn(port));

  Witness witness;
  LoadOptions options{.seed = seed, .servers_may_die = true};
  for (const auto& port : ports) options.ports.push_back(port.number());
  Load load(options, witness);
  for (int round = 0; round < 5; ++round) {
    load.WaitForAnswers(static_cast<int>(50 + random() % 400));
    const std::size_t victim = random() % count;
    servers[victim]->Kill();
    servers[victim] = ServeOn(ports[victim]);
    load.ServersAreBack();
  }
  load.WaitForAnswers(100);
  load.Stop();
  std::cout << witness.Summary() << std::endl;

  RepeatUnknown(witness, ports.front().number());
  const auto rows = store_.Rows();
  EXPECT_THAT(witness.Lies(rows), IsEmpty());
  EXPECT_THAT(Contradictions(rows), IsEmpty());
  EXPECT_GT(witness.Sessions(), 100U);
  const auto health = api::Api(*servers.front()).Get("/health").Json();
  EXPECT_EQ(health["store"]["incarnation"].Int(), 1) << "a crash is no restore";
}

INSTANTIATE_TEST_SUITE_P(Engines, KillUnderLoad,
                         testing::Values(Engine::kSqlite, Engine::kPostgres), api::EngineName);

}  // namespace
}  // namespace tenure::chaos
