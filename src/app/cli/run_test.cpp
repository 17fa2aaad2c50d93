// The program as a whole, and its commands about settings.
#include "cli/run.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/commands.hpp"
#include "app/cli/test_support.hpp"
#include "cli/command.hpp"
#include "config/reference.hpp"

namespace tenure::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> Split(std::string_view words) {
  const std::size_t space = words.find(' ');
  if (space == std::string_view::npos) return {std::string(words)};
  return {std::string(words.substr(0, space)), std::string(words.substr(space + 1))};
}

TEST(Program, TheHelpNamesEveryCommandAndTheExitCodes) {
  const Ran ran = RunTenure({"--help"});
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_EQ(ran.err, "");
  for (const cli::Command& command : AllCommands())
    EXPECT_THAT(ran.out, HasSubstr("  " + std::string(command.words) + " "));
  EXPECT_THAT(ran.out, HasSubstr("Exit codes: 0 done"));
}

TEST(Program, EveryCommandHasAHelpPageThatFitsATerminal) {
  for (const cli::Command& command : AllCommands()) {
    std::vector<std::string> arguments = Split(command.words);
    arguments.emplace_back("--help");
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, cli::kExitDone) << command.words;
    EXPECT_THAT(ran.out, HasSubstr("Usage: tenure " + std::string(command.words)));
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(Program, WhatAFlagDoesNotTakeIsRefusedInWordsThatNameTheFlag) {
  for (const cli::Command& command : AllCommands())
    for (const cli::Flag& flag : command.flags) {
      if (!flag.check || !flag.name.starts_with("--")) continue;
      try {
        flag.check(flag, "no such thing");
      } catch (const cli::UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr(std::string(flag.name))) << command.words;
      } catch (const std::exception& error) {
        ADD_FAILURE() << command.words << " " << flag.name << ": " << error.what();
      }
    }
}

TEST(Program, HelpMayAlsoStandInFront) {
  EXPECT_EQ(RunTenure({"help", "session", "put"}).out, RunTenure({"session", "put", "--help"}).out);
  EXPECT_EQ(RunTenure({"help", "session"}).out, RunTenure({"session", "--help"}).out);
  EXPECT_EQ(RunTenure({"help"}).out, RunTenure({"--help"}).out);
}

TEST(Program, TheVersionIsOneLine) {
  EXPECT_EQ(RunTenure({"--version"}).out, "tenure " TENURE_VERSION "\n");
}

TEST(Program, WithoutACommandTheHelpGoesToStandardErrorAndItIsAUsageError) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, std::vector<std::string>{"session"}}) {
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, cli::kExitUsage);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("session put"));
  }
}

TEST(Program, AMisspeltCommandIsAnsweredWithTheOneThatWasMeant) {
  EXPECT_THAT(RunTenure({"serv"}).err, StartsWith("tenure: there is no command \"serv\"; did you "
                                                  "mean \"serve\"?\n"));
  EXPECT_THAT(RunTenure({"session", "gett", "x"}).err, HasSubstr("did you mean \"session get\"?"));
  EXPECT_THAT(RunTenure({"sesion", "get"}).err, HasSubstr("did you mean \"session\"?"));
  EXPECT_EQ(RunTenure({"frobnicate"}).exit, cli::kExitUsage);
  EXPECT_THAT(RunTenure({"\x1b[2J"}).err, HasSubstr("\"?[2J\"")) << "no control characters";
}

TEST(Program, WrongFlagsAreUsageErrorsThatPointToTheHelp) {
  const auto usage = [](const std::vector<std::string>& arguments) {
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, cli::kExitUsage);
    EXPECT_THAT(ran.err, HasSubstr("--help`.\n"));
    return ran.err.substr(0, ran.err.find('\n'));
  };
  EXPECT_EQ(usage({"session", "put"}), "tenure: --user, --tenant, --capacity, --kind are missing");
  EXPECT_EQ(usage({"session", "put", "--user"}), "tenure: --user needs a value");
  EXPECT_EQ(usage({"session", "put", "--user", "a", "--user", "b"}),
            "tenure: --user is given twice");
  EXPECT_EQ(usage({"session", "put", "--usr", "a"}),
            "tenure: there is no flag --usr; did you mean --user?");
  EXPECT_EQ(usage({"session", "get"}), "tenure: ID is missing");
  EXPECT_EQ(usage({"session", "get", "a", "b"}), "tenure: \"b\" is one argument too many");
  EXPECT_EQ(usage({"serve", "--set", "x"}), "tenure: --set takes NAME=VALUE, not \"x\"");
  EXPECT_EQ(usage({"migrate", "--dry-run", "--print"}),
            "tenure: give one of --dry-run, --print and --grant");
}

