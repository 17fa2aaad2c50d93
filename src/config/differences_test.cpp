#include "config/differences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::config {
namespace {

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
          NamedValue{"usage.factors.3", "3.000000"}, NamedValue{"messages.payload_max", "1MiB"}));
}

}  // namespace
}  // namespace tenure::config
