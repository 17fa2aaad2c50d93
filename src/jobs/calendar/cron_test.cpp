#include "jobs/calendar/cron.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "jobs/calendar/test_schedule.hpp"

namespace tenure::jobs::calendar {
namespace {

struct Vector {
  std::string cron;
  std::string from;  ///< UTC
  std::vector<std::string> next;
};

class CronVectors : public testing::TestWithParam<Vector> {};

TEST_P(CronVectors, AreRightByHand) {
  const Vector& vector = GetParam();
  const Schedule schedule = Daily(vector.cron);
  std::vector<std::string> got;
  for (const Occurrence& at :
       schedule.List(Ms(vector.from), Ms("2101-01-01T00:00:00Z"), vector.next.size()))
    got.push_back(base::UtcText(at.time_ms).substr(0, 19));
  EXPECT_EQ(got, vector.next) << vector.cron;
}

// 2026-01-01 is a Thursday.
INSTANTIATE_TEST_SUITE_P(
    TheSixOfTheDocument, CronVectors,
    testing::Values(
        Vector{"0 */5 * * * *",
               "2026-01-01T00:00:01Z",
               {"2026-01-01T00:05:00", "2026-01-01T00:10:00"}},
        Vector{
            "0 0 * * * *", "2026-01-01T00:00:00Z", {"2026-01-01T00:00:00", "2026-01-01T01:00:00"}},
        Vector{
            "0 30 2 * * *", "2026-01-01T02:30:01Z", {"2026-01-02T02:30:00", "2026-01-03T02:30:00"}},
        Vector{
            "0 0 9 * * 1", "2026-01-01T00:00:00Z", {"2026-01-05T09:00:00", "2026-01-12T09:00:00"}},
        Vector{
            "0 0 0 1 * *", "2026-01-01T00:00:01Z", {"2026-02-01T00:00:00", "2026-03-01T00:00:00"}},
        Vector{"0 0 18 * * 1-5",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T18:00:00", "2026-01-02T18:00:00", "2026-01-05T18:00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    ListsRangesAndSteps, CronVectors,
    testing::Values(
        Vector{"5 4 * * *", "2026-01-01T04:05:00Z", {"2026-01-01T04:05:00", "2026-01-02T04:05:00"}},
        Vector{"15,45 8 * * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T08:15:00", "2026-01-01T08:45:00", "2026-01-02T08:15:00"}},
        Vector{"10-40/15 0 * * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T00:10:00", "2026-01-01T00:25:00", "2026-01-01T00:40:00",
                "2026-01-02T00:10:00"}},
        Vector{"5/20 0 * * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T00:05:00", "2026-01-01T00:25:00", "2026-01-01T00:45:00",
                "2026-01-02T00:05:00"}},
        Vector{"0 22-2 * * *",
               "2026-01-01T03:00:00Z",
               {"2026-01-01T22:00:00", "2026-01-01T23:00:00", "2026-01-02T00:00:00",
                "2026-01-02T01:00:00", "2026-01-02T02:00:00", "2026-01-02T22:00:00"}},
        Vector{"0 22-3/2 * * *",
               "2026-01-01T03:00:00Z",
               {"2026-01-01T22:00:00", "2026-01-02T00:00:00", "2026-01-02T02:00:00",
                "2026-01-02T22:00:00"}},
        Vector{"0 0 1 NOV-FEB/2 *",
               "2026-02-02T00:00:00Z",
               {"2026-11-01T00:00:00", "2027-01-01T00:00:00", "2027-11-01T00:00:00"}},
        Vector{"0 0 30-2 * *",
               "2026-01-03T00:00:00Z",
               {"2026-01-30T00:00:00", "2026-01-31T00:00:00", "2026-02-01T00:00:00",
                "2026-02-02T00:00:00", "2026-03-01T00:00:00"}},
        Vector{"0 0 * * FRI-MON",
               "2026-01-01T00:00:00Z",
               {"2026-01-02T00:00:00", "2026-01-03T00:00:00", "2026-01-04T00:00:00",
                "2026-01-05T00:00:00", "2026-01-09T00:00:00"}},
        Vector{"30/15 * * * * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T00:00:30", "2026-01-01T00:00:45", "2026-01-01T00:01:30"}}));

