// The examples of README.md and docs/*.md do what they say; and what finds and runs them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "docs/page.hpp"
#include "support/azure_stores.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::docs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string Name(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

class DocsPage : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(DocsPage, ItsExamplesDoWhatTheySay) {
  if (GetParam().stem() == "lease-stores-azure" && !support::HasAzureStoresAndTime())
    GTEST_SKIP() << "only in ./test --long";
  for (const auto& finding : RunPage(GetParam(), support::TenureBinary())) ADD_FAILURE() << finding;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DocsPage);  // outside of ctest
INSTANTIATE_TEST_SUITE_P(All, DocsPage, testing::ValuesIn(AllPages()), Name);

TEST(DocsParser, FindsCommandsTheirLinesAndTheirOutput) {
  const auto page = ParsePage(R"(# Title
```console
$ one \
    more
out 1

out 2
$ two <<END
> text
> END
text
```
```sh
$ not an example
```
- in a list
  ```console
  $ three
    indented
  ```
)");
  EXPECT_THAT(page.errors, IsEmpty());
  ASSERT_THAT(page.commands, SizeIs(3));
  EXPECT_EQ(page.commands[0].text, "one \\\n    more");
  EXPECT_EQ(page.commands[0].line, 3);
  EXPECT_THAT(page.commands[0].expected, ElementsAre("out 1", "", "out 2"));
  EXPECT_EQ(page.commands[1].text, "two <<END\ntext\nEND");
  EXPECT_THAT(page.commands[1].expected, ElementsAre("text"));
  EXPECT_EQ(page.commands[2].text, "three");
  EXPECT_THAT(page.commands[2].expected, ElementsAre("  indented"));
}

TEST(DocsParser, ABlockThatIsNotRunSaysWhy) {
  EXPECT_THAT(ParsePage("```console no-run needs a second machine\n$ x\n```\n").errors, IsEmpty());
  EXPECT_THAT(ParsePage("```console no-run\n$ x\n```\n").errors,
              ElementsAre("1: no-run needs a reason"));
  EXPECT_THAT(ParsePage("```console norun x\n$ x\n```\n").errors, SizeIs(1));
  EXPECT_THAT(ParsePage("text\n```console\nout\n```\n").errors,
              ElementsAre("3: output without a '$ ' command"));
  EXPECT_THAT(ParsePage("```console\n$ x\n").errors, ElementsAre("1: the block never ends"));
}

TEST(DocsParser, FindsProgramsAndWhatTheyPrint) {
  const auto page = ParsePage("text\n```cpp\nint main() {\n}\n```\nprints\n```output\n1\n2\n```\n");
  EXPECT_THAT(page.errors, IsEmpty());
  ASSERT_THAT(page.programs, SizeIs(1));
  EXPECT_EQ(page.programs[0].line, 2);
  EXPECT_EQ(page.programs[0].text, "int main() {\n}\n");
  EXPECT_THAT(page.programs[0].expected, ElementsAre("1", "2"));
}

TEST(DocsParser, AProgramThatNobodyCouldCheckIsAnError) {
  EXPECT_THAT(ParsePage("```cpp\nx\n```\n").errors,
              ElementsAre("1: a program is followed by a block ```output"));
  EXPECT_THAT(ParsePage("```cpp\nx\n```\n```cpp\ny\n```\n```output\n1\n```\n").errors, SizeIs(1));
  EXPECT_THAT(ParsePage("```output\n1\n```\n").errors, ElementsAre("1: output without a program"));
}

TEST(DocsParser, AFenceInsideABlockOfAnotherKindBeginsNothing) {
  EXPECT_THAT(ParsePage("```markdown\n```console\n$ x\n```\n").commands, IsEmpty());
}

