#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/explanation.hpp"
#include "jobs/reads.hpp"

namespace tenure::jobs {

/// What is known of a job, for people.
struct JobStory {
  JobView job{};
  std::int64_t next_ms = 0;     ///< the first time that lies ahead; 0: its schedule names none
  std::string next_local{};     ///< the same, by the clock of its zone
  std::vector<RunView> runs{};  ///< the latest first; behind them the one that blocks the last
};

/// The run that stands in the way of the last one, where that is not among the runs.
const base::Uuid* MissingBlocker(const std::vector<RunView>& runs);

/// When a job runs next, and what became of its last run or stood in its way.
explain::Explanation Explain(const JobStory& story);

}  // namespace tenure::jobs
