#include "webhooks/bots/read.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::webhooks::bots {
namespace {

using rules::Scope;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Texts(const std::vector<Mistake>& mistakes) {
  std::vector<std::string> texts;
  for (const Mistake& mistake : mistakes) texts.push_back(ToText(mistake, "bots.yaml"));
  return texts;
}

constexpr std::string_view kWhole = R"(
tenant: default
sources:
  - {name: github, provider: github, host: GitHub.com,
     secrets: [{file: secrets/github}, {env: GITHUB_SECRET_OLD}],
     allow_from: [192.0.2.0/24], rate: 600/min}
defaults: {history: 5d}
bots:
  - name: task-tactician
    events: ["issues.*", "pull_request*.*", "issue_comment", "!*.labeled"]
    sources: [github]
    repositories: ["acme/*", "!acme/secret-*"]
    ordering_scope: entity
    routes: [{events: [push, create, delete], entity: ref}, {events: ["release.*"], key: "{$repository}/releases"}]
    checks: self
    fair_by: owner
    max_concurrent_sessions: 50
    session_timeout: 5m
    session_idle_timeout: 2m
    session_max_duration: 30m
    session_max_messages: 100
    max_delivery_count: 5
    retry_backoff: 1s
    retry_backoff_max: 60s
    on_dead_letter: park
    default_message_ttl: PT24H
    queue_depth_threshold: 100
    max_size_in_megabytes: 5120
    duplicate_detection_window: 10m
    history: 8d
  - {name: deploy-coordinator, events: ["deployment*.*"], ordering_scope: custom, session_key: "{repository.id}/{deployment.environment}"}
  - {name: notification-bot, events: ["*"], ordering_scope: none}
)";

