#include "app/cli/run.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/test_support.hpp"

namespace tenure::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> Split(std::string_view words) {
  const std::size_t space = words.find(' ');
  if (space == std::string_view::npos) return {std::string(words)};
  return {std::string(words.substr(0, space)), std::string(words.substr(space + 1))};
}

TEST(Program, TheHelpNamesEveryCommandAndTheExitCodes) {
  const Ran ran = RunTenure({"--help"});
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_EQ(ran.err, "");
  for (const auto& command : AllCommands())
    EXPECT_THAT(ran.out, HasSubstr("  " + std::string(command->words()) + " "));
  EXPECT_THAT(ran.out, HasSubstr("Exit codes: 0 done"));
}

TEST(Program, EveryCommandHasAHelpPageThatFitsATerminal) {
  for (const auto& command : AllCommands()) {
    std::vector<std::string> arguments = Split(command->words());
    arguments.emplace_back("--help");
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, kExitDone) << command->words();
    EXPECT_THAT(ran.out, HasSubstr("Usage: tenure " + std::string(command->words())));
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
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
    EXPECT_EQ(ran.exit, kExitUsage);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("session put"));
  }
}

TEST(Program, AMisspeltCommandIsAnsweredWithTheOneThatWasMeant) {
  EXPECT_THAT(RunTenure({"serv"}).err, StartsWith("tenure: there is no command \"serv\"; did you "
                                                  "mean \"serve\"?\n"));
  EXPECT_THAT(RunTenure({"session", "gett", "x"}).err, HasSubstr("did you mean \"session get\"?"));
  EXPECT_THAT(RunTenure({"sesion", "get"}).err, HasSubstr("did you mean \"session\"?"));
  EXPECT_EQ(RunTenure({"frobnicate"}).exit, kExitUsage);
  EXPECT_THAT(RunTenure({"\x1b[2J"}).err, HasSubstr("\"?[2J\"")) << "no control characters";
}

TEST(Program, WrongFlagsAreUsageErrorsThatPointToTheHelp) {
  const auto usage = [](const std::vector<std::string>& arguments) {
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, kExitUsage);
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
            "tenure: give one of --dry-run and --print");
}

TEST(Program, AWrongSettingIsAUsageErrorThatNamesTheFlag) {
  const Ran ran = RunTenure({"serve", "--listen", "nowhere", "--set", "log.level=loud"});
  EXPECT_EQ(ran.exit, kExitUsage);
  EXPECT_EQ(ran.err,
            "tenure: the configuration is wrong:\n"
            "--listen: listen: \"nowhere\" is not an address HOST:PORT\n"
            "--set log.level: log.level: \"loud\" is not one of debug, info, warn, error\n");
}

TEST(Program, TheCompletionScriptKnowsCommandsAndFlags) {
  const Ran ran = RunTenure({"completion", "bash"});
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_THAT(ran.out, HasSubstr("session) words=\"put get list end \""));
  EXPECT_THAT(ran.out, HasSubstr("lease) words=\"list show history break run \""));
  EXPECT_THAT(ran.out, HasSubstr("why) words=\"lease message \""));
  EXPECT_THAT(ran.out, HasSubstr("--state) COMPREPLY=($(compgen -W \"free held broken\""));
  EXPECT_THAT(
      ran.out,
      HasSubstr("\"session end\") words=\"--server --token-file --ca-file --json --help\""));
}

}  // namespace
}  // namespace tenure::app
