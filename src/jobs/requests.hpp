#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "jobs/change.hpp"

/// What requests say, read: for the routes, and for the library on a store of its own. Each throws
/// http::ProblemError: 400 for what cannot be read, 422 for what cannot be meant.
/// REQUIRES: of each body what http::JsonFields requires.
namespace tenure::jobs {

/// The name of a job that is to be made.
void CheckJobName(std::string_view name);

Definition ReadPut(std::string_view body, std::size_t payload_max_bytes,
                   const calendar::Zones& zones);
/// `reason`: why, for the audit; null where nothing goes on record.
TriggerCommand ReadTrigger(JobKey key, std::string_view body, std::size_t payload_max_bytes,
                           std::string* reason = nullptr);
BackfillCommand ReadBackfill(JobKey key, std::string_view body, std::string* reason = nullptr);
PauseCommand ReadPause(JobKey key, std::string_view body);
/// The answer to a preview.
std::string PreviewJson(std::string_view body, const calendar::Zones& zones, std::int64_t now_ms);

}  // namespace tenure::jobs
