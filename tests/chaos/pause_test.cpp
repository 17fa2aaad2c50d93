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
using api::StoreUnderTest;
using testing::IsEmpty;

TEST(PausedServer, TheHistoriesAgreeWhenItGoesOn) {
  const StoreUnderTest store(Engine::kPostgres);
  std::vector<std::unique_ptr<support::ServerProcess>> servers;
  LoadOptions options{.clients = 9, .seed = ChooseSeed(), .patience = std::chrono::seconds(30)};
  for (int i = 0; i < 3; ++i) {
    servers.push_back(store.Serve());
    options.ports.push_back(servers.back()->Port());
  }
  Witness witness;
  Load load(options, witness);
  std::mt19937_64 random(options.seed);
  for (const auto& server : servers) {
    load.WaitForAnswers(static_cast<int>(100 + random() % 100));
    server->Pause();
    // The pause is the fault itself: longer than the 2 s that others wait for its locks.
    const std::int64_t until = api::WallMs() + 3'000;
    load.WaitForAnswers(100);
    api::Eventually("it has stood still for 3 s", [&] { return api::WallMs() >= until; });
    server->Resume();
  }
  load.WaitForAnswers(300);
  load.Stop();
  std::cout << witness.Summary() << std::endl;

  RepeatUnknown(witness, servers.front()->Port());
  const auto rows = store.Rows();
  EXPECT_THAT(witness.Lies(rows), IsEmpty());
  EXPECT_THAT(Contradictions(rows), IsEmpty());
  for (const auto& server : servers) EXPECT_EQ(api::Api(*server).Get("/readyz").status, 200);
}

}  // namespace
}  // namespace tenure::chaos
