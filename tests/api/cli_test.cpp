// `tenure session …` against a running server.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"
#include "support/port.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class SessionCommand : public testing::Test {
 protected:
  ProgramResult Session(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "session");
    return RunTenure(std::move(arguments),
                     {{"TENURE_SERVER", SharedServer(Engine::kSqlite).Url()}});
  }
  ProgramResult Put(const std::string& kind, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"put",         "--user",    key_.user,
                                       "--tenant",    key_.tenant, "--capacity",
                                       key_.capacity, "--kind",    kind};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Session(std::move(arguments));
  }
  std::string PutId() { return Json::Parse(Put("1", {"--json"}).out)["sessionId"].Text(); }

  Key key_ = NewKey();
};

TEST_F(SessionCommand, PutSaysWhatHappenedToPeople) {
  const auto created = Put("basic");
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_THAT(created.out, HasSubstr("status    created\n"));
  EXPECT_THAT(created.out, HasSubstr("1 Basic"));
  EXPECT_THAT(created.out, HasSubstr(key_.user));
  EXPECT_THAT(created.out, testing::ContainsRegex("left      (30d 0h|29d 23h)"));
  EXPECT_THAT(Put("1").out, HasSubstr("status    existing\n"));
  const auto upgraded = Put("Premium");
  EXPECT_THAT(upgraded.out, HasSubstr("status    upgraded\n"));
  EXPECT_THAT(upgraded.out, HasSubstr("3 Premium"));
  EXPECT_THAT(upgraded.out, HasSubstr("replaces  "));
}

TEST_F(SessionCommand, PutSaysWhatHappenedToPrograms) {
  const auto created = Put("standard", {"--json"});
  EXPECT_EQ(created.exit_code, 0);
  EXPECT_EQ(created.err, "");
  const Json body = Json::Parse(created.out);
  EXPECT_EQ(body["status"].Text(), "created");
  EXPECT_EQ(body["sessionKind"].Int(), 2);
}

TEST_F(SessionCommand, AnotherTenantsSessionIsExitCode4) {
  Put("1");
  key_.tenant = NewUuid();
  const auto conflict = Put("1");
  EXPECT_EQ(conflict.exit_code, 4);
  EXPECT_EQ(conflict.out, "");
  EXPECT_THAT(conflict.err, HasSubstr("another tenant"));
  const auto json = Put("1", {"--json"});
  EXPECT_EQ(json.exit_code, 4);
  EXPECT_EQ(Json::Parse(json.err)["status"].Int(), 409);
}

TEST_F(SessionCommand, GetShowsASession) {
  const std::string id = PutId();
  const auto shown = Session({"get", id});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, HasSubstr(id));
  EXPECT_THAT(shown.out, HasSubstr("1 Basic"));
  EXPECT_EQ(Json::Parse(Session({"get", id, "--json"}).out)["sessionId"].Text(), id);
}

TEST_F(SessionCommand, AnUnknownSessionIsExitCode3) {
  for (const char* command : {"get", "end"}) {
    const auto result = Session({command, NewUuid()});
    EXPECT_EQ(result.exit_code, 3) << command;
    EXPECT_THAT(result.err, HasSubstr("no session")) << command;
  }
}

TEST_F(SessionCommand, EndEndsItAndAgainIsNoError) {
  const std::string id = PutId();
  const auto ended = Session({"end", id});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("has ended"));
  const auto again = Session({"end", id, "--json"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(Session({"get", id}).out, HasSubstr("ended (deleted)"));
}

TEST_F(SessionCommand, ListShowsATableOrJsonPageAfterPage) {
  for (int i = 0; i < 5; ++i) {
    key_.capacity = NewUuid();
    EXPECT_EQ(Put("1").exit_code, 0);
  }
  const auto table = Session({"list", "--user", key_.user});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("SESSION"));
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 6);
  EXPECT_THAT(table.out, Not(HasSubstr("USER"))) << "a column that a flag fixes";

  const auto page = Session({"list", "--user", key_.user, "--limit", "2"});
  EXPECT_THAT(page.err, HasSubstr("There are more"));
  const auto all = Session({"list", "--user", key_.user, "--limit", "2", "--all", "--json"});
  EXPECT_EQ(Json::Parse(all.out)["items"].Size(), 5U);
  EXPECT_TRUE(Json::Parse(all.out)["nextCursor"].IsNull());
  const auto none = Session({"list", "--user", NewUuid()});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("no sessions"));
  EXPECT_EQ(Json::Parse(Session({"list", "--user", NewUuid(), "--json"}).out)["items"].Size(), 0U);
}

TEST_F(SessionCommand, AWrongCommandLineIsExitCode2) {
  EXPECT_EQ(Session({"get", "not-a-uuid"}).exit_code, 2);
  EXPECT_EQ(Session({"get"}).exit_code, 2);
  EXPECT_EQ(Session({"put", "--user", NewUuid()}).exit_code, 2);
  EXPECT_EQ(Put("gold").exit_code, 2);
  EXPECT_EQ(Session({"list", "--limit", "0"}).exit_code, 2);
  EXPECT_EQ(Session({"list", "--active", "maybe"}).exit_code, 2);
  EXPECT_EQ(Session({"lits"}).exit_code, 2);
  EXPECT_EQ(Session({"list", "--nonsense"}).exit_code, 2);
  EXPECT_EQ(Session({"list", "--server", "ftp://x"}).exit_code, 2);
}

TEST_F(SessionCommand, WithoutAServerItSaysSoWithExitCode5) {
  const support::ReservedPort nobody;
  const std::string url = "http://127.0.0.1:" + std::to_string(nobody.number());
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, {"get", NewUuid()}, {"end", NewUuid()}}) {
    auto with_server = arguments;
    with_server.insert(with_server.end(), {"--server", url});
    const auto result = Session(with_server);
    EXPECT_EQ(result.exit_code, 5);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(url));
  }
}

TEST_F(SessionCommand, TheMainPageListsTheExitCodes) {
  const auto help = RunTenure({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* words : {"0 done", "1 error", "2 the command line", "3 not found", "4 conflict",
                            "5 nothing answers", "6 the lease was lost"})
    EXPECT_THAT(help.out, HasSubstr(words));
  EXPECT_THAT(RunTenure({"--version"}).out, MatchesRegex("tenure [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace tenure::api