TEST(BotsFile, EveryOptionIsRead) {
  const Reading reading = ReadYaml(kWhole);
  ASSERT_THAT(Texts(reading.mistakes), ElementsAre());
  EXPECT_THAT(Texts(reading.warnings), ElementsAre());
  ASSERT_EQ(reading.file.sources.size(), 1U);
  const Source& source = reading.file.sources[0];
  EXPECT_EQ(source.name, "github");
  EXPECT_EQ(source.host, "github.com");
  ASSERT_EQ(source.secrets.size(), 2U);
  EXPECT_EQ(source.secrets[0], (SecretPlace{SecretPlace::Kind::kFile, "secrets/github"}));
  EXPECT_EQ(source.secrets[1], (SecretPlace{SecretPlace::Kind::kEnvironment, "GITHUB_SECRET_OLD"}));
  EXPECT_EQ(source.allow_from.size(), 1U);
  EXPECT_EQ(source.rate, (base::Rate{600, 60'000}));
  ASSERT_EQ(reading.file.bots.size(), 3U);

  const Bot& bot = reading.file.bots[0];
  EXPECT_EQ(bot.routing.events.size(), 4U);
  EXPECT_THAT(bot.routing.sources, ElementsAre("github"));
  EXPECT_EQ(bot.routing.repositories.size(), 2U);
  EXPECT_EQ(bot.routing.scope, Scope::kEntity);
  ASSERT_EQ(bot.routing.routes.size(), 2U);
  EXPECT_EQ(std::get<rules::Kind>(bot.routing.routes[0].key), rules::Kind::kRef);
  Limits limits;
  limits.max_concurrent_sessions = 50;
  limits.default_message_ttl_ms = 86'400'000;
  limits.queue_depth_threshold = 100;
  limits.max_size_in_megabytes = 5120;
  EXPECT_EQ(bot.limits, limits);

  EXPECT_EQ(reading.file.bots[1].limits.history_ms, 5LL * 86'400'000) << "of the defaults";
  EXPECT_EQ(reading.file.bots[1].routing.session_key->text(),
            "{repository.id}/{deployment.environment}");
  EXPECT_EQ(reading.file.bots[2].limits.on_dead_letter, OnDeadLetter::kSkip);
}

TEST(BotsFile, AsJsonIsTheSameFile) {
  const File file = ReadYaml(kWhole).file;
  const std::string json = ToJson(file);
  const Reading again = ReadJson(json);
  EXPECT_THAT(Texts(again.mistakes), ElementsAre());
  EXPECT_EQ(ToJson(again.file), json);
  EXPECT_THAT(json, HasSubstr(R"("session_key":"{repository.id}/{deployment.environment}")"));
}

TEST(BotsFile, BlocksOfOtherSystemsAreReadAsTheyArePrinted) {
  const Reading config = ReadYaml(R"(bot_config:
  name: "task-tactician"
  ordering_scope: "entity"
  session_timeout: "5m"      # ISO 8601 duration
  max_concurrent_sessions: 50

  # Advanced timeout settings
  session_idle_timeout: "2m"     # Idle timeout (no message processing)
  session_max_duration: "30m"    # Maximum session lifetime
)");
  EXPECT_THAT(Texts(config.mistakes), ElementsAre());
  ASSERT_EQ(config.file.bots.size(), 1U);
  EXPECT_EQ(config.file.bots[0].routing.events[0].text, "*") << "without events it gets all";

  const std::string_view limits = R"(session_limits:
  # Per-bot session limits
  task_tactician:
    max_concurrent_sessions: 50    # Max 50 PRs/issues being processed
    queue_depth_threshold: 100     # Scale up if queue depth exceeds 100

  merge_warden:
    max_concurrent_sessions: 100   # Higher limit for PR processing
    queue_depth_threshold: 200

  deploy_coordinator:
    max_concurrent_sessions: 10    # Repository-level sessions are expensive
    queue_depth_threshold: 20
)";
  const std::string_view queues = R"(service_bus_queues:
  queue_keeper_task_tactician:
    sessions_enabled: true
    duplicate_detection_enabled: true
    duplicate_detection_window: "PT10M"  # 10 minutes
    default_message_ttl: "PT24H"         # 24 hours
    max_size_in_megabytes: 5120          # 5GB

  queue_keeper_notification_bot:
    sessions_enabled: false              # No ordering needed
    duplicate_detection_enabled: true
    duplicate_detection_window: "PT10M"
    default_message_ttl: "PT24H"
    max_size_in_megabytes: 1024          # 1GB
)";
  for (const std::string_view alone : {limits, queues}) {
    EXPECT_THAT(Texts(ReadYaml(alone).mistakes), ElementsAre());
    EXPECT_FALSE(ReadYaml(alone).warnings.empty()) << "a name without a bot";
  }
  const Reading all = ReadYaml(fmt::format(R"(bots:
  - {{name: task-tactician, events: [issues], ordering_scope: entity}}
  - {{name: merge-warden, events: [issues], ordering_scope: entity}}
  - {{name: deploy_coordinator, events: [issues], ordering_scope: repository}}
  - {{name: notification-bot, events: [issues], ordering_scope: none}}
{}{})",
                                           limits, queues));
  EXPECT_THAT(Texts(all.mistakes), ElementsAre());
  EXPECT_THAT(Texts(all.warnings), ElementsAre());
  EXPECT_EQ(all.file.bots[0].limits.max_concurrent_sessions, 50);
  EXPECT_EQ(all.file.bots[0].limits.max_size_in_megabytes, 5120);
  EXPECT_EQ(all.file.bots[1].limits.queue_depth_threshold, 200);
  EXPECT_EQ(all.file.bots[2].limits.max_concurrent_sessions, 10);
  EXPECT_EQ(all.file.bots[3].limits.default_message_ttl_ms, 86'400'000);
}

