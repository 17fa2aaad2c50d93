// The commands of webhooks against a server that gives prepared answers: what strangers wrote.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/test_support.hpp"
#include "cli/command.hpp"
#include "support/temp_dir.hpp"

namespace tenure::app {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Anybody who may comment on an issue writes them; JSON need not escape them.
const std::string kEvil =
    "{\"title\":\"\xc2\x9b"
    "2J\u202e\"}";
constexpr const char* kEvent = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";

TEST(WebhookPayload, IsObeyedByNoTerminalAndWholeForPrograms) {
  const ScriptedServer server({Ok(kEvil)});
  const Ran person = server.Run({"webhook", "payload", kEvent}, true);
  EXPECT_EQ(person.exit, cli::kExitDone) << person.err;
  for (const char* control : {"\xc2\x9b", "\u202e"})
    EXPECT_THAT(person.out, Not(HasSubstr(control)));
  EXPECT_EQ(server.Run({"webhook", "payload", kEvent}).out, kEvil);
}

TEST(QueueCheck, SaysWhatIsWrongInPrintableWords) {
  const support::TempDir folder;
  const std::string file = folder / "bots\u202e.yaml";
  std::ofstream(file) << "bots: [{name: \"b\\e[2J\", events: [push], \"\\e]0;x\\a\": 1}]\n";
  const Ran ran = RunTenure({"queue", "check", file});
  EXPECT_EQ(ran.exit, cli::kExitUsage);
  for (const char* control : {"\x1b", "\x07", "\u202e"})
    EXPECT_THAT(ran.err, Not(HasSubstr(control)));
}

}  // namespace
}  // namespace tenure::app
