#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/test_support.hpp"
#include "cli/command.hpp"

namespace tenure::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kUser = "6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30";
constexpr const char* kTenant = "0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08";
constexpr const char* kCapacity = "d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42";
constexpr const char* kId = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81";

/// A session as the server writes it; `more` are further fields.
std::string Session(std::string_view more = "") {
  return std::string(R"({"sessionId":"0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81",)"
                     R"("userObjectId":"6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30",)"
                     R"("tenantObjectId":"0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08",)"
                     R"("capacityId":"d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42","sessionKind":2,)"
                     R"("sessionStartUtc":"2025-12-21T10:00:00.000Z",)"
                     R"("sessionEndUtc":"2999-01-20T10:00:00.000Z","isActive":true)") +
         std::string(more) + "}";
}

std::vector<std::string> Put(std::string_view kind = "standard") {
  return {"session", "put",        "--user",  kUser,    "--tenant",
          kTenant,   "--capacity", kCapacity, "--kind", std::string(kind)};
}

const std::vector<std::string> kGet{"session", "get", kId};

std::vector<std::string> Json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return arguments;
}

TEST(SessionPut, SendsTheFourFields) {
  const ScriptedServer server({Ok(Session(R"(,"status":"created")"))});
  EXPECT_EQ(server.Run(Put()).exit, cli::kExitDone);
  EXPECT_EQ(server.Run(Put("PREMIUM")).exit, cli::kExitDone);
  const std::string start = "PUT /sessions {\"userObjectId\":\"" + std::string(kUser) +
                            "\",\"tenantObjectId\":\"" + kTenant + "\",\"capacityId\":\"" +
                            kCapacity + "\",\"sessionKind\":";
  EXPECT_THAT(server.asked(), ElementsAre(start + "2}", start + "3}"));
}

TEST(SessionPut, ShowsTheSessionToPeople) {
  const ScriptedServer server({Ok(Session(R"(,"status":"upgraded","previousSessionId":"old")"))});
  const Ran ran = server.Run(Put());
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("status    upgraded\nsession   0197c1f2-8a34-7d10"));
  EXPECT_THAT(ran.out, HasSubstr("kind      2 Standard\n"));
  EXPECT_THAT(ran.out, HasSubstr("end       2999-01-20T10:00:00.000Z\n"));
  EXPECT_THAT(ran.out, HasSubstr("replaces  old\n"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("left      [0-9]+d [0-9]+h\n"));
}

TEST(SessionPut, PrintsTheServersJsonForPrograms) {
  const ScriptedServer server({Ok(Session() + "\n")});
  EXPECT_EQ(server.Run(Json(Put())).out, Session() + "\n");
}

TEST(SessionPut, WrongValuesAreRefusedBeforeAnythingIsSent) {
  const ScriptedServer server({Ok(Session())});
  EXPECT_EQ(server.Run(Put("gold")).exit, cli::kExitUsage);
  EXPECT_EQ(server.Run(Put("4")).exit, cli::kExitUsage);
  std::vector<std::string> arguments = Put();
  arguments[3] = "me";
  const Ran ran = server.Run(arguments);
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("--user: \"me\" is not a UUID"));
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(SessionCommands, ARefusalNamesItsFields) {
  const ScriptedServer server({Refusal(
      400,
      R"({"title":"T","status":400,"detail":"Two fields are wrong.","errors":[)"
      R"({"field":"sessionKind","message":"must be 1"},{"field":"x","message":"unknown"}]})")});
  const Ran ran = server.Run(Put());
  EXPECT_EQ(ran.exit, cli::kExitError);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "tenure: Two fields are wrong.\n  sessionKind: must be 1\n  x: unknown\n");
}

TEST(SessionCommands, ExitCodesFollowTheStatus) {
  const std::pair<int, int> codes[] = {{404, cli::kExitNotFound},    {409, cli::kExitConflict},
                                       {503, cli::kExitUnavailable}, {429, cli::kExitUnavailable},
                                       {400, cli::kExitError},       {403, cli::kExitError},
                                       {500, cli::kExitError},       {302, cli::kExitError}};
  for (const auto& [status, exit] : codes) {
    const ScriptedServer server({Refusal(status, R"({"title":"Title","detail":"Because."})")});
    const Ran ran = server.Run(kGet);
    EXPECT_EQ(ran.exit, exit) << status;
    EXPECT_THAT(ran.err, HasSubstr("Because.")) << status;
  }
}

