#include "tenure/jobs/client.hpp"

#include <initializer_list>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "client/checks.hpp"
#include "client/failure.hpp"
#include "client/http/answer.hpp"
#include "client/jobs/backend.hpp"
#include "jobs/job.hpp"

namespace tenure::jobs {
namespace {

namespace json = client::json;
using base::JsonWriter;
using client::CallFailed;

constexpr int kMostRows = 1'000;

// What is asked for.

void WriteWhen(JsonWriter& out, const When& when) {
  if (!when.cron.empty()) out.Field("cron", std::string_view(when.cron));
  if (when.every.count() != 0)
    out.Field("every", std::string_view(base::DurationText(when.every.count())));
  out.Field("time_zone", std::string_view(when.time_zone));
  out.Field("gap", ToText(when.gap)).Field("repeat", ToText(when.repeat));
}

std::string BodyOf(const Job& job) {
  return client::JsonBody([&](JsonWriter& out) {
    out.Field("topic", std::string_view(job.topic));
    WriteWhen(out, job.when);
    out.Key("payload").Raw(job.payload);
    if (!job.headers.empty()) out.Key("headers").Raw(job.headers);
    out.Field("priority", job.priority).Field("enabled", job.enabled);
    out.Field("missed", ToText(job.missed));
    out.Field("missed_window_ms", job.missed_window.count()).Field("missed_cap", job.missed_cap);
    out.Field("overlap", ToText(job.overlap)).Field("jitter_ms", job.jitter.count());
    if (job.starts_at_ms) out.Key("starts_at").Time(*job.starts_at_ms);
    if (job.ends_at_ms) out.Key("ends_at").Time(*job.ends_at_ms);
    out.Field("watch", job.watch);
  });
}

// What is answered.

template <class Value>
Value WordOf(json::object& from, std::string_view field, std::initializer_list<Value> values,
             Value otherwise) {
  const std::string text = client::OptionalText(from, field);
  for (const Value each : values)
    if (ToText(each) == text) return each;
  return otherwise;
}

RunStatus StatusOf(json::object& from, std::string_view field) {
  using enum RunStatus;
  return WordOf(from, field, {kReady, kWaiting, kClaimed, kRetrying, kDone, kDead, kSkipped},
                kReady);
}

std::vector<NamedTime> TimesIn(json::object& from) {
  std::vector<NamedTime> times;
  json::array upcoming;
  if (from["upcoming"].get_array().get(upcoming)) return times;
  for (auto each : upcoming) {
    json::object one = each.get_object();
    times.push_back({client::Time(one, "time"), client::OptionalText(one, "local_time"),
                     client::OptionalText(one, "offset"), client::OptionalText(one, "flag")});
  }
  return times;
}

std::optional<std::int64_t> TimeIn(json::object& from, std::string_view field) {
  const std::int64_t time_ms = client::Time(from, field);
  return time_ms == 0 ? std::nullopt : std::optional(time_ms);
}

JobState StateOf(json::object from) {
  JobState job;
  job.name = client::Text(from, "name");
  job.topic = client::OptionalText(from, "topic");
  job.when.cron = client::OptionalText(from, "cron");
  job.when.every =
      Milliseconds(base::ParseDurationMs(client::OptionalText(from, "every")).value_or(0));
  job.when.time_zone = client::OptionalText(from, "time_zone");
  job.when.gap = WordOf(from, "gap", {GapPolicy::kEndOfGap, GapPolicy::kSkip}, job.when.gap);
  job.when.repeat =
      WordOf(from, "repeat", {RepeatPolicy::kFirst, RepeatPolicy::kSecond, RepeatPolicy::kBoth},
             job.when.repeat);
  job.payload = client::OptionalRaw(from, "payload");
  job.headers = client::OptionalRaw(from, "headers");
  if (job.headers == "{}") job.headers.clear();
  job.priority = static_cast<int>(client::OptionalInteger(from, "priority"));
  job.enabled = client::Flag(from, "enabled");
  job.missed = WordOf(from, "missed", {Missed::kOnce, Missed::kSkip, Missed::kAll}, job.missed);
  job.missed_window = Milliseconds(client::OptionalInteger(from, "missed_window_ms"));
  job.missed_cap = static_cast<int>(client::OptionalInteger(from, "missed_cap"));
  job.overlap =
      WordOf(from, "overlap", {Overlap::kSkip, Overlap::kAllow, Overlap::kQueueOne}, job.overlap);
  job.jitter = Milliseconds(client::OptionalInteger(from, "jitter_ms"));
  job.starts_at_ms = TimeIn(from, "starts_at");
  job.ends_at_ms = TimeIn(from, "ends_at");
  job.watch = client::Flag(from, "watch");
  job.revision = client::Integer(from, "revision");
  job.is_of_file = client::OptionalText(from, "managed_by") == "file";
  job.next_run_ms = client::Time(from, "next_run");
  job.last_run_ms = client::Time(from, "last_run");
  if (job.last_run_ms != 0) job.last_status = StatusOf(from, "last_status");
  json::object pause;
  if (!from["paused"].get_object().get(pause)) {
    job.paused = true;
    job.paused_until_ms = client::Time(pause, "until");
    job.paused_reason = client::OptionalText(pause, "reason");
  }
  job.upcoming = TimesIn(from);
  return job;
}

Run RunOf(json::object from) {
  Run run;
  run.id = client::Text(from, "run_id");
  run.nominal_ms = client::Time(from, "nominal_time");
  run.kind =
      WordOf(from, "kind", {RunKind::kSchedule, RunKind::kTrigger, RunKind::kBackfill}, run.kind);
  run.status = StatusOf(from, "status");
  run.owner = client::OptionalText(from, "owner");
  run.claimed_ms = client::Time(from, "claimed_at");
  run.started_ms = client::Time(from, "started_at");
  run.finished_ms = client::Time(from, "finished_at");
  run.attempts = client::OptionalInteger(from, "attempts");
  run.crashes = client::OptionalInteger(from, "crashes");
  run.output = client::OptionalRaw(from, "output");
  if (run.output == "null") run.output.clear();
  run.error = client::OptionalText(from, "error");
  run.skipped = WordOf(from, "skipped_reason", {SkipReason::kOverlap, SkipReason::kMissed},
                       SkipReason::kNone);
  return run;
}

/// Throws what an answer means that is none of a call's own.
[[noreturn]] void RefuseAnswer(const client::JobBackend::Answer& answer) {
  if (answer.status != 400 && answer.status != 409 && answer.status != 412 && answer.status != 422)
    client::Refuse(answer);
  struct Told {
    std::string type{};
    std::string detail{};
    std::string fields{};
  };
  const Told told = client::Reading(answer, [](json::object problem) {
    Told read{client::ProblemOf(problem), client::OptionalText(problem, "detail"), {}};
    json::array errors;
    if (problem["errors"].get_array().get(errors)) return read;
    for (auto each : errors) {
      json::object error = each.get_object();
      const std::string field = client::OptionalText(error, "field");
      read.fields += fmt::format("{}{} {}", read.fields.empty() ? "" : "; ", field,
                                 client::OptionalText(error, "message"));
    }
    return read;
  });
  if (told.type.empty()) client::Refuse(answer);  // it is not Tenure that says so
  if (answer.status == 400 || told.type == "job-invalid")
    throw CallFailed(CallFailed::Kind::kInvalid, told.fields.empty() ? told.detail : told.fields);
  throw Refused(told.detail,
                told.type == "idempotency-key-reused" ? "key-reused" : std::string(told.type));
}

/// Nothing where there is no such job. A 404 that is not Tenure's is no answer.
template <class Read>
auto ReadFound(const client::JobBackend::Answer& answer, std::initializer_list<int> statuses,
               const Read& read) -> std::optional<decltype(read(std::declval<json::object>()))> {
  for (const int status : statuses)
    if (answer.status == status) return client::Reading(answer, read);
  if (answer.status == 404) {
    const std::string type =
        client::Reading(answer, [](json::object problem) { return client::ProblemOf(problem); });
    if (type == "not-found") return std::nullopt;
    client::Refuse(answer);
  }
  RefuseAnswer(answer);
}

template <class Row>
std::vector<Row> RowsIn(json::object from, Row (*read)(json::object)) {
  std::vector<Row> rows;
  for (auto each : from["items"].get_array()) rows.push_back(read(each.get_object()));
  return rows;
}

void CheckLimit(int limit) {
  if (limit < 1 || limit > kMostRows) throw std::invalid_argument("limit must be 1 to 1000");
}

/// As a segment of a path: a name that is none would be another path.
std::string NameOf(std::string_view name) {
  if (!IsJobName(name) || name == "." || name == "..")
    throw std::invalid_argument(
        fmt::format("name must be 1 to {} of A-Z a-z 0-9 . _ -", kMaxNameBytes));
  return std::string(name);
}

}  // namespace

class Client::Impl {
 public:
  Impl(std::string_view url, const ClientOptions& options)
      : backend_(client::JobCall([&] {
          return client::OpenJobs(url, {.timeout = options.timeout,
                                        .fires = options.fires,
                                        .pooled = options.pooled,
                                        .ca_file = options.ca_file,
                                        .insecure = options.insecure});
        })) {}

