// `tenure top` where there is no terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/test_support.hpp"
#include "cli/command.hpp"

namespace tenure::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TopOnce, PrintsAnyScreenWithoutWhatATerminalNeeds) {
  const ScriptedServer server({Ok(R"({"items":[{"name":"mail","ready":3,"claimed":0,"dead":12,)"
                                  R"("oldest_at":null,"oldest_age_ms":0,"asked_at":null,)"
                                  R"("paused":false}],"next_cursor":null})")});
  const Ran ran = server.Run({"top", "--screen", "topics"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("TOPIC "));
  EXPECT_THAT(ran.out, HasSubstr("mail "));
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(server.asked(), ElementsAre("GET /api/v1/topics?limit=500"));
  EXPECT_EQ(server.Run({"top", "--screen", "seats"}).exit, cli::kExitDone);
  EXPECT_EQ(server.asked().back(), "GET /api/v1/licenses?limit=500");
  EXPECT_EQ(server.Run({"top", "--screen", "nowhere"}).exit, cli::kExitUsage);
}

}  // namespace
}  // namespace tenure::app
