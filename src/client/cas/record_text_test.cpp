#include "client/cas/record_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::client {
namespace {

using testing::HasSubstr;

CasRecord SampleRecord() {
  CasRecord record;
  record.fence = 1'800'000'000'000'000;
  record.term = "0190f3c1-7a2b-7c3d-8e4f-0123456789ab";
  record.holder = "host:\"1\"\n";
  record.metadata = R"({"zone":"b"})";
  record.ttl_ms = 5'000;
  record.granted_ms = 1'700'000'000'000;
  record.state = leases::LeaseState::kBroken;
  record.reason = "stuck";
  record.free_at_s = 1'700'000'100;
  record.drain_ms = 7;
  record.past.push_back({.fence = 3,
                         .term = "t",
                         .holder = "h",
                         .granted_at_ms = 1,
                         .ended_at_ms = 2,
                         .reason = leases::LossReason::kBroken,
                         .detail = "why"});
  return record;
}

std::string WhyNot(const std::string& text) {
  try {
    ParseCasRecord(text);
  } catch (const NoCasRecord& error) {
    return error.what();
  }
  return {};
}

TEST(CasRecordText, WhatIsWrittenIsRead) {
  const CasRecord before = SampleRecord();
  const CasRecord after = ParseCasRecord(TextOf(before));
  EXPECT_EQ(TextOf(after), TextOf(before));
  EXPECT_EQ(after.fence, before.fence);
  EXPECT_EQ(after.holder, before.holder);
  EXPECT_EQ(after.metadata, before.metadata);
  EXPECT_EQ(after.free_at_s, before.free_at_s);
  ASSERT_EQ(after.past.size(), 1U);
  EXPECT_EQ(after.past[0].detail, "why");
}

TEST(CasRecordText, ALongRecordLosesItsOldestPastGrants) {
  CasRecord record = SampleRecord();
  leases::PastGrant past = record.past.front();
  past.holder = std::string(200, '\x01');  // six bytes each, as JSON
  past.detail = std::string(500, '\x01');
  record.past.assign(8, past);
  record.past.front().fence = 99;
  const std::string text = TextOf(record);
  EXPECT_LE(text.size(), 16U * 1024);
  const CasRecord read = ParseCasRecord(text);
  EXPECT_GE(read.past.size(), 2U);
  EXPECT_EQ(read.past.front().fence, 99);
}

TEST(CasRecordText, WhatSomebodyElseWroteIsNoRecord) {
  EXPECT_THAT(WhyNot(""), HasSubstr("not JSON"));
  EXPECT_THAT(WhyNot("hello"), HasSubstr("not JSON"));
  EXPECT_THAT(WhyNot("[]"), HasSubstr("no record"));
  EXPECT_THAT(WhyNot("{}"), HasSubstr("version"));
  EXPECT_THAT(WhyNot(R"({"version":2})"), HasSubstr("a newer one wrote it"));
  const std::string good = TextOf(SampleRecord());
  const auto spoilt = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return WhyNot(text);
  };
  EXPECT_THAT(spoilt(R"("ttl_ms":5000)", R"("ttl_ms":-1)"), HasSubstr("ttl_ms"));
  EXPECT_THAT(spoilt(R"("ttl_ms":5000)", R"("ttl_ms":9223372036854775807)"), HasSubstr("ttl_ms"));
  EXPECT_THAT(spoilt(R"("state":"broken")", R"("state":"odd")"), HasSubstr("state"));
  EXPECT_THAT(spoilt(R"("past":[)", R"("past":[1,)"), HasSubstr("fence"));
  EXPECT_THAT(spoilt(R"("reason":"stuck")", R"("reason":null)"), HasSubstr("reason"));
}

TEST(CasNames, EveryNameHasOneTextAndPrefixesStayPrefixes) {
  for (const std::string name : {"a", "a/b", ".", "..", "a//b", "x:y@z.1_-", "A~"}) {
    if (!leases::IsLeaseName(name)) continue;
    const std::string text = EncodedLeaseName(name);
    EXPECT_EQ(text.find_first_of("/.:@"), std::string::npos) << text;
    EXPECT_EQ(DecodedLeaseName(text), name);
    for (std::size_t size = 0; size < name.size(); ++size)
      EXPECT_TRUE(text.starts_with(EncodedLeaseName(name.substr(0, size))));
  }
  EXPECT_EQ(EncodedLeaseName("a/b"), "a~2Fb");
  for (const char* foreign : {"", "a/b", "~", "~4", "~41", "~2f", "~7E", "a b", "~00"})
    EXPECT_FALSE(DecodedLeaseName(foreign).has_value()) << foreign;
}

}  // namespace
}  // namespace tenure::client
