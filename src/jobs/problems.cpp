#include "jobs/problems.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"

namespace tenure::jobs {

using Kind = JobOutcome::Kind;

http::Problem UnknownJob(std::string_view name) {
  return http::NotFound(fmt::format("There is no job {}.", name));
}

http::Problem InvalidJob(std::vector<http::FieldError> errors) {
  http::Problem problem = http::InvalidRequest(std::move(errors));
  problem.status = 422;
  problem.type = "job-invalid";
  problem.title = "The job cannot be meant so";
  return problem;
}

http::Problem InvalidJob(const std::vector<Mistake>& mistakes) {
  std::vector<http::FieldError> errors;
  std::string json_text;
  base::JsonWriter json(json_text);
  json.BeginArray();
  for (const Mistake& each : mistakes) {
    errors.push_back({each.field, PlacedText(each)});
    json.BeginObject().Field("field", std::string_view(each.field));
    json.Field("message", std::string_view(each.message));
    if (each.position) json.Field("position", *each.position);
    json.EndObject();
  }
  json.EndArray();
  http::Problem problem = InvalidJob(std::move(errors));
  // With the positions, which other problems do not have.
  problem.errors.clear();
  problem.extensions.emplace_back("errors", std::move(json_text));
  return problem;
}

bool IsProblem(Kind kind) {
  return kind != Kind::kDone && kind != Kind::kCreated && kind != Kind::kUnchanged &&
         kind != Kind::kOtherThanSeen;
}

http::Problem ProblemOf(const JobOutcome& outcome, std::string_view name) {
  switch (outcome.kind) {
    case Kind::kOtherRevision:
      return {.status = 412,
              .type = "job-changed",
              .title = "The job was changed meanwhile",
              .detail = outcome.revision == 0
                            ? fmt::format("There is no job {}.", name)
                            : fmt::format("Its revision is {}. Look at it, and change it again.",
                                          outcome.revision)};
    case Kind::kOwnedByFile:
      return {.status = 409,
              .type = "job-of-file",
              .title = "The job is made by the configuration file",
              .detail = fmt::format("Change {} in the file, and apply it: tenure config apply. "
                                    "It can be paused, resumed, triggered and backfilled.",
                                    name)};
    case Kind::kTooManyJobs:
      return {.status = 409,
              .type = "too-many-jobs",
              .title = "The tenant has as many jobs as it may",
              .detail = "Delete jobs that nobody needs."};
    case Kind::kTooManyTimes:
      return InvalidJob(std::vector<http::FieldError>{
          {"max", "the range has more times than that; nothing was made"}});
    case Kind::kTooManyBytes:
      return InvalidJob(std::vector<http::FieldError>{
          {"to", fmt::format("the payloads of so many runs have more than {} MiB together; name a "
                             "shorter stretch; nothing was made",
                             kMaxBackfillBytes >> 20)}});
    case Kind::kAhead:
      return InvalidJob(
          std::vector<http::FieldError>{{"to", "must not lie after now; nothing was made"}});
    case Kind::kForgotten:
      return InvalidJob(std::vector<http::FieldError>{
          {"from",
           "lies before what is kept of runs: nobody knows any more what ran; nothing was made"}});
    default:
      return UnknownJob(name);
  }
}

}  // namespace tenure::jobs
