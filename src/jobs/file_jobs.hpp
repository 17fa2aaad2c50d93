#pragma once

#include <string>
#include <vector>

#include "config/given.hpp"
#include "config/settings.hpp"
#include "jobs/jobs.hpp"

namespace tenure::jobs {

/// A job that the configuration file lists, read.
struct ListedJob {
  JobKey key{};
  Definition definition{};
  std::string where{};
};

/// Entries that cannot be meant are among the problems, each field by its line, and not in the
/// answer.
std::vector<ListedJob> ReadListed(const std::vector<config::FileJob>& entries,
                                  std::size_t payload_max_bytes, const calendar::Zones& zones,
                                  config::Problems& problems);

/// Makes and changes the jobs of a file, and removes those that it has no more. Each is a
/// transaction of its own, and the whole may be repeated: where two processes apply different files
/// at once, each job is as one of them says, and the next application settles the rest. Returns a
/// sentence for each job that is different now. Throws base::Fault, and base::UserError for a job
/// that the store has no room for.
std::vector<std::string> ApplyListed(Jobs& jobs, const std::vector<ListedJob>& listed);

}  // namespace tenure::jobs
