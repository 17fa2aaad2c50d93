#include "config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/test_support.hpp"

namespace tenure::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// "where: message" of all that is wrong; empty when the sources load.
std::vector<std::string> Refusals(const Sources& sources) {
  std::vector<std::string> lines;
  try {
    Load(sources);
  } catch (const SettingsError& error) {
    for (const Problem& problem : error.problems())
      lines.push_back(problem.where + ": " + problem.message);
  }
  return lines;
}

std::string Where(const Loaded& loaded, std::string_view name) {
  return loaded.OriginOf(*FindSetting(name)).where;
}

TEST(Load, WithoutSourcesEverythingIsTheDefault) {
  const Loaded loaded = Load({});
  EXPECT_EQ(loaded.settings, Settings{});
  EXPECT_EQ(Where(loaded, "listen"), "default");
}

TEST(Load, FlagsWinOverTheEnvironmentAndThatOverTheFile) {
  const TemporaryFile file(
      "data: file\nlisten: file:1\nlog: {level: error}\nsessions: {duration: 1d}\n");
  const Loaded loaded =
      Load({.file = file.path(),
            .environment = {{"TENURE_LISTEN", "environment:2"}, {"TENURE_LOG_LEVEL", "warn"}},
            .flags = {{"--set", "log.level", "debug"}}});
  EXPECT_EQ(loaded.settings.data, "file");
  EXPECT_EQ(loaded.settings.listen, (Address{"environment", 2}));
  EXPECT_EQ(loaded.settings.log.level, base::LogLevel::kDebug);
  EXPECT_EQ(loaded.settings.sessions.duration_ms, 86'400'000);
  EXPECT_EQ(loaded.settings.workers, Settings{}.workers);
  EXPECT_EQ(Where(loaded, "data"), file.path() + ":1");
  EXPECT_EQ(Where(loaded, "listen"), "TENURE_LISTEN");
  EXPECT_EQ(Where(loaded, "log.level"), "--set log.level");
  EXPECT_EQ(Where(loaded, "workers"), "default");
}

TEST(Load, ReportsEverythingThatIsWrongAtOnce) {
  const TemporaryFile file("data: x\nsesions: {}\nhttp:\n  threads: many\n");
  EXPECT_THAT(
      Refusals({.file = file.path(),
                .environment = {{"TENURE_LOG_LEVEL", "loud"}, {"TENURE_NONSENSE", "x"}},
                .flags = {{"--listen", "listen", "nowhere"}, {"--set", "log.levle", "debug"}}}),
      ElementsAre(
          file.path() + ":2: \"sesions\" is not a setting or section; did you mean \"sessions\"?",
          file.path() + ":4: http.threads: \"many\" is not a whole number from 0 to 256",
          "TENURE_NONSENSE: there is no setting of that name",
          "TENURE_LOG_LEVEL: log.level: \"loud\" is not one of debug, info, warn, error",
          "--set log.levle: there is no setting of that name; did you mean log.level?",
          "--listen: listen: \"nowhere\" is not an address HOST:PORT"));
}

TEST(Load, AWrongValueIsRefusedAlsoWhenALaterSourceWins) {
  const TemporaryFile file("log: {level: loud}\n");
  EXPECT_THAT(Refusals({.file = file.path(), .environment = {{"TENURE_LOG_LEVEL", "info"}}}),
              ElementsAre(HasSubstr(":1: log.level: \"loud\" is not")));
}

TEST(Load, AFlagThatIsGivenTwiceIsRefused) {
  EXPECT_THAT(Refusals({.flags = {{"--listen", "listen", "a:1"}, {"--set", "listen", "b:2"}}}),
              ElementsAre("--set listen: listen is given twice, first by --listen"));
}

TEST(Load, ASecretComesFromTheEnvironmentOrFromAFile) {
  const Flag store{"--store", "store.url", "postgres://app@db/x"};
  const TemporaryFile secret("s3cret\n");
  const std::string joined = "postgres://app:s3cret@db/x";
  EXPECT_EQ(Load({.environment = {{"TENURE_STORE_PASSWORD", "s3cret"}}, .flags = {store}})
                .settings.store.url,
            joined);
  EXPECT_EQ(Load({.environment = {{"TENURE_STORE_PASSWORD_FILE", secret.path()}}, .flags = {store}})
                .settings.store.url,
            joined);
  const TemporaryFile yaml("store:\n  url: postgres://app@db/x\n  password_file: " + secret.path());
  EXPECT_EQ(Load({.file = yaml.path()}).settings.store.url, joined);
}

