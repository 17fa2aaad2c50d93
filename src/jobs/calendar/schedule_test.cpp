#include "jobs/calendar/schedule.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/calendar/test_schedule.hpp"

namespace tenure::jobs::calendar {
namespace {

using testing::ElementsAre;

constexpr Gap kEnd = Gap::kEndOfGap;
constexpr Gap kSkip = Gap::kSkip;
constexpr Repeat kFirst = Repeat::kFirst;
constexpr Repeat kSecond = Repeat::kSecond;
constexpr Repeat kBoth = Repeat::kBoth;

struct Night {
  std::string zone;
  std::string cron;
  std::string from;
  Gap gap;
  Repeat repeat;
  std::vector<std::string> next;
};

class Nights : public testing::TestWithParam<Night> {};

TEST_P(Nights, OfTheYearAreRightByHand) {
  const Night& night = GetParam();
  const Schedule schedule = Daily(night.cron, night.zone, night.gap, night.repeat);
  EXPECT_EQ(
      Texts(schedule, schedule.List(Ms(night.from), Ms("2100-01-01T00:00:00Z"), night.next.size())),
      night.next)
      << night.zone << " " << night.cron;
}

INSTANTIATE_TEST_SUITE_P(
    NewYork, Nights,
    testing::Values(
        Night{"America/New_York",
              "30 2 * * *",
              "2026-03-07T00:00:00-05:00",
              kEnd,
              kFirst,
              {"2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00 gap",
               "2026-03-09T02:30:00-04:00"}},
        Night{"America/New_York",
              "30 2 * * *",
              "2026-03-07T00:00:00-05:00",
              kSkip,
              kFirst,
              {"2026-03-07T02:30:00-05:00", "2026-03-09T02:30:00-04:00"}},
        Night{"America/New_York",
              "30 1 * * *",
              "2026-10-31T12:00:00-04:00",
              kEnd,
              kFirst,
              {"2026-11-01T01:30:00-04:00 repeated", "2026-11-02T01:30:00-05:00"}},
        Night{"America/New_York",
              "30 1 * * *",
              "2026-10-31T12:00:00-04:00",
              kEnd,
              kSecond,
              {"2026-11-01T01:30:00-05:00 repeated", "2026-11-02T01:30:00-05:00"}},
        Night{"America/New_York",
              "30 1 * * *",
              "2026-10-31T12:00:00-04:00",
              kEnd,
              kBoth,
              {"2026-11-01T01:30:00-04:00 repeated", "2026-11-01T01:30:00-05:00 repeated",
               "2026-11-02T01:30:00-05:00"}},
        // Several times of one repeated hour come in order of time.
        Night{"America/New_York",
              "10,40 1 * * *",
              "2026-11-01T00:00:00-04:00",
              kEnd,
              kBoth,
              {"2026-11-01T01:10:00-04:00 repeated", "2026-11-01T01:40:00-04:00 repeated",
               "2026-11-01T01:10:00-05:00 repeated", "2026-11-01T01:40:00-05:00 repeated",
               "2026-11-02T01:10:00-05:00"}},
        // However many fell into the gap, and also when the end of it is named: once.
        Night{"America/New_York",
              "0,15,30 2,3 * * *",
              "2026-03-08T00:00:00-05:00",
              kEnd,
              kFirst,
              {"2026-03-08T03:00:00-04:00 gap", "2026-03-08T03:15:00-04:00",
               "2026-03-08T03:30:00-04:00", "2026-03-09T02:00:00-04:00"}},
        Night{"America/New_York",
              "0 3 * * *",
              "2026-03-08T00:00:00-05:00",
              kEnd,
              kFirst,
              {"2026-03-08T03:00:00-04:00", "2026-03-09T03:00:00-04:00"}},
        Night{"America/New_York",
              "0,30 2,3 * * *",
              "2026-03-08T00:00:00-05:00",
              kSkip,
              kFirst,
              {"2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00",
               "2026-03-09T02:00:00-04:00"}},
        // Intervals: every instant whose wall clock matches.
        Night{"America/New_York",
              "*/30 * * * *",
              "2026-03-08T01:30:00-05:00",
              kEnd,
              kFirst,
              {"2026-03-08T01:30:00-05:00", "2026-03-08T03:00:00-04:00",
               "2026-03-08T03:30:00-04:00"}},
        Night{"America/New_York",
              "*/30 1 * * *",
              "2026-11-01T00:30:00-04:00",
              kEnd,
              kSecond,
              {"2026-11-01T01:00:00-04:00 repeated", "2026-11-01T01:30:00-04:00 repeated",
               "2026-11-01T01:00:00-05:00 repeated", "2026-11-01T01:30:00-05:00 repeated",
               "2026-11-02T01:00:00-05:00"}},
        Night{"America/New_York",
              "*/20 2 * * *",
              "2026-03-08T00:00:00-05:00",
              kEnd,
              kFirst,
              {"2026-03-09T02:00:00-04:00"}},
        // Seconds make no interval.
        Night{"America/New_York",
              "*/30 30 2 * * *",
              "2026-03-08T00:00:00-05:00",
              kEnd,
              kFirst,
              {"2026-03-08T03:00:00-04:00 gap", "2026-03-09T02:30:00-04:00",
               "2026-03-09T02:30:30-04:00"}},
        // The rule of the last line counts where the list of changes ends.
        Night{"America/New_York",
              "30 2 8 3 *",
              "2098-01-01T00:00:00Z",
              kEnd,
              kFirst,
              {"2098-03-08T02:30:00-05:00", "2099-03-08T03:00:00-04:00 gap"}}));

INSTANTIATE_TEST_SUITE_P(
    London, Nights,
    testing::Values(Night{"Europe/London",
                          "30 1 * * *",
                          "2026-03-28T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-03-29T02:00:00+01:00 gap", "2026-03-30T01:30:00+01:00"}},
                    Night{"Europe/London",
                          "30 1 * * *",
                          "2026-10-24T12:00:00Z",
                          kEnd,
                          kBoth,
                          {"2026-10-25T01:30:00+01:00 repeated",
                           "2026-10-25T01:30:00+00:00 repeated", "2026-10-26T01:30:00+00:00"}},
                    // Two and a half years of summer time: 1970 had no change.
                    Night{"Europe/London",
                          "30 1 29 3 *",
                          "1970-01-01T00:00:00Z",
                          kEnd,
                          kFirst,
                          {"1970-03-29T01:30:00+01:00"}}));

INSTANTIATE_TEST_SUITE_P(
    Berlin, Nights,
    testing::Values(Night{"Europe/Berlin",
                          "0 30 2 * * *",
                          "2026-03-28T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-03-29T03:00:00+02:00 gap", "2026-03-30T02:30:00+02:00"}},
                    Night{"Europe/Berlin",
                          "0 30 2 * * *",
                          "2026-10-24T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-10-25T02:30:00+02:00 repeated", "2026-10-26T02:30:00+01:00"}},
                    Night{"Europe/Berlin",
                          "0 0 3 * * *",
                          "2026-10-24T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-10-25T03:00:00+01:00", "2026-10-26T03:00:00+01:00"}},
                    Night{"Europe/Berlin",
                          "0 0 2 * * *",
                          "2026-10-24T12:00:00Z",
                          kEnd,
                          kSecond,
                          {"2026-10-25T02:00:00+01:00 repeated", "2026-10-26T02:00:00+01:00"}}));

