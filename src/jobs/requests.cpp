#include "jobs/requests.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "http/json_fields.hpp"
#include "jobs/definition_fields.hpp"
#include "jobs/json.hpp"
#include "jobs/problems.hpp"

namespace tenure::jobs {
namespace {

constexpr std::size_t kMostTriggerPayload = std::size_t{64} << 20;

void RefuseMistakes(const std::vector<Mistake>& mistakes) {
  if (!mistakes.empty()) throw http::ProblemError(InvalidJob(mistakes));
}

}  // namespace

void CheckJobName(std::string_view name) {
  if (!IsJobName(name))
    throw http::ProblemError(InvalidJob(std::vector<http::FieldError>{
        {"name", fmt::format("must be 1 to {} of A-Z a-z 0-9 . _ -", kMaxNameBytes)}}));
}

Definition ReadPut(std::string_view body, std::size_t payload_max_bytes,
                   const calendar::Zones& zones) {
  http::JsonFields fields(body);
  ReadDefinition read = ReadFields(fields, payload_max_bytes, zones);
  fields.Finish();
  RefuseMistakes(read.mistakes);
  return std::move(read.definition);
}

TriggerCommand ReadTrigger(JobKey key, std::string_view body, std::size_t payload_max_bytes,
                           std::string* reason) {
  TriggerCommand trigger{.key = std::move(key)};
  http::JsonFields fields(body);
  trigger.payload = fields.OptionalValue("payload", kMostTriggerPayload);
  if (reason) *reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  fields.Finish();
  if (trigger.payload && trigger.payload->size() > payload_max_bytes)
    throw http::ProblemError(InvalidJob(std::vector<http::FieldError>{
        {"payload", fmt::format("must have at most {} bytes", payload_max_bytes)}}));
  return trigger;
}

BackfillCommand ReadBackfill(JobKey key, std::string_view body, std::string* reason) {
  BackfillCommand backfill{.key = std::move(key)};
  http::JsonFields fields(body);
  const auto from_ms = fields.OptionalTime("from");
  const auto to_ms = fields.OptionalTime("to");
  if (!from_ms && !fields.Has("from")) fields.Refuse("from", "is missing");
  if (!to_ms && !fields.Has("to")) fields.Refuse("to", "is missing");
  backfill.most = fields.OptionalInteger("max", 1, kMaxBackfill).value_or(kMaxBackfill);
  if (reason) *reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  fields.Finish();
  backfill.from_ms = *from_ms;
  backfill.to_ms = *to_ms;
  return backfill;
}

PauseCommand ReadPause(JobKey key, std::string_view body) {
  PauseCommand pause{.key = std::move(key)};
  http::JsonFields fields(body);
  pause.reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  const auto until_ms = fields.OptionalTime("until");
  if (until_ms && *until_ms <= 0) fields.Refuse("until", "must be a time after 1970");
  fields.Finish();
  pause.until_ms = until_ms.value_or(0);
  return pause;
}

std::string PreviewJson(std::string_view body, const calendar::Zones& zones, std::int64_t now_ms) {
  ReadDefinition read;
  http::JsonFields fields(body);
  ReadTimes(fields, read);
  const std::int64_t from_ms = fields.OptionalTime("from").value_or(now_ms);
  const auto count = fields.OptionalInteger("count", 1, kMaxPreview)
                         .value_or(static_cast<std::int64_t>(kUpcoming));
  fields.Finish();
  Definition& definition = read.definition;
  // `every` counts from `from`, which is the first time.
  const bool is_every = definition.cron.empty();
  Definition checked = definition;
  if (is_every && checked.every_ms == 0) checked.every_ms = 1'000;
  for (Mistake& each : Times::Check(checked, zones)) read.mistakes.push_back(std::move(each));
  RefuseMistakes(read.mistakes);
  if (is_every) definition.starts_ms = std::max<std::int64_t>(from_ms, 1);
  const auto times = Times::Of(definition, from_ms, zones);
  return UpcomingJson(*times,
                      times->List(from_ms, messages::kLastDueMs, static_cast<std::size_t>(count)));
}

}  // namespace tenure::jobs
