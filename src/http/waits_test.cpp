#include "http/waits.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace tenure::http {
namespace {

class WaitBounds : public testing::Test {
 protected:
  /// The status of the refusal; 0: it may wait.
  int Ask(const Principal& principal, std::size_t things) {
    try {
      waits_->Begin(principal, things);
      return 0;
    } catch (const ProblemError& error) {
      EXPECT_TRUE(error.problem().retry_after_s);
      return error.problem().status;
    }
  }

  const Principal ada_{.tenant = "acme", .person = "ada"};
  const Principal bob_{.tenant = "acme", .person = "bob"};
  const std::shared_ptr<Waits> waits_ =
      std::make_shared<Waits>(Waits::Bounds{.all = 300, .of_person = 200});
};

TEST_F(WaitBounds, APersonMayWaitForSoMuchAndAllTogetherForMore) {
  std::optional<Waits::Share> hundred(waits_->Begin(ada_, 100));
  const Waits::Share second = waits_->Begin(ada_, 100);
  EXPECT_EQ(Ask(ada_, 1), 429);
  EXPECT_EQ(Ask({.tenant = "other", .person = "ada"}, 100), 0) << "another one of that name";
  const Waits::Share others = waits_->Begin(bob_, 100);
  EXPECT_EQ(Ask(bob_, 1), 503);
  hundred.reset();
  EXPECT_EQ(Ask(ada_, 100), 0);
  EXPECT_EQ(Ask(ada_, 101), 503) << "the process is full before the person is";
}

TEST_F(WaitBounds, WhenNobodyIsKnownOnlyTheProcessCounts) {
  const Waits::Share all = waits_->Begin({}, 300);
  EXPECT_EQ(Ask({}, 1), 503);
}

TEST_F(WaitBounds, WhatIsRefusedCountsForNothing) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Ask(ada_, 201), 429);
  EXPECT_EQ(Ask(ada_, 200), 0);
}

}  // namespace
}  // namespace tenure::http