INSTANTIATE_TEST_SUITE_P(
    LordHowe, Nights,
    testing::Values(Night{"Australia/Lord_Howe",
                          "15 2 * * *",
                          "2026-10-03T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-10-04T02:30:00+11:00 gap", "2026-10-05T02:15:00+11:00"}},
                    Night{"Australia/Lord_Howe",
                          "45 2 * * *",
                          "2026-10-03T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-10-04T02:45:00+11:00", "2026-10-05T02:45:00+11:00"}},
                    Night{"Australia/Lord_Howe",
                          "45 1 * * *",
                          "2026-04-04T00:00:00Z",
                          kEnd,
                          kBoth,
                          {"2026-04-05T01:45:00+11:00 repeated",
                           "2026-04-05T01:45:00+10:30 repeated", "2026-04-06T01:45:00+10:30"}},
                    Night{"Australia/Lord_Howe",
                          "15 1 * * *",
                          "2026-04-04T00:00:00Z",
                          kEnd,
                          kBoth,
                          {"2026-04-05T01:15:00+11:00", "2026-04-06T01:15:00+10:30"}}));

INSTANTIATE_TEST_SUITE_P(
    SantiagoAndCairoAtMidnight, Nights,
    testing::Values(Night{"America/Santiago",
                          "0 0 * * *",
                          "2026-09-05T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-09-06T01:00:00-03:00 gap", "2026-09-07T00:00:00-03:00"}},
                    Night{"America/Santiago",
                          "0 0 * * *",
                          "2026-09-05T12:00:00Z",
                          kSkip,
                          kFirst,
                          {"2026-09-07T00:00:00-03:00"}},
                    Night{"America/Santiago",
                          "30 23 * * *",
                          "2026-04-04T12:00:00Z",
                          kEnd,
                          kSecond,
                          {"2026-04-04T23:30:00-04:00 repeated", "2026-04-05T23:30:00-04:00"}},
                    Night{"Africa/Cairo",
                          "@daily",
                          "2026-04-23T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-04-24T01:00:00+03:00 gap", "2026-04-25T00:00:00+03:00"}},
                    Night{"Africa/Cairo",
                          "30 23 * * *",
                          "2026-10-29T12:00:00Z",
                          kEnd,
                          kBoth,
                          {"2026-10-29T23:30:00+03:00 repeated",
                           "2026-10-29T23:30:00+02:00 repeated", "2026-10-30T23:30:00+02:00"}}));

