#include "usage/explain.hpp"

#include <gtest/gtest.h>

namespace tenure::usage {
namespace {

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

struct WhyUsageCase {
  std::string_view state;
  WindowView view;
  bool with_counts;
  std::string sentence;
  std::string_view act;
};

TEST(WhyUsage, SaysHowFarAWindowIsOnItsWayToTheReceiver) {
  WindowView closed;
  closed.window = {.number = 17,
                   .start_ms = kWhyNow - 60'000,
                   .end_ms = kWhyNow,
                   .sealed_ms = kWhyNow + 1'000,
                   .records = 7};
  WindowView emitting = closed;
  emitting.window.state = WindowState::kEmitting;
  WindowView sent = closed;
  sent.window.state = WindowState::kEmitted;
  WindowView sending = sent;
  sending.unsent_records = 1;
  WindowView refused = sending;
  refused.unsent_records = 3;
  refused.refused_records = 2;
  const std::string window =
      "Window 17 is of 2026-01-01T10:59:00.000Z to 2026-01-01T11:00:00.000Z, and was closed at "
      "2026-01-01T11:00:01.000Z. ";
  const std::vector<WhyUsageCase> cases{
      {"closed", closed, true, "Nobody was told of it: there was no usage.endpoint.", "usage.send"},
      {"emitting", emitting, true, "Its records are put together for the receiver.", ""},
      {"sent", sent, true, "The receiver has acknowledged all of its 7 records.", ""},
      {"sent", sent, false, "The receiver has acknowledged all of its records.", ""},
      {"sending", sending, true, "Of its 7 records one is not acknowledged by the receiver.", ""},
      {"sending", sending, false, "The receiver has not acknowledged all of its records.", ""},
      {"sending", refused, true,
       "Of its 7 records 3 are not acknowledged by the receiver. 2 of them are refused by the "
       "receiver: it says that they are wrong.",
       "usage.resend"},
      {"sending", refused, false,
       "The receiver has not acknowledged all of its records. The receiver refuses some of them: "
       "it says that they are wrong.",
       "usage.resend"},
  };
  for (const WhyUsageCase& each : cases) {
    const explain::Explanation why = Explain(each.view, each.with_counts);
    EXPECT_EQ(why.state, each.state);
    EXPECT_EQ(why.Sentence(), window + each.sentence);
    EXPECT_FALSE(why.next.text.empty());
    EXPECT_EQ(why.actions.empty() ? "" : why.actions.front().act, each.act) << each.sentence;
  }
}

}  // namespace
}  // namespace tenure::usage