TEST(SessionCommands, ABusyServerSaysWhenToTryAgain) {
  http::Response busy = Refusal(503, R"({"detail":"The queue is full.","request_id":"r1"})");
  busy.headers.emplace_back("Retry-After", "2");
  const ScriptedServer server({busy});
  EXPECT_EQ(server.Run(kGet).err, "tenure: The queue is full.\nTry again in 2 s.\n(request r1)\n");
}

TEST(SessionCommands,
     AServerThatCannotAnswerIsQuotedWithTheReasonAndOnlyAnActHearsThatNothingHappened) {
  const ScriptedServer server({Refusal(503, R"({"title":"The store cannot be reached",)"
                                            R"("detail":"Nothing happened. Send it again."})")});
  EXPECT_EQ(server.Run(Put()).err,
            "tenure: The store cannot be reached. Nothing happened. Send it again.\n");
  EXPECT_EQ(server.Run(kGet).err, "tenure: The store cannot be reached. Send it again.\n");
  EXPECT_EQ(server.Run({"why", "lease", "x"}).err,
            "tenure: The store cannot be reached. Send it again.\n");
}

TEST(SessionCommands, ALookDoesNotHearThatNothingHappenedWhereverTheSentenceStands) {
  const ScriptedServer last(
      {Refusal(503, R"({"title":"The keys are away",)"
                    R"("detail":"Nobody can verify it. Nothing happened."})")});
  EXPECT_EQ(last.Run(kGet).err, "tenure: The keys are away. Nobody can verify it.\n");
  const ScriptedServer alone(
      {Refusal(503, R"({"title":"The store cannot be reached","detail":"Nothing happened."})")});
  EXPECT_EQ(alone.Run(kGet).err, "tenure: The store cannot be reached\n");
  EXPECT_EQ(alone.Run(Put()).err, "tenure: The store cannot be reached. Nothing happened.\n");
}

TEST(SessionCommands, WithJsonARefusalIsTheServersDocumentOnStandardError) {
  const ScriptedServer server({Refusal(404, R"({"status":404,"detail":"No."})")});
  const Ran ran = server.Run(Json(kGet));
  EXPECT_EQ(ran.exit, cli::kExitNotFound);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "{\"status\":404,\"detail\":\"No.\"}\n");
}

TEST(SessionCommands, AnAnswerThatIsNotTenuresIsAnErrorNotACrash) {
  for (const std::string body :
       {"", "<html>", "[]", "{}", "null", "\"text\"", "{\"sessionId\":5}", "{\"sessionId\":\"a\"}",
        "{\"sessionId\":\"a\",\"sessionKind\":\"2\",\"isActive\":true}",
        "{\"sessionId\":\"a\",\"sessionKind\":99999999999999999999,\"isActive\":true}",
        "{\"sessionId\":\"a\",\"sessionKind\":2,\"isActive\":\"yes\"}",
        "{\"sessionId\":\"a\",\"sessionKind\":2,\"isActive\":true,\"sessionEndUtc\":{}}",
        "{\"sessionId\":\"\xff\"}", "{\"items\":5}", "{\"items\":[5]}", "{\"items\":[{}]}"}) {
    const ScriptedServer server({Ok(body)});
    for (const std::vector<std::string>& arguments :
         {Put(), kGet, std::vector<std::string>{"session", "list"}}) {
      const Ran ran = server.Run(arguments);
      EXPECT_EQ(ran.exit, cli::kExitError) << body;
      EXPECT_THAT(ran.err, HasSubstr("is not understood")) << body;
    }
  }
}

TEST(SessionCommands, ARefusalWithoutAProblemDocumentIsReportedByItsStatus) {
  for (const char* body : {"", "<html>Bad Gateway</html>", "[1]"}) {
    const ScriptedServer server({Refusal(502, body)});
    const Ran ran = server.Run(kGet);
    EXPECT_EQ(ran.exit, cli::kExitUnavailable);
    EXPECT_EQ(ran.err, "tenure: the server answered 502 without saying why\n");
  }
}