INSTANTIATE_TEST_SUITE_P(
    NamesAndSundays, CronVectors,
    testing::Values(
        Vector{"0 0 * jan,Mar mon",
               "2026-01-20T00:00:00Z",
               {"2026-01-26T00:00:00", "2026-03-02T00:00:00"}},
        Vector{"0 0 * * 0", "2026-01-01T00:00:00Z", {"2026-01-04T00:00:00", "2026-01-11T00:00:00"}},
        Vector{"0 0 * * 7", "2026-01-01T00:00:00Z", {"2026-01-04T00:00:00", "2026-01-11T00:00:00"}},
        Vector{"0 0 * * 5-7",
               "2026-01-01T00:00:00Z",
               {"2026-01-02T00:00:00", "2026-01-03T00:00:00", "2026-01-04T00:00:00",
                "2026-01-09T00:00:00"}},
        Vector{"0 0 * * 7-1",
               "2026-01-01T00:00:00Z",
               {"2026-01-04T00:00:00", "2026-01-05T00:00:00", "2026-01-11T00:00:00"}},
        Vector{
            "0 0 * * 0-7", "2026-01-01T00:00:00Z", {"2026-01-01T00:00:00", "2026-01-02T00:00:00"}},
        Vector{"0 0 * * SUN", "2026-01-01T00:00:00Z", {"2026-01-04T00:00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    DaysAndWeekdays, CronVectors,
    testing::Values(
        // Both restricted: either matches.
        Vector{"0 0 13 * FRI",
               "2026-02-07T00:00:00Z",
               {"2026-02-13T00:00:00", "2026-02-20T00:00:00", "2026-02-27T00:00:00",
                "2026-03-06T00:00:00", "2026-03-13T00:00:00"}},
        Vector{
            "0 0 13 * ?", "2026-02-07T00:00:00Z", {"2026-02-13T00:00:00", "2026-03-13T00:00:00"}},
        Vector{"0 0 ? * MON", "2026-01-01T00:00:00Z", {"2026-01-05T00:00:00"}},
        Vector{"0 0 ? * ?", "2026-01-01T00:00:00Z", {"2026-01-01T00:00:00", "2026-01-02T00:00:00"}},
        // A step restricts, so either matches.
        Vector{"0 0 */10 * MON",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T00:00:00", "2026-01-05T00:00:00", "2026-01-11T00:00:00",
                "2026-01-12T00:00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    LastDays, CronVectors,
    testing::Values(
        Vector{"0 0 L * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-31T00:00:00", "2026-02-28T00:00:00", "2026-03-31T00:00:00",
                "2026-04-30T00:00:00"}},
        Vector{"0 0 L 2 *", "2027-01-01T00:00:00Z", {"2027-02-28T00:00:00", "2028-02-29T00:00:00"}},
        Vector{"0 0 L-3 * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-28T00:00:00", "2026-02-25T00:00:00", "2026-03-28T00:00:00"}},
        Vector{
            "0 0 L-30 * *", "2026-01-02T00:00:00Z", {"2026-03-01T00:00:00", "2026-05-01T00:00:00"}},
        // The last of January 2026 is a Saturday, of May a Sunday.
        Vector{"0 0 LW * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-30T00:00:00", "2026-02-27T00:00:00", "2026-03-31T00:00:00",
                "2026-04-30T00:00:00", "2026-05-29T00:00:00"}},
        Vector{"0 0 * * 5L",
               "2026-01-01T00:00:00Z",
               {"2026-01-30T00:00:00", "2026-02-27T00:00:00", "2026-03-27T00:00:00"}},
        Vector{"0 0 * * fril", "2026-01-01T00:00:00Z", {"2026-01-30T00:00:00"}},
        Vector{"0 0 * * 7L", "2026-01-01T00:00:00Z", {"2026-01-25T00:00:00"}},
        Vector{"0 0 1,L * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-01T00:00:00", "2026-01-31T00:00:00", "2026-02-01T00:00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    NearestWeekdays, CronVectors,
    testing::Values(
        // 2026-02-15 is a Sunday, 2026-08-15 a Saturday.
        Vector{"0 0 15W * *",
               "2026-01-01T00:00:00Z",
               {"2026-01-15T00:00:00", "2026-02-16T00:00:00", "2026-03-16T00:00:00"}},
        Vector{"0 0 15W 8 *", "2026-01-01T00:00:00Z", {"2026-08-14T00:00:00"}},
        // The first of August 2026 is a Saturday, that of February a Sunday.
        Vector{"0 0 1W 8 *", "2026-01-01T00:00:00Z", {"2026-08-03T00:00:00"}},
        Vector{"0 0 1W 2 *", "2026-01-01T00:00:00Z", {"2026-02-02T00:00:00"}},
        // The 31st of May 2026 is a Sunday: the 1st of June is another month.
        Vector{"0 0 31W 5 *", "2026-01-01T00:00:00Z", {"2026-05-29T00:00:00"}},
        // A month without that day has none.
        Vector{
            "0 0 31W * *", "2026-02-01T00:00:00Z", {"2026-03-31T00:00:00", "2026-05-29T00:00:00"}},
        Vector{"0 0 30w 1-3 *", "2026-01-31T00:00:00Z", {"2026-03-30T00:00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    NthWeekdays, CronVectors,
    testing::Values(Vector{"0 0 * * MON#2",
                           "2026-01-01T00:00:00Z",
                           {"2026-01-12T00:00:00", "2026-02-09T00:00:00", "2026-03-09T00:00:00"}},
                    Vector{"0 0 * * 0#1",
                           "2026-01-01T00:00:00Z",
                           {"2026-01-04T00:00:00", "2026-02-01T00:00:00"}},
                    Vector{"0 0 * * THU#5",
                           "2026-01-01T00:00:00Z",
                           {"2026-01-29T00:00:00", "2026-04-30T00:00:00", "2026-07-30T00:00:00"}},
                    Vector{"0 0 * * MON#1,FRIL",
                           "2026-01-01T00:00:00Z",
                           {"2026-01-05T00:00:00", "2026-01-30T00:00:00", "2026-02-02T00:00:00"}},
                    // A fifth Monday of February is a 29th.
                    Vector{"0 0 * 2 MON#5",
                           "2026-01-01T00:00:00Z",
                           {"2044-02-29T00:00:00", "2072-02-29T00:00:00"}},
                    Vector{"0 0 29 2 *",
                           "2026-01-01T00:00:00Z",
                           {"2028-02-29T00:00:00", "2032-02-29T00:00:00"}},
                    Vector{"0 0 29 2 *", "2096-03-01T00:00:00Z", {}}));

INSTANTIATE_TEST_SUITE_P(
    Nicknames, CronVectors,
    testing::Values(Vector{"@yearly", "2026-01-02T00:00:00Z", {"2027-01-01T00:00:00"}},
                    Vector{"@annually", "2026-01-02T00:00:00Z", {"2027-01-01T00:00:00"}},
                    Vector{"@monthly", "2026-01-02T00:00:00Z", {"2026-02-01T00:00:00"}},
                    Vector{"@weekly", "2026-01-01T00:00:00Z", {"2026-01-04T00:00:00"}},
                    Vector{"@daily", "2026-01-01T00:00:01Z", {"2026-01-02T00:00:00"}},
                    Vector{"@MIDNIGHT", "2026-01-01T00:00:01Z", {"2026-01-02T00:00:00"}},
                    Vector{"@hourly", "2026-01-01T00:00:01Z", {"2026-01-01T01:00:00"}},
                    Vector{"  0\t0 *  * * ", "2026-01-01T00:00:01Z", {"2026-01-02T00:00:00"}}));

struct Mistake {
  std::string cron;
  std::size_t position;
  std::string expected;
};

class CronMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(CronMistakes, AreNamedWithTheirPlace) {
  const auto read = Cron::Parse(GetParam().cron);
  ASSERT_TRUE(std::holds_alternative<Problem>(read)) << GetParam().cron;
  const auto& problem = std::get<Problem>(read);
  EXPECT_EQ(problem.position, GetParam().position) << GetParam().cron;
  EXPECT_NE(problem.message.find(GetParam().expected), std::string::npos) << problem.message;
}

INSTANTIATE_TEST_SUITE_P(
    All, CronMistakes,
    testing::Values(
        Mistake{"", 0, "5 or 6 fields"}, Mistake{"* * * *", 7, "there are 4"},
        Mistake{"* * * * * * 2026", 12, "the end after 6 fields"},
        Mistake{"60 * * * *", 0, "a minute from 0 to 59"},
        Mistake{"0 24 * * *", 2, "an hour from 0 to 23"},
        Mistake{"0 0 0 * *", 4, "a day from 1 to 31"},
        Mistake{"0 0 32 * *", 4, "a day from 1 to 31"},
        Mistake{"0 0 1 13 *", 6, "a month from 1 to 12"}, Mistake{"0 0 1 FOO *", 6, "a month"},
        Mistake{"0 0 * * 8", 8, "a weekday"}, Mistake{"0 0 * * MO", 8, "a weekday"},
        Mistake{"0 0 * * MONDAY", 11, "a comma or the end"},
        Mistake{"60 0 0 * * *", 0, "a second from 0 to 59"},
        Mistake{"*/0 * * * *", 2, "a step from 1 to 59"},
        Mistake{"*/60 * * * *", 2, "a step from 1 to 59"}, Mistake{"1,,2 * * * *", 2, "a minute"},
        Mistake{"1, * * * *", 2, "a minute"}, Mistake{"1- * * * *", 2, "a minute"},
        Mistake{"-1 * * * *", 0, "a minute"}, Mistake{"1-2-3 * * * *", 3, "a comma or the end"},
        Mistake{"? * * * *", 0, "a minute"}, Mistake{"0 0 ?,1 * *", 4, "a day"},
        Mistake{"0 0 * * L", 8, "a weekday before L"}, Mistake{"0 0 * * MON#6", 12, "from 1 to 5"},
        Mistake{"0 0 * * MON#0", 12, "from 1 to 5"},
        Mistake{"0 0 * * MON-TUE#2", 8, "a single weekday before #"},
        Mistake{"0 0 1-5W * *", 4, "a single day before W"},
        Mistake{"0 0 L-31 * *", 6, "from 1 to 30"}, Mistake{"0 0 L- * *", 6, "from 1 to 30"},
        Mistake{"0 0 32W * *", 4, "a day from 1 to 31"}, Mistake{"@reboot", 0, "@yearly"},
        Mistake{"@daily 5", 7, "nothing after it"},
        Mistake{"0 0 30 2 *", 4, "a day that one of the months has"},
        Mistake{"0 0 31 4,6,9,11 *", 4, "a day that one of the months has"},
        Mistake{"0 0 0 30W 2 *", 6, "a day that one of the months has"},
        Mistake{std::string(300, '*'), 255, "at most 255 characters"}));

TEST(Cron, AStarOrAStepInMinutesOrHoursMakesAnInterval) {
  for (const char* text : {"* * * * *", "*/5 2 * * *", "5/20 2 * * *", "0 * * * *", "0 0 */2 * * *",
                           "1,*/7 3 * * *", "0 1-5/2 * * *", "@hourly"})
    EXPECT_TRUE(ReadCron(text).interval()) << text;
  for (const char* text : {"30 2 * * *", "0,15,30 1,2,3 * * *", "0-30 2-4 * * *", "*/5 30 2 * * *",
                           "* 30 2 * * *", "0 0 */2 * *", "@daily"})
    EXPECT_FALSE(ReadCron(text).interval()) << text;
}

}  // namespace
}  // namespace tenure::jobs::calendar
