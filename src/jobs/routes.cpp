#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "http/answering.hpp"
#include "http/expected_revision.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "jobs/capability.hpp"
#include "jobs/explain.hpp"
#include "jobs/jobs.hpp"
#include "jobs/json.hpp"
#include "jobs/problems.hpp"
#include "jobs/requests.hpp"

namespace tenure::jobs {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::Method;
using http::QueryFields;

constexpr const char* kRead = "jobs:read";
constexpr const char* kWrite = "jobs:write";
constexpr const char* kCreateAct = "job.create";
constexpr const char* kChangeAct = "job.change";
constexpr const char* kDeleteAct = "job.delete";
constexpr const char* kPauseAct = "job.pause";
constexpr const char* kResumeAct = "job.resume";
constexpr const char* kTriggerAct = "job.trigger";
constexpr const char* kBackfillAct = "job.backfill";

JobKey KeyIn(const ExchangePtr& exchange) {
  return {http::TenantOf(exchange), exchange->request().path_parameters[0]};
}

JobsRequest RequestOf(const JobKey& key) {
  JobsRequest request;
  request.tenant = key.tenant;
  request.name = key.name;
  request.limit = 1;
  return request;
}

/// The job as it is now.
void ReplyJob(const RouteParts& parts, const ExchangePtr& exchange, const JobKey& key, int status) {
  const auto zones = parts.jobs.zones().Get();
  parts.jobs.List(
      RequestOf(key), exchange->caller(),
      Answering(
          exchange, [key, status, zones](const ExchangePtr& to, const db::Page<JobView>& page) {
            if (page.rows.empty()) return to->Reply(UnknownJob(key.name));
            http::Response response{.status = status,
                                    .body = JobJson(page.rows.front(), page.now_ms, zones.get())};
            response.headers.emplace_back("ETag",
                                          fmt::format("\"{}\"", page.rows.front().row.revision));
            to->Reply(std::move(response));
          }));
}

/// Carries out what is asked of one job; `then` answers what is no problem.
template <class Then>
void Carry(const RouteParts& parts, const ExchangePtr& exchange, JobCommand command,
           const char* act, Then then) {
  const JobKey key = KeyIn(exchange);
  parts.jobs.Change(
      std::move(command), http::Acting(exchange, act),
      Answering(exchange, [key, then](const ExchangePtr& to, const JobOutcome& outcome) {
        if (IsProblem(outcome.kind)) return to->Reply(ProblemOf(outcome, key.name));
        then(to, outcome);
      }));
}

/// The same for a POST: once under an idempotency key. `again` answers a repetition.
template <class Then, class Again>
void CarryOnce(const RouteParts& parts, const ExchangePtr& exchange, JobCommand command,
               const char* act, Then then, Again again) {
  auto once = http::FindIdempotencyKey(exchange);
  if (!once) return Carry(parts, exchange, std::move(command), act, then);
  const JobKey key = KeyIn(exchange);
  parts.jobs.ChangeOnce({std::move(command), *std::move(once)}, http::Acting(exchange, act),
                        http::AnsweringOnce(
                            exchange,
                            [key, then](const ExchangePtr& to, const JobOutcome& outcome) {
                              if (IsProblem(outcome.kind))
                                return to->Reply(ProblemOf(outcome, key.name));
                              then(to, outcome);
                            },
                            again));
}

/// What makes a job and what changes one are two acts of the audit: a look says which it will be.
/// Where that is no longer so by then, it is done over.
void LookAndPut(const RouteParts& parts, const ExchangePtr& exchange, PutCommand put) {
  JobsRequest look;
  look.tenant = put.key.tenant;
  look.name = put.key.name;
  look.limit = 1;
  parts.jobs.List(
      std::move(look), exchange->caller(),
      Answering(exchange, [parts, put = std::move(put)](const ExchangePtr& to,
                                                        const db::Page<JobView>& page) mutable {
        put.is_new = page.rows.empty();
        PutCommand again = put;
        Carry(parts, to, std::move(put), page.rows.empty() ? kCreateAct : kChangeAct,
              [parts, again](const ExchangePtr& then, const JobOutcome& outcome) {
                if (outcome.kind == JobOutcome::Kind::kOtherThanSeen)
                  return LookAndPut(parts, then, again);
                ReplyJob(parts, then, again.key,
                         outcome.kind == JobOutcome::Kind::kCreated ? 201 : 200);
              });
      }));
}

void PutJob(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectQueryReasonAlone(exchange);
  PutCommand put;
  put.if_revision = http::ExpectedRevision(exchange->request());
  put.definition =
      ReadPut(exchange->request().body, parts.payload_max_bytes, *parts.jobs.zones().Get());
  put.key = KeyIn(exchange);
  CheckJobName(put.key.name);
  LookAndPut(parts, exchange, std::move(put));
}

void GetJob(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  ReplyJob(parts, exchange, KeyIn(exchange), 200);
}

void ListJobs(const RouteParts& parts, const ExchangePtr& exchange) {
  JobsRequest request;
  request.tenant = http::TenantOf(exchange);
  QueryFields fields(exchange->request().query);
  request.topic = fields.Text("topic", messages::kMaxTopicBytes).value_or("");
  request.enabled = fields.Flag("enabled");
  request.after = fields.Text("cursor", kMaxNameBytes).value_or("");
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.jobs.List(std::move(request), exchange->caller(), Answering(exchange, JobsJson));
}

void DeleteJob(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectQueryReasonAlone(exchange);
  Carry(parts, exchange, DeleteCommand{KeyIn(exchange)}, kDeleteAct,
        [](const ExchangePtr& to, const JobOutcome&) { to->Reply(http::Response{.status = 204}); });
}

void Preview(const RouteParts& parts, const ExchangePtr& exchange) {
  exchange->ReplyJson(PreviewJson(exchange->request().body, *parts.jobs.zones().Get(),
                                  parts.jobs.clock().WallMs()));
}

void Trigger(const RouteParts& parts, const ExchangePtr& exchange) {
  std::string reason;
  TriggerCommand trigger =
      ReadTrigger(KeyIn(exchange), exchange->request().body, parts.payload_max_bytes, &reason);
  exchange->set_reason(std::move(reason));
  CarryOnce(
      parts, exchange, std::move(trigger), kTriggerAct,
      [](const ExchangePtr& to, const JobOutcome& outcome) {
        to->ReplyJson(TriggeredJson(outcome), 201);
      },
      http::ReplyStored);
}

void Backfill(const RouteParts& parts, const ExchangePtr& exchange) {
  std::string reason;
  BackfillCommand backfill = ReadBackfill(KeyIn(exchange), exchange->request().body, &reason);
  exchange->set_reason(std::move(reason));
  CarryOnce(
      parts, exchange, std::move(backfill), kBackfillAct,
      [](const ExchangePtr& to, const JobOutcome& outcome) {
        to->ReplyJson(BackfilledJson(outcome), 201);
      },
      http::ReplyStored);
}

/// A repetition is told what the job is like by now.
void CarryAndShow(const RouteParts& parts, const ExchangePtr& exchange, JobCommand command,
                  const char* act) {
  const JobKey key = KeyIn(exchange);
  CarryOnce(
      parts, exchange, std::move(command), act,
      [parts, key](const ExchangePtr& to, const JobOutcome&) { ReplyJob(parts, to, key, 200); },
      [parts, key](const ExchangePtr& to, const base::StoredAnswer&) {
        ReplyJob(parts, to, key, 200);
      });
}

void PauseJob(const RouteParts& parts, const ExchangePtr& exchange) {
  CarryAndShow(parts, exchange, ReadPause(KeyIn(exchange), exchange->request().body), kPauseAct);
}

void ResumeJob(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectReasonAlone(exchange);
  CarryAndShow(parts, exchange, ResumeCommand{KeyIn(exchange)}, kResumeAct);
}

/// "1766311200000.0197c1f2-…": where the page before ended.
struct RunCursor {
  std::int64_t before_ms = 0;
  base::Uuid before_id{};
};
std::optional<RunCursor> ReadRunCursor(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return std::nullopt;
  RunCursor cursor;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + dot, cursor.before_ms);
  const auto id = base::Uuid::Parse(std::string_view(text).substr(dot + 1));
  if (error != std::errc() || stop != text.data() + dot || !id) return std::nullopt;
  cursor.before_id = *id;
  return cursor;
}

