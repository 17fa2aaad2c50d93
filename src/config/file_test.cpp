#include "config/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/test_support.hpp"

namespace tenure::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "where: message" of everything that is wrong with the text.
std::vector<std::string> Refusals(std::string_view yaml) {
  Problems problems;
  FromYaml(yaml, "t.yaml", problems);
  std::vector<std::string> lines;
  for (const Problem& problem : problems) lines.push_back(problem.where + ": " + problem.message);
  return lines;
}

TEST(ConfigFile, GivesValuesWithTheirLines) {
  Problems problems;
  const std::vector<Given> given =
      FromYaml("listen: localhost:1\n\nsessions:\n  duration: 1d\n", "t.yaml", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[0].setting->name, "listen");
  EXPECT_EQ(given[0].origin.where, "t.yaml:1");
  EXPECT_EQ(given[1].setting->name, "sessions.duration");
  EXPECT_EQ(given[1].value, "1d");
  EXPECT_EQ(given[1].origin.where, "t.yaml:4");
}

TEST(ConfigFile, ASwitchForAWholeSectionIsAValueOrTheSection) {
  const auto names = [](std::string_view yaml) {
    Problems problems;
    std::vector<std::string> told;
    for (const Given& given : FromYaml(yaml, "t.yaml", problems))
      told.push_back(std::string(given.setting->name) + "=" + given.value);
    EXPECT_TRUE(problems.empty()) << yaml;
    return told;
  };
  EXPECT_THAT(names("rate_limits: off\n"), ElementsAre("rate_limits=off"));
  EXPECT_THAT(names("rate_limits:\n  messages: 100/s\n"),
              ElementsAre("rate_limits.messages=100/s"));
  EXPECT_THAT(names("rate_limits:\n  # messages: 100/s\n"), ElementsAre());
  EXPECT_THAT(Refusals("rate_limits: [off]\n"),
              ElementsAre("t.yaml:1: rate_limits takes on or off"));
}

TEST(ConfigFile, UnknownKeysAreRefusedAtEachLevel) {
  EXPECT_THAT(
      Refusals("lisen: x\nsessions:\n  duratoin: 1d\n  color: red\ncolours: {a: 1}\n"),
      ElementsAre("t.yaml:1: \"lisen\" is not a setting or section; did you mean \"listen\"?",
                  "t.yaml:3: \"duratoin\" is not a setting of sessions; did you mean "
                  "\"duration\"?",
                  "t.yaml:4: \"color\" is not a setting of sessions",
                  "t.yaml:5: \"colours\" is not a setting or section"));
}

TEST(ConfigFile, AKeyOfAnotherSectionIsTracked) {
  EXPECT_THAT(Refusals("duration: 1d\n"),
              ElementsAre("t.yaml:1: \"duration\" is not a setting or section; did you mean the "
                          "setting sessions.duration?"));
}

TEST(ConfigFile, DottedKeysAreRefusedWithTheNestedForm) {
  EXPECT_THAT(Refusals("sessions.duration: 1d\n"),
              ElementsAre("t.yaml:1: \"sessions.duration\" is not a setting or section; write it "
                          "nested, as \"sessions: {duration: …}\""));
}

TEST(ConfigFile, ValuesAndSectionsAreToldApart) {
  EXPECT_THAT(Refusals("sessions: 30d\nlisten: {port: 80}\ndata: [a]\nlog: [level]\n"),
              ElementsAre("t.yaml:1: sessions is a section: its settings stand below it",
                          "t.yaml:2: listen takes an address HOST:PORT",
                          "t.yaml:3: data takes a text of one line",
                          "t.yaml:4: log is a section: its settings stand below it"));
}

TEST(ConfigFile, HostsToPushToAreAListOfPatternsAndPrivateHosts) {
  Problems problems;
  const auto given =
      FromYaml("push:\n  allow:\n    - '*.example.com'\n    - {host: 10.1.2.3, private: true}\n",
               "t.yaml", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].value, "*.example.com, private 10.1.2.3");
  for (const char* element :
       {"{private: true}", "{host: a, b: c}", "[a]", "'a, b'", "{host: a, private: 1}"})
    EXPECT_THAT(Refusals(std::string("push:\n  allow:\n    - ") + element + "\n"),
                ElementsAre(testing::StartsWith("t.yaml:3: an element of push.allow is")))
        << element;
}

TEST(ConfigFile, TextsMayBeAList) {
  Problems problems;
  const auto given =
      FromYaml("queues:\n  files:\n    - a b.yaml\n    - /c.yaml\n", "t.yaml", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].value, "a b.yaml, /c.yaml");
  for (const char* element : {"'a, b'", "''", "[a]", "{a: b}"})
    EXPECT_THAT(Refusals(std::string("queues:\n  files:\n    - ") + element + "\n"),
                ElementsAre("t.yaml:3: an element of queues.files is a text without commas"))
        << element;
}

