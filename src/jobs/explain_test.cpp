#include "jobs/explain.hpp"

#include <gmock/gmock.h>

#include "base/time_text.hpp"

namespace tenure::jobs {
namespace {

using testing::HasSubstr;

std::int64_t WhyAt(std::string_view text) { return base::ParseUtcMs(text).value(); }
base::Uuid WhyRunId(char last) {
  return base::Uuid::Parse(std::string("0197c1f2-8a34-7d10-9b55-3f0c2e6a7d8") + last).value();
}

JobStory NightlyStory() {
  JobStory story;
  story.job.row.key.name = "nightly";
  story.job.row.definition.zone = "Europe/Berlin";
  story.next_ms = WhyAt("2026-01-02T02:00:00.000Z");
  story.next_local = "2026-01-02T03:00:00";
  return story;
}
RunView RunOf(RunStatus status, char id = '1') {
  RunView run;
  run.id = WhyRunId(id);
  run.status = status;
  run.nominal_ms = WhyAt("2026-01-01T02:00:00.000Z");
  return run;
}

TEST(WhyJob, SaysWhenItRunsNext) {
  JobStory story = NightlyStory();
  explain::Explanation why = Explain(story);
  EXPECT_EQ(why.state, "scheduled");
  EXPECT_EQ(why.Sentence(), "The job nightly is on. It has not run yet.");
  EXPECT_EQ(why.next.text,
            "It runs next at 2026-01-02T03:00:00 Europe/Berlin (2026-01-02T02:00:00.000Z).");
  EXPECT_EQ(why.actions[1].command, "tenure job pause nightly --reason …");
  story.next_ms = 0;
  EXPECT_EQ(Explain(story).state, "over");
  story.job.row.paused_ms = WhyAt("2026-01-01T01:00:00.000Z");
  story.job.row.paused_reason = "maintenance";
  why = Explain(story);
  EXPECT_EQ(why.state, "paused");
  EXPECT_THAT(
      why.Sentence(),
      HasSubstr("The job nightly is paused since 2026-01-01T01:00:00.000Z (\"maintenance\")."));
  EXPECT_EQ(why.actions[1].act, "job.resume");
  story.job.row.paused_until_ms = WhyAt("2026-01-03T01:00:00.000Z");
  EXPECT_THAT(Explain(story).Sentence(), HasSubstr("until 2026-01-03T01:00:00.000Z"));
  story.job.row.definition.enabled = false;
  EXPECT_EQ(Explain(story).state, "disabled");
}

TEST(WhyJob, SaysWhatBecameOfItsLastRun) {
  JobStory story = NightlyStory();
  const auto last = [&](const RunView& run) {
    story.runs = {run};
    return Explain(story).because.at(1).text;
  };
  RunView run = RunOf(RunStatus::kClaimed);
  run.owner = "me";
  run.lease_until_ms = WhyAt("2026-01-01T02:00:30.000Z");
  EXPECT_EQ(last(run),
            "Of its runs, that of 2026-01-01T02:00:00.000Z is still claimed by me until "
            "2026-01-01T02:00:30.000Z.");
  run = RunOf(RunStatus::kRetrying);
  run.error = "no luck";
  run.due_ms = WhyAt("2026-01-01T02:00:30.000Z");
  EXPECT_THAT(last(run), HasSubstr("is tried again at 2026-01-01T02:00:30.000Z (\"no luck\")."));
  EXPECT_THAT(last(RunOf(RunStatus::kReady)), HasSubstr("is ready, and nobody claims it."));
  run = RunOf(RunStatus::kDone);
  run.ended_ms = WhyAt("2026-01-01T02:00:30.000Z");
  EXPECT_EQ(last(run), "The run of 2026-01-01T02:00:00.000Z was done at 2026-01-01T02:00:30.000Z.");
  EXPECT_THAT(last(RunOf(RunStatus::kDead)),
              HasSubstr("is dead (\"\"); `tenure message redrive 0197c1f2-"));
  run = RunOf(RunStatus::kSkipped);
  run.reason = SkipReason::kMissed;
  run.number = 3;
  run.first_ms = WhyAt("2026-01-01T00:00:00.000Z");
  EXPECT_EQ(last(run),
            "3 times from 2026-01-01T00:00:00.000Z to 2026-01-01T02:00:00.000Z were missed and "
            "left out.");
}

TEST(WhyJob, SaysWhichRunStandsInTheWayOfTheLast) {
  JobStory story = NightlyStory();
  RunView skipped = RunOf(RunStatus::kSkipped, '2');
  skipped.nominal_ms = WhyAt("2026-01-01T03:00:00.000Z");
  skipped.reason = SkipReason::kOverlap;
  skipped.blocker = WhyRunId('1');
  story.runs = {skipped};
  ASSERT_NE(MissingBlocker(story.runs), nullptr);
  EXPECT_THAT(Explain(story).Sentence(), HasSubstr("because an earlier one was not over."));
  story.runs.push_back(RunOf(RunStatus::kReady));
  EXPECT_EQ(MissingBlocker(story.runs), nullptr);
  EXPECT_THAT(Explain(story).Sentence(),
              HasSubstr("The run of 2026-01-01T03:00:00.000Z was skipped because that of "
                        "2026-01-01T02:00:00.000Z is ready, and nobody claims it."));
  story.runs.front().status = RunStatus::kWaiting;
  EXPECT_THAT(Explain(story).Sentence(), HasSubstr("waits because that of"));
}

}  // namespace
}  // namespace tenure::jobs
