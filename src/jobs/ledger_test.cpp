// The rules of jobs, without a store: what fires, what is missed, what is in the way.

#include "jobs/ledger.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time_text.hpp"

namespace tenure::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMinute = 60'000;

std::int64_t At(std::string_view text) { return base::ParseRfc3339Ms(text).value(); }

const calendar::Zones& LedgerZones() {
  static const calendar::Zones zones;
  return zones;
}

/// A job and its times; time passes by hand.
class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    row_.id = base::Uuid::V7(1);
    row_.key = {"default", "nightly"};
    row_.definition.topic = "t";
    row_.definition.cron = "0 * * * *";
  }

  Ledger Open(std::int64_t now_ms, const LiveRuns& live = {}) const {
    return {row_, live, Times::Of(row_.definition, row_.created_ms, LedgerZones()), {}, now_ms};
  }
  void Create(std::string_view at) {
    row_.created_ms = At(at);
    Ledger ledger = Open(At(at));
    ledger.Begin(Origin::kApi);
    row_ = ledger.row();
  }
  /// What a fire at this time writes, one text each: "10:00", "11:00 waiting", "12:00 overlap",
  /// "09:00-11:00 missed 3".
  std::vector<std::string> Fire(std::string_view at, const LiveRuns& live = {}) {
    Ledger ledger = Open(At(at), live);
    ledger.Fire();
    return Keep(ledger);
  }
  std::vector<std::string> Keep(const Ledger& ledger) {
    row_ = ledger.row();
    std::vector<std::string> texts;
    for (const NewRun& run : ledger.runs()) texts.push_back(Text(run));
    return texts;
  }
  static std::string Clock(std::int64_t ms) { return base::UtcText(ms).substr(11, 5); }
  static std::string Text(const NewRun& run) {
    const std::string at = Clock(run.nominal_ms);
    if (run.reason == SkipReason::kMissed)
      return Clock(run.first_ms) + "-" + at + " missed " + std::to_string(run.number);
    if (run.reason == SkipReason::kOverlap) return at + " overlap";
    if (run.state == RunState::kWaiting) return at + " waiting";
    if (run.kind == RunKind::kTrigger) return at + " trigger";
    if (run.kind == RunKind::kBackfill) return at + " backfill";
    return at;
  }
  std::string Next() const { return row_.next_ms == 0 ? "never" : Clock(row_.next_ms); }

  JobRow row_;
};

LiveRuns Running() {
  LiveRuns live;
  live.latest = base::Uuid::V7(2);
  live.is_locked = true;
  return live;
}

TEST_F(LedgerTest, AJobFiresAtItsTimeAndNotBefore) {
  Create("2026-01-01T09:30:00Z");
  EXPECT_EQ(Next(), "10:00");
  EXPECT_THAT(Fire("2026-01-01T09:59:59.999Z"), IsEmpty());
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z"), ElementsAre("10:00"));
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z"), IsEmpty()) << "it is decided";
  EXPECT_EQ(Next(), "11:00");
}

TEST_F(LedgerTest, ATimeThatIsTheCreationFires) {
  Create("2026-01-01T10:00:00Z");
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z"), ElementsAre("10:00"));
}

TEST_F(LedgerTest, WhatIsAtMostTenSecondsLateIsNotMissed) {
  for (const Missed missed : {Missed::kSkip, Missed::kOnce, Missed::kAll}) {
    row_.definition.missed = missed;
    row_.definition.overlap = Overlap::kAllow;
    Create("2026-01-01T09:30:00Z");
    EXPECT_THAT(Fire("2026-01-01T10:00:10Z"), ElementsAre("10:00")) << ToText(missed);
  }
  row_.definition.missed = Missed::kSkip;
  Create("2026-01-01T09:30:00Z");
  EXPECT_THAT(Fire("2026-01-01T10:00:10.001Z"), ElementsAre("10:00-10:00 missed 1"));
}

