// How commands behave at a terminal, in a pipe, and where there is neither.
#include "support/terminal.hpp"

#include <signal.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "support/port.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Terminal;
using testing::HasSubstr;
using testing::Not;

class AtATerminal : public testing::Test {
 protected:
  std::vector<std::pair<std::string, std::string>> Environment(const std::string& term = "xterm") {
    return {{"TENURE_SERVER", server_.Url()}, {"TERM", term}, {"NO_COLOR", ""}};
  }
  /// A shell's line, with `tenure` for the program.
  std::string Shell(const std::string& line) {
    const support::TempDir dir;
    std::filesystem::create_symlink(support::TenureBinary(), dir / "tenure");
    return support::RunCommand({.argv = {"bash", "-c", line},
                                .environment = {{"TENURE_SERVER", server_.Url()},
                                                {"XDG_CACHE_HOME", dir.path().string()},
                                                {"PATH", dir.path().string() + ":/usr/bin:/bin"}}});
  }
  std::vector<std::string> Tenure(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), support::TenureBinary());
    return arguments;
  }

  const support::ServerProcess& server_ = SharedServer(Engine::kSqlite);
  Api api_{server_};
  Lease lease_{api_};
};

TEST_F(AtATerminal, AWatchIsDrawnAgainWhenTheThingChangesAndFitsASmallTerminal) {
  lease_.Acquire({.holder = "web-1"});
  Terminal terminal(Tenure({"lease", "show", lease_.name(), "--watch=100ms"}), Environment(),
                    {.columns = 20, .rows = 5});
  terminal.WaitFor("held");
  terminal.Resize({.columns = 60, .rows = 20});
  lease_.Release();
  terminal.WaitFor("free");
  terminal.Type("\x03");  // Ctrl-C
  EXPECT_EQ(terminal.Wait(), 128 + SIGINT);
}

TEST_F(AtATerminal, ADumbOneGetsLinesWithoutColours) {
  lease_.Acquire({.holder = "web-1"});
  Terminal colours(Tenure({"lease", "show", lease_.name()}), Environment());
  EXPECT_EQ(colours.Wait(), 0);
  EXPECT_THAT(colours.shown(), HasSubstr("\x1b[32mheld"));
  for (const char* term : {"dumb", ""}) {
    Terminal dumb(Tenure({"lease", "show", lease_.name()}), Environment(term));
    EXPECT_EQ(dumb.Wait(), 0);
    EXPECT_THAT(dumb.shown(), Not(HasSubstr("\x1b")));
  }
}

TEST_F(AtATerminal, AnActOfAProtectedContextWantsItsNameTyped) {
  const support::TempDir config;
  const std::vector<std::pair<std::string, std::string>> environment{
      {"XDG_CONFIG_HOME", config.path().string()}, {"TERM", "xterm"}};
  EXPECT_EQ(
      RunTenure({"context", "add", "prod", "--server", server_.Url(), "--protected"}, environment)
          .exit_code,
      0);
  Terminal terminal(Tenure({"message", "enqueue", NewUuid(), "1"}), environment);
  terminal.WaitFor("Type its name to go on: ");
  terminal.Type("prod\n");
  EXPECT_EQ(terminal.Wait(), 0) << terminal.shown();
}

TEST_F(AtATerminal, APipeThatIsClosedEndsACommandQuietly) {
  for (const char* line : {"tenure --help | head -1", "tenure config reference | head -1",
                           "trap '' PIPE; tenure config reference | head -1"}) {
    const std::string out = Shell(std::string("{ ") + line + "; } 2>&1");
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << line << ": " << out;
  }
}

TEST_F(AtATerminal, AWatchEndsWhenItsReaderHasGone) {
  lease_.Acquire();
  EXPECT_THAT(Shell("tenure lease show " + lease_.name() + " --watch=100ms | head -1"),
              HasSubstr(lease_.name()));
}

TEST_F(AtATerminal, AClosedOutputIsNoConnection) {
  lease_.Acquire();
  EXPECT_EQ(Shell("tenure lease list 2>&1 >&-; echo $?"),
            "tenure: the output could not be written\n1\n");
  EXPECT_THAT(Shell("tenure --version 2>&-"), HasSubstr("tenure 0."));
}

TEST_F(AtATerminal, CompletionKnowsNamesAndIsSilentWithoutAServer) {
  lease_.Acquire();
  // On a busy machine the server may be too late for a shell; a person presses Tab again.
  const std::string complete =
      "source <(tenure completion bash); COMP_LINE=\"tenure why lease " +
      lease_.name().substr(0, lease_.name().size() - 1) +
      "\"; COMP_POINT=${#COMP_LINE}; for try in 1 2 3 4 5 6; do _tenure; "
      "[[ ${#COMPREPLY[@]} -gt 0 ]] && break; done; echo \"${COMPREPLY[@]}\"";
  EXPECT_EQ(Shell(complete), lease_.name() + "\n");
  const support::ReservedPort nobody;
  const std::string url = "http://127.0.0.1:" + std::to_string(nobody.number());
  EXPECT_EQ(Shell("tenure completion words -- --server " + url + " lease show '' 2>&1"), "");
}

