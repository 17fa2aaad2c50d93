#include "overview/explain.hpp"

#include <gtest/gtest.h>

namespace tenure::overview {
namespace {

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

TEST(WhyInstance, SaysWhetherAProcessServesOrSinceWhenItIsGone) {
  Instance instance{.instance = "web-1:811:4f", .version = "0.4.0", .host = "web-1"};
  instance.started_ms = kWhyNow - 3'600'000;
  instance.seen_ms = kWhyNow - 9'000;
  const std::string serves =
      "The process web-1:811:4f serves since 2026-01-01T10:00:00.000Z, version 0.4.0, and was seen "
      "9s ago. ";
  const auto expect = [&](const std::string& state, const std::string& sentence) {
    const explain::Explanation why = Explain(instance, kWhyNow);
    EXPECT_EQ(why.state, state);
    EXPECT_EQ(why.Sentence(), sentence);
    EXPECT_FALSE(why.next.text.empty());
  };
  expect("ok", serves + "It answers requests, and leaves background work to others.");
  instance.workers = true;
  instance.clock_gap_ms = -1'500;
  expect("ok", serves +
                   "It does background work for all. Its clock is 1500 ms behind the store's: "
                   "set it right.");
  instance.seen_ms = kWhyNow - kMissedMs - 1;
  expect("lost",
         "The process web-1:811:4f was last seen at 2026-01-01T10:59:34.999Z and did not say "
         "good-bye; it had served since 2026-01-01T10:00:00.000Z on web-1.");
  instance.left_ms = instance.seen_ms;
  expect("left",
         "The process web-1:811:4f said good-bye at 2026-01-01T10:59:34.999Z; it had served since "
         "2026-01-01T10:00:00.000Z.");
}

}  // namespace
}  // namespace tenure::overview