TEST(BotsFile, ABlockThatDisagreesIsWrong) {
  const auto mistakes = Texts(ReadYaml(R"(bots:
  - {name: one, events: [issues], ordering_scope: none}
  - {name: two, events: [issues], ordering_scope: entity, max_concurrent_sessions: 5}
session_limits:
  one: {max_concurrent_sessions: 5}
  two: {max_concurrent_sessions: 6}
service_bus_queues:
  one: {sessions_enabled: true}
  queue_keeper_two: {duplicate_detection_enabled: no}
)")
                                  .mistakes);
  EXPECT_THAT(
      mistakes,
      ElementsAre(
          "bots.yaml:5: bots[0] one: max_concurrent_sessions has no meaning with "
          "ordering_scope none: its messages keep no order",
          "bots.yaml:6: bots[1] two: max_concurrent_sessions is given twice, first on line 3",
          "bots.yaml:8: bots[0] one: sessions_enabled does not agree with ordering_scope none",
          "bots.yaml:9: bots[1] two: duplicate_detection_enabled \"no\" is not true or false"));
}

TEST(BotsFile, TenMistakesAreTenLinesThatNameLineBotAndKey) {
  const auto mistakes = Texts(ReadYaml(R"(sources:
  - {name: github, secrets: [{file: s}], rate: often}
bots:
  - name: one
    events: [Issues]
    ordering_scope: repositry
  - name: two
    events: ["*"]
    ordering_scope: entity
    max_concurrent_sessions: 0
    session_timeout: 5 minutes
    retry_backoff: 1s
    retry_backoff: 2s
    on_dead_letter: drop
    session_time_out: 5m
    routes: [{events: [push], entity: branch}]
    repositories: [acme]
  - name: three
    ordering_scope: custom
    events: []
    session_key: "{a}{b}"
)")
                                  .mistakes);
  EXPECT_THAT(
      mistakes,
      ElementsAre(
          "bots.yaml:2: sources[0] github: rate \"often\" is not a rate, like 600/min",
          "bots.yaml:5: bots[0] one: events[0] \"Issues\" is not a pattern [!]NAME[.ACTION], like "
          "issues.* or !*.labeled",
          "bots.yaml:6: bots[0] one: ordering_scope \"repositry\" is not none, entity, repository "
          "or custom (repository?)",
          "bots.yaml:10: bots[1] two: max_concurrent_sessions \"0\" is not a whole number from 1 "
          "to 1000000",
          "bots.yaml:11: bots[1] two: session_timeout \"5 minutes\" is not a duration from 1s to "
          "1d, like 5m or PT5M",
          "bots.yaml:13: bots[1] two: \"retry_backoff\" is given twice, first on line 12",
          "bots.yaml:14: bots[1] two: on_dead_letter \"drop\" is not park, skip or stop",
          "bots.yaml:15: bots[1] two: \"session_time_out\" is not an option of a bot "
          "(session_timeout?)",
          HasSubstr("bots.yaml:16: bots[1] two: routes[0].entity \"branch\" is not pull_request,"),
          "bots.yaml:17: bots[1] two: repositories[0] \"acme\" is not a pattern [!]OWNER/NAME, "
          "like acme/* or !acme/secret-*",
          "bots.yaml:21: bots[2] three: session_key \"{a}{b}\" needs a character between {b} and "
          "what stands before it that no value has, like /"));
}

std::vector<std::string> WrongOfBot(std::string_view options) {
  return Texts(ReadYaml(fmt::format("sources: [{{name: github, secrets: [{{env: S}}]}}]\n"
                                    "bots: [{{name: b, events: [push], {}}}]\n",
                                    options))
                   .mistakes);
}

