#include "jobs/job.hpp"

#include <algorithm>

namespace tenure::jobs {

std::string_view ToText(Missed missed) {
  switch (missed) {
    case Missed::kOnce:
      return "once";
    case Missed::kSkip:
      return "skip";
    case Missed::kAll:
      return "all";
  }
  return "";
}

std::string_view ToText(Overlap overlap) {
  switch (overlap) {
    case Overlap::kSkip:
      return "skip";
    case Overlap::kAllow:
      return "allow";
    case Overlap::kQueueOne:
      return "queue_one";
  }
  return "";
}

std::string_view ToText(GapPolicy gap) { return gap == GapPolicy::kSkip ? "skip" : "end_of_gap"; }

std::string_view ToText(RepeatPolicy repeat) {
  switch (repeat) {
    case RepeatPolicy::kFirst:
      return "first";
    case RepeatPolicy::kSecond:
      return "second";
    case RepeatPolicy::kBoth:
      return "both";
  }
  return "";
}

std::string_view ToText(Origin origin) { return origin == Origin::kFile ? "file" : "api"; }

std::string_view ToText(RunKind kind) {
  switch (kind) {
    case RunKind::kSchedule:
      return "schedule";
    case RunKind::kTrigger:
      return "trigger";
    case RunKind::kBackfill:
      return "backfill";
  }
  return "";
}

std::string_view ToText(RunStatus status) {
  switch (status) {
    case RunStatus::kReady:
      return "ready";
    case RunStatus::kWaiting:
      return "waiting";
    case RunStatus::kClaimed:
      return "claimed";
    case RunStatus::kRetrying:
      return "retrying";
    case RunStatus::kDone:
      return "done";
    case RunStatus::kDead:
      return "dead";
    case RunStatus::kSkipped:
      return "skipped";
  }
  return "";
}

std::string_view ToText(SkipReason reason) {
  switch (reason) {
    case SkipReason::kOverlap:
      return "overlap";
    case SkipReason::kMissed:
      return "missed";
    case SkipReason::kNone:
      break;
  }
  return "";
}

bool IsJobName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

bool Definition::HasTimesOf(const Definition& other) const {
  return cron == other.cron && every_ms == other.every_ms && zone == other.zone &&
         gap == other.gap && repeat == other.repeat && starts_ms == other.starts_ms &&
         ends_ms == other.ends_ms;
}

}  // namespace tenure::jobs
