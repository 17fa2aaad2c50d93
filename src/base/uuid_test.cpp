#include "base/uuid.hpp"

#include <unordered_set>

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(Uuid, TextIsReadInEitherCaseAndPrintedInLowerCase) {
  const auto id = Uuid::Parse("6F9619FF-8B86-D011-B42D-00C04FC964FF");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->ToString(), "6f9619ff-8b86-d011-b42d-00c04fc964ff");
}

TEST(Uuid, NothingButTheCanonicalFormIsAccepted) {
  for (const char* text :
       {"", "6f9619ff-8b86-d011-b42d-00c04fc964f", "6f9619ff-8b86-d011-b42d-00c04fc964ff0",
        "6f9619ff8b86d011b42d00c04fc964ff", "{f9619ff-8b86-d011-b42d-00c04fc964f}",
        "6f9619ff-8b86-d011-b42d_00c04fc964ff", "6f9619ff-8b86-d011-b42d-00c04fc964fg",
        "-f9619ff-8b86-d011-b42d-00c04fc964ff", "6f9619ff--b86-d011-b42d-00c04fc964ff"})
    EXPECT_FALSE(Uuid::Parse(text)) << text;
}

TEST(Uuid, Version7CarriesItsInstantAndSortsByIt) {
  const auto early = Uuid::V7(1'700'000'000'000);
  const auto late = Uuid::V7(1'700'000'000'001);
  EXPECT_LT(early, late);
  EXPECT_LT(early.ToString(), late.ToString());
  EXPECT_EQ(late.TimestampMs(), 1'700'000'000'001);
  EXPECT_EQ(early.ToString()[14], '7');
  EXPECT_EQ(early.bytes[8] & 0xC0, 0x80);
}

TEST(Uuid, OneInstantGivesDifferentIds) {
  std::unordered_set<Uuid> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(Uuid::V7(42)).second);
}

}  // namespace
}  // namespace tenure::base
