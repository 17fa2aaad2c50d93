#include "base/keyed_hash.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

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
