#pragma once

namespace tenure::jobs {

/// What becomes of times that passed while nothing was up, or in a pause.
enum class Missed { kOnce = 0, kSkip = 1, kAll = 2 };
/// What becomes of a time whose job still has a run that is not over.
enum class Overlap { kSkip = 0, kAllow = 1, kQueueOne = 2 };
/// A time that the clock leaves out.
enum class GapPolicy { kEndOfGap = 0, kSkip = 1 };
/// A time that the clock shows twice.
enum class RepeatPolicy { kFirst = 0, kSecond = 1, kBoth = 2 };

enum class RunKind { kSchedule = 0, kTrigger = 1, kBackfill = 2 };
/// Where a run stands: its message is ready, waits for the run before it, is claimed, or waits to be
/// retried; it is over; or there was none.
enum class RunStatus { kReady, kWaiting, kClaimed, kRetrying, kDone, kDead, kSkipped };
/// Why a time has no run.
enum class SkipReason { kNone = 0, kOverlap = 1, kMissed = 2 };

}  // namespace tenure::jobs
