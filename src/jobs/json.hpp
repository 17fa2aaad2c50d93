#pragma once

#include <string>
#include <vector>

#include "jobs/jobs.hpp"

namespace tenure::jobs {

/// The times that lie ahead of a job, at most kUpcoming.
std::vector<calendar::Occurrence> UpcomingOf(const JobRow& job, const Times& times,
                                             std::int64_t now_ms);

/// `zones`: for the times that lie ahead; null: they are left out.
std::string JobJson(const JobView& job, std::int64_t now_ms, const calendar::Zones* zones);
std::string JobsJson(const db::Page<JobView>& page);
std::string RunsJson(const db::Page<RunView>& page);
std::string UpcomingJson(const Times& times, const std::vector<calendar::Occurrence>& upcoming);
std::string TriggeredJson(const JobOutcome& outcome);
std::string BackfilledJson(const JobOutcome& outcome);

}  // namespace tenure::jobs
