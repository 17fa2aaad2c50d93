// `tenure find`, `tenure why THING` and `tenure top --once` against prepared answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/test_support.hpp"
#include "cli/command.hpp"

namespace tenure::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kNothing = R"({"items":[]})";
constexpr const char* kTwo =
    R"({"items":[{"kind":"lease","id":"mail","title":"mail","state":"held"},)"
    R"({"kind":"topic","id":"mail","title":"mail","state":"paused"},)"
    R"({"kind":"topic","id":"mail-2","title":"mail-2","state":"active"}]})";
constexpr const char* kOne =
    R"({"items":[{"kind":"lease","id":"a/b","title":"a/b","state":"held"},)"
    R"({"kind":"lease","id":"a/b/c","title":"a/b/c","state":"free"}]})";
constexpr const char* kWhy =
    R"({"kind":"lease","id":"a/b","state":"held","sentence":"a/b is held by web-1.","because":[],)"
    R"("next":{"text":"It is free in 20s."},"actions":[],"docs":"docs/leases.md"})";

TEST(Find, ListsWhatIsCalledSoAndExits3WhenNothingIs) {
  const ScriptedServer server({Ok(kTwo)});
  const Ran ran = server.Run({"find", "ma il"});
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_THAT(ran.out, HasSubstr("topic         paused     mail "));
  EXPECT_THAT(server.asked(), ElementsAre("GET /api/v1/search?q=ma%20il"));
  const ScriptedServer empty({Ok(kNothing)});
  EXPECT_EQ(empty.Run({"find", "x"}).exit, cli::kExitNotFound);
  EXPECT_EQ(empty.Run({"find", ""}).exit, cli::kExitUsage);
  EXPECT_EQ(empty.Run({"find", std::string(201, 'x')}).exit, cli::kExitUsage);
  EXPECT_EQ(empty.asked().size(), 1U);
}

TEST(WhyAnything, FindsTheKindByTheExactName) {
  const ScriptedServer server({Ok(kOne), Ok(kWhy)});
  const Ran ran = server.Run({"why", "a/b"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_EQ(ran.out, "a/b is held by web-1.\nIt is free in 20s.\n");
  EXPECT_EQ(server.asked().back(), "GET /api/v1/why/lease/a%2Fb");
}

TEST(WhyAnything, OfSeveralThingsItListsThemAndOfNoneItExits3) {
  const ScriptedServer two({Ok(kTwo)});
  const Ran ran = two.Run({"why", "mail"});
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("  tenure why lease mail\n  tenure why topic mail\n"));
  EXPECT_EQ(two.asked().size(), 1U);
  const ScriptedServer none({Ok(kOne)});
  EXPECT_EQ(none.Run({"why", "a"}).exit, cli::kExitNotFound) << "what only begins so is not meant";
}

TEST(TopOnce, PrintsOneFrameWithoutWhatATerminalNeeds) {
  const ScriptedServer server({Ok(
      R"({"now":"2026-01-01T11:00:00.000Z","counted_at":null,"figures":{"messages":{"ready":10000}},)"
      R"("capped":["messages.ready"],"attention":[{"name":"MessagesDead","severity":"critical",)"
      R"("sentence":"12 messages of mail are dead","since":"2026-01-01T10:00:00.000Z"}],)"
      R"("instances":[],"series":null})")});
  const Ran ran = server.Run({"top"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("messages      ready 10000+"));
  EXPECT_THAT(ran.out, HasSubstr("12 messages of mail are dead"));
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(server.asked(), ElementsAre("GET /api/v1/overview?range=1h"));
  EXPECT_EQ(server.Run({"top", "--screen", "nowhere"}).exit, cli::kExitUsage);
}

}  // namespace
}  // namespace tenure::app
