#include "overview/board.hpp"

#include <gmock/gmock.h>

#include "http/traffic.hpp"
#include "overview/attention.hpp"

namespace tenure::overview {
namespace {

using explain::Concern;
using explain::Severity;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

http::Principal AskerOf(std::optional<std::string> tenant) { return {.tenant = std::move(tenant)}; }

Concern DeadOf(const std::string& tenant, const std::string& topic) {
  return {.name = "TenureMessagesDead",
          .tenant = tenant,
          .sentence = "3 messages of " + topic + " are dead.",
          .since_ms = kNow,
          .link = "/dead-letters?topic=" + topic,
          .others = "topics with dead letters"};
}

TEST(Attention, A1_ThingsOfOtherTenantsAreOnlyCounted) {
  Board board;
  board.concerns = {DeadOf("acme", "mail"),
                    DeadOf("other", "secret-1"),
                    DeadOf("third", "secret-2"),
                    {.name = "TenureNotReady",
                     .severity = Severity::kCritical,
                     .sentence = "The store cannot be reached."}};
  const std::string told = RestOfBoard(board, AskerOf("acme"), false);
  EXPECT_THAT(told, HasSubstr("3 messages of mail are dead."));
  EXPECT_THAT(told, HasSubstr("Of other tenants: topics with dead letters (2)."));
  EXPECT_THAT(told, Not(HasSubstr("secret")));
  EXPECT_LT(told.find("TenureNotReady"), told.find("TenureMessagesDead")) << "the worst first";
  const std::string local = RestOfBoard(board, AskerOf(std::nullopt), false);
  EXPECT_THAT(local, HasSubstr("secret-1"));
  EXPECT_THAT(local, Not(HasSubstr("Of other tenants")));
}

Instance Seen(const std::string& name, std::int64_t ago_ms, const std::string& version = "1") {
  return {.instance = name, .version = version, .seen_ms = kNow - ago_ms};
}

TEST(Attention, AProcessThatLeftWithoutAWordIsMissed) {
  Instance gone = Seen("web-3", 60'000, "0");
  gone.left_ms = kNow - 60'000;
  const std::vector<Instance> instances{Seen("web-1", 1'000), Seen("web-2", 26'000), gone};
  const auto concerns = ConcernsOf(instances, kNow);
  ASSERT_EQ(concerns.size(), 1U);
  EXPECT_EQ(concerns[0].name, "TenureInstanceLost");
  EXPECT_THAT(concerns[0].sentence, HasSubstr("web-2 was last seen at 2026-01-01T10:59:34.000Z"));
}

TEST(Attention, VersionsThatDifferAreSaidSo) {
  const std::vector<Instance> instances{Seen("web-1", 1'000), Seen("web-2", 1'000, "2")};
  const auto concerns = ConcernsOf(instances, kNow);
  ASSERT_EQ(concerns.size(), 1U);
  EXPECT_EQ(concerns[0].name, "TenureVersionsDiffer");
  EXPECT_THAT(concerns[0].sentence, HasSubstr("1, 2"));
}

TEST(Board, ShowsFiguresAndWhichOfThemAreMore) {
  Board board;
  board.counted_ms = kNow;
  board.figures = {
      {"messages", {explain::UpToMost("ready", 12'345), explain::UpToMost("dead", 10'000)}}};
  board.instances = {Seen("web-1", 0)};
  board.instances[0].requests_per_1000s = 212'340;
  const std::string told = RestOfBoard(board, AskerOf("acme"), false);
  EXPECT_THAT(told, HasSubstr(R"("figures":{"messages":{"ready":10000,"dead":10000}},)"
                              R"("capped":["messages.ready"])"));
  EXPECT_THAT(told, HasSubstr(R"("requests_per_second":212.3)"));
}

TEST(Traffic, KnowsHowFastMostAnswersAre) {
  http::Traffic earlier;
  earlier.answered = 10;
  earlier.by_latency = {10, 0, 0};
  http::Traffic later = earlier;
  later.answered = 110;
  later.by_latency = {10, 98, 2};
  const http::Traffic since = later.Since(earlier);
  EXPECT_EQ(since.answered, 100U);
  EXPECT_EQ(since.QuantileUs(98), telemetry::LatencyBounds()[1]);
  EXPECT_EQ(since.QuantileUs(99), telemetry::LatencyBounds()[2]);
  EXPECT_EQ(http::Traffic{}.QuantileUs(99), std::nullopt);
}

}  // namespace
}  // namespace tenure::overview