TEST(ConfigFile, ASettingWithoutAValueIsRefusedAnEmptySectionIsNot) {
  EXPECT_THAT(Refusals("data:\nsessions:\n#  duration: 1d\nlog: ~\n"),
              ElementsAre("t.yaml:1: data has no value"));
  EXPECT_THAT(Refusals("store: {url: ''}\n"), ElementsAre());
}

TEST(ConfigFile, TheRootIsAMapping) {
  for (const char* text : {"just text", "- a\n- b\n", "[1, 2]"})
    EXPECT_THAT(Refusals(text), ElementsAre(HasSubstr("holds names and values"))) << text;
  EXPECT_THAT(Refusals(""), ElementsAre());
}

TEST(ConfigFile, SecretsDoNotStandInTheFile) {
  const std::vector<std::string> refusals = Refusals("store:\n  password: hunter2\n");
  EXPECT_THAT(refusals, ElementsAre("t.yaml:2: the secret store.password does not stand in this "
                                    "file: name the file that holds it with store.password_file, "
                                    "or set TENURE_STORE_PASSWORD"));
}

TEST(ConfigFile, TextThatIsNotUtf8IsRefusedWithItsLine) {
  EXPECT_THAT(Refusals("data: a\nlisten: \xff\n"), ElementsAre("t.yaml:2: this is not UTF-8 text"));
  EXPECT_THAT(Refusals(std::string_view("data: a\0\n", 9)),
              ElementsAre("t.yaml:1: this is not UTF-8 text"));
  EXPECT_THAT(Refusals("\xff"), ElementsAre("t.yaml:1: this is not UTF-8 text"));
}

TEST(ConfigFile, AFileOfAnotherKindDoesNotFloodTheTerminal) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "key_" + std::to_string(i) + ": value\n";
  EXPECT_EQ(Refusals(text).size(), kMostProblems);
}

TEST(ConfigFile, FilesThatCannotBeReadAreRefusedByName) {
  Problems problems;
  FromFile("/nowhere/tenure.yaml", problems);
  FromFile("/tmp", problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, "/nowhere/tenure.yaml");
  EXPECT_EQ(problems[0].message, "cannot be read: No such file or directory");
  EXPECT_EQ(problems[1].message, "cannot be read: Is a directory");
}

TEST(ConfigFile, HugeFilesAreRefused) {
  Problems problems;
  const TemporaryFile largest("data: x\n" + std::string(1024 * 1024 - 8, '#'));
  FromFile(largest.path(), problems);
  EXPECT_TRUE(problems.empty());
  const TemporaryFile larger("data: x\n" + std::string(1024 * 1024 - 7, '#'));
  FromFile(larger.path(), problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, "is larger than 1024KiB");
}

TEST(File, JobsAreKeptAsTheyStandThereWithTheirLines) {
  Problems problems;
  FileJobs jobs;
  FromYaml(
      "log:\n  level: info\njobs:\n  - name: nightly\n    cron: '0 3 * * *'\n    priority: 3\n"
      "    enabled: false\n    payload: {a: [1, '2', x, null, 1.5e3, 007]}\n  - {name: '7'}\n",
      "t.yaml", problems, jobs);
  ASSERT_TRUE(problems.empty()) << problems.front().message;
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].json, R"({"name":"nightly","cron":"0 3 * * *","priority":3,"enabled":false,)"
                             R"("payload":{"a":[1,"2","x",null,1.5e3,"007"]}})");
  EXPECT_EQ((*jobs)[0].where, "t.yaml:4");
  EXPECT_EQ((*jobs)[0].lines.at("priority"), 6);
  EXPECT_EQ((*jobs)[1].json, R"({"name":"7"})");
}

TEST(File, JobsMayStandBesideTheirSettingsAndNoListSaysNothing) {
  const auto read = [](std::string_view text) {
    Problems problems;
    FileJobs jobs;
    FromYaml(text, "t.yaml", problems, jobs);
    return std::pair(jobs ? std::ssize(*jobs) : -1, problems.size());
  };
  using Read = std::pair<std::ptrdiff_t, std::size_t>;
  EXPECT_EQ(read("jobs:\n  max: 5\n  list:\n    - name: a\n"), Read(1, 0u));
  EXPECT_EQ(read("jobs:\n  max: 5\n"), Read(-1, 0u));
  EXPECT_EQ(read("jobs: []\n"), Read(0, 0u));
  EXPECT_EQ(read("jobs:\n  list: 7\n"), Read(-1, 1u));
  EXPECT_EQ(read("jobs:\n  - 7\n"), Read(0, 1u));
  EXPECT_EQ(read("log: {}\n"), Read(-1, 0u));
}

}  // namespace
}  // namespace tenure::config
