#include "config/reference.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/table.hpp"

namespace tenure::config {
namespace {

TEST(Reference, ThePageInTheRepositoryIsTheOneThatTheTableMakes) {
  const char* root = std::getenv("TENURE_SOURCE_DIR");
  if (!root) GTEST_SKIP() << "TENURE_SOURCE_DIR is not set (ctest sets it)";
  std::ifstream file(std::string(root) + "/docs/reference/settings.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(page.str() == ReferencePage())
      << "docs/reference/settings.md is not up to date. Make it anew with:\n"
         "  build/tenure config reference > docs/reference/settings.md";
}

TEST(Reference, ThePageAndTheHelpNameEverySetting) {
  for (const Setting& setting : Table()) {
    EXPECT_THAT(ReferencePage(), testing::HasSubstr("### " + std::string(setting.name) + "\n"));
    EXPECT_THAT(ReferencePage(), testing::HasSubstr(EnvironmentName(setting.name)));
    EXPECT_THAT(SettingsHelp(), testing::HasSubstr("  " + std::string(setting.name) + " "));
  }
}

TEST(Reference, TheHelpFitsATerminal) {
  std::istringstream lines(SettingsHelp());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

}  // namespace
}  // namespace tenure::config
