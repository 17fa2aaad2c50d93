#include "jobs/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::jobs {
namespace {

using base::UtcText;
using explain::Cause;
using explain::Explanation;
using explain::Quoted;
using explain::Shown;

explain::Action JobAct(const JobRow& job, std::string_view act, std::string_view verb) {
  const std::string_view word = act.substr(act.find('.') + 1);
  return {.act = act,
          .title = fmt::format("{} {}", verb, job.key.name),
          .scope = "jobs:write",
          .method = "POST",
          .path = fmt::format("/api/v1/jobs/{}/{}", explain::Segment(job.key.name), word),
          .command = fmt::format("tenure job {} {}{}", word, job.key.name,
                                 word == "pause" ? " --reason …" : "")};
}

void AddStanding(Explanation& out, const JobStory& story) {
  const JobRow& job = story.job.row;
  if (!job.definition.enabled) {
    out.state = "disabled";
    out.Because({.code = "disabled", .text = fmt::format("The job {} is disabled.", job.key.name)});
    out.next = {"Nothing is due: a PUT with enabled true goes on.", 0};
  } else if (job.paused_ms > 0) {
    out.state = "paused";
    out.Because(
        {.code = "paused",
         .text = fmt::format(
             "The job {} is paused since {}{} ({}).", job.key.name, UtcText(job.paused_ms),
             job.paused_until_ms > 0 ? " until " + UtcText(job.paused_until_ms) : std::string(),
             Quoted(job.paused_reason)),
         .since_ms = job.paused_ms,
         .until_ms = job.paused_until_ms});
    out.next = {fmt::format("`tenure job resume {}` ends that.", job.key.name),
                job.paused_until_ms};
  } else if (story.next_ms == 0) {
    out.state = "over";
    out.Because({.code = "over",
                 .text = fmt::format("The schedule of {} names no further time.", job.key.name)});
    out.next = {"It does not run any more unless its schedule is changed.", 0};
  } else {
    out.state = "scheduled";
    out.Because({.code = "scheduled", .text = fmt::format("The job {} is on.", job.key.name)});
    out.next = {fmt::format("It runs next at {} {} ({}).", story.next_local,
                            Shown(job.definition.zone), UtcText(story.next_ms)),
                story.next_ms};
  }
}

std::string OpenRunText(const RunView& run) {
  const std::string at = UtcText(run.nominal_ms);
  switch (run.status) {
    case RunStatus::kClaimed:
      return fmt::format("that of {} is still claimed by {} until {}", at, Shown(run.owner),
                         UtcText(run.HeldUntilMs()));
    case RunStatus::kRetrying:
      return fmt::format("that of {} is tried again at {} ({})", at, UtcText(run.due_ms),
                         Quoted(run.error));
    case RunStatus::kReady:
      return fmt::format("that of {} is ready, and nobody claims it", at);
    default:
      return fmt::format("that of {} was not over", at);
  }
}

std::string BlockedText(const RunView& last, const std::vector<RunView>& runs) {
  const std::string_view verb = last.status == RunStatus::kWaiting ? "waits" : "was skipped";
  const auto blocker = std::ranges::find_if(
      runs, [&](const RunView& each) { return last.blocker && each.id == *last.blocker; });
  return fmt::format("The run of {} {} because {}.", UtcText(last.nominal_ms), verb,
                     blocker == runs.end() ? "an earlier one was not over" : OpenRunText(*blocker));
}

/// Of the last run, and of what stood in its way.
Cause LastRun(const std::vector<RunView>& runs) {
  if (runs.empty()) return {.code = "never-ran", .text = "It has not run yet."};
  const RunView& last = runs.front();
  Cause cause{.code = ToText(last.status), .since_ms = last.nominal_ms};
  const std::string at = UtcText(last.nominal_ms);
  if (last.status == RunStatus::kSkipped && last.reason == SkipReason::kMissed)
    cause.text = fmt::format("{} times from {} to {} were missed and left out.", last.number,
                             UtcText(last.first_ms), at);
  else if (last.status == RunStatus::kSkipped || last.status == RunStatus::kWaiting)
    cause.text = BlockedText(last, runs);
  else if (last.status == RunStatus::kDone)
    cause.text = fmt::format("The run of {} was done at {}.", at, UtcText(last.ended_ms));
  else if (last.status == RunStatus::kDead)
    cause.text =
        fmt::format("The run of {} is dead ({}); `tenure message redrive {}` tries it again.", at,
                    Quoted(last.error), last.id.ToString());
  else
    cause.text = fmt::format("Of its runs, {}.", OpenRunText(last));
  if (last.status != RunStatus::kSkipped) cause.link = "/messages/" + last.id.ToString();
  return cause;
}

}  // namespace

const base::Uuid* MissingBlocker(const std::vector<RunView>& runs) {
  if (runs.empty() || !runs.front().blocker) return nullptr;
  const base::Uuid& blocker = *runs.front().blocker;
  const bool known =
      std::ranges::any_of(runs, [&](const RunView& each) { return each.id == blocker; });
  return known ? nullptr : &blocker;
}

Explanation Explain(const JobStory& story) {
  const JobRow& job = story.job.row;
  Explanation out{.kind = "job", .id = job.key.name, .docs = "docs/jobs.md"};
  AddStanding(out, story);
  out.Because(LastRun(story.runs));
  out.actions = {JobAct(job, "job.trigger", "Run"), job.paused_ms > 0
                                                        ? JobAct(job, "job.resume", "Resume")
                                                        : JobAct(job, "job.pause", "Pause")};
  return out;
}

}  // namespace tenure::jobs
