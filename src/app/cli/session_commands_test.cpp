#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/test_support.hpp"

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

http::Response Ok(std::string body) {
  return {.status = 200, .body = std::move(body), .headers = {}};
}

http::Response Refusal(int status, std::string body) {
  return {.status = status,
          .body = std::move(body),
          .content_type = "application/problem+json",
          .headers = {}};
}

std::vector<std::string> Put(const ScriptedServer& server, std::string_view kind = "standard") {
  return {"session", "put",    "--user",          kUser,      "--tenant",  kTenant, "--capacity",
          kCapacity, "--kind", std::string(kind), "--server", server.url()};
}

std::vector<std::string> Get(const ScriptedServer& server) {
  return {"session", "get", kId, "--server", server.url()};
}

TEST(SessionPut, SendsTheFourFields) {
  const ScriptedServer server({Ok(Session(R"(,"status":"created")"))});
  EXPECT_EQ(RunTenure(Put(server)).exit, kExitDone);
  EXPECT_EQ(RunTenure(Put(server, "PREMIUM")).exit, kExitDone);
  const std::string start = "PUT /sessions {\"userObjectId\":\"" + std::string(kUser) +
                            "\",\"tenantObjectId\":\"" + kTenant + "\",\"capacityId\":\"" +
                            kCapacity + "\",\"sessionKind\":";
  EXPECT_THAT(server.asked(), ElementsAre(start + "2}", start + "3}"));
}

TEST(SessionPut, ShowsTheSessionToPeople) {
  const ScriptedServer server({Ok(Session(R"(,"status":"upgraded","previousSessionId":"old")"))});
  const Ran ran = RunTenure(Put(server));
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("status    upgraded\nsession   0197c1f2-8a34-7d10"));
  EXPECT_THAT(ran.out, HasSubstr("kind      2 Standard\n"));
  EXPECT_THAT(ran.out, HasSubstr("end       2999-01-20T10:00:00.000Z\n"));
  EXPECT_THAT(ran.out, HasSubstr("replaces  old\n"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("left      [0-9]+d [0-9]+h\n"));
}

TEST(SessionPut, PrintsTheServersJsonForPrograms) {
  const ScriptedServer server({Ok(Session() + "\n")});
  std::vector<std::string> arguments = Put(server);
  arguments.emplace_back("--json");
  EXPECT_EQ(RunTenure(arguments).out, Session() + "\n");
}

TEST(SessionPut, WrongValuesAreRefusedBeforeAnythingIsSent) {
  const ScriptedServer server({Ok(Session())});
  EXPECT_EQ(RunTenure(Put(server, "gold")).exit, kExitUsage);
  EXPECT_EQ(RunTenure(Put(server, "4")).exit, kExitUsage);
  std::vector<std::string> arguments = Put(server);
  arguments[3] = "me";
  const Ran ran = RunTenure(arguments);
  EXPECT_EQ(ran.exit, kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("--user: \"me\" is not a UUID"));
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(SessionCommands, ARefusalNamesItsFields) {
  const ScriptedServer server({Refusal(
      400,
      R"({"title":"T","status":400,"detail":"Two fields are wrong.","errors":[)"
      R"({"field":"sessionKind","message":"must be 1"},{"field":"x","message":"unknown"}]})")});
  const Ran ran = RunTenure(Put(server));
  EXPECT_EQ(ran.exit, kExitError);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "tenure: Two fields are wrong.\n  sessionKind: must be 1\n  x: unknown\n");
}

TEST(SessionCommands, ExitCodesFollowTheStatus) {
  const std::pair<int, int> codes[] = {
      {404, kExitNotFound}, {409, kExitConflict}, {503, kExitUnavailable}, {429, kExitUnavailable},
      {400, kExitError},    {403, kExitError},    {500, kExitError},       {302, kExitError}};
  for (const auto& [status, exit] : codes) {
    const ScriptedServer server({Refusal(status, R"({"title":"Title","detail":"Because."})")});
    const Ran ran = RunTenure(Get(server));
    EXPECT_EQ(ran.exit, exit) << status;
    EXPECT_THAT(ran.err, HasSubstr("Because.")) << status;
  }
}

