#include "telemetry/metrics.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::telemetry {
namespace {

using testing::HasSubstr;

TEST(Metrics, TextHasHelpTypeAndEscapedLabels) {
  Registry registry;
  registry.GetCounter("things_total", "Things.", {{"path", "a\"b\\c"}}).Add(3);
  registry.GetGauge("depth", "Depth.").Set(-2);
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("# HELP things_total Things.\n# TYPE things_total counter\n"
                              "things_total{path=\"a\\\"b\\\\c\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("depth -2\n"));
}

TEST(Metrics, HistogramBucketsAreCumulativeAndScaled) {
  Registry registry;
  auto& latency = registry.GetHistogram("wait_seconds", "Wait.", LatencyBounds(), kMicrosPerSecond);
  latency.Observe(50);          // on the bound: inside
  latency.Observe(51);          // next bucket
  latency.Observe(60'000'000);  // above all bounds
  const std::string text = registry.Text();
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"5e-05\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"0.0001\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"10\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("wait_seconds_sum 60.000101\nwait_seconds_count 3\n"));
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameMetric) {
  Registry registry;
  EXPECT_EQ(&registry.GetCounter("a", "A.", {{"k", "v"}}),
            &registry.GetCounter("a", "A.", {{"k", "v"}}));
  EXPECT_NE(&registry.GetCounter("a", "A.", {{"k", "v"}}),
            &registry.GetCounter("a", "A.", {{"k", "w"}}));
}

TEST(Metrics, ASeriesBeginsWithItsFirstEvent) {
  Registry registry;
  auto& counter = registry.GetCounter("things_total", "Things.", {{"kind", "rare"}});
  auto& wait = registry.GetHistogram("wait_seconds", "Wait.", LatencyBounds(), kMicrosPerSecond);
  registry.GetCounter("plain_total", "Plain.");
  registry.GetGauge("depth", "Depth.", {{"queue", "q"}});
  EXPECT_EQ(registry.Text(),
            "# HELP plain_total Plain.\n# TYPE plain_total counter\nplain_total 0\n"
            "# HELP depth Depth.\n# TYPE depth gauge\ndepth{queue=\"q\"} 0\n");
  counter.Add();
  wait.Observe(0);
  EXPECT_THAT(registry.Text(), HasSubstr("things_total{kind=\"rare\"} 1\n"));
  EXPECT_THAT(registry.Text(), HasSubstr("wait_seconds_count 1\n"));
}

TEST(Metrics, GaugesAreRefreshedBeforeAScrape) {
  Registry registry;
  auto& gauge = registry.GetGauge("size", "Size.");
  registry.OnScrape([&] { gauge.Set(7); });
  EXPECT_THAT(registry.Text(), HasSubstr("size 7\n"));
}

TEST(Metrics, WhoeverMakesUpLabelsMakesNoMoreThanAThousandSeries) {
  Registry registry;
  for (int i = 0; i < 5'000; ++i)
    registry.GetCounter("a_total", "A.", {{"k", std::to_string(i)}}).Add();
  const std::string text = registry.Text();
  std::size_t series = 0;
  for (std::size_t at = text.find("a_total{"); at != std::string::npos;
       at = text.find("a_total{", at + 1))
    ++series;
  EXPECT_EQ(series, Registry::kMaxSeries + 1);
  EXPECT_THAT(text, HasSubstr("a_total{k=\"other\"} 4000\n"));
}

TEST(Metrics, WhatNamesTenantsThingsIsForOperatorsAndReplacedAsAWhole) {
  Registry registry;
  const std::vector<std::pair<Labels, std::int64_t>> first{{{{"topic", "old"}}, 1}};
  const std::vector<std::pair<Labels, std::int64_t>> second{{{{"topic", "new"}}, 2}};
  registry.ReplaceGauges("topics", "Topics.", first);
  registry.ReplaceGauges("topics", "Topics.", second);
  EXPECT_EQ(registry.Text(Audience::kAnybody), "");
  EXPECT_EQ(registry.Text(Audience::kOperators),
            "# HELP topics Topics.\n# TYPE topics gauge\ntopics{topic=\"new\"} 2\n");
}

TEST(Metrics, AnybodySeesTheSumOfWhatNamesTenantsThings) {
  Registry registry;
  const auto count = [&](const std::string& source, const std::string& outcome) {
    registry
        .GetTenantsCounter("hooks_total", "Hooks.", {{"source", source}, {"outcome", outcome}},
                           "source")
        .Add();
  };
  count("acme", "stored");
  count("shop", "stored");
  count("shop", "failed");
  EXPECT_EQ(registry.Text(Audience::kAnybody),
            "# HELP hooks_total Hooks.\n# TYPE hooks_total counter\n"
            "hooks_total{source=\"other\",outcome=\"failed\"} 1\n"
            "hooks_total{source=\"other\",outcome=\"stored\"} 2\n");
  const std::string told = registry.Text(Audience::kOperators);
  EXPECT_THAT(told, HasSubstr("hooks_total{source=\"acme\",outcome=\"stored\"} 1\n"));
  EXPECT_THAT(told, HasSubstr("hooks_total{source=\"shop\",outcome=\"stored\"} 1\n"));
}

TEST(Metrics, OrTheLeastOfThem) {
  Registry registry;
  const std::vector<std::pair<Labels, std::int64_t>> secrets{{{{"source", "acme"}}, 2},
                                                             {{{"source", "shop"}}, 0}};
  registry.ReplaceGauges("secrets", "Secrets.", secrets, Registry::ToAnybody::kLeast);
  EXPECT_EQ(registry.Text(Audience::kAnybody),
            "# HELP secrets Secrets.\n# TYPE secrets gauge\nsecrets{source=\"other\"} 0\n");
  EXPECT_THAT(registry.Text(Audience::kOperators), HasSubstr("secrets{source=\"acme\"} 2\n"));
}

TEST(Metrics, ADurationOfAnySizeIsObserved) {
  Registry registry;
  auto& wait = registry.GetHistogram("wait_seconds", "Wait.", LatencyBounds(), kMicrosPerSecond);
  wait.ObserveMs(std::numeric_limits<std::int64_t>::min());
  wait.ObserveMs(std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(registry.Text(), HasSubstr("wait_seconds_count 2\n"));
}

}  // namespace
}  // namespace tenure::telemetry
