#pragma once

#include "http/message.hpp"
#include "jobs/change.hpp"

namespace tenure::jobs {

http::Problem UnknownJob(std::string_view name);
/// What can be read and cannot be meant: 422.
http::Problem InvalidJob(std::vector<http::FieldError> errors);
http::Problem InvalidJob(const std::vector<Mistake>& mistakes);
/// Of outcomes that change nothing because something is wrong. REQUIRES: the outcome is one.
http::Problem ProblemOf(const JobOutcome& outcome, std::string_view name);
bool IsProblem(JobOutcome::Kind kind);

}  // namespace tenure::jobs
