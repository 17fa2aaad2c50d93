#include "telemetry/metrics.hpp"

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

TEST(Metrics, GaugesAreRefreshedBeforeAScrape) {
  Registry registry;
  auto& gauge = registry.GetGauge("size", "Size.");
  registry.OnScrape([&] { gauge.Set(7); });
  EXPECT_THAT(registry.Text(), HasSubstr("size 7\n"));
}

}  // namespace
}  // namespace tenure::telemetry
