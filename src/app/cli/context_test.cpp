// Contexts: which server is asked, with whose token, and where an act is asked about.
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/test_support.hpp"
#include "cli/command.hpp"

namespace tenure::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNoTopics = R"({"items":[],"next_cursor":null})";

class ContextCommands : public testing::Test {
 public:
  ContextCommands() {
    mkdtemp(folder_.data());
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    unsetenv("TENURE_SERVER");
  }
  ~ContextCommands() override {
    for (const char* name : {"XDG_CONFIG_HOME", "TENURE_SERVER", "TENURE_CONTEXT"}) unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

 protected:
  std::string File() const { return folder_ + "/tenure/contexts.yaml"; }
  void Write(std::string_view yaml, mode_t mode = 0600) const {
    std::filesystem::create_directories(folder_ + "/tenure");
    std::ofstream(File()) << yaml;
    chmod(File().c_str(), mode);
  }
  std::string Script(std::string_view text) const {
    std::ofstream(folder_ + "/token.sh") << text;
    return "sh " + folder_ + "/token.sh";
  }

  const ScriptedServer server_{{Ok(kNoTopics)}};

 private:
  std::string folder_ = "/tmp/tenure-context-XXXXXX";
};

TEST_F(ContextCommands, AServerUnderANameIsAskedUntilAnotherOneIsChosen) {
  EXPECT_EQ(RunTenure({"context", "add", "here", "--server", server_.url()}).out,
            fmt::format("here is {}, and asked from now on\n", server_.url()));
  EXPECT_EQ(RunTenure({"topic", "list"}).exit, cli::kExitDone);
  EXPECT_EQ(RunTenure({"context", "add", "below", "--server", "https://example.com/tenure/"}).exit,
            cli::kExitDone)
      << "as a proxy shows it";
  RunTenure({"context", "remove", "below"});
  for (const char* url : {"https:///tenure", "https://x//y", "https://x/y?z", "ftp://x"})
    EXPECT_EQ(RunTenure({"context", "add", "odd", "--server", url}).exit, cli::kExitUsage) << url;
  RunTenure({"context", "add", "gone", "--server", "http://127.0.0.1:1", "--protected"});
  EXPECT_EQ(RunTenure({"topic", "list", "--context", "gone"}).exit, cli::kExitUnavailable);
  EXPECT_EQ(RunTenure({"context", "use", "gone"}).exit, cli::kExitDone);
  EXPECT_EQ(RunTenure({"topic", "list"}).exit, cli::kExitUnavailable);
  setenv("TENURE_CONTEXT", "here", 1);
  EXPECT_EQ(RunTenure({"topic", "list"}).exit, cli::kExitDone);
  const std::string list = RunTenure({"context", "list"}).out;
  EXPECT_THAT(list, HasSubstr("gone     current  protected  http://127.0.0.1:1"));
  EXPECT_THAT(RunTenure({"context", "show", "--json"}).out, HasSubstr(R"("protected":true)"));
  struct stat file {};
  ASSERT_EQ(stat(File().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  EXPECT_EQ(RunTenure({"context", "add", "here", "--server", "http://x"}).exit, cli::kExitConflict);
  EXPECT_EQ(RunTenure({"context", "remove", "gone"}).out,
            "gone is removed; no context is current\n");
}

TEST_F(ContextCommands, AnUnknownOneIsAUsageErrorThatNamesTheOneThatWasMeant) {
  RunTenure({"context", "add", "staging", "--server", server_.url()});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"topic", "list", "--context", "stagign"},
        {"context", "use", "stagign"}}) {
    const Ran ran = RunTenure(arguments);
    EXPECT_EQ(ran.exit, cli::kExitUsage);
    EXPECT_THAT(ran.err, HasSubstr("no context \"stagign\""));
    EXPECT_THAT(ran.err, HasSubstr("did you mean staging?"));
  }
  EXPECT_EQ(RunTenure({"topic", "list", "--context", "staging", "--server", "http://x"}).exit,
            cli::kExitUsage);
}

