// `tenure doctor` and `tenure status` against prepared answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/test_support.hpp"
#include "cli/command.hpp"

namespace tenure::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string Me(std::string_view mode, std::string_view scopes, std::string_view version,
               std::string_view expires = "null") {
  return R"({"mode":")" + std::string(mode) + R"(","tenant":"acme","person":"ada","scopes":[)" +
         std::string(scopes) + R"(],"expires_at":)" + std::string(expires) +
         R"(,"now":"2026-01-01T11:00:00.000Z","version":")" + std::string(version) +
         R"(","instance":"i","store":"sqlite","parts":[]})";
}

std::string Health(std::string_view warnings, std::string_view task = "ok") {
  return R"({"status":"ok","version":"0.1.0","store":{"status":"ok","engine":"sqlite",)"
         R"("place":"./tenure-data","installation":"x","incarnation":1,"warnings":[)" +
         std::string(warnings) + R"(]},"background":[],"tasks":[{"name":"a.b","status":")" +
         std::string(task) + R"("}]})";
}

TEST(Doctor, AllIsWellIsExitCode0) {
  const ScriptedServer server({Ok(Me("protected", "", TENURE_VERSION)), Ok(Health(""))});
  const Ran ran = server.Run({"doctor"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.out << ran.err;
  for (const char* of : {"server", "tls", "clock", "version", "token", "store"})
    EXPECT_THAT(ran.out, ContainsRegex(std::string(of) + " +ok  "));
}

TEST(Doctor, EachThingThatIsWrongComesWithWhatToDoAndExitCode7) {
  const ScriptedServer server(
      {Ok(Me("token", R"("leases:read")", "9.9.9", R"("2026-01-01T11:10:00.000Z")")),
       Ok(Health(R"("clock-step","new-one")", "failed"))});
  const Ran ran = server.Run({"doctor"});
  EXPECT_EQ(ran.exit, cli::kExitAttention);
  EXPECT_THAT(ran.out,
              HasSubstr("it is of ada, tenant acme, and may leases:read; it ends in 10m 0s"));
  EXPECT_THAT(ran.out, HasSubstr("the server is of version 9.9.9"));
  EXPECT_THAT(ran.out, HasSubstr("clock has jumped"));
  EXPECT_THAT(ran.out, HasSubstr("NTP"));
  EXPECT_THAT(ran.out, HasSubstr("new-one"));
  EXPECT_THAT(ran.out, HasSubstr("a.b fails"));
}

TEST(Doctor, ForProgramsItIsADocument) {
  const ScriptedServer server({Ok(Me("token", "", TENURE_VERSION)), Ok(Health(""))});
  EXPECT_THAT(server.Run({"doctor", "--json"}).out,
              HasSubstr(R"({"of":"token","state":"attention","sentence":"it has no scopes)"));
}

TEST(Doctor, WithoutATokenItSaysHowToGiveOneAndWithoutAServerItIsExitCode5) {
  const ScriptedServer server({Refusal(401, R"({"title":"Unauthorized"})")});
  const Ran ran = server.Run({"doctor"});
  EXPECT_EQ(ran.exit, cli::kExitAttention);
  EXPECT_THAT(ran.out, HasSubstr("the server wants one, and none is shown"));
  EXPECT_EQ(RunTenure({"doctor", "--server", "http://127.0.0.1:1"}).exit, cli::kExitUnavailable);
}

TEST(Status, IsExitCode7WhenSomethingNeedsAttention) {
  const ScriptedServer well({Ok(Health("")), Ok(R"({"items":[],"next_cursor":null})")});
  EXPECT_EQ(well.Run({"status"}).exit, cli::kExitDone);
  const ScriptedServer warns({Ok(Health(R"("frozen")")), Ok(R"({"items":[],"next_cursor":null})")});
  EXPECT_EQ(warns.Run({"status"}).exit, cli::kExitAttention);
}

TEST(Status, ForProbesItOnlyExits) {
  const ScriptedServer ready({Ok(R"({"status":"ok"})")});
  const Ran well = ready.Run({"status", "--ready"});
  EXPECT_EQ(well.exit, cli::kExitDone);
  EXPECT_EQ(well.out + well.err, "");
  const ScriptedServer not_ready({Refusal(503, R"({"status":"unavailable"})")});
  EXPECT_EQ(not_ready.Run({"status", "--ready"}).exit, cli::kExitUnavailable);
  EXPECT_EQ(RunTenure({"status", "--ready", "--server", "http://127.0.0.1:1"}).exit,
            cli::kExitUnavailable);
}

}  // namespace
}  // namespace tenure::app