TEST(SessionCommands, ABusyServerSaysWhenToTryAgain) {
  http::Response busy = Refusal(503, R"({"detail":"The queue is full.","request_id":"r1"})");
  busy.headers.emplace_back("Retry-After", "2");
  const ScriptedServer server({busy});
  EXPECT_EQ(RunTenure(Get(server)).err,
            "tenure: The queue is full.\nTry again in 2 s.\n(request r1)\n");
}

TEST(SessionCommands, WithJsonARefusalIsTheServersDocumentOnStandardError) {
  const ScriptedServer server({Refusal(404, R"({"status":404,"detail":"No."})")});
  std::vector<std::string> arguments = Get(server);
  arguments.emplace_back("--json");
  const Ran ran = RunTenure(arguments);
  EXPECT_EQ(ran.exit, kExitNotFound);
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
         {Put(server), Get(server),
          std::vector<std::string>{"session", "list", "--server", server.url()}}) {
      const Ran ran = RunTenure(arguments);
      EXPECT_EQ(ran.exit, kExitError) << body;
      EXPECT_THAT(ran.err, HasSubstr("is not understood")) << body;
    }
  }
}

TEST(SessionCommands, ARefusalWithoutAProblemDocumentIsReportedByItsStatus) {
  for (const char* body : {"", "<html>Bad Gateway</html>", "[1]"}) {
    const ScriptedServer server({Refusal(502, body)});
    const Ran ran = RunTenure(Get(server));
    EXPECT_EQ(ran.exit, kExitUnavailable);
    EXPECT_EQ(ran.err, "tenure: the server answered 502 without saying why\n");
  }
}

TEST(SessionCommands, ControlCharactersOfAServerDoNotReachTheTerminal) {
  const std::string evil = R"(\u001b[2J\u009b\u202e)";
  const ScriptedServer good(
      {Ok(Session(R"(,"status":")" + evil + R"(","previousSessionId":")" + evil + R"(")"))});
  const ScriptedServer bad({Refusal(409, R"({"detail":")" + evil + R"(","errors":[{"field":")" +
                                             evil + R"(","message":"m"}]})")});
  std::vector<std::string> json = Put(good);
  json.emplace_back("--json");
  for (const Ran& ran :
       {RunTenure(Put(good), true), RunTenure(Put(bad), true), RunTenure(json, true)}) {
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\u202e")));
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\xC2\x9B")));
  }
}