TEST(BotsFile, WhatDoesNotGoTogetherIsWrong) {
  const auto says = [](std::string_view text) {
    return ElementsAre(HasSubstr(std::string("bots.yaml:2: bots[0] b: ").append(text)));
  };
  EXPECT_THAT(WrongOfBot("ordering_scope: entity"), ElementsAre());
  EXPECT_THAT(WrongOfBot("max_delivery_count: 3"), says("ordering_scope is missing"));
  EXPECT_THAT(WrongOfBot("ordering_scope: custom"), says("session_key is missing"));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, session_key: \"{a}\""),
              says("session_key belongs to ordering_scope custom"));
  EXPECT_THAT(WrongOfBot("ordering_scope: none, on_dead_letter: park"), says("on_dead_letter"));
  EXPECT_THAT(WrongOfBot("ordering_scope: none, on_dead_letter: skip"), ElementsAre());
  for (const char* option : {"checks: self", "fair_by: owner", "session_timeout: 5m", "routes: []",
                             "session_key: \"{a}\"", "session_max_messages: 5"})
    EXPECT_THAT(WrongOfBot(fmt::format("ordering_scope: none, {}", option)),
                ElementsAre(HasSubstr("has no meaning with ordering_scope none")));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, session_timeout: 31m"),
              says("session_timeout 31m is longer than session_max_duration (30m)"));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, session_idle_timeout: 31m"),
              says("session_idle_timeout 31m is longer"));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, retry_backoff: 2m"),
              says("retry_backoff 2m is longer than retry_backoff_max (1m)"));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, history: 9d"), says("history \"9d\""));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, sources: [gihub]"),
              says("sources[0] \"gihub\" is none of the sources of this file (github?)"));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, routes: [{events: [push]}]"),
              says("routes[0] has not one of entity and key"));
  EXPECT_THAT(WrongOfBot("ordering_scope: entity, routes: [{entity: ref}]"),
              says("routes[0] has no events"));
}

TEST(BotsFile, SourcesAndNamesAreChecked) {
  const auto wrong = [](std::string_view text) { return Texts(ReadYaml(text).mistakes); };
  EXPECT_THAT(wrong("sources: [{name: a}]"), ElementsAre(HasSubstr("secrets is missing")));
  EXPECT_THAT(wrong("sources: [{name: a, secrets: []}]"),
              ElementsAre(HasSubstr("secrets is missing")));
  EXPECT_THAT(wrong("sources: [{secrets: [{env: A}]}]"), ElementsAre(HasSubstr("name is missing")));
  EXPECT_THAT(wrong("sources: [{name: a, secrets: [{env: A, file: b}]}]"),
              ElementsAre(HasSubstr("has both a file and an env")));
  EXPECT_THAT(wrong("sources: [{name: a, secrets: [{}]}]"),
              ElementsAre(HasSubstr("names neither a file nor an env")));
  EXPECT_THAT(wrong("sources: [{name: a, secrets: [{env: A}], provider: gitlab}]"),
              ElementsAre(HasSubstr("provider \"gitlab\" is not github")));
  EXPECT_THAT(wrong("sources: [{name: a, secrets: [{env: A}], allow_from: [10.1.2.3/8]}]"),
              ElementsAre(HasSubstr("allow_from[0] \"10.1.2.3/8\"")));
  EXPECT_THAT(wrong("sources: [{name: a, secrets: [{env: A}]}, {name: a, secrets: [{env: A}]}]"),
              ElementsAre(HasSubstr("the name a is given twice")));
  EXPECT_THAT(wrong("bots: [{name: a, events: [], ordering_scope: none}, "
                    "{name: a, events: [], ordering_scope: none}]"),
              ElementsAre(HasSubstr("bots[1] a: the name a is given twice")));
  EXPECT_THAT(wrong("bots: [{name: -a, events: [], ordering_scope: none}]"),
              ElementsAre(HasSubstr("\"-a\" is not a name")));
  EXPECT_THAT(wrong("bots: [5]"), ElementsAre(HasSubstr("is not a mapping with the options")));
  EXPECT_THAT(wrong("bots: 5"), ElementsAre(HasSubstr("bots is not a list")));
  EXPECT_THAT(wrong("tenant: \"\""), ElementsAre(HasSubstr("tenant is empty")));
  EXPECT_THAT(wrong("botz: []"),
              ElementsAre("bots.yaml:1: \"botz\" is not an option here (bots?)"));
  EXPECT_THAT(wrong("defaults: {name: x}"),
              ElementsAre(HasSubstr("\"name\" is not an option here")));
  EXPECT_THAT(wrong("defaults: {history: x}\nbots: [{name: a, events: [], ordering_scope: none}, "
                    "{name: b, events: [], ordering_scope: entity}]"),
              ElementsAre(HasSubstr("defaults: history \"x\"")))
      << "once, not for every bot";
  EXPECT_THAT(wrong("a: [b"), ElementsAre(HasSubstr("this is not YAML")));
  EXPECT_THAT(wrong(std::string(kMaxFileBytes + 1, '#')), ElementsAre(HasSubstr("larger than")));
  std::string many = "bots:\n";
  for (int i = 0; i < 201; ++i)
    many += fmt::format("  - {{name: b{}, events: [], ordering_scope: none}}\n", i);
  EXPECT_THAT(wrong(many), ElementsAre(HasSubstr("bots has 201 items; at most 200 are allowed")));
}

