#include "auth/refused_tokens.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tenure::auth {
namespace {

class Refused : public testing::Test {
 protected:
  static Digest Of(int i) { return Sha256(std::to_string(i)); }

  base::ManualClock clock_{1'700'000'000'000};
  RefusedTokens refused_{clock_};
};

TEST_F(Refused, ATokenIsRememberedForSomeSeconds) {
  refused_.Insert(Of(1), 7, "It has expired.");
  EXPECT_EQ(refused_.Find(Of(1), 7), "It has expired.");
  EXPECT_EQ(refused_.Find(Of(2), 7), std::nullopt);
  clock_.Advance(RefusedTokens::kMaxAgeMs - 1);
  EXPECT_EQ(refused_.Find(Of(1), 7), "It has expired.");
  clock_.Advance(1);
  EXPECT_EQ(refused_.Find(Of(1), 7), std::nullopt);
}

TEST_F(Refused, NewKeysMayMakeItGood) {
  refused_.Insert(Of(1), 7, "no key");
  EXPECT_EQ(refused_.Find(Of(1), 8), std::nullopt);
}

TEST_F(Refused, AFloodReplacesOthersAndNeverRefusesAnyoneElse) {
  constexpr int kMany = 3 * static_cast<int>(RefusedTokens::kEntries);
  for (int i = 0; i < kMany; ++i) refused_.Insert(Of(i), 7, std::to_string(i));
  int found = 0;
  for (int i = 0; i < kMany; ++i) {
    const auto why = refused_.Find(Of(i), 7);
    if (!why) continue;
    ++found;
    EXPECT_EQ(*why, std::to_string(i));
  }
  EXPECT_GT(found, 0);
  EXPECT_LE(found, static_cast<int>(RefusedTokens::kEntries));
  EXPECT_EQ(refused_.Find(Of(kMany), 7), std::nullopt);
}

}  // namespace
}  // namespace tenure::auth