TEST(Load, ThePasswordAlsoServesTheDirectAddress) {
  const Settings settings = Load({.environment = {{"TENURE_STORE_PASSWORD", "s3cret"},
                                                  {"TENURE_STORE_URL", "postgres://app@pool/x"},
                                                  {"TENURE_STORE_LISTEN", "postgres://app@db/x"}}})
                                .settings;
  EXPECT_EQ(settings.store.listen, "postgres://app:s3cret@db/x");
}

TEST(Load, ASecretOnTheCommandLineIsRefusedWithoutQuotingIt) {
  const auto refusals = Refusals({.flags = {{"--set", "store.password", "hunter2"}}});
  EXPECT_THAT(refusals, ElementsAre("--set store.password: others can read a command line: give "
                                    "store.password_file, or set TENURE_STORE_PASSWORD"));
}

TEST(Load, APasswordInAnAddressOnTheCommandLineIsRefusedWithoutQuotingIt) {
  const auto refusals =
      Refusals({.flags = {{"--store", "store.url", "postgres://app:hunter2@db/x"}}});
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_THAT(refusals[0], HasSubstr("others can read a command line"));
  EXPECT_THAT(refusals[0], testing::Not(HasSubstr("hunter2")));
  EXPECT_EQ(Load({.environment = {{"TENURE_STORE_URL", "postgres://app:hunter2@db/x"}}})
                .settings.store.url,
            "postgres://app:hunter2@db/x");
}

