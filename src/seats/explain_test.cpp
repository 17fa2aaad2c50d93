#include "seats/explain.hpp"

#include <gmock/gmock.h>

namespace tenure::seats {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

Holding HeldSeat() {
  Holding holding;
  holding.now_ms = kWhyNow;
  holding.row.open = false;
  holding.row.session = base::Uuid::Parse("0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81");
  holding.row.machine = "m\n1";
  holding.row.person = "ann";
  holding.row.fence = 7;
  holding.row.started_ms = kWhyNow - 3'600'000;
  holding.row.beat_ms = kWhyNow - 60'000;
  holding.row.expires_ms = kWhyNow + 60'000;
  return holding;
}

TEST(WhySeat, SaysWhoHoldsItOrHowItWasLost) {
  Holding holding = HeldSeat();
  explain::Explanation why = Explain(holding);
  EXPECT_EQ(why.state, "active");
  EXPECT_EQ(
      why.Sentence(),
      "The seat is held by machine m 1 of ann since 2026-01-01T10:00:00.000Z, with fence 7. Its "
      "last heartbeat came 1m 0s ago.");
  EXPECT_EQ(why.next.text, "Without another one it is free at 2026-01-01T11:01:00.000Z.");
  EXPECT_EQ(why.actions.size(), 2U);
  holding.row.revoked = true;
  why = Explain(holding);
  EXPECT_EQ(why.state, "revoked");
  EXPECT_EQ(why.Sentence(),
            "An operator revoked the seat of machine m 1 of ann: its heartbeats are refused.");
  EXPECT_EQ(why.next.text, "It is free at 2026-01-01T11:01:00.000Z.");
  holding.row.revoked = false;
  holding.row.expires_ms = kWhyNow - 1'000;
  why = Explain(holding);
  EXPECT_EQ(why.state, "lapsed");
  EXPECT_EQ(why.Sentence(),
            "The seat of machine m 1 of ann has lapsed at 2026-01-01T10:59:59.000Z: its last "
            "heartbeat came 1m 0s ago.");
  holding.ended_ms = kWhyNow;
  for (const auto& [end, text] : std::map<EndReason, std::string>{
           {EndReason::kReleased, "was released at T."},
           {EndReason::kExpired, "expired at T: no heartbeat came in time."},
           {EndReason::kRevoked, "was revoked by an operator at T."},
           {EndReason::kLicenseRevoked, "ended at T: its licence was revoked."},
           {EndReason::kLicenseSuspended, "ended at T: its licence was suspended."},
           {EndReason::kLicenseExpired, "ended at T: its licence expired."},
           {EndReason::kResumedElsewhere,
            "went on under a new session at T: the same machine id asked for it again."}}) {
    holding.end = end;
    why = Explain(holding);
    EXPECT_EQ(why.state, "ended");
    std::string sentence = "The seat of machine m 1 of ann " + text;
    sentence.replace(sentence.find('T', 4), 1, "2026-01-01T11:00:00.000Z");
    EXPECT_EQ(why.Sentence(), sentence);
    EXPECT_TRUE(why.actions.empty());
  }
}

LicenseStory EditorStory() {
  LicenseStory story;
  story.view.now_ms = kWhyNow;
  story.view.license.name = "Editor";
  story.view.license.seats = 3;
  story.view.license.held = 2;
  story.view.license.row_count = 2;
  return story;
}

TEST(WhyLicense, SaysWhoUsesItWhoWaitsAndWhoWasDenied) {
  LicenseStory story = EditorStory();
  explain::Explanation why = Explain(story);
  EXPECT_EQ(why.Sentence(),
            "The licence Editor is active. 2 of 3 seats are in use. Nobody waits. The log has no "
            "denial of the last hour (they are written once a minute).");
  EXPECT_EQ(why.next.text, "Whoever asks next gets a seat.");
  story.view.license.held = 3;
  story.view.line = {.offered = 1, .waiting = 4};
  story.Note({{.holding = HeldSeat()}});
  LogEntry denial;
  denial.detail = R"({"count":40})";
  story.NoteDenials({denial, denial});
  LogEntry resume;
  resume.detail = R"({"machine":"m7","former_live":true})";
  story.NoteResumes(std::vector<LogEntry>(6, resume));
  why = Explain(story);
  EXPECT_EQ(
      why.Sentence(),
      "The licence Editor is active. 3 of 3 seats are in use, 1 of them offered to the line. 4 "
      "wait in line. 80 requests were denied in the last hour. The machine id m7 was resumed "
      "6 times in the last hour while its former process may have been running: there are "
      "probably two machines with this id.");
  EXPECT_EQ(why.next.text,
            "The next that may lapse is that of machine m 1 of ann, at 2026-01-01T11:01:00.000Z.");
}

TEST(WhyLicense, SaysWhatKeepsEverybodyFromASeat) {
  LicenseStory story = EditorStory();
  story.view.frozen_until_ms = kWhyNow + 60'000;
  story.view.license.row_count = 4;
  EXPECT_THAT(Explain(story).Sentence(), HasSubstr("It drains: "));
  EXPECT_THAT(Explain(story).Sentence(),
              HasSubstr("It is frozen until 2026-01-01T11:01:00.000Z: "));
  story.view.license.state = LicenseState::kSuspended;
  explain::Explanation why = Explain(story);
  EXPECT_EQ(why.state, "suspended");
  EXPECT_EQ(why.next.text, "Nobody gets a seat before it is resumed.");
  EXPECT_EQ(why.actions.front().body, R"({"suspended":false})");
  story.view.license.state = LicenseState::kRevoked;
  EXPECT_TRUE(Explain(story).actions.empty());
  story = EditorStory();
  story.view.license.valid_from_ms = kWhyNow + 60'000;
  EXPECT_EQ(Explain(story).next.text, "Nobody gets a seat before 2026-01-01T11:01:00.000Z.");
  story.view.license.valid_from_ms = 0;
  story.view.license.valid_until_ms = kWhyNow;
  EXPECT_EQ(Explain(story).next.text, "Nobody gets a seat of it any more.");
}

}  // namespace
}  // namespace tenure::seats