TEST(DocsExpectation, WhatDiffersFromRunToRunIsNormalised) {
  EXPECT_EQ(Normalised("id 0190f3c1-7a2b-7c3d-8e4f-0123456789ab at 2025-12-21T10:00:00.123Z  \r"),
            "id <uuid> at <time>");
  EXPECT_EQ(Normalised("Date: Mon, 15 Dec 2025 10:00:00 GMT"), "Date: <time>");
  EXPECT_EQ(Normalised("http://127.0.0.1:41234/x in 12.5 ms"),
            "http://127.0.0.1:<port>/x in <duration>");
  EXPECT_EQ(Normalised("v1.2 has 3 seats"), "v1.2 has 3 seats");
}

TEST(DocsExpectation, ThreeDotsStandForLinesAndForText) {
  EXPECT_TRUE(Matches({"a", "...", "z"}, {"a", "b", "c", "z"}));
  EXPECT_TRUE(Matches({"a", "...", "z"}, {"a", "z"}));
  EXPECT_TRUE(Matches({"..."}, {}));
  EXPECT_TRUE(Matches({"...", "m", "..."}, {"k", "m", "m", "z"}));
  EXPECT_TRUE(Matches({R"("token": "ey...Q", ...)"}, {R"("token": "eyJhbGciQ", "x": 1)"}));
  EXPECT_FALSE(Matches({"a", "...", "z"}, {"a", "b"}));
  EXPECT_FALSE(Matches({"a"}, {"a", "b"}));
  EXPECT_FALSE(Matches({"a", "b"}, {"a"}));
  EXPECT_FALSE(Matches({}, {"a"}));
}

TEST(DocsExpectation, TheDifferenceMarksWhereTheyPart) {
  EXPECT_EQ(Difference({"a", "b"}, {"a", "c"}),
            "  expected:\n      | a\n      | b\n  got:\n      | a\n  --> | c\n");
  EXPECT_EQ(Difference({"a", "b"}, {"a"}),
            "  expected:\n      | a\n      | b\n  got:\n      | a\n  --> (ends here)\n");
}

/// A sample page, and a program that stands for tenure: it "serves" and it echoes its arguments.
class DocsRunner : public testing::Test {
 protected:
  std::vector<std::string> Run(const std::string& markdown) {
    std::ofstream(dir_ / "tenure") << R"(#!/bin/bash
if [[ $1 == serve ]]; then
  echo 'Tenure listens on http://127.0.0.1:4711'
  exec tail -f /dev/null
fi
echo "$TENURE_SERVER: $*"
)";
    std::filesystem::permissions(dir_ / "tenure", std::filesystem::perms::owner_all);
    std::ofstream(dir_ / "sample.md") << markdown;
    return RunPage(dir_ / "sample.md", dir_ / "tenure");
  }

 private:
  support::TempDir dir_;
};

TEST_F(DocsRunner, RunsThePageInOneShellAgainstItsOwnServer) {
  EXPECT_THAT(Run(R"md(A page.
```console
$ name=alice; mkdir tenure-data; cd tenure-data
$ echo "$name of $(basename "$PWD")"
alice of tenure-data
$ echo http://127.0.0.1:8080/x | sed s/127.0.0.1:4711/replaced/
http://replaced/x
```
Later, in another block:
```console
$ tenure hello "$name"
http://127.0.0.1:8080: hello alice
$ echo one; echo two >&2; false
one
two
```
```console no-run it would take for ever
$ sleep infinity
```
)md"),
              IsEmpty());
}

TEST_F(DocsRunner, NamesPageAndLineOfEachWrongExample) {
  const auto findings = Run(R"(
```console
$ echo wrong
right
$ false
$ echo 'unclosed
$ echo fine
fine
$ exit 3
$ echo not reached
```
)");
  EXPECT_THAT(findings,
              ElementsAre(AllOf(StartsWith("sample.md:3: $ echo wrong"), HasSubstr("--> | wrong")),
                          AllOf(StartsWith("sample.md:5: $ false"), HasSubstr("exit code 1")),
                          StartsWith("sample.md:6: $ echo 'unclosed"),
                          AllOf(StartsWith("sample.md:9: $ exit 3"), HasSubstr("ends the shell"))));
}