void ListRuns(const RouteParts& parts, const ExchangePtr& exchange) {
  RunsRequest request;
  request.key = KeyIn(exchange);
  QueryFields fields(exchange->request().query);
  request.status = fields.Parsed(
      "status", 20, "must be ready, waiting, claimed, retrying, done, dead or skipped",
      [](const std::string& text) {
        return http::OneOf(
            text, {RunStatus::kReady, RunStatus::kWaiting, RunStatus::kClaimed,
                   RunStatus::kRetrying, RunStatus::kDone, RunStatus::kDead, RunStatus::kSkipped});
      });
  if (const auto cursor = fields.Parsed("cursor", 60, http::kNoCursor, ReadRunCursor)) {
    request.before_ms = cursor->before_ms;
    request.before_id = cursor->before_id;
  }
  request.limit = fields.PageLimit();
  fields.Finish();
  JobsRequest job;
  job.tenant = request.key.tenant;
  job.name = request.key.name;
  job.limit = 1;
  parts.jobs.List(
      std::move(job), exchange->caller(),
      Answering(exchange, [parts, request](const ExchangePtr& to, const db::Page<JobView>& page) {
        if (page.rows.empty()) return to->Reply(UnknownJob(request.key.name));
        parts.jobs.ListRuns(request, to->caller(), Answering(to, RunsJson));
      }));
}

