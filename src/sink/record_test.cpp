#include "sink/record.hpp"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/message.hpp"

namespace tenure::sink {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view kRecord =
    R"({"recordId":"17-0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071",)"
    R"("sessionId":"0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071",)"
    R"("userObjectId":"11111111-1111-4111-8111-111111111111",)"
    R"("tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
    R"("capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":2,)"
    R"("windowStartUtc":"2026-01-01T00:00:00.000Z","windowEndUtc":"2026-01-01T00:01:00.000Z",)"
    R"("usage":0.000046})";

/// The names of the fields that are refused.
std::vector<std::string> Refused(const std::string& body) {
  std::vector<std::string> names;
  try {
    ReadRecords(body);
  } catch (const http::ProblemError& error) {
    EXPECT_EQ(error.problem().status, 400);
    for (const auto& one : error.problem().errors) names.push_back(one.field);
    if (names.empty()) names.emplace_back("body");
  }
  return names;
}

std::string With(std::string_view from, std::string_view to) {
  std::string record(kRecord);
  const std::size_t at = record.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return fmt::format("[{}]", record.replace(at, from.size(), to));
}

TEST(Record, IsReadAndWrittenTheSame) {
  const std::vector<Record> records = ReadRecords(fmt::format("[{}]", kRecord));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].window, 17);
  EXPECT_EQ(records[0].usage, 46);
  EXPECT_EQ(records[0].end_ms - records[0].start_ms, 60'000);
  std::string text;
  base::JsonWriter json(text);
  WriteRecord(json, records[0]);
  EXPECT_EQ(text, kRecord);
}

TEST(Record, EachFieldIsCheckedAndNamed) {
  const auto refused = [](std::string_view from, std::string_view to, const char* field) {
    EXPECT_THAT(Refused(With(from, to)), Contains(fmt::format("records[0].{}", field))) << to;
  };
  refused("\"17-0190", "\"0-0190", "recordId");
  refused("\"17-0190", "\"017-0190", "recordId");
  refused("\"17-0190", "\"-17-0190", "recordId");
  refused("\"17-0190", "\"17-0191", "recordId");
  refused("\"17-0190", "\"9007199254740992-0190", "recordId");
  refused("11111111-1111", "1111", "userObjectId");
  refused(R"("sessionKind":2)", R"("sessionKind":4)", "sessionKind");
  refused("2026-01-01T00:00:00.000Z", "yesterday", "windowStartUtc");
  refused("2026-01-01T00:01:00.000Z", "2026-01-01T00:00:00.000Z", "windowEndUtc");
  for (const char* usage : {"0.00004", "0.0000460", "4.6e-5", "-0.000046", "\"0.000046\"", "46",
                            "null", "100000000.000001"})
    refused("0.000046", usage, "usage");
  refused(R"("usage":0.000046)", R"("usage":0.000046,"more":1)", "more");
  refused(R"(,"usage":0.000046)", "", "usage");
  refused(R"("windowEndUtc":"2026-01-01T00:01:00.000Z",)", "", "windowEndUtc");
}

TEST(Record, TheBodyIsOneArrayAndNothingElse) {
  const std::string one(kRecord);
  const std::vector<std::string> bodies = {"",
                                           "[]",
                                           "{}",
                                           "null",
                                           "[1]",
                                           one,
                                           "[" + one + "],\"records\":[]",
                                           "[" + one + "],\"x\":1",
                                           "[" + one + "]}",
                                           "[" + one + "," + one + "]"};
  for (const std::string& body : bodies) EXPECT_FALSE(Refused(body).empty()) << body;
}

TEST(Record, AThousandAreTakenAndNotOneMore) {
  const auto body = [](int count) {
    std::string text = "[";
    for (int i = 1; i <= count; ++i) {
      std::string record(kRecord);
      text += (i > 1 ? "," : "") + record.replace(record.find("17-"), 2, fmt::to_string(i));
    }
    return text + "]";
  };
  EXPECT_EQ(ReadRecords(body(1'000)).size(), 1'000U);
  EXPECT_THAT(Refused(body(1'001)), Contains("records"));
}

TEST(MicroUnits, AreReadWithSixPlaces) {
  for (const auto& [text, micros] : {std::pair<const char*, std::int64_t>{"0.000000", 0},
                                     {"0.000023", 23},
                                     {"1.000000", 1'000'000},
                                     {"12.345678", 12'345'678},
                                     {"999999999999.999999", 999'999'999'999'999'999}}) {
    EXPECT_EQ(ParseMicros(text), micros);
  }
}

TEST(MicroUnits, HaveOneSpelling) {
  for (const char* text : {"", "1", "1.", ".000001", "1.0", "1.0000000", "01.000000", "-1.000000",
                           "+1.000000", "1e3", "1.00000a", "1,000000", " 1.000000", "\"1.000000\"",
                           "0x.000000", "1.000.000", "9999999999999.999999"})
    EXPECT_EQ(ParseMicros(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tenure::sink