TEST(Load, ASecretFileThatIsMissingEmptyOrHugeIsRefused) {
  const auto refusal = [](const std::string& path) {
    const auto lines = Refusals({.environment = {{"TENURE_STORE_PASSWORD_FILE", path}}});
    return lines.empty() ? std::string() : lines.front();
  };
  EXPECT_THAT(refusal("/nowhere"), HasSubstr("\"/nowhere\" cannot be read: No such file"));
  const TemporaryFile empty("\n");
  EXPECT_THAT(refusal(empty.path()), HasSubstr("the value is not a secret"));
  const TemporaryFile huge(std::string(100'000, 's'));
  EXPECT_THAT(refusal(huge.path()), HasSubstr("is larger than 64KiB"));
  EXPECT_THAT(refusal(huge.path()), Not(HasSubstr("sss")));
}

TEST(Load, ACertificateAndItsKeyComeTogether) {
  const std::string why =
      ": tls.certificate and tls.key have no use without each other: give both, or neither for "
      "plain HTTP";
  EXPECT_THAT(Refusals({.environment = {{"TENURE_TLS_CERTIFICATE", "a.pem"}}}),
              ElementsAre("TENURE_TLS_CERTIFICATE" + why));
  EXPECT_THAT(Refusals({.environment = {{"TENURE_TLS_KEY", "a.key"}}}),
              ElementsAre("TENURE_TLS_KEY" + why));
}

TEST(Load, APasswordMustHaveAPlaceToGo) {
  const std::pair<std::string, std::string> password{"TENURE_STORE_PASSWORD", "hunter2"};
  EXPECT_THAT(Refusals({.environment = {password}}),
              ElementsAre("TENURE_STORE_PASSWORD: store.password has no use without store.url"));
  EXPECT_THAT(Refusals({.environment = {password, {"TENURE_STORE_URL", "postgres://a:b@db"}}}),
              ElementsAre("TENURE_STORE_PASSWORD: store.url has a password already: give one of "
                          "the two"));
}

TEST(Load, ValuesMustMakeSenseTogether) {
  const TemporaryFile file("lanes:\n  queue_items: 100\n");
  EXPECT_THAT(
      Refusals({.file = file.path()}),
      ElementsAre(file.path() + ":2: lanes.batch_items (512) must not exceed "
                                "lanes.queue_items (100): a batch is taken from the queue"));
  EXPECT_THAT(Refusals({.environment = {{"TENURE_STORE_LOCK_TIMEOUT", "20s"}},
                        .flags = {{"--set", "http.max_body", "64MiB"},
                                  {"--set", "lanes.queue_bytes", "8MiB"}}})
                  .size(),
              2U);
  EXPECT_THAT(Refusals({.flags = {{"--set", "http.body_memory", "1MiB"}}}),
              ElementsAre("--set http.body_memory: http.max_body (2MiB) must not exceed "
                          "http.body_memory (1MiB): "
                          "the largest request could never be read"));
}

TEST(Load, WhatServesWithoutATokenHasAnAddressOfItsOwn) {
  const auto refusals = [](const char* listen, const char* ops) {
    return Refusals(
        {.flags = {{"--listen", "listen", listen}, {"--ops-listen", "ops.listen", ops}}});
  };
  EXPECT_THAT(refusals("127.0.0.1:8080", "127.0.0.1:8080"),
              ElementsAre("--ops-listen: ops.listen (127.0.0.1:8080) must not be listen "
                          "(127.0.0.1:8080): it serves without a token"));
  EXPECT_THAT(refusals("127.0.0.1:8080", "127.0.0.1:9100"), ElementsAre());
  EXPECT_THAT(refusals("127.0.0.1:0", "127.0.0.1:0"), ElementsAre()) << "two free ports";
}

TEST(Load, ProxiesAreTrustedOnlyWithAuthentication) {
  EXPECT_THAT(Refusals({.flags = {{"--set", "http.trusted_proxies", "10.0.0.0/8"}}}),
              ElementsAre(HasSubstr("http.trusted_proxies has no use without authentication")));
}

TEST(Load, ABasePathIsOneThatStandsInUrlsAsItIs) {
  for (const char* path : {"", "/tenure", "/a/b-c.d~e_1"})
    EXPECT_EQ(Load({.flags = {{"--set", "http.base_path", path}}}).settings.http.base_path, path);
  for (const char* path :
       {"/", "tenure", "/tenure/", "//a", "/a//b", "/a b", "/..", "/%2e", "/a?b"})
    EXPECT_THAT(Refusals({.flags = {{"--set", "http.base_path", path}}}),
                ElementsAre(HasSubstr("must begin with a slash")))
        << path;
}

TEST(Load, TheTextOfTheErrorHasOneLinePerProblem) {
  try {
    Load({.environment = {{"TENURE_ONE_THING", ""}, {"TENURE_ANOTHER", ""}}});
    FAIL();
  } catch (const base::UserError& error) {
    EXPECT_STREQ(error.what(),
                 "TENURE_ONE_THING: there is no setting of that name\n"
                 "TENURE_ANOTHER: there is no setting of that name");
  }
}

TEST(Load, TheFileIsTheFlagsOrTheEnvironmentsOrTheOneInTheFolder) {
  EXPECT_EQ(ChooseFile("a", {{"TENURE_CONFIG", "b"}}), "a");
  EXPECT_EQ(ChooseFile(std::nullopt, {{"TENURE_CONFIG", "b"}}), "b");
}

TEST(Differences, OfTheSameSettingsAreNone) { EXPECT_TRUE(Differences({}, {}).empty()); }

TEST(Differences, SayWhichChangedAndWhichNeedARestart) {
  Settings after;
  after.log.level = base::LogLevel::kDebug;
  after.listen.port = 9090;
  const std::vector<Change> changes = Differences({}, after);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].setting->name, "listen");
  EXPECT_EQ(changes[0].from, "127.0.0.1:8080");
  EXPECT_EQ(changes[0].to, "127.0.0.1:9090");
  EXPECT_TRUE(changes[0].NeedsRestart());
  EXPECT_EQ(changes[1].setting->name, "log.level");
  EXPECT_FALSE(changes[1].NeedsRestart());
}

TEST(Differences, AChangedSecretIsFoundAndNotShown) {
  Settings before;
  Settings after;
  before.store.url = "postgres://app:one@db/x";
  after.store.url = "postgres://app:two@db/x";
  const std::vector<Change> changes = Differences(before, after);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].from, "postgres://app:***@db/x");
  EXPECT_EQ(changes[0].to, "postgres://app:***@db/x");
}

TEST(Differences, SharedValuesReadTheSameForTheSameValue) {
  Settings settings;
  settings.sessions.duration_ms = 90'000'000;
  EXPECT_THAT(
      SharedValues(settings),
      testing::ElementsAre(
          NamedValue{"sessions.duration", "1d1h"}, NamedValue{"usage.interval", "1m"},
          NamedValue{"usage.factors.1", "1.000000"}, NamedValue{"usage.factors.2", "2.000000"},
          NamedValue{"usage.factors.3", "3.000000"}, NamedValue{"messages.payload_max", "1MiB"},
          NamedValue{"seats.ttl", "6m"}, NamedValue{"seats.redis.horizon", "1h"},
          NamedValue{"seats.redis.authority", "2m"}, NamedValue{"seats.redis.margin", "5s"}));
}

}  // namespace
}  // namespace tenure::config