TEST(BotsFile, ASecretThatCannotBeReadIsAWarning) {
  const Bounds bounds{.can_read = [](const SecretPlace& place) { return place.name == "there"; }};
  const Reading reading = ReadYaml(
      "sources:\n"
      "  - name: github\n"
      "    secrets:\n"
      "      - {file: there}\n"
      "      - {file: away}\n"
      "      - {env: AWAY}\n",
      bounds);
  EXPECT_THAT(Texts(reading.mistakes), ElementsAre());
  EXPECT_THAT(
      Texts(reading.warnings),
      ElementsAre("bots.yaml:5: sources[0] github: secrets[1] \"away\" cannot be read here",
                  "bots.yaml:6: sources[0] github: secrets[2] \"AWAY\" cannot be read here"));
}

TEST(BotsFile, DefaultsCountWhereTheyHaveAMeaning) {
  const Reading reading = ReadYaml(R"(
defaults: {session_timeout: 1m, on_dead_letter: stop, ordering_scope: entity, events: ["*"]}
bots:
  - {name: a}
  - {name: b, ordering_scope: none}
  - {name: c, session_timeout: 2m}
)");
  EXPECT_THAT(Texts(reading.mistakes), ElementsAre());
  ASSERT_EQ(reading.file.bots.size(), 3U);
  EXPECT_EQ(reading.file.bots[0].limits.session_timeout_ms, 60'000);
  EXPECT_EQ(reading.file.bots[0].limits.on_dead_letter, OnDeadLetter::kStop);
  EXPECT_EQ(reading.file.bots[1].limits.on_dead_letter, OnDeadLetter::kSkip);
  EXPECT_EQ(reading.file.bots[2].limits.session_timeout_ms, 120'000);
}

TEST(BotsFile, AnEventThatNobodyDocumentsIsAWarning) {
  const Reading reading = ReadYaml(
      "bots: [{name: a, events: [isues.opened, \"pull*\", issues], "
      "ordering_scope: none}]");
  EXPECT_THAT(Texts(reading.mistakes), ElementsAre());
  EXPECT_THAT(Texts(reading.warnings),
              ElementsAre("bots.yaml:1: bots[0] a: events[0] \"isues.opened\" is no event that "
                          "GitHub documents (issues?)"));
}

TEST(BotsFile, MistakesInJsonNameTheField) {
  const Reading reading = ReadJson(
      R"({"bots":[{"name":"a","events":[],"ordering_scope":"none"},)"
      R"({"name":"b","events":["A"],"ordering_scope":"entity","checks":"both","x":1,"x":2}]})");
  std::vector<std::string> fields;
  for (const Mistake& mistake : reading.mistakes) fields.push_back(mistake.field);
  EXPECT_THAT(fields, testing::UnorderedElementsAre("bots[1].x", "bots[1]", "bots[1].events[0]",
                                                    "bots[1].checks"));
  EXPECT_FALSE(ReadJson("[]").mistakes.empty());
  EXPECT_FALSE(ReadJson("{").mistakes.empty());
  EXPECT_FALSE(ReadJson(R"({"tenant":"\u0000"})").mistakes.empty());
  EXPECT_FALSE(
      ReadJson(R"({"bots":)" + std::string(20, '[') + std::string(20, ']') + "}").mistakes.empty());
}

}  // namespace
}  // namespace tenure::webhooks::bots