  /// Runs `call(backend)`; failures are those of client.hpp.
  template <class Work>
  auto Call(const Work& work) {
    return client::JobCall([&] { return work(*backend_); });
  }

 private:
  const std::unique_ptr<client::JobBackend> backend_;
};

Client::Client(std::string_view url, const ClientOptions& options)
    : impl_(std::make_unique<Impl>(url, options)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

PutResult Client::Put(const Job& job, std::optional<std::int64_t> revision) {
  client::CheckJob(job);
  return impl_->Call([&](client::JobBackend& backend) {
    const auto answer = backend.Put(NameOf(job.name), BodyOf(job), revision);
    auto state = ReadFound(answer, {200, 201}, StateOf);
    // Deleted between the change and the look.
    if (!state)
      throw CallFailed(CallFailed::Kind::kUnavailable, "the job was deleted meanwhile", true);
    return PutResult{answer.status == 201, *std::move(state)};
  });
}

std::optional<JobState> Client::Get(std::string_view name) {
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.Get(NameOf(name)), {200}, StateOf);
  });
}

std::vector<JobState> Client::List(std::string_view after, int limit) {
  CheckLimit(limit);
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.List(std::string(after), limit), {200},
                     [](json::object page) { return RowsIn(page, StateOf); })
        .value_or(std::vector<JobState>());
  });
}

