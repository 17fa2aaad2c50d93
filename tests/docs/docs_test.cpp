// The examples of README.md and docs/*.md do what they say.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "docs/page_runner.hpp"
#include "support/server_process.hpp"

namespace tenure::docs {
namespace {

std::vector<std::filesystem::path> Pages() {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  if (source == nullptr) return {};  // --gtest_list_tests outside of ctest
  const std::filesystem::path root = source;
  std::vector<std::filesystem::path> pages;
  if (std::filesystem::exists(root / "README.md")) pages.push_back(root / "README.md");
  if (std::filesystem::exists(root / "docs")) {
    for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::string Name(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

class DocsPage : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(DocsPage, ItsExamplesDoWhatTheySay) {
  for (const auto& finding : RunPage(GetParam(), support::TenureBinary())) ADD_FAILURE() << finding;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DocsPage);  // no page is written yet
INSTANTIATE_TEST_SUITE_P(All, DocsPage, testing::ValuesIn(Pages()), Name);

}  // namespace
}  // namespace tenure::docs
