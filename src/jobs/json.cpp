#include "jobs/json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "jobs/fields.hpp"
#include "jobs/problems.hpp"

namespace tenure::jobs {
namespace {

using base::JsonWriter;

void WriteUpcoming(JsonWriter& json, const Times& times,
                   const std::vector<calendar::Occurrence>& upcoming) {
  json.Key("upcoming").BeginArray();
  for (const calendar::Occurrence& each : upcoming) {
    json.BeginObject().Key("time").Time(each.time_ms);
    json.Field("local_time", times.zone().LocalTime(each.time_ms))
        .Field("offset", times.zone().Offset(each.time_ms))
        .Key("flag");
    const std::string_view flag = calendar::FlagText(each.flag);
    flag.empty() ? json.Null() : json.Value(flag);
    json.EndObject();
  }
  json.EndArray();
}

void WriteJobFields(JsonWriter& json, const JobView& view) {
  const JobRow& job = view.row;
  json.Field("name", std::string_view(job.key.name));
  for (const auto& [name, value] : FieldsOf(job.definition)) json.Key(name).Raw(value);
  json.Key("payload").Stored(job.definition.payload);
  json.Key("headers").Raw(base::ObjectOrEmpty(job.definition.headers));
  json.Field("managed_by", ToText(job.origin)).Field("revision", job.revision);
  json.Key("created_at").Time(job.created_ms).Key("changed_at").Time(job.changed_ms);
  json.Key("paused");
  if (job.paused_ms > 0) {
    json.BeginObject().Key("since").Time(job.paused_ms).Key("until");
    json.TimeOrNull(job.paused_until_ms);
    json.Field("reason", std::string_view(job.paused_reason)).EndObject();
  } else {
    json.Null();
  }
  json.Key("next_run").TimeOrNull(job.paused_ms > 0 ? 0 : job.next_ms);
  json.Key("last_run");
  view.last_run_ms ? json.Time(*view.last_run_ms) : json.Null();
  json.Key("last_status");
  view.last_run_ms ? json.Value(ToText(view.last_status)) : json.Null();
}

void WriteJobItem(JsonWriter& json, const JobView& view) {
  json.BeginObject();
  WriteJobFields(json, view);
  json.EndObject();
}

void WriteRun(JsonWriter& json, const RunView& run) {
  json.BeginObject().Field("run_id", run.id).Key("nominal_time").Time(run.nominal_ms);
  json.Field("kind", ToText(run.kind)).Field("status", ToText(run.status));
  json.Key("made_at").Time(run.made_ms);
  json.Key("owner");
  run.owner.empty() ? json.Null() : json.Value(std::string_view(run.owner));
  json.Key("claimed_at").TimeOrNull(run.claimed_ms);
  json.Key("started_at").TimeOrNull(run.started_ms);
  json.Key("held_until").TimeOrNull(run.status == RunStatus::kClaimed ? run.HeldUntilMs() : 0);
  json.Key("retry_at").TimeOrNull(run.status == RunStatus::kRetrying ? run.due_ms : 0);
  json.Key("finished_at").TimeOrNull(run.ended_ms);
  json.Field("attempts", run.attempts).Field("crashes", run.crashes);
  json.Key("output");
  run.output.empty() ? json.Null() : json.Stored(run.output);
  json.Key("error");
  run.error.empty() ? json.Null() : json.Value(std::string_view(run.error));
  json.Key("skipped_reason");
  run.status == RunStatus::kSkipped ? json.Value(ToText(run.reason)) : json.Null();
  json.Key("blocked_by");
  run.blocker ? json.Value(*run.blocker) : json.Null();
  if (run.status == RunStatus::kSkipped) {
    json.Key("skipped_from").Time(run.first_ms);
    json.Field("skipped_times", run.number);
  }
  json.EndObject();
}

}  // namespace

std::vector<calendar::Occurrence> UpcomingOf(const JobRow& job, const Times& times,
                                             std::int64_t now_ms) {
  if (!job.definition.enabled) return {};
  // Of a paused one what its schedule names; else from the first time that is not decided.
  const std::int64_t from_ms =
      job.paused_ms > 0 ? std::max(now_ms, job.since_ms) : std::max(job.next_ms, job.since_ms);
  if (job.paused_ms == 0 && job.next_ms == 0) return {};
  return times.List(from_ms, messages::kLastDueMs, kUpcoming);
}

std::string JobJson(const JobView& job, std::int64_t now_ms, const calendar::Zones* zones) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteJobFields(json, job);
  if (zones) {
    if (const auto times = Times::Of(job.row.definition, job.row.created_ms, *zones))
      WriteUpcoming(json, *times, UpcomingOf(job.row, *times, now_ms));
    else
      json.Key("upcoming").BeginArray().EndArray();
  }
  json.EndObject();
  return out;
}

std::string JobsJson(const db::Page<JobView>& page) {
  return base::PageJson(page.rows, page.has_more, WriteJobItem,
                        [](const JobView& last) { return std::string_view(last.row.key.name); });
}

std::string RunsJson(const db::Page<RunView>& page) {
  return base::PageJson(page.rows, page.has_more, WriteRun, [](const RunView& last) {
    return fmt::format("{}.{}", last.nominal_ms, last.id.ToString());
  });
}

std::string UpcomingJson(const Times& times, const std::vector<calendar::Occurrence>& upcoming) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteUpcoming(json, times, upcoming);
  json.EndObject();
  return out;
}

std::string TriggeredJson(const JobOutcome& outcome) {
  std::string out;
  JsonWriter(out).BeginObject().Field("run_id", outcome.run).EndObject();
  return out;
}

std::string BackfilledJson(const JobOutcome& outcome) {
  std::string out;
  JsonWriter(out)
      .BeginObject()
      .Field("runs", outcome.backfilled.runs)
      .Field("skipped", outcome.backfilled.skipped)
      .EndObject();
  return out;
}

std::optional<base::StoredAnswer> JobAnswer(const JobOutcome& outcome) {
  if (IsProblem(outcome.kind)) return std::nullopt;
  if (outcome.run != base::Uuid()) return base::StoredAnswer{201, TriggeredJson(outcome)};
  return base::StoredAnswer{201, BackfilledJson(outcome)};
}

}  // namespace tenure::jobs