TEST_F(LedgerTest, SkipLeavesOutAllThatWasMissedAndSaysSoOnce) {
  row_.definition.missed = Missed::kSkip;
  Create("2026-01-01T08:30:00Z");
  EXPECT_THAT(Fire("2026-01-01T12:30:00Z"), ElementsAre("09:00-12:00 missed 4"));
  EXPECT_EQ(Next(), "13:00");
}

TEST_F(LedgerTest, OnceFiresTheLastOfThoseThatWereMissed) {
  Create("2026-01-01T08:30:00Z");
  EXPECT_THAT(Fire("2026-01-01T12:30:00Z"), ElementsAre("09:00-11:00 missed 3", "12:00"));
  EXPECT_EQ(Next(), "13:00");
  EXPECT_THAT(Fire("2026-01-01T13:30:00Z"), ElementsAre("13:00")) << "nothing is left out";
}

TEST_F(LedgerTest, AllFiresThoseOfTheWindowUpToTheCap) {
  row_.definition.cron = "*/10 * * * *";
  row_.definition.missed = Missed::kAll;
  row_.definition.overlap = Overlap::kAllow;
  row_.definition.missed_cap = 3;
  Create("2026-01-01T08:55:00Z");
  EXPECT_THAT(Fire("2026-01-01T10:05:00Z"),
              ElementsAre("09:00-09:30 missed 4", "09:40", "09:50", "10:00"));
  row_.definition.missed_cap = 100;
  Create("2026-01-01T08:55:00Z");
  EXPECT_THAT(Fire("2026-01-01T10:05:00Z"), ElementsAre("09:00-09:00 missed 1", "09:10", "09:20",
                                                        "09:30", "09:40", "09:50", "10:00"))
      << "an hour";
}

TEST_F(LedgerTest, MissedAndLateTogether) {
  row_.definition.cron = "*/5 * * * * *";
  row_.definition.overlap = Overlap::kAllow;
  Create("2026-01-01T10:00:01Z");
  Ledger ledger = Open(At("2026-01-01T10:00:31Z"));
  ledger.Fire();
  std::vector<std::string> at;
  for (const NewRun& run : ledger.runs())
    at.push_back(base::UtcText(run.nominal_ms).substr(17, 2) + " " + std::to_string(run.number));
  EXPECT_THAT(at, ElementsAre("15 3", "20 0", "25 0", "30 0"))
      << "05 to 15 are left out, 20 is the last that was missed, 25 and 30 are only late";
}

TEST_F(LedgerTest, AFireOfManyGoesOnWhereItsLimitStoppedIt) {
  row_.definition.cron = "*/10 * * * *";
  row_.definition.missed = Missed::kAll;
  row_.definition.overlap = Overlap::kAllow;
  Create("2026-01-01T09:05:00Z");
  std::vector<std::string> all;
  for (int round = 0; round < 4; ++round) {
    Ledger ledger = Open(At("2026-01-01T10:00:00Z"));
    ledger.Fire(2);
    EXPECT_LE(std::ssize(ledger.runs()), 2);
    for (const std::string& each : Keep(ledger)) all.push_back(each);
  }
  EXPECT_THAT(all, ElementsAre("09:10", "09:20", "09:30", "09:40", "09:50", "10:00"));
}

TEST_F(LedgerTest, AResumeOfManyGoesOnWhereItsLimitStoppedIt) {
  row_.definition.cron = "*/10 * * * *";
  row_.definition.missed = Missed::kAll;
  row_.definition.overlap = Overlap::kAllow;
  Create("2026-01-01T09:05:00Z");
  Ledger pausing = Open(At("2026-01-01T09:06:00Z"));
  pausing.Pause("why", 0);
  Keep(pausing);
  Ledger resuming = Open(At("2026-01-01T09:35:00Z"));
  EXPECT_TRUE(resuming.Resume(2));
  EXPECT_THAT(Keep(resuming), ElementsAre("09:10", "09:20"));
  EXPECT_LE(row_.look_ms, At("2026-01-01T09:35:00Z")) << "what is left is due at once";
  EXPECT_THAT(Fire("2026-01-01T09:35:00Z"), ElementsAre("09:30"));
  EXPECT_EQ(Next(), "09:40");
}