TEST(SessionCommands, ControlCharactersOfAServerDoNotReachTheTerminal) {
  const std::string evil = R"(\u001b[2J\u009b\u202e)";
  const ScriptedServer good(
      {Ok(Session(R"(,"status":")" + evil + R"(","previousSessionId":")" + evil + R"(")"))});
  const ScriptedServer bad({Refusal(409, R"({"detail":")" + evil + R"(","errors":[{"field":")" +
                                             evil + R"(","message":"m"}]})")});
  for (const Ran& ran :
       {good.Run(Put(), true), bad.Run(Put(), true), good.Run(Json(Put()), true)}) {
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\u202e")));
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\xC2\x9B")));
  }
}

TEST(SessionCommands, WhenNothingAnswersItMayBeTriedAgain) {
  const Ran ran = RunTenure({"session", "get", kId, "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.exit, cli::kExitUnavailable);
  EXPECT_THAT(ran.err, HasSubstr("nothing answers at http://127.0.0.1:1"));
}

TEST(SessionCommands, AnAddressThatIsNoServerIsAUsageError) {
  for (const char* url : {"", "127.0.0.1:8080", "http://", "ftp://x", "http://u:hunter2@x",
                          "http://x/path?a=b", "http://x y"}) {
    const Ran ran = RunTenure({"session", "get", kId, "--server", url});
    EXPECT_EQ(ran.exit, cli::kExitUsage) << url;
    EXPECT_THAT(ran.err, Not(HasSubstr("hunter2")));
  }
}

TEST(SessionGet, AnEndedSessionSaysWhy) {
  std::string body = Session(R"(,"endReason":"expired")");
  body.replace(body.find("true"), 4, "false");
  const ScriptedServer server({Ok(body)});
  const Ran ran = server.Run(kGet);
  EXPECT_THAT(ran.out, HasSubstr("state     ended (expired)\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("left")));
  EXPECT_THAT(server.asked(), ElementsAre("GET /sessions/" + std::string(kId)));
}

TEST(SessionGet, OnlyUuidsReachThePath) {
  const ScriptedServer server({Ok(Session())});
  EXPECT_EQ(server.Run({"session", "get", "../admin"}).exit, cli::kExitUsage);
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(SessionEnd, EndsIt) {
  const ScriptedServer server({http::Response{.status = 204, .body = {}, .headers = {}}});
  const Ran ran = server.Run({"session", "end", kId});
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_EQ(ran.out, "session " + std::string(kId) + " has ended\n");
  EXPECT_THAT(server.asked(), ElementsAre("DELETE /sessions/" + std::string(kId)));
}

std::string Page(std::string_view cursor) {
  return "{\"items\":[" + Session() + "],\"nextCursor\":" + std::string(cursor) + "}";
}

TEST(SessionList, SendsTheFilters) {
  const ScriptedServer server({Ok(Page("null"))});
  server.Run({"session", "list", "--user", kUser, "--tenant", kTenant, "--capacity", kCapacity,
              "--active", "false", "--limit", "7", "--cursor", "a/b c"});
  EXPECT_THAT(server.asked(),
              ElementsAre("GET /sessions?limit=7&userObjectId=" + std::string(kUser) +
                          "&tenantObjectId=" + kTenant + "&capacityId=" + kCapacity +
                          "&active=false&cursor=a%2Fb%20c"));
}

TEST(SessionList, IsATableWithoutTheColumnsThatAFlagFixes) {
  const ScriptedServer server({Ok(Page("null"))});
  const Ran all = server.Run({"session", "list"});
  EXPECT_THAT(all.out, testing::StartsWith("SESSION "));
  EXPECT_THAT(all.out, HasSubstr(kUser));
  EXPECT_THAT(all.out, HasSubstr("  2 Standard  "));
  const Ran one = server.Run({"session", "list", "--user", kUser});
  EXPECT_THAT(one.out, Not(HasSubstr(kUser)));
}

TEST(SessionList, FitsAHundredColumns) {
  const ScriptedServer server({Ok(Page("null"))});
  for (const std::vector<std::string>& filter :
       {std::vector<std::string>{},
        {"--user", kUser},
        {"--user", kUser, "--tenant", kTenant, "--capacity", kCapacity}}) {
    std::vector<std::string> arguments{"session", "list"};
    arguments.insert(arguments.end(), filter.begin(), filter.end());
    const std::string out = server.Run(arguments).out;
    const std::size_t heading = out.find('\n');
    EXPECT_LE(heading, 100U) << out;
    EXPECT_LE(out.find('\n', heading + 1) - heading - 1, 100U) << out;
  }
  const Ran one = server.Run({"session", "list", "--user", kUser});
  EXPECT_THAT(one.out, HasSubstr(kCapacity)) << "what a flag fixes makes room";
}

TEST(SessionList, IsOneTableOrOneDocumentHoweverManyPagesThereAre) {
  const std::string none = R"({"items":[],"nextCursor":null})";
  struct Row {
    const char* what;
    std::vector<http::Response> answers;
    std::vector<std::string> flags;
    testing::Matcher<const std::string&> out;
    std::string err;
    std::vector<std::string> asked;  ///< behind "GET /sessions?limit="
  };
  const auto lines = [](int count) {
    return testing::ResultOf([](const std::string& text) { return std::ranges::count(text, '\n'); },
                             count);
  };
  const Row rows[] = {
      {"it says that there are more",
       {Ok(Page("\"next\""))},
       {},
       lines(2),
       "There are more: add --all, or --cursor next\n",
       {"100"}},
      {"it says that there are none", {Ok(none)}, {}, testing::Eq(""), "no sessions\n", {"100"}},
      {"all, under one heading",
       {Ok(Page("\"two\"")), Ok(Page("\"three\"")), Ok(Page("null"))},
       {"--all"},
       lines(4),
       "",
       {"1000", "1000&cursor=two", "1000&cursor=three"}},
      {"all as JSON",
       {Ok(Page("\"two\"")), Ok(Page("null"))},
       {"--all", "--json"},
       testing::Eq("{\"items\":[" + Session() + "," + Session() + "],\"nextCursor\":null}\n"),
       "",
       {"1000", "1000&cursor=two"}},
      {"none as JSON", {Ok(none)}, {"--json"}, testing::Eq(none + "\n"), "", {"100"}},
  };
  for (const Row& row : rows) {
    const ScriptedServer server(row.answers);
    std::vector<std::string> arguments{"session", "list"};
    arguments.insert(arguments.end(), row.flags.begin(), row.flags.end());
    const Ran ran = server.Run(arguments);
    EXPECT_EQ(ran.exit, cli::kExitDone) << row.what;
    EXPECT_THAT(ran.out, row.out) << row.what;
    EXPECT_EQ(ran.err, row.err) << row.what;
    std::vector<std::string> asked;
    for (const std::string& each : row.asked) asked.push_back("GET /sessions?limit=" + each);
    EXPECT_EQ(server.asked(), asked) << row.what;
  }
}

TEST(SessionList, AServerThatRepeatsItsCursorIsNotAskedForEver) {
  const ScriptedServer server({Ok(Page("\"again\""))});
  const Ran ran = server.Run({"session", "list", "--all"});
  EXPECT_EQ(ran.exit, cli::kExitError);
  EXPECT_THAT(ran.err, HasSubstr("does not come to an end"));
  EXPECT_EQ(server.asked().size(), 2U);
}

TEST(SessionList, WrongFlagsAreRefusedBeforeAnythingIsSent) {
  const ScriptedServer server({Ok(Page("null"))});
  for (const std::pair<const char*, const char*>& flag : {std::pair{"--limit", "0"},
                                                          {"--limit", "1001"},
                                                          {"--limit", "x"},
                                                          {"--active", "yes"},
                                                          {"--user", "me"}})
    EXPECT_EQ(server.Run({"session", "list", flag.first, flag.second}).exit, cli::kExitUsage)
        << flag.first;
  EXPECT_THAT(server.asked(), ElementsAre());
}

}  // namespace
}  // namespace tenure::app