TEST(Program, FlagsOfTheServerMayStandBeforeTheCommand) {
  const ScriptedServer server({{.status = 200, .body = R"({"items":[],"next_cursor":null})"}});
  const Ran behind = RunTenure({"lease", "list", "--json", "--server", server.url()});
  EXPECT_EQ(behind.exit, cli::kExitDone) << behind.err;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--server", server.url(), "lease", "list", "--json"},
        {"--server=" + server.url(), "--json", "lease", "list"}}) {
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
    EXPECT_EQ(ran.out, behind.out);
  }
  EXPECT_THAT(RunTenure({"--server", server.url(), "config", "reference"}).err,
              StartsWith("tenure: there is no flag --server"));
  EXPECT_EQ(RunTenure({"--server", server.url()}).exit, cli::kExitUsage);
  EXPECT_EQ(RunTenure({"--server"}).exit, cli::kExitUsage);
}

TEST(Program, TheHelpOfACommandOnTheStoreNamesOnlyWhatCountsThere) {
  for (const char* words : {"migrate", "admin new-incarnation", "admin thaw", "config apply"}) {
    std::vector<std::string> arguments = Split(words);
    arguments.emplace_back("--help");
    const std::string page = RunTenure(arguments).out;
    EXPECT_THAT(page, HasSubstr("--store URL")) << words;
    EXPECT_THAT(page, HasSubstr("--set NAME=VALUE")) << words;
    for (const char* flag : {"--listen", "--ops-listen", "--workers"})
      EXPECT_THAT(page, Not(HasSubstr(flag))) << words;
  }
  EXPECT_THAT(RunTenure({"config", "show", "--help"}).out, HasSubstr("--workers on|off"));
}

TEST(Program, AWrongSettingIsAUsageErrorThatNamesTheFlag) {
  const Ran ran = RunTenure({"serve", "--listen", "nowhere", "--set", "log.level=loud"});
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  EXPECT_EQ(ran.err,
            "tenure: the configuration is wrong:\n"
            "--listen: listen: \"nowhere\" is not an address HOST:PORT\n"
            "--set log.level: log.level: \"loud\" is not one of debug, info, warn, error\n");
}

TEST(Program, WhatEveryCommandTakesThatAsksAServerStandsByItself) {
  const std::string page = RunTenure({"topic", "list", "--help"}).out;
  const std::size_t common = page.find("\nWhom to ask, and how to print:\n");
  ASSERT_NE(common, std::string::npos);
  for (const char* own : {"--columns NAMES", "--no-headings", "--watch[=2s]", "--all"})
    EXPECT_LT(page.find(own), common) << own;
  for (const char* flag : {"--server URL", "--context NAME", "--color", "--local", "--quiet"}) {
    EXPECT_EQ(page.find(flag, page.find(flag) + 1), std::string::npos) << flag << ": once";
    EXPECT_GT(page.find(flag), common) << flag;
  }
}

TEST(Program, AnotherWordForACommandIsThatCommand) {
  EXPECT_EQ(RunTenure({"message", "list", "--help"}).out,
            RunTenure({"topic", "list", "--help"}).out);
  EXPECT_THAT(RunTenure({"--help"}).out, Not(HasSubstr("  message list ")));
}

