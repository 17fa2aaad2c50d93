#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/test_support.hpp"
#include "config/reference.hpp"

namespace tenure::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_EQ(ran.out, file + ": 1 setting, all right\n");
}

TEST_F(ConfigCommands, CheckSaysAllThatIsWrongInTheOrderOfTheFile) {
  const std::string file = File("lisen: x\nlog:\n  level: loud\n  level: warn\n");
  const Ran ran = RunTenure({"config", "check", file});
  EXPECT_EQ(ran.exit, kExitUsage);
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
  EXPECT_EQ(ran.exit, kExitDone);
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

}  // namespace
}  // namespace tenure::app