INSTANTIATE_TEST_SUITE_P(
    ApiaLostADay, Nights,
    testing::Values(Night{"Pacific/Apia",
                          "0 8 * * *",
                          "2011-12-29T00:00:00Z",
                          kEnd,
                          kFirst,
                          {"2011-12-29T08:00:00-10:00", "2011-12-31T00:00:00+14:00 gap",
                           "2011-12-31T08:00:00+14:00", "2012-01-01T08:00:00+14:00"}},
                    Night{"Pacific/Apia",
                          "0 8 * * *",
                          "2011-12-29T00:00:00Z",
                          kSkip,
                          kFirst,
                          {"2011-12-29T08:00:00-10:00", "2011-12-31T08:00:00+14:00"}},
                    Night{"Pacific/Apia",
                          "0 0 30 12 *",
                          "2011-01-01T00:00:00Z",
                          kEnd,
                          kFirst,
                          {"2011-12-31T00:00:00+14:00 gap", "2012-12-30T00:00:00+14:00"}}));

INSTANTIATE_TEST_SUITE_P(
    CasablancaAndDublinHaveNegativeSummerTime, Nights,
    testing::Values(Night{"Africa/Casablanca",
                          "30 2 * * *",
                          "2025-02-22T12:00:00Z",
                          kEnd,
                          kBoth,
                          {"2025-02-23T02:30:00+01:00 repeated",
                           "2025-02-23T02:30:00+00:00 repeated", "2025-02-24T02:30:00+00:00"}},
                    Night{"Africa/Casablanca",
                          "30 2 * * *",
                          "2025-04-05T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2025-04-06T03:00:00+01:00 gap", "2025-04-07T02:30:00+01:00"}},
                    Night{"Europe/Dublin",
                          "30 1 * * *",
                          "2026-03-28T12:00:00Z",
                          kEnd,
                          kFirst,
                          {"2026-03-29T02:00:00+01:00 gap", "2026-03-30T01:30:00+01:00"}},
                    Night{"Europe/Dublin",
                          "30 1 * * *",
                          "2026-10-24T12:00:00Z",
                          kEnd,
                          kSecond,
                          {"2026-10-25T01:30:00+00:00 repeated", "2026-10-26T01:30:00+00:00"}}));