TEST(Program, TheReferenceOfTheCommandsIsTheOneThatTheirRowsMake) {
  const char* root = std::getenv("TENURE_SOURCE_DIR");
  if (!root) GTEST_SKIP() << "TENURE_SOURCE_DIR is not set (ctest sets it)";
  std::ifstream file(std::string(root) + "/docs/reference/commands.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(page.str() == RunTenure({"manual", "reference"}).out)
      << "docs/reference/commands.md is not up to date. Make it anew with:\n"
         "  build/tenure manual reference > docs/reference/commands.md";
}

TEST(Program, LooksAreOnlyWhatTheFlagsSay) {
  const ScriptedServer server(
      {{.status = 200,
        .body =
            R"({"items":[{"name":"mail","ready":3,)"
            R"("claimed":0,"dead":12,"oldest_at":"2026-01-01T00:00:00.000Z","oldest_age_ms":60000,)"
            R"("asked_at":null,"paused":true,"paused_reason":"down"}],"next_cursor":null})"}});
  EXPECT_EQ(server.Run({"topic", "list", "--columns", "dead,TOPIC"}).out,
            "DEAD    TOPIC\n12      mail\n");
  EXPECT_EQ(server.Run({"topic", "list", "--columns", "topic", "--no-headings"}).out, "mail\n");
  const Ran unknown = server.Run({"topic", "list", "--columns", "topic,age"});
  EXPECT_EQ(unknown.exit, cli::kExitUsage);
  EXPECT_THAT(unknown.err,
              HasSubstr("there is no column \"age\"; there are topic, ready, claimed"));
  EXPECT_THAT(server.Run({"topic", "list", "--color", "always"}).out, HasSubstr("\x1b[1mTOPIC "));
  EXPECT_THAT(server.Run({"topic", "list", "--color", "never"}, true).out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(server.Run({"topic", "list", "--utc", "--local"}).exit, cli::kExitUsage);
  EXPECT_EQ(server.Run({"topic", "list", "--watch=0"}).exit, cli::kExitUsage);
  EXPECT_THAT(server.Run({"topic", "list", "--watch=0"}).err, HasSubstr("from 100ms to 1d"));
}

TEST(Program, QuietLeavesNotesOutAndNothingElse) {
  const ScriptedServer server({{.status = 200, .body = R"({"items":[],"next_cursor":null})"}});
  EXPECT_EQ(server.Run({"topic", "list"}).err, "no topics\n");
  EXPECT_EQ(server.Run({"topic", "list", "--quiet"}).err, "");
  EXPECT_NE(server.Run({"lease", "show", "a b", "--quiet"}).err, "");
}

class ConfigCommands : public testing::Test {
 public:
  ConfigCommands() { mkdtemp(folder_.data()); }
  ~ConfigCommands() override { std::filesystem::remove_all(folder_); }

 protected:
  std::string File(std::string_view content) {
    const std::string path = folder_ + "/tenure.yaml";
    std::ofstream(path) << content;
    return path;
  }

 private:
  std::string folder_ = "/tmp/tenure-app-test-XXXXXX";
};

TEST_F(ConfigCommands, CheckAcceptsAGoodFile) {
  const std::string file = File("log: {level: warn}\n");
  const Ran ran = RunTenure({"config", "check", file});
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_EQ(ran.out, file + ": 1 setting, all right\n");
}

TEST_F(ConfigCommands, CheckSaysAllThatIsWrongInTheOrderOfTheFile) {
  const std::string file = File("lisen: x\nlog:\n  level: loud\n  level: warn\n");
  const Ran ran = RunTenure({"config", "check", file});
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "tenure: the configuration is wrong:\n" +                                             //
                file + ":1: \"lisen\" is not a setting or section; did you mean \"listen\"?\n" +  //
                file + ":3: log.level: \"loud\" is not one of debug, info, warn, error\n" +       //
                file + ":4: \"level\" is given twice, first on line 3\n");
}

TEST_F(ConfigCommands, ShowPrintsValuesAndWhereTheyComeFrom) {
  const std::string file = File("data: /srv\n");
  const Ran ran = RunTenure({"config", "show", "--config", file, "--listen", "localhost:1"});
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_THAT(ran.out, ContainsRegex("listen +localhost:1 +--listen\n"));
  EXPECT_THAT(ran.out, ContainsRegex("data +/srv +" + file + ":1\n"));
  EXPECT_THAT(ran.out, ContainsRegex("workers +on +default\n"));
}

TEST_F(ConfigCommands, ShowHidesPasswords) {
  const std::string file = File("store: {url: 'postgres://app:hunter2@db/x'}\n");
  for (const char* form : {"--json", "--workers=on"}) {
    const Ran ran = RunTenure({"config", "show", "--config", file, form});
    EXPECT_THAT(ran.out, HasSubstr("postgres://app:***@db/x"));
    EXPECT_THAT(ran.out, Not(HasSubstr("hunter2")));
  }
}

TEST_F(ConfigCommands, ReferencePrintsThePage) {
  EXPECT_EQ(RunTenure({"config", "reference"}).out, config::ReferencePage());
}

TEST_F(ConfigCommands, ATokenIsNotSentInClearTextUnlessThatIsSaid) {
  const std::string token = File("secret\n");
  const auto ran =
      RunTenure({"lease", "list", "--server", "http://192.0.2.1:8080", "--token-file", token});
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr("in clear text"));
}

}  // namespace
}  // namespace tenure::app