TEST_F(LedgerTest, ARunThatIsNotOverHoldsBackTheNextOne) {
  Create("2026-01-01T09:30:00Z");
  const LiveRuns live = Running();
  Ledger ledger = Open(At("2026-01-01T10:00:00Z"), live);
  ledger.Fire();
  EXPECT_EQ(ledger.runs().front().blocker, live.latest);
  EXPECT_THAT(Keep(ledger), ElementsAre("10:00 overlap"));
  row_.definition.overlap = Overlap::kAllow;
  EXPECT_THAT(Fire("2026-01-01T11:00:00Z", live), ElementsAre("11:00"));
}

TEST_F(LedgerTest, WithQueueOneOneWaitsAndFurtherOnesAreSkipped) {
  row_.definition.overlap = Overlap::kQueueOne;
  Create("2026-01-01T09:30:00Z");
  LiveRuns live = Running();
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z", live), ElementsAre("10:00 waiting"));
  live.has_waiting = true;
  EXPECT_THAT(Fire("2026-01-01T11:00:00Z", live), ElementsAre("11:00 overlap"));
  EXPECT_THAT(Fire("2026-01-01T12:00:00Z"), ElementsAre("12:00"));
}

TEST_F(LedgerTest, ARunThatWaitsForOneThatMayBeEndingIsLookedAtSoon) {
  row_.definition.overlap = Overlap::kQueueOne;
  Create("2026-01-01T09:30:00Z");
  LiveRuns live = Running();
  Ledger locked = Open(At("2026-01-01T10:00:00Z"), live);
  locked.Fire();
  EXPECT_FALSE(locked.must_look_soon());
  live.is_locked = false;
  Ledger ending = Open(At("2026-01-01T10:00:00Z"), live);
  ending.Fire();
  EXPECT_TRUE(ending.must_look_soon());
}

TEST_F(LedgerTest, OverlapCountsAmongThoseThatWereMissedToo) {
  row_.definition.missed = Missed::kAll;
  row_.definition.missed_window_ms = 24 * 3'600'000LL;
  Create("2026-01-01T08:30:00Z");
  EXPECT_THAT(Fire("2026-01-01T11:30:00Z"), ElementsAre("09:00", "10:00 overlap", "11:00 overlap"));
}

TEST_F(LedgerTest, WhatFallsIntoAPauseIsMissedHoweverShort) {
  row_.definition.missed = Missed::kSkip;
  Create("2026-01-01T09:30:00Z");
  Ledger pausing = Open(At("2026-01-01T09:59:59Z"));
  pausing.Pause("why", 0);
  Keep(pausing);
  EXPECT_EQ(row_.look_ms, 0);
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z"), IsEmpty());
  Ledger resuming = Open(At("2026-01-01T10:00:01Z"));
  EXPECT_TRUE(resuming.Resume());
  EXPECT_THAT(Keep(resuming), ElementsAre("10:00-10:00 missed 1"));
  EXPECT_EQ(Next(), "11:00");
  Ledger again = Open(At("2026-01-01T10:00:02Z"));
  EXPECT_FALSE(again.Resume());
}

TEST_F(LedgerTest, APauseBeginsAfterWhatWasDueBeforeIt) {
  row_.definition.missed = Missed::kSkip;
  Create("2026-01-01T09:30:00Z");
  Ledger pausing = Open(At("2026-01-01T10:00:01Z"));
  pausing.Pause("why", 0);
  EXPECT_THAT(Keep(pausing), ElementsAre("10:00"));
}

TEST_F(LedgerTest, APauseEndsByItselfAndFiresOnceForAllOfIt) {
  Create("2026-01-01T09:30:00Z");
  Ledger pausing = Open(At("2026-01-01T09:31:00Z"));
  pausing.Pause("why", At("2026-01-01T12:30:00Z"));
  Keep(pausing);
  EXPECT_EQ(Clock(row_.look_ms), "12:30");
  EXPECT_THAT(Fire("2026-01-01T12:29:59Z"), IsEmpty());
  EXPECT_THAT(Fire("2026-01-01T12:30:00Z"), ElementsAre("10:00-11:00 missed 2", "12:00"));
  EXPECT_EQ(row_.paused_ms, 0);
  EXPECT_EQ(Next(), "13:00");
}