TEST_F(ContextCommands, AFileThatOthersCanReadIsRefusedWithTheChmodThatHelps) {
  const std::string yaml =
      fmt::format("current: here\ncontexts:\n  here:\n    server: {}\n", server_.url());
  Write(yaml, 0640);
  const Ran refused = RunTenure({"topic", "list"});
  EXPECT_EQ(refused.exit, cli::kExitUsage);
  EXPECT_THAT(refused.err, HasSubstr("`chmod 600 " + File() + "`"));
  EXPECT_THAT(server_.asked(), IsEmpty());
  EXPECT_EQ(server_.Run({"topic", "list"}).exit, cli::kExitDone) << "with --server it is not read";
  chmod(File().c_str(), 0600);
  EXPECT_EQ(RunTenure({"topic", "list"}).exit, cli::kExitDone);
}

TEST_F(ContextCommands, WhatIsWrongInTheFileIsSaidWithItsLine) {
  Write("current: a\ncontexts:\n  a:\n    sever: x\n    protected: maybe\n");
  const Ran ran = RunTenure({"topic", "list"});
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  EXPECT_THAT(ran.err, HasSubstr(":4: \"sever\" is no field"));
  EXPECT_THAT(ran.err, HasSubstr(":5: \"protected\" takes true or false"));
  EXPECT_THAT(ran.err, HasSubstr(":3: \"a\" has no server"));
}

TEST_F(ContextCommands, ATokenCommandMustPrintOneToken) {
  const auto run = [&](std::string_view script) {
    Write(fmt::format("current: here\ncontexts:\n  here:\n    server: {}\n    token_command: {}\n",
                      server_.url(), Script(script)));
    return RunTenure({"topic", "list"});
  };
  EXPECT_EQ(run("echo Bearer abc").exit, cli::kExitDone) << "with or without the scheme";
  for (const auto& [script, why] :
       {std::pair("echo abc; exit 1", "failed"), std::pair("true", "printed nothing"),
        std::pair("echo a; echo b", "did not print one line with a token")}) {
    const Ran ran = run(script);
    EXPECT_EQ(ran.exit, cli::kExitUsage) << script;
    EXPECT_THAT(ran.err, HasSubstr(std::string("token_command of the context here ") + why));
  }
}

TEST_F(ContextCommands, ATokenOfAContextIsNotShownToAnotherServer) {
  Write(fmt::format(
      "current: here\ncontexts:\n  here:\n    server: https://a.example\n    token_command: {}\n",
      Script("exit 1")));
  EXPECT_EQ(server_.Run({"topic", "list"}).exit, cli::kExitDone) << "it would have failed";
  setenv("TENURE_SERVER", server_.url().c_str(), 1);
  EXPECT_EQ(RunTenure({"topic", "list"}).exit, cli::kExitDone);
}

TEST_F(ContextCommands, InAProtectedOneAnActWantsItsNameTyped) {
  RunTenure({"context", "add", "prod", "--server", server_.url(), "--protected"});
  const std::vector<std::string> act{"topic", "resume", "mail"};
  const Ran nobody = RunTenure(act);
  EXPECT_EQ(nobody.exit, cli::kExitUsage);
  EXPECT_THAT(nobody.err, HasSubstr("--yes must say that it is meant. Nothing happened"));
  for (const char* typed : {"", "y\n", "pro\n"})
    EXPECT_EQ(RunTenure(act, true, typed).exit, cli::kExitError) << typed;
  EXPECT_THAT(server_.asked(), IsEmpty());
  const Ran typed = RunTenure(act, true, "prod\n");
  EXPECT_EQ(typed.exit, cli::kExitDone) << typed.err;
  EXPECT_THAT(typed.err, HasSubstr(fmt::format("in prod ({})\n", server_.url())));
  EXPECT_EQ(RunTenure({"topic", "resume", "mail", "--yes"}).exit, cli::kExitDone);
  EXPECT_EQ(server_.asked().size(), 2U);
  EXPECT_EQ(RunTenure({"topic", "list"}).err, "no topics\n") << "a look is not asked about";
}

}  // namespace
}  // namespace tenure::app
