#include "docs/page_runner.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "docs/expectation.hpp"
#include "docs/page.hpp"
#include "support/temp_dir.hpp"

namespace tenure::docs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

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
$ name=alice; mkdir folder; cd folder
$ echo "$name of $(basename "$PWD")"
alice of folder
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

TEST_F(DocsRunner, APageWithoutExamplesIsFine) { EXPECT_THAT(Run("# Only text\n"), IsEmpty()); }

}  // namespace
}  // namespace tenure::docs