TEST_F(LedgerTest, AnIdenticalDefinitionChangesNothing) {
  Create("2026-01-01T09:30:00Z");
  Ledger ledger = Open(At("2026-01-01T10:00:00Z"));
  EXPECT_FALSE(ledger.Change(row_.definition, ledger.times()));
  EXPECT_THAT(Keep(ledger), IsEmpty()) << "the fire comes with the fire";
  EXPECT_EQ(Next(), "10:00");
  EXPECT_EQ(row_.revision, 1);
}

TEST_F(LedgerTest, AChangedScheduleNeverFiresForATimeBeforeItsChange) {
  Create("2026-01-01T09:30:00Z");
  Definition definition = row_.definition;
  definition.cron = "*/15 * * * *";
  Ledger ledger = Open(At("2026-01-01T10:50:00Z"));
  EXPECT_TRUE(ledger.Change(definition, Times::Of(definition, row_.created_ms, LedgerZones())));
  EXPECT_THAT(Keep(ledger), ElementsAre("10:00")) << "the former schedule's";
  EXPECT_EQ(Next(), "11:00");
  EXPECT_EQ(row_.since_ms, At("2026-01-01T10:50:00.001Z"));
}

TEST_F(LedgerTest, AnotherPayloadKeepsTheNextTime) {
  Create("2026-01-01T09:30:00Z");
  Definition definition = row_.definition;
  definition.payload = "1";
  Ledger ledger = Open(At("2026-01-01T09:40:00Z"));
  EXPECT_TRUE(ledger.Change(definition, ledger.times()));
  Keep(ledger);
  EXPECT_EQ(Next(), "10:00");
  EXPECT_EQ(row_.since_ms, At("2026-01-01T09:30:00Z"));
}

TEST_F(LedgerTest, NothingOfADisabledTimeIsMadeUp) {
  Create("2026-01-01T09:30:00Z");
  Definition definition = row_.definition;
  definition.enabled = false;
  Ledger disabling = Open(At("2026-01-01T09:40:00Z"));
  disabling.Change(definition, disabling.times());
  Keep(disabling);
  EXPECT_EQ(Next(), "never");
  EXPECT_THAT(Fire("2026-01-01T11:00:00Z"), IsEmpty());
  definition.enabled = true;
  Ledger enabling = Open(At("2026-01-01T11:30:00Z"));
  enabling.Change(definition, enabling.times());
  EXPECT_THAT(Keep(enabling), IsEmpty());
  EXPECT_EQ(Next(), "12:00");
}

TEST_F(LedgerTest, ATriggerTakesNoPlaceAmongTheTimes) {
  Create("2026-01-01T09:30:00Z");
  Ledger ledger = Open(At("2026-01-01T09:40:00Z"), Running());
  ledger.Trigger("2");
  EXPECT_THAT(Keep(ledger), ElementsAre("09:40 trigger")) << "overlap does not hold it back";
  EXPECT_EQ(Next(), "10:00");
}

TEST_F(LedgerTest, ABackfillMakesRunsForTimesThatHadNone) {
  Create("2026-01-01T09:30:00Z");
  Ledger ledger = Open(At("2026-01-01T09:40:00Z"));
  const auto made = ledger.Backfill(At("2026-01-01T06:00:00Z"), At("2026-01-01T09:00:00Z"),
                                    {At("2026-01-01T07:00:00Z")});
  EXPECT_EQ(made.runs, 2);
  EXPECT_EQ(made.skipped, 1);
  EXPECT_THAT(Keep(ledger), ElementsAre("06:00 backfill", "08:00 backfill"));
}

TEST_F(LedgerTest, EveryCountsFromItsCreationWithoutDrift) {
  row_.definition.cron.clear();
  row_.definition.every_ms = 90 * kMinute;
  Create("2026-01-01T09:30:00Z");
  EXPECT_EQ(Next(), "11:00");
  EXPECT_THAT(Fire("2026-01-01T11:00:09Z"), ElementsAre("11:00"));
  EXPECT_EQ(Next(), "12:30");
}