/// So many runs are looked at for what became of the last one.
constexpr std::int64_t kRunsLookedAt = 20;

/// The run in the way of the last one may be older than many that were left out for it: it is looked
/// for among those of one status after the other.
void ReplyStory(const RouteParts& parts, const ExchangePtr& exchange, JobStory story,
                std::vector<RunStatus> left) {
  if (left.empty() || MissingBlocker(story.runs) == nullptr)
    return exchange->ReplyJson(explain::ToJson(Explain(story), *exchange->request().principal));
  RunsRequest request{.key = story.job.row.key, .status = left.back(), .limit = kRunsLookedAt};
  left.pop_back();
  parts.jobs.ListRuns(
      std::move(request), exchange->caller(),
      Answering(exchange, [parts, story = std::move(story), left = std::move(left)](
                              const ExchangePtr& to, const db::Page<RunView>& page) mutable {
        story.runs.insert(story.runs.end(), page.rows.begin(), page.rows.end());
        ReplyStory(parts, to, std::move(story), std::move(left));
      }));
}

void SayWhy(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const JobKey key = KeyIn(exchange);
  const auto zones = parts.jobs.zones().Get();
  parts.jobs.List(
      RequestOf(key), exchange->caller(),
      Answering(
          exchange, [parts, key, zones](const ExchangePtr& to, const db::Page<JobView>& page) {
            if (page.rows.empty()) return to->Reply(UnknownJob(key.name));
            JobStory story{.job = page.rows.front()};
            const JobRow& job = story.job.row;
            if (const auto times = Times::Of(job.definition, job.created_ms, *zones))
              if (const auto upcoming = UpcomingOf(job, *times, page.now_ms); !upcoming.empty()) {
                story.next_ms = upcoming.front().time_ms;
                story.next_local = times->zone().LocalTime(story.next_ms);
              }
            parts.jobs.ListRuns(
                RunsRequest{.key = key, .limit = kRunsLookedAt}, to->caller(),
                Answering(to, [parts, story = std::move(story)](
                                  const ExchangePtr& then, const db::Page<RunView>& runs) mutable {
                  story.runs = runs.rows;
                  ReplyStory(parts, then, std::move(story),
                             {RunStatus::kReady, RunStatus::kRetrying, RunStatus::kClaimed});
                }));
          }));
}

}  // namespace

void AddRoutes(http::Router& router, const RouteParts& parts) {
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/jobs", .rate_class = "jobs"})
      .Add(
          {{Method::kGet, "", "listJobs", kRead, ListJobs},
           {Method::kPost, "/preview", "previewJob", kRead, Preview},
           {Method::kPut, "/{name}", "putJob", kWrite, PutJob, "", {kCreateAct, kChangeAct}},
           {Method::kGet, "/{name}", "getJob", kRead, GetJob},
           {Method::kDelete, "/{name}", "deleteJob", kWrite, DeleteJob, "", {kDeleteAct}},
           {Method::kPost, "/{name}/trigger", "triggerJob", kWrite, Trigger, "", {kTriggerAct}},
           {Method::kPost, "/{name}/backfill", "backfillJob", kWrite, Backfill, "", {kBackfillAct}},
           {Method::kPost, "/{name}/pause", "pauseJob", kWrite, PauseJob, "", {kPauseAct}},
           {Method::kPost, "/{name}/resume", "resumeJob", kWrite, ResumeJob, "", {kResumeAct}},
           {Method::kGet, "/{name}/runs", "listJobRuns", kRead, ListRuns}});
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/why/job", .rate_class = "jobs"})
      .Add({{Method::kGet, "/{name}", "whyJob", kRead, SayWhy}});
}

}  // namespace tenure::jobs
