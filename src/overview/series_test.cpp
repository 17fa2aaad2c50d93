#include "overview/series.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace tenure::overview {
namespace {

constexpr std::int64_t kBegin = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

std::string TextOf(const Series& series, Series::Range range = Series::Range::kHour) {
  std::string text;
  base::JsonWriter json(text);
  series.Write(json, range);
  return text;
}

TEST(Series, AStepThatNobodyNotedIsAGap) {
  Series series;
  EXPECT_EQ(TextOf(series), R"({"step_ms":10000,"since":null,"from":null,"values":{}})");
  series.Note(kBegin, {{"ready", 1}});
  series.Note(kBegin + 10'000, {{"ready", 2}, {"dead", 7}});
  series.Note(kBegin + 40'000, {{"ready", 3}});
  EXPECT_EQ(
      TextOf(series),
      R"({"step_ms":10000,"since":"2026-01-01T11:00:00.000Z","from":"2026-01-01T11:00:00.000Z",)"
      R"("values":{"dead":[null,7,null,null,null],"ready":[1,2,null,null,3]}})");
  EXPECT_EQ(
      TextOf(series, Series::Range::kDay),
      R"({"step_ms":60000,"since":"2026-01-01T11:00:00.000Z","from":"2026-01-01T11:00:00.000Z",)"
      R"("values":{"dead":[7],"ready":[3]}})");
}

TEST(Series, KeepsAnHourAndADayAndNoMore) {
  Series series;
  for (std::int64_t step = 0; step <= 400; ++step)
    series.Note(kBegin + step * 10'000, {{"ready", step}});
  const std::string text = TextOf(series);
  EXPECT_EQ(text.find("[41,42,"), text.find('[')) << text;
  EXPECT_NE(text.find(",400]"), std::string::npos);
  // A night later only what is noted then is there.
  series.Note(kBegin + 12 * 3'600'000, {{"ready", 5}});
  const std::string later = TextOf(series);
  EXPECT_EQ(later.find_first_of("123456789", later.find('[')), later.find(",5]") + 1) << later;
  const std::string day = TextOf(series, Series::Range::kDay);
  EXPECT_NE(day.find("[5,11,"), std::string::npos) << day;
}

TEST(Series, HasSoManyNamesAtMostAndForgetsATimeThatHasNotCome) {
  Series series;
  Series::Values values;
  for (int i = 0; i < 60; ++i) values["name" + std::to_string(i)] = i;
  series.Note(kBegin, values);
  const std::string text = TextOf(series);
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), 48);
  series.Note(kBegin - 3'600'000, {{"ready", 1}});
  EXPECT_EQ(
      TextOf(series),
      R"({"step_ms":10000,"since":"2026-01-01T10:00:00.000Z","from":"2026-01-01T10:00:00.000Z",)"
      R"("values":{"ready":[1]}})");
}

}  // namespace
}  // namespace tenure::overview