TEST(Schedule, ATimeThatIsAlwaysInTheGapNeverHappens) {
  const Schedule never = Daily("30 2 * 3 SUN#2", "America/New_York", kSkip);
  EXPECT_FALSE(never.First(Ms("2026-01-01T00:00:00Z")));
}

TEST(Schedule, TheFirstIsAtOrAfterAndMillisecondsAreNotCutOff) {
  const Schedule daily = Daily("0 2 * * *");
  EXPECT_EQ(daily.First(Ms("2026-01-01T02:00:00Z"))->time_ms, Ms("2026-01-01T02:00:00Z"));
  EXPECT_EQ(daily.First(Ms("2026-01-01T02:00:00.001Z"))->time_ms, Ms("2026-01-02T02:00:00Z"));
  EXPECT_EQ(daily.First(Ms("2026-01-01T01:59:59.999Z"))->time_ms, Ms("2026-01-01T02:00:00Z"));
}

TEST(Schedule, ADistanceCountsInExactMultiplesFromItsAnchor) {
  const Schedule every({90'000, Ms("2026-03-29T00:00:30Z")}, *SystemZones().Find("Europe/Berlin"));
  EXPECT_THAT(Texts(every, every.List(Ms("2026-03-29T00:57:00Z"), Ms("2026-03-30T00:00:00Z"), 4)),
              ElementsAre("2026-03-29T01:57:30+01:00", "2026-03-29T01:59:00+01:00",
                          "2026-03-29T03:00:30+02:00", "2026-03-29T03:02:00+02:00"));
  EXPECT_EQ(every.First(Ms("2026-03-28T00:00:00Z"))->time_ms, Ms("2026-03-28T00:00:00Z") + 30'000);
  EXPECT_EQ(every.Count(Ms("2026-03-29T00:00:30Z"), Ms("2026-03-29T00:03:31Z")), 3);
  EXPECT_EQ(Texts(every, every.Last(Ms("2000-01-01T00:00:00Z"), Ms("2026-03-29T00:03:30Z"), 2)),
            (std::vector<std::string>{"2026-03-29T01:00:30+01:00", "2026-03-29T01:02:00+01:00"}));
}

TEST(Schedule, CountsYearsOfSecondsAtOnce) {
  const Schedule seconds = Daily("* * * * * *", "Europe/Berlin");
  EXPECT_EQ(seconds.Count(Ms("2024-01-01T00:00:00Z"), Ms("2026-01-01T00:00:00.001Z")),
            (Ms("2026-01-01T00:00:00Z") - Ms("2024-01-01T00:00:00Z")) / 1'000 + 1);
  EXPECT_THAT(
      Texts(seconds, seconds.Last(Ms("2024-01-01T00:00:00Z"), Ms("2026-01-01T00:00:00Z"), 2)),
      ElementsAre("2026-01-01T00:59:58+01:00", "2026-01-01T00:59:59+01:00"));
  const Schedule nights = Daily("30 2 * * *", "Europe/Berlin", kSkip, kBoth);
  EXPECT_EQ(nights.Count(Ms("2026-01-01T00:00:00Z"), Ms("2027-01-01T00:00:00Z")), 365);
  EXPECT_EQ(nights.Count(Ms("2026-03-29T00:00:00Z"), Ms("2026-03-30T00:00:00Z")), 0);
}

TEST(Schedule, AtEveryIsADistance) {
  EXPECT_EQ(std::get<std::int64_t>(*ParseAtEvery("@every 90s")), 90'000);
  EXPECT_EQ(std::get<std::int64_t>(*ParseAtEvery(" @EVERY  PT5M ")), 300'000);
  EXPECT_EQ(std::get<Problem>(*ParseAtEvery("@every 90x")).position, 7u);
  EXPECT_EQ(std::get<Problem>(*ParseAtEvery("@every 999ms")).position, 7u);
  EXPECT_EQ(std::get<Problem>(*ParseAtEvery("@every")).position, 6u);
  EXPECT_FALSE(ParseAtEvery("@everyone"));
  EXPECT_FALSE(ParseAtEvery("0 0 * * *"));
  EXPECT_FALSE(ParseAtEvery(""));
}

}  // namespace
}  // namespace tenure::jobs::calendar