TEST_F(LedgerTest, EveryBeginsAtItsStartAndEndsBeforeItsEnd) {
  row_.definition.cron.clear();
  row_.definition.every_ms = kHour;
  row_.definition.starts_ms = At("2026-01-01T10:00:00Z");
  row_.definition.ends_ms = At("2026-01-01T11:00:00Z");
  Create("2026-01-01T09:30:00Z");
  EXPECT_EQ(Next(), "10:00");
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z"), ElementsAre("10:00"));
  EXPECT_EQ(Next(), "never");
}

TEST_F(LedgerTest, JitterDelaysAllRunsOfAJobByTheSame) {
  row_.definition.jitter_ms = 30 * kMinute;
  Create("2026-01-01T09:30:00Z");
  const std::int64_t delay_ms = Open(0).DelayMs();
  EXPECT_GE(delay_ms, 0);
  EXPECT_LE(delay_ms, 30 * kMinute);
  EXPECT_EQ(row_.look_ms, row_.next_ms + delay_ms);
  Ledger early = Open(row_.look_ms - 1);
  early.Fire();
  EXPECT_THAT(Keep(early), IsEmpty());
  Ledger ledger = Open(row_.look_ms);
  ledger.Fire();
  EXPECT_THAT(Keep(ledger), ElementsAre("10:00"));
  EXPECT_EQ(Next(), "11:00");
}

TEST_F(LedgerTest, TheDelayOfAJobDoesNotDependOnWhenItWasMade) {
  row_.definition.jitter_ms = 2'000;
  std::set<std::int64_t> delays;
  for (int made = 0; made < 20; ++made) {
    row_.id.bytes[5] = static_cast<std::uint8_t>(made);
    delays.insert(Open(0).DelayMs());
  }
  EXPECT_EQ(delays.size(), 1u);
}

TEST_F(LedgerTest, OnTheNightsOfTheYear) {
  row_.definition.cron = "30 2 * * *";
  row_.definition.zone = "Europe/Berlin";
  row_.definition.overlap = Overlap::kAllow;
  Create("2026-03-28T12:00:00Z");
  EXPECT_THAT(Fire("2026-03-29T01:00:00Z"), ElementsAre("01:00")) << "the end of the gap";
  EXPECT_EQ(base::UtcText(row_.next_ms), "2026-03-30T00:30:00.000Z");
  Create("2026-10-24T12:00:00Z");
  EXPECT_THAT(Fire("2026-10-25T00:30:00Z"), ElementsAre("00:30")) << "the first of the two";
  EXPECT_THAT(Fire("2026-10-25T01:30:00Z"), IsEmpty());
  EXPECT_EQ(base::UtcText(row_.next_ms), "2026-10-26T01:30:00.000Z");
}

TEST_F(LedgerTest, NewerTzdataMovesOnlyWhatLiesAhead) {
  Create("2026-01-01T09:30:00Z");
  row_.next_ms = At("2026-01-01T10:30:00Z");  // as former tzdata had it
  Ledger ledger = Open(At("2026-01-01T10:10:00Z"));
  EXPECT_TRUE(ledger.Recompute());
  EXPECT_THAT(Keep(ledger), IsEmpty());
  EXPECT_EQ(Next(), "11:00");
  Ledger again = Open(At("2026-01-01T10:10:00Z"));
  EXPECT_FALSE(again.Recompute());
}

TEST_F(LedgerTest, AZoneThatThisProcessDoesNotKnowIsLeftToOthers) {
  Create("2026-01-01T09:30:00Z");
  row_.definition.zone = "Mars/Base";
  EXPECT_THAT(Fire("2026-01-01T10:00:00Z"), IsEmpty());
  EXPECT_EQ(Next(), "10:00");
  EXPECT_EQ(row_.look_ms, At("2026-01-01T10:00:01Z"));
  row_.definition.zone = "UTC";
  EXPECT_THAT(Fire("2026-01-01T10:00:01Z"), ElementsAre("10:00"));
}

}  // namespace
}  // namespace tenure::jobs