TEST_F(AtATerminal, CompletionGivesUpOnAServerThatHangs) {
  support::ServerProcess own(support::ServerOptions{});
  own.Pause();
  EXPECT_EQ(Shell("tenure completion words -- --server " + own.Url() + " lease show '' 2>&1"), "");
  own.Resume();
}

/// A server of its own, since the example wants an empty one.
class Example : public testing::Test {
 protected:
  ProgramResult Tenure(std::vector<std::string> arguments) {
    return RunTenure(std::move(arguments), {{"TENURE_SERVER", server_->Url()}});
  }
  std::unique_ptr<support::ServerProcess> server_ =
      std::make_unique<support::ServerProcess>(support::ServerOptions{});
};

TEST_F(Example, FillsAnEmptyServerWithLifeAndTroubleOnce) {
  const auto made = Tenure({"demo", "--for", "1s"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(Tenure({"topic", "list"}).out, HasSubstr("the supplier is down"));
  EXPECT_THAT(Tenure({"lease", "list", "--state", "broken"}).out, HasSubstr("import"));
  EXPECT_THAT(Tenure({"message", "dead"}).out, HasSubstr("550 mailbox unavailable"));
  EXPECT_THAT(Tenure({"license", "list"}).out, HasSubstr("Editor"));
  EXPECT_THAT(Tenure({"inbox", "show", "stripe", "evt_1"}).out, HasSubstr("done"));
  EXPECT_THAT(Tenure({"job", "list"}).out, HasSubstr("nightly"));
  EXPECT_EQ(Tenure({"topic", "set", "orders", "--max-attempts", "5"}).exit_code, 0);
  EXPECT_THAT(Tenure({"topic", "show", "orders"}).out, HasSubstr("max attempts    5\n"));
  const auto again = Tenure({"demo"});
  EXPECT_EQ(again.exit_code, 4) << again.out;
  EXPECT_THAT(again.err, HasSubstr("has rows already"));
  EXPECT_EQ(Tenure({"demo", "--server", "http://192.0.2.1"}).exit_code, 2);
}

/// A server of its own, so that what it leaves behind is seen.
TEST_F(Example, TheBenchDoesRealWorkAndLeavesNothingThatIsHeldOrWaits) {
  const auto table = Tenure({"bench", "--for", "100ms", "--clients", "3"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* work : {"acquire a lease, release it", "renew a lease", "look at a lease",
                           "enqueue, claim, acknowledge"})
    EXPECT_THAT(table.out, HasSubstr(work));
  const auto document =
      support::Json::Parse(Tenure({"bench", "message", "--for", "100ms", "--json"}).out);
  EXPECT_EQ(document["clients"].Int(), 16);
  ASSERT_EQ(document["work"].Size(), 1U);
  EXPECT_GT(document["work"][0]["done"].Int(), 0);
  EXPECT_EQ(document["work"][0]["failed"].Int(), 0);
  EXPECT_EQ(Tenure({"lease", "list", "--state", "held"}).out, "");
  const Api api(*server_);
  for (const auto& topic : api.Get("/api/v1/topics").Json()["items"].Elements())
    EXPECT_EQ(topic["ready"].Int() + topic["claimed"].Int(), 0) << topic.Dump();
  EXPECT_EQ(Tenure({"bench", "--for", "1ms", "nothing"}).exit_code, 2);
  const support::ReservedPort nobody;
  EXPECT_EQ(Tenure({"bench", "--server", "http://127.0.0.1:" + std::to_string(nobody.number())})
                .exit_code,
            5);
}

TEST_F(Example, TopFollowsAResizeSurvivesItsServerAndLeavesTheTerminalAsItWas) {
  Tenure({"demo", "--for", "0s"});
  Terminal terminal({support::TenureBinary(), "top", "--screen", "topics"},
                    {{"TENURE_SERVER", server_->Url()}, {"TERM", "xterm"}});
  terminal.WaitFor("welcome");
  terminal.Type("3");
  terminal.WaitFor("nightly-report");
  terminal.Resize({.columns = 20, .rows = 5});
  terminal.Type("?");
  terminal.WaitFor("1 to 6");
  terminal.Resize({.columns = 200, .rows = 40});
  terminal.Type("x");
  terminal.WaitFor("db/migrate");
  server_->Kill();
  terminal.WaitFor("is `tenure serve` running?");
  terminal.Type("q");
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_TRUE(terminal.shown().ends_with("\x1b[?1049l")) << "the screen that was there before";
}

TEST_F(Example, TopGivesTheTerminalBackWhateverEndsIt) {
  Terminal idle({"/bin/true"});
  const termios before = idle.Settings();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Terminal terminal({support::TenureBinary(), "top"},
                      {{"TENURE_SERVER", server_->Url()}, {"TERM", "xterm"}});
    terminal.WaitFor("1 overview");
    EXPECT_FALSE(support::SameSettings(terminal.Settings(), before)) << "keys come at once";
    if (signal == SIGINT)
      terminal.Type("\x03");
    else
      terminal.Kill(signal);
    EXPECT_EQ(terminal.Wait(), 128 + signal);
    EXPECT_TRUE(support::SameSettings(terminal.Settings(), before));
    EXPECT_TRUE(terminal.shown().ends_with("\x1b[?1049l"));
  }
}

}  // namespace
}  // namespace tenure::api