TEST(SessionCommands, WhenNothingAnswersItMayBeTriedAgain) {
  const Ran ran = RunTenure({"session", "get", kId, "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.exit, kExitUnavailable);
  EXPECT_THAT(ran.err, HasSubstr("nothing answers at http://127.0.0.1:1"));
}

TEST(SessionCommands, AnAddressThatIsNoServerIsAUsageError) {
  for (const char* url : {"", "127.0.0.1:8080", "http://", "ftp://x", "http://u:hunter2@x",
                          "http://x/path", "http://x y"}) {
    const Ran ran = RunTenure({"session", "get", kId, "--server", url});
    EXPECT_EQ(ran.exit, kExitUsage) << url;
    EXPECT_THAT(ran.err, Not(HasSubstr("hunter2")));
  }
}

TEST(SessionGet, AnEndedSessionSaysWhy) {
  std::string body = Session(R"(,"endReason":"expired")");
  body.replace(body.find("true"), 4, "false");
  const ScriptedServer server({Ok(body)});
  const Ran ran = RunTenure(Get(server));
  EXPECT_THAT(ran.out, HasSubstr("state     ended (expired)\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("left")));
  EXPECT_THAT(server.asked(), ElementsAre("GET /sessions/" + std::string(kId)));
}

TEST(SessionGet, OnlyUuidsReachThePath) {
  const ScriptedServer server({Ok(Session())});
  EXPECT_EQ(RunTenure({"session", "get", "../admin", "--server", server.url()}).exit, kExitUsage);
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(SessionEnd, EndsIt) {
  const ScriptedServer server({http::Response{.status = 204, .body = {}, .headers = {}}});
  const Ran ran = RunTenure({"session", "end", kId, "--server", server.url()});
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_EQ(ran.out, "session " + std::string(kId) + " has ended\n");
  EXPECT_THAT(server.asked(), ElementsAre("DELETE /sessions/" + std::string(kId)));
}

std::string Page(std::string_view cursor) {
  return "{\"items\":[" + Session() + "],\"nextCursor\":" + std::string(cursor) + "}";
}

TEST(SessionList, SendsTheFilters) {
  const ScriptedServer server({Ok(Page("null"))});
  RunTenure({"session", "list", "--user", kUser, "--tenant", kTenant, "--capacity", kCapacity,
             "--active", "false", "--limit", "7", "--cursor", "a/b c", "--server", server.url()});
  EXPECT_THAT(server.asked(),
              ElementsAre("GET /sessions?limit=7&userObjectId=" + std::string(kUser) +
                          "&tenantObjectId=" + kTenant + "&capacityId=" + kCapacity +
                          "&active=false&cursor=a%2Fb%20c"));
}

TEST(SessionList, IsATableWithoutTheColumnsThatAFlagFixes) {
  const ScriptedServer server({Ok(Page("null"))});
  const Ran all = RunTenure({"session", "list", "--server", server.url()});
  EXPECT_THAT(all.out, testing::StartsWith("SESSION "));
  EXPECT_THAT(all.out, HasSubstr(kUser));
  EXPECT_THAT(all.out, HasSubstr("  2 Standard  "));
  const Ran one = RunTenure({"session", "list", "--user", kUser, "--server", server.url()});
  EXPECT_THAT(one.out, Not(HasSubstr(kUser)));
}

TEST(SessionList, SaysWhenThereAreMore) {
  const ScriptedServer server({Ok(Page("\"next\""))});
  const Ran ran = RunTenure({"session", "list", "--server", server.url()});
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_EQ(ran.err, "There are more: add --all, or --cursor next\n");
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST(SessionList, SaysWhenThereAreNone) {
  const ScriptedServer server({Ok(R"({"items":[],"nextCursor":null})")});
  const Ran ran = RunTenure({"session", "list", "--server", server.url()});
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "no sessions\n");
}

TEST(SessionList, AllGoesThroughThePagesUnderOneHeading) {
  const ScriptedServer server({Ok(Page("\"two\"")), Ok(Page("\"three\"")), Ok(Page("null"))});
  const Ran ran = RunTenure({"session", "list", "--all", "--server", server.url()});
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 4);
  EXPECT_THAT(server.asked(),
              ElementsAre("GET /sessions?limit=1000", "GET /sessions?limit=1000&cursor=two",
                          "GET /sessions?limit=1000&cursor=three"));
}

TEST(SessionList, AllAsJsonIsOneDocument) {
  const ScriptedServer server({Ok(Page("\"two\"")), Ok(Page("null"))});
  const Ran ran = RunTenure({"session", "list", "--all", "--json", "--server", server.url()});
  EXPECT_EQ(ran.out, "{\"items\":[" + Session() + "," + Session() + "],\"nextCursor\":null}\n");
}

TEST(SessionList, NoneAsJsonIsOneDocumentToo) {
  const ScriptedServer server({Ok(R"({"items":[],"nextCursor":null})")});
  const Ran ran = RunTenure({"session", "list", "--json", "--server", server.url()});
  EXPECT_EQ(ran.out, "{\"items\":[],\"nextCursor\":null}\n");
}

TEST(SessionList, AServerThatRepeatsItsCursorIsNotAskedForEver) {
  const ScriptedServer server({Ok(Page("\"again\""))});
  const Ran ran = RunTenure({"session", "list", "--all", "--server", server.url()});
  EXPECT_EQ(ran.exit, kExitError);
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
    EXPECT_EQ(
        RunTenure({"session", "list", flag.first, flag.second, "--server", server.url()}).exit,
        kExitUsage)
        << flag.first;
  EXPECT_THAT(server.asked(), ElementsAre());
}

}  // namespace
}  // namespace tenure::app
