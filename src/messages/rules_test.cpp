// What is decided about messages without a store.

#include "messages/rules.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/probe.hpp"
#include "messages/reads.hpp"

namespace tenure::messages {
namespace {

using testing::ElementsAre;

Candidate At(std::size_t topic, int priority, std::int64_t pos, bool suspect = false,
             std::int64_t size = 10) {
  return {topic, LineOf(priority, suspect ? 1 : 0), pos, base::Uuid::V7(pos), 0, size};
}

TEST(Share, GoesByPriorityThenPositionOverAllTopicsOfAWish) {
  std::vector<Candidate> candidates{At(0, 5, 1), At(1, 5, 2), At(0, 5, 3), At(1, 0, 9)};
  const std::vector<Demand> demands{{{0, 1}, 3}, {{1}, 5}, {{0}, 5}};
  const auto shares = Share(candidates, demands);
  EXPECT_THAT(shares, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(), ElementsAre(3)));
  EXPECT_EQ(candidates[0].pos, 9) << "priority 0 is first";
}

TEST(Share, GivesASuspectOnlyWhenItIsFirstAndThenAlone) {
  std::vector<Candidate> candidates{At(0, 5, 1), At(0, 5, 2, true), At(0, 5, 3)};
  const std::vector<Demand> demands{{{0}, 10}, {{0}, 10}, {{0}, 10}};
  EXPECT_THAT(Share(candidates, demands),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre()));
}

TEST(Share, StopsAtTheBytesOfAClaimButGivesOneMessageOfAnySize) {
  std::vector<Candidate> candidates{At(0, 5, 1, false, kMaxClaimBytes + 1), At(0, 5, 2),
                                    At(0, 5, 3, false, kMaxClaimBytes)};
  const std::vector<Demand> demands{{{0}, 10}, {{0}, 10}, {{0}, 10}};
  EXPECT_THAT(Share(candidates, demands),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(Share, LeavesClaimsForTheNextTransactionWhenThisOneHasGivenEnough) {
  std::vector<Candidate> candidates;
  for (std::int64_t i = 0; i < 10; ++i) candidates.push_back(At(0, 5, i, false, kMaxClaimBytes));
  const std::vector<Demand> demands(10, Demand{{0}, 10});
  const auto shares = Share(candidates, demands);
  EXPECT_EQ(shares.size(), 4u) << "the other demands have no share, not even an empty one";
  for (const auto& share : shares) EXPECT_EQ(share.size(), 1u);
}

TEST(Backoff, DoublesUpToTheMostWithJitterDownToAHalf) {
  const TopicSettings topic;
  for (std::int64_t failures = 1; failures <= 40; ++failures) {
    const std::int64_t full =
        std::min<std::int64_t>(60'000, 1'000LL << std::min<std::int64_t>(failures - 1, 20));
    for (int i = 0; i < 20; ++i) {
      const auto id = base::Uuid::V7(i);
      const std::int64_t wait = BackoffMs(topic, failures, id);
      EXPECT_GE(wait, full / 2);
      EXPECT_LE(wait, full);
      EXPECT_EQ(wait, BackoffMs(topic, failures, id)) << "the same for the same failure";
    }
  }
  EXPECT_EQ(BackoffMs({.backoff_ms = 0, .backoff_max_ms = 0}, 3, {}), 0);
}

TEST(Backoff, OfAnyRowThatAStoreMayHaveIsBoundedAndFound) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(BackoffMs({.backoff_ms = 0, .backoff_max_ms = 60'000}, kMost, {}), 0)
      << "twice nothing is nothing, however often";
  for (const std::int64_t base_ms : {kLeast, std::int64_t{-2}, std::int64_t{1}, kMost})
    for (const std::int64_t most_ms : {kLeast, std::int64_t{-2}, std::int64_t{0}, kMost})
      for (const std::int64_t failures : {kLeast, std::int64_t{0}, kMost}) {
        const std::int64_t wait_ms =
            BackoffMs({.backoff_ms = base_ms, .backoff_max_ms = most_ms}, failures, {});
        EXPECT_GE(wait_ms, 0);
        EXPECT_LE(wait_ms, kMaxRetryMs);
      }
}

TEST(Budgets, ZeroIsWithoutLimit) {
  EXPECT_FALSE(AfterFailure({.max_attempts = 0}, 1'000'000));
  EXPECT_FALSE(AfterFailure({.max_attempts = 2}, 1));
  EXPECT_EQ(AfterFailure({.max_attempts = 2}, 2), DeathReason::kAttempts);
  EXPECT_FALSE(AfterCrash({.max_crashes = 0}, 1'000'000));
  EXPECT_EQ(AfterCrash({.max_crashes = 3}, 3), DeathReason::kCrashes);
}

TEST(Fences, RiseAndStartAboveWhatAStoreMayHaveForgotten) {
  EXPECT_EQ(NextFence(0, 1), 1);
  EXPECT_EQ(NextFence(7, 1), 8);
  EXPECT_EQ(NextFence(7, 3), (std::int64_t{3} << 40) + 1);
  EXPECT_EQ(NextFence((std::int64_t{3} << 40) + 5, 3), (std::int64_t{3} << 40) + 6);
}

TEST(Handed, ComesBackTheSame) {
  const std::vector<Handed> handed{{base::Uuid::V7(1), 1}, {base::Uuid::V7(2), (1LL << 52) + 3}};
  const auto back = DecodeHanded(EncodeHanded(handed));
  ASSERT_EQ(back.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].id, handed[i].id);
    EXPECT_EQ(back[i].fence, handed[i].fence);
  }
}

TEST(Gauges, TheFullestTopicsAreShownAndOnlyToOperators) {
  telemetry::Registry metrics;
  Probe probe(metrics, true);
  CountsReply counts;
  for (int i = 0; i < 300; ++i)
    counts.topics.push_back({"a", "small-" + std::to_string(i), 1, 0, false});
  counts.topics.push_back({"b", "full", 9, 0, false});
  probe.Counted(counts);
  EXPECT_EQ(metrics.Text().find("full"), std::string::npos);
  const std::string shown = metrics.Text(telemetry::Audience::kOperators);
  EXPECT_NE(shown.find(R"({tenant="b",topic="full"} 9)"), std::string::npos) << shown;
  std::size_t topics = 0;
  for (std::size_t at = 0; (at = shown.find("topic=\"", at)) != std::string::npos; ++at) ++topics;
  EXPECT_EQ(topics, 200U);
}

}  // namespace
}  // namespace tenure::messages
