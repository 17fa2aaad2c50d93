// What a shell is told may stand at the cursor.
#include <stdlib.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/commands.hpp"
#include "app/cli/test_support.hpp"
#include "cli/candidates.hpp"
#include "cli/command.hpp"

namespace tenure::app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Texts(const std::vector<std::string>& words) {
  static const cli::Commands all = AllCommands();
  std::vector<std::string> texts;
  for (const cli::Candidate& each : cli::Complete(all, words).words) texts.push_back(each.text);
  return texts;
}

TEST(Completion, KnowsTheWordsOfCommands) {
  EXPECT_THAT(Texts({"le"}), ElementsAre("lease"));
  EXPECT_THAT(Texts({"lease", ""}), ElementsAre("list", "show", "history", "break", "run"));
  EXPECT_THAT(Texts({"usage", "factors", ""}), Contains("set"));
  EXPECT_THAT(Texts({""}), AllOf(Contains("serve"), Contains("why"), Contains("--version")));
  EXPECT_THAT(Texts({"frobnicate", ""}), IsEmpty());
}

TEST(Completion, KnowsFlagsTheirValuesAndWhatWasGivenAlready) {
  EXPECT_THAT(Texts({"session", "end", "--"}),
              AllOf(Contains("--server"), Contains("--json"), Contains("--help")));
  EXPECT_THAT(Texts({"lease", "list", "--json", "--"}), Not(Contains("--json")));
  EXPECT_THAT(Texts({"lease", "list", "--state", ""}), ElementsAre("free", "held", "broken"));
  EXPECT_THAT(Texts({"lease", "list", "--state", "=", "h"}), ElementsAre("held"));
  EXPECT_THAT(Texts({"lease", "list", "--state=f"}), ElementsAre("--state=free"));
  EXPECT_THAT(Texts({"--server", "http://x", "lease", "hi"}), ElementsAre("history"));
  EXPECT_THAT(Texts({"lease", "run", "x", "--", "ls", "-"}), IsEmpty()) << "not ours";
}

TEST(Completion, LeavesFilesToTheShellAndNamesToTheServer) {
  EXPECT_TRUE(cli::Complete(AllCommands(), {"config", "check", ""}).files);
  EXPECT_TRUE(cli::Complete(AllCommands(), {"lease", "list", "--ca-file", ""}).files);
  const auto names = cli::Complete(AllCommands(), {"--server", "http://x", "why", "lease", "n"});
  ASSERT_TRUE(names.names);
  EXPECT_THAT(std::string(names.names->path), HasSubstr("/api/v1/leases"));
  EXPECT_EQ(names.server.Or("--server", ""), "http://x");
}

class CompletedNames : public testing::Test {
 public:
  CompletedNames() {
    mkdtemp(folder_.data());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~CompletedNames() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder_);
  }

 private:
  std::string folder_ = "/tmp/tenure-names-XXXXXX";
};

TEST_F(CompletedNames, ComeFromTheServerAndAreKeptForAWhile) {
  const ScriptedServer server({Ok(R"({"items":[{"name":"nightly"},{"name":"n b"},{"name":"other"},)"
                                  R"({"name":"n\u001b[2J"}],"next_cursor":null})")});
  const auto names = [&] {
    return RunTenure({"completion", "words", "--", "--server", server.url(), "lease", "show", "n"});
  };
  EXPECT_EQ(names().out, "nightly\t\n") << "only what a shell can take as a word";
  EXPECT_EQ(names().out, "nightly\t\n");
  EXPECT_THAT(server.asked(), ElementsAre("GET /api/v1/leases?limit=500&prefix=n"));
}

TEST_F(CompletedNames, WhatIsWrongIsSilence) {
  const ScriptedServer refusing({Refusal(401, R"({"title":"no"})")});
  const ScriptedServer strange({Ok("hello")});
  for (const std::string& url : {refusing.url(), strange.url(), std::string("http://127.0.0.1:1"),
                                 std::string("nonsense")}) {
    const Ran ran = RunTenure({"completion", "words", "--", "--server", url, "lease", "show", ""});
    EXPECT_EQ(ran.exit, cli::kExitDone);
    EXPECT_EQ(ran.out + ran.err, "") << url;
  }
}

TEST(Completion, TheScriptsAskTheProgram) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(RunTenure({"completion", shell}).out, HasSubstr("completion words -- ")) << shell;
}

}  // namespace
}  // namespace tenure::app