TEST_F(DocsRunner, WhatATourLeavesInTheCloneIsToldOf) {
  EXPECT_THAT(Run("```console\n$ mkdir build-of-mine tenure-data usage-sink-data\n```\n"),
              ElementsAre("sample.md: leaves build-of-mine behind, and git shows it"));
}

TEST_F(DocsRunner, ALoopWithoutAnEndIsRefused) {
  EXPECT_THAT(Run("```console\n$ until true; do sleep 1; done\n```\n"),
              ElementsAre("sample.md:2: may wait for ever"));
  EXPECT_THAT(Run("```console\n$ for try in 1 2; do true && break; done\n```\n"), IsEmpty());
}

TEST_F(DocsRunner, APageThatPutsTheBuildOnThePathFindsTheProgramOnlyThere) {
  EXPECT_THAT(Run(R"md(
```console
$ command -v tenure | grep -c "$PWD"
0
$ export PATH="$PWD/build:$PATH"
$ command -v tenure | grep -c "$PWD"
1
```
)md"),
              IsEmpty());
}

/// The folders that commands make where they are called, as their help pages name them.
TEST(FirstHour, WhatIsMadeByDefaultIsIgnoredByGit) {
  const std::regex folder(R"(\./([a-z-]+-data)\b)");
  std::set<std::string> made;
  for (const char* command : {"serve", "usage-sink"}) {
    const std::string help =
        support::RunCommand({.argv = {support::TenureBinary(), command, "--help"}});
    for (std::sregex_iterator at(help.begin(), help.end(), folder), end; at != end; ++at)
      made.insert((*at)[1].str() + "/");
  }
  EXPECT_THAT(made, ElementsAre("tenure-data/", "usage-sink-data/"));
  for (const std::string& each : made) EXPECT_TRUE(IsIgnored(each)) << each;
}

TEST(FirstHour, StartInstallsWhatTheTourCalls) {
  const std::string script =
      support::ReadFile(support::SourceDir() / "packaging" / "install-dependencies");
  const std::size_t begin = script.find("packages_build=(");
  const std::string build = script.substr(begin, script.find("\n)", begin) - begin);
  for (const char* package : {"curl", "jq"})
    EXPECT_TRUE(std::regex_search(build, std::regex("\\b" + std::string(package) + "\\b")))
        << package;
}

/// The commands that `tenure serve` suggests, run as they are printed by a shell that finds no
/// tenure unless `path` names it.
class Suggestions : public testing::Test {
 protected:
  static std::vector<std::string> Printed(const support::ServerProcess& server) {
    std::vector<std::string> commands;
    bool begun = false;
    for (const std::string& line : SplitLines(server.Output())) {
      if (begun && line.starts_with("  ")) commands.push_back(line.substr(2));
      begun = begun ? line.starts_with("  ") : line == "Try:";
    }
    return commands;
  }
  static std::string Run(const std::string& command, const std::string& path) {
    return support::RunCommand({.argv = {"sh", "-c", command}, .environment = {{"PATH", path}}});
  }
};

TEST_F(Suggestions, RunAsTheyArePrintedWithoutTenureOnThePath) {
  const support::TempDir dir;
  const auto odd = dir / "it's a folder";
  std::filesystem::create_directory(odd);
  std::filesystem::create_symlink(support::TenureBinary(), odd / "tenure");
  for (const auto& binary : {support::TenureBinary(), odd / "tenure"}) {
    const support::ServerProcess server(support::ServerOptions{.binary = binary});
    const auto commands = Printed(server);
    ASSERT_THAT(commands, SizeIs(3));
    for (const std::string& command : commands) {
      SCOPED_TRACE(command);
      EXPECT_THAT(Run(command, "/usr/bin:/bin"), Not(IsEmpty()));
    }
    EXPECT_THAT(Run(commands[1], "/usr/bin:/bin"), HasSubstr("2 Standard"));
  }
}

