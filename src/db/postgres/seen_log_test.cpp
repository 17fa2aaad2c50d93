#include "db/postgres/seen_log.hpp"

#include <gtest/gtest.h>

namespace tenure::db::postgres {
namespace {

TEST(SeenLog, ALogThatEndsBeforeWhatWasSeenIsBehindUntilTheIncarnationWasRaised) {
  SeenLog log;
  const auto first = log.Open("00000001", 100);
  EXPECT_FALSE(first.behind);
  log.Note(first.era, 150);
  EXPECT_FALSE(log.Open("00000001", 150).behind);
  EXPECT_TRUE(log.Open("00000001", 149).behind);
  EXPECT_TRUE(log.Open("00000001", 149).behind) << "raising it may have failed";
  log.Note(log.Raised(), 140);
  EXPECT_FALSE(log.Open("00000001", 149).behind);
  log.Note(first.era, 900);
  EXPECT_FALSE(log.Open("00000001", 149).behind) << "seen before it was put back";
}

TEST(SeenLog, APromotedStandbyMayLackWhatNobodyWasToldOf) {
  SeenLog log;
  log.Note(log.Open("00000001", 100).era, 150);
  EXPECT_FALSE(log.Open("00000002", 120).behind);
}

TEST(SeenLog, WhatAConnectionToTheOldPrimarySawCountsForNothingOnTheNewOne) {
  SeenLog log;
  const auto old_primary = log.Open("00000001", 100);
  const auto promoted = log.Open("00000002", 120);
  log.Note(old_primary.era, 900);
  log.Note(promoted.era, 130);
  EXPECT_FALSE(log.Open("00000002", 140).behind);
  EXPECT_TRUE(log.Open("00000002", 129).behind);
}

}  // namespace
}  // namespace tenure::db::postgres
