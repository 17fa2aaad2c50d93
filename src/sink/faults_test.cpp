#include "sink/faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tenure::sink {
namespace {

using testing::HasSubstr;

constexpr const char* kSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";

TEST(Faults, AreDrawnAsOftenAsTheyShouldBe) {
  const Faults faults = Faults::Parse("500:0.25,hang:0.125,drop-before:0.125,drop-after:0.25");
  std::mt19937_64 random(1);
  int none = 0;
  int kinds[4] = {};
  for (int i = 0; i < 8'000; ++i) {
    const auto fault = faults.Draw(random);
    fault ? ++kinds[static_cast<int>(fault->kind)] : ++none;
    EXPECT_TRUE(!fault || fault->kind != InjectedFault::Kind::kStatus || fault->status == 500);
  }
  EXPECT_NEAR(none, 2'000, 200);
  EXPECT_NEAR(kinds[static_cast<int>(InjectedFault::Kind::kStatus)], 2'000, 200);
  EXPECT_NEAR(kinds[static_cast<int>(InjectedFault::Kind::kHang)], 1'000, 200);
  EXPECT_NEAR(kinds[static_cast<int>(InjectedFault::Kind::kDropBefore)], 1'000, 200);
  EXPECT_NEAR(kinds[static_cast<int>(InjectedFault::Kind::kDropAfter)], 2'000, 200);
}

TEST(Faults, NoneIsDrawnFromNothingAndAlwaysOneFromACertainty) {
  std::mt19937_64 random(1);
  const Faults none = Faults::Parse("");
  const Faults certain = Faults::Parse("401:1");
  const Faults never = Faults::Parse("401:0");
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(none.Draw(random));
    EXPECT_FALSE(never.Draw(random));
    EXPECT_EQ(certain.Draw(random).value_or(InjectedFault{}).status, 401);
  }
}

TEST(Faults, RefuseTheSessionsThatTheyName) {
  const Faults faults =
      Faults::Parse("500:0.1,refuse-session:0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071=422");
  EXPECT_EQ(faults.RefusalOf(*base::Uuid::Parse(kSession)), 422);
  EXPECT_EQ(faults.RefusalOf(base::Uuid()), std::nullopt);
}

TEST(Faults, WhatIsNoneIsRefusedWithASentence) {
  for (const char* text :
       {"500", "500:", "500:2", "500:-1", "500:1.", "500:.5", "500:0.1234567", "500:1e0", "200:0.1",
        "600:0.1", "explode:0.1", ",", "refuse-session:x=422",
        "refuse-session:0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071",
        "refuse-session:0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071=200"}) {
    EXPECT_THROW(Faults::Parse(text), base::UserError) << text;
  }
  try {
    Faults::Parse("500:0.6,401:0.6");
    FAIL();
  } catch (const base::UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("more than 1"));
  }
}

}  // namespace
}  // namespace tenure::sink
