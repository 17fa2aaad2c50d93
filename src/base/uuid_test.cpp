#include "base/uuid.hpp"

#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include "base/keyed_hash.hpp"

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

/// 0, 1, 2, …
std::string Counting(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>(i));
  return text;
}

TEST(KeyedHash, IsSipHashAsItsAuthorsPublishedIt) {
  const KeyedHash hash({0x0706050403020100, 0x0f0e0d0c0b0a0908});
  EXPECT_EQ(hash(""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(hash(Counting(1)), 0x74f839c593dc67fdU);
  EXPECT_EQ(hash(Counting(7)), 0xab0200f58b01d137U);
  EXPECT_EQ(hash(Counting(8)), 0x93f5f5799a932462U);
  EXPECT_EQ(hash(Counting(15)), 0xa129ca6149be45e5U);
}

TEST(KeyedHash, EachHasAKeyOfItsOwn) {
  const KeyedHash one;
  const KeyedHash other;
  EXPECT_EQ(one("tenure"), one("tenure"));
  EXPECT_NE(one("tenure"), other("tenure"));
}

}  // namespace
}  // namespace tenure::base