std::vector<NamedTime> Client::Preview(const When& when, int count,
                                       std::optional<std::int64_t> from_ms) {
  const std::string body = client::JsonBody([&](JsonWriter& out) {
    WriteWhen(out, when);
    out.Field("count", count);
    if (from_ms) out.Key("from").Time(*from_ms);
  });
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.Preview(body), {200},
                     [](json::object answer) { return TimesIn(answer); })
        .value_or(std::vector<NamedTime>());
  });
}

bool Client::Delete(std::string_view name) {
  return impl_->Call([&](client::JobBackend& backend) {
    const auto answer = backend.Delete(NameOf(name));
    if (answer.status == 204) return true;
    return ReadFound(answer, {}, [](json::object) { return true; }).value_or(false);
  });
}

std::optional<std::string> Client::Trigger(std::string_view name, const TriggerOptions& options) {
  if (options.payload) client::CheckPayload(*options.payload);
  const std::string body = client::JsonBody([&](JsonWriter& out) {
    if (options.payload) out.Key("payload").Raw(*options.payload);
  });
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.Trigger(NameOf(name), body, options.key), {201},
                     [](json::object answer) { return client::Text(answer, "run_id"); });
  });
}

std::optional<Backfilled> Client::Backfill(std::string_view name, std::int64_t from_ms,
                                           std::int64_t to_ms, int most) {
  const std::string body = client::JsonBody([&](JsonWriter& out) {
    out.Key("from").Time(from_ms).Key("to").Time(to_ms).Field("max", most);
  });
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.Backfill(NameOf(name), body), {201}, [](json::object answer) {
      return Backfilled{client::Integer(answer, "runs"), client::Integer(answer, "skipped")};
    });
  });
}

bool Client::Pause(std::string_view name, std::string_view reason,
                   std::optional<std::int64_t> until_ms) {
  const std::string body = client::JsonBody([&](JsonWriter& out) {
    out.Field("reason", reason);
    if (until_ms) out.Key("until").Time(*until_ms);
  });
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.Pause(NameOf(name), body), {200}, StateOf).has_value();
  });
}

bool Client::Resume(std::string_view name) {
  return impl_->Call([&](client::JobBackend& backend) {
    return ReadFound(backend.Resume(NameOf(name)), {200}, StateOf).has_value();
  });
}

std::optional<std::vector<Run>> Client::Runs(std::string_view name, const RunFilter& filter) {
  CheckLimit(filter.limit);
  return impl_->Call([&](client::JobBackend& backend) {
    const std::string_view status = filter.status ? ToText(*filter.status) : std::string_view();
    return ReadFound(backend.Runs(NameOf(name), status, filter.limit), {200},
                     [](json::object page) { return RowsIn(page, RunOf); });
  });
}

std::unique_ptr<Client> Open(std::string_view url, const ClientOptions& options) {
  return std::make_unique<Client>(url, options);
}

}  // namespace tenure::jobs
