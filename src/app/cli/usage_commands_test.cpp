#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/test_support.hpp"

namespace tenure::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";
constexpr const char* kUser = "6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30";
constexpr const char* kTenant = "0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08";
constexpr const char* kCapacity = "d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42";

constexpr const char* kWindows =
    R"({"items":[{"window":1,"windowStartUtc":"2026-01-01T00:00:00.000Z",)"
    R"("windowEndUtc":"2026-01-01T00:01:00.000Z","sealedUtc":"2026-01-01T00:01:02.000Z",)"
    R"("state":"sent","records":1,"unsentRecords":0,"refusedRecords":0}],"nextCursor":null})";

std::string Records(std::string_view usage) {
  return fmt::format(
      R"({{"items":[{{"recordId":"1-{0}","sessionId":"{0}","userObjectId":"{1}",)"
      R"("tenantObjectId":"{2}","capacityId":"{3}","sessionKind":1,)"
      R"("windowStartUtc":"2026-01-01T00:00:00.000Z",)"
      R"("windowEndUtc":"2026-01-01T00:01:00.000Z","usage":{4}}}],"nextCursor":null}})",
      kSession, kUser, kTenant, kCapacity, usage);
}

std::string Sessions() {
  return fmt::format(
      R"({{"items":[{{"sessionId":"{}","userObjectId":"{}","tenantObjectId":"{}",)"
      R"("capacityId":"{}","sessionKind":1,"sessionStartUtc":"2026-01-01T00:00:00.000Z",)"
      R"("sessionEndUtc":"2026-01-31T00:00:00.000Z","isActive":true}}],"nextCursor":null}})",
      kSession, kUser, kTenant, kCapacity);
}

constexpr const char* kFactors =
    R"({"items":[{"sessionKind":1,"factor":"1.000000","fromUtc":"1970-01-01T00:00:00.000Z"}],)"
    R"("nextCursor":null})";

http::Response Ok(std::string body) { return {.status = 200, .body = std::move(body)}; }

Ran Ask(const ScriptedServer& server, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "usage");
  arguments.insert(arguments.end(), {"--server", server.url()});
  return RunTenure(arguments);
}

TEST(UsageCommands, WindowsAreATable) {
  const ScriptedServer server({Ok(kWindows)});
  const Ran ran = Ask(server, {"windows"});
  EXPECT_EQ(ran.exit, kExitDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("WINDOW"));
  EXPECT_THAT(ran.out, HasSubstr("1         2026-01-01T00:00:00.000Z"));
  EXPECT_THAT(server.asked(), ElementsAre("GET /usage/windows?limit=100"));
}

TEST(UsageCommands, NumbersKeepTheDigitsThatTheServerWrote) {
  const ScriptedServer server({Ok(Records("0.000023"))});
  EXPECT_THAT(Ask(server, {"records", "1", "--user", kUser}).out, HasSubstr("0.000023"));
  EXPECT_THAT(Ask(server, {"records", "1", "--json"}).out, HasSubstr("\"usage\":0.000023}"));
  EXPECT_EQ(server.asked().front(),
            fmt::format("GET /usage/windows/1/records?limit=100&userObjectId={}", kUser));
}

TEST(UsageCommands, TotalsAreAskedForInSpans) {
  const ScriptedServer server({Ok(
      R"({"fromWindow":2,"toWindow":9,"fromUtc":"2026-01-01T00:00:00.000Z",)"
      R"("toUtc":"2026-01-01T00:09:00.000Z","sessions":3,"usage":12.300000,"complete":false})")});
  const Ran ran = Ask(server, {"totals", "--capacity", kCapacity, "--from", "2", "--to", "9"});
  EXPECT_THAT(ran.out, HasSubstr("usage         12.300000\n"));
  EXPECT_THAT(ran.out, HasSubstr("incomplete"));
  EXPECT_THAT(server.asked(),
              ElementsAre(fmt::format("GET /usage/totals?capacityId={}&fromWindow=2&toWindow=9",
                                      kCapacity)));
  Ask(server, {"totals"});
  EXPECT_EQ(server.asked().back(), "GET /usage/totals");
}

TEST(UsageCommands, FactorsAreShownAndSet) {
  const ScriptedServer list({Ok(kFactors)});
  EXPECT_THAT(Ask(list, {"factors"}).out, HasSubstr("1 Basic     1.000000"));
  const ScriptedServer set(
      {Ok(R"({"sessionKind":2,"factor":"2.500000","fromUtc":"2026-01-01T00:01:00.000Z"})")});
  const Ran ran = Ask(set, {"factors", "set", "standard", "2.5"});
  EXPECT_EQ(ran.out, "2 Standard costs 2.500000 from 2026-01-01T00:01:00.000Z on\n");
  EXPECT_THAT(set.asked(),
              ElementsAre(R"(POST /usage/factors {"sessionKind":2,"factor":"2.500000"})"));
  EXPECT_EQ(Ask(set, {"factors", "set", "4", "1"}).exit, kExitUsage);
  EXPECT_EQ(Ask(set, {"factors", "set", "1", "1e3"}).exit, kExitUsage);
}

TEST(UsageCommands, OlderWindowsAreSent) {
  const ScriptedServer server({Ok(R"({"windows":16})")});
  EXPECT_THAT(Ask(server, {"send", "--from", "1"}).out, HasSubstr("16 windows will be sent"));
  EXPECT_THAT(server.asked(), ElementsAre(R"(POST /usage/send {"fromWindow":1})"));
  for (const char* number : {"0", "-1", "x", "9007199254740992", "1.0"})
    EXPECT_EQ(Ask(server, {"send", "--from", number}).exit, kExitUsage) << number;
}

TEST(UsageCommands, TheAuditAgreesOrNamesTheDifference) {
  const ScriptedServer right({Ok(kWindows), Ok(kFactors), Ok(Sessions()), Ok(Records("0.000023"))});
  const Ran agreed = Ask(right, {"audit"});
  EXPECT_EQ(agreed.exit, kExitDone) << agreed.err;
  EXPECT_THAT(agreed.out, HasSubstr("usage         0.000023\ndifferences   0\n"));
  const ScriptedServer wrong({Ok(kWindows), Ok(kFactors), Ok(Sessions()), Ok(Records("0.000024"))});
  const Ran differed = Ask(wrong, {"audit", "--json"});
  EXPECT_EQ(differed.exit, kExitError);
  EXPECT_THAT(differed.out, HasSubstr(R"("differenceCount":2,"differences":["record 1-)"));
}

TEST(UsageCommands, AnAuditOfWhatIsNoUsageIsAnError) {
  const ScriptedServer server({Ok(kWindows), Ok(kFactors), Ok(Sessions()), Ok(Records("2.4e-05"))});
  const Ran ran = Ask(server, {"audit"});
  EXPECT_EQ(ran.exit, kExitError);
  EXPECT_THAT(ran.err, HasSubstr("records[0].usage"));
  EXPECT_EQ(Ask(server, {"audit", "--sink", "http://10.0.0.1:9090"}).exit, kExitUsage);
}

}  // namespace
}  // namespace tenure::app