TEST_F(Suggestions, SayTenureWhereThatIsThisProgram) {
  const support::TempDir dir;
  std::filesystem::create_symlink(support::TenureBinary(), dir / "tenure");
  const std::string path = dir.path().string() + ":/usr/bin:/bin";
  const support::ServerProcess server(
      support::ServerOptions{.environment = {{"PATH", path}}, .binary = support::TenureBinary()});
  const auto commands = Printed(server);
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_THAT(commands[0], StartsWith("tenure session put"));
  for (const std::string& command : commands) EXPECT_THAT(Run(command, path), Not(IsEmpty()));
}

/// A page of docs/reference, by its lines.
std::set<std::string> ReferenceLines(const std::string& page) {
  const auto lines =
      SplitLines(support::ReadFile(support::SourceDir() / "docs" / "reference" / page));
  return {lines.begin(), lines.end()};
}
constexpr const char* kRenew =
    " is not up to date. Make it anew with the command in its first line.";

TEST(ReferencePages, TheOneOfTheRoutesIsMadeOfTheContract) {
  const auto root = support::SourceDir();
  EXPECT_TRUE(support::ReadFile(root / "docs" / "reference" / "api.md") ==
              support::RunCommand({.argv = {(root / "packaging" / "reference").string(), "api"}}))
      << "docs/reference/api.md" << kRenew;
}

TEST(ReferencePages, TheOneOfTheMetricsHasWhatAServerShowsAndNothingThatItNeverDoes) {
  const auto root = support::SourceDir();
  const support::ServerProcess server(support::ServerOptions{});
  const std::set<std::string> page = ReferenceLines("metrics.md");
  for (const std::string& line : SplitLines(support::RunCommand(
           {.argv = {(root / "packaging" / "reference").string(), "metrics", server.Url()}})))
    EXPECT_TRUE(page.contains(line)) << line << "\ndocs/reference/metrics.md" << kRenew;
  const std::string names =
      support::RunCommand({.argv = {"grep", "-rhoE", "--include=*.cpp", "\"[a-z]+(_[a-z0-9]+)+\"",
                                    (root / "src").string()}});
  for (const std::string& line : page) {
    if (!line.starts_with("| `")) continue;
    EXPECT_THAT(names, HasSubstr("\"" + line.substr(3, line.find('`', 3) - 3) + "\""))
        << "no metric of the program has that name";
  }
}

/// The headers that a user may include; what is below conformance/ is a part of conformance.hpp.
std::set<std::string> PublicHeaders() {
  const auto include = support::SourceDir() / "include";
  std::set<std::string> headers;
  for (const auto& file : std::filesystem::recursive_directory_iterator(include))
    if (file.path().extension() == ".hpp" && file.path().parent_path().stem() != "conformance")
      headers.insert(std::filesystem::relative(file.path(), include).string());
  return headers;
}

TEST(LibraryPage, HasAParagraphForEachPublicHeaderAndForNoOther) {
  const std::string page = support::ReadFile(support::SourceDir() / "docs" / "cpp.md");
  const std::regex paragraph(R"re(\n\*\*`(tenure/[a-z_/.]+)`\*\* )re");
  std::set<std::string> named;
  for (std::sregex_iterator at(page.begin(), page.end(), paragraph), end; at != end; ++at)
    EXPECT_TRUE(named.insert((*at)[1].str()).second) << (*at)[1].str() << ": once";
  EXPECT_EQ(named, PublicHeaders());
}

TEST_F(DocsRunner, APageWithoutExamplesIsFine) { EXPECT_THAT(Run("# Only text\n"), IsEmpty()); }

}  // namespace
}  // namespace tenure::docs
