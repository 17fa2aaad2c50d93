#include "webhooks/bots/change.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhooks/bots/read.hpp"

namespace tenure::webhooks::bots {
namespace {

using testing::ElementsAre;
using What = Change::What;

File Read(std::string_view bots, std::string_view source = "secrets: [{env: S}]") {
  Reading reading =
      ReadYaml(fmt::format("sources: [{{name: github, {}}}]\nbots: [{}]\n", source, bots));
  EXPECT_TRUE(reading.mistakes.empty()) << ToText(reading.mistakes.front(), "f");
  return std::move(reading.file);
}

std::vector<What> Whats(const File& before, const File& after) {
  std::vector<What> whats;
  for (const Change& change : Compare(before, after)) whats.push_back(change.what);
  return whats;
}

/// One bot whose options change from `before` to `after`.
std::vector<What> OfBot(std::string_view before, std::string_view after) {
  const auto bot = [](std::string_view options) {
    return Read(fmt::format("{{name: a, events: [push], {}}}", options));
  };
  return Whats(bot(before), bot(after));
}

TEST(Changes, TheSameFileChangesNothing) {
  EXPECT_THAT(OfBot("ordering_scope: entity", "ordering_scope: entity"), ElementsAre());
  EXPECT_THAT(OfBot("ordering_scope: entity", "ordering_scope: entity, session_timeout: PT5M"),
              ElementsAre())
      << "a default that is written out";
}

TEST(Changes, BotsComeAndGo) {
  const File none = Read("");
  const File one = Read("{name: a, events: [push], ordering_scope: entity}");
  const File renamed = Read("{name: b, events: [push], ordering_scope: entity}");
  EXPECT_THAT(Whats(none, one), ElementsAre(What::kBotAdded));
  EXPECT_THAT(Whats(one, none), ElementsAre(What::kBotRemoved));
  EXPECT_THAT(Whats(one, renamed), ElementsAre(What::kBotAdded, What::kBotRemoved));
}

TEST(Changes, OtherKeysAreANewGeneration) {
  const std::string_view entity = "ordering_scope: entity";
  for (const std::string_view other :
       {"ordering_scope: repository", "ordering_scope: none",
        "ordering_scope: custom, session_key: \"{a}\"",
        "ordering_scope: entity, routes: [{events: [push], entity: ref}]",
        "ordering_scope: entity, checks: pull_requests"}) {
    const auto before = OfBot(entity, other);
    ASSERT_FALSE(before.empty()) << other;
    EXPECT_EQ(before.front(), What::kNewGeneration) << other;
    EXPECT_EQ(OfBot(other, entity).front(), What::kNewGeneration) << other;
  }
  EXPECT_THAT(OfBot("ordering_scope: custom, session_key: \"{a}\"",
                    "ordering_scope: custom, session_key: \"{b}\""),
              ElementsAre(What::kNewGeneration));
  const auto texts = [](std::string_view from, std::string_view to) {
    const auto bot = [](std::string_view scope) {
      return Read(fmt::format("{{name: a, events: [push], ordering_scope: {}}}", scope));
    };
    return Compare(bot(from), bot(to)).front().detail;
  };
  EXPECT_THAT(texts("none", "entity"), testing::HasSubstr("when the queue's topic is empty"));
  EXPECT_THAT(texts("entity", "none"), testing::HasSubstr("accept hands out what is left"));
  EXPECT_THAT(texts("entity", "repository"), testing::HasSubstr("no message of an older one"));
}

TEST(Changes, LimitsCountFromTheNextDecisionOn) {
  for (const std::string_view option :
       {"session_timeout: 1m", "session_idle_timeout: 1m", "session_max_duration: 1h",
        "session_max_messages: 5", "max_delivery_count: 6", "retry_backoff: 2s",
        "retry_backoff_max: 2m", "on_dead_letter: stop", "default_message_ttl: 1d",
        "queue_depth_threshold: 5", "max_size_in_megabytes: 5", "duplicate_detection_window: 1m",
        "history: 1d", "fair_by: none", "max_concurrent_sessions: 5"})
    EXPECT_THAT(OfBot("ordering_scope: entity", fmt::format("ordering_scope: entity, {}", option)),
                ElementsAre(What::kLimits))
        << option;
}

TEST(Changes, WhichEventsABotGetsChangesItsIntake) {
  const File before = Read("{name: a, events: [push], ordering_scope: entity}");
  EXPECT_THAT(Whats(before, Read("{name: a, events: [issues], ordering_scope: entity}")),
              ElementsAre(What::kIntake));
  EXPECT_THAT(OfBot("ordering_scope: entity", "ordering_scope: entity, sources: [github]"),
              ElementsAre(What::kIntake));
  EXPECT_THAT(OfBot("ordering_scope: entity", "ordering_scope: entity, repositories: [\"a/*\"]"),
              ElementsAre(What::kIntake));
}

TEST(Changes, SourcesChange) {
  const File before = Read("");
  EXPECT_THAT(Whats(before, Read("", "secrets: [{env: T}]")), ElementsAre(What::kSourceChanged));
  EXPECT_THAT(Whats(before, Read("", "secrets: [{env: S}], rate: 5/s")),
              ElementsAre(What::kSourceChanged));
  EXPECT_THAT(Whats(before, Read("", "secrets: [{env: S}], host: ghe.example")),
              ElementsAre(What::kSourceChanged));
  EXPECT_THAT(Whats({}, before), ElementsAre(What::kSourceAdded));
  EXPECT_THAT(Whats(before, {}), ElementsAre(What::kSourceRemoved));
}

}  // namespace
}  // namespace tenure::webhooks::bots
