#include "tasks/routes.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "http/fences.hpp"
#include "http/idempotency.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "leases/json.hpp"

namespace tenure::tasks {
namespace {

using base::JsonWriter;
using http::ExchangePtr;
using http::JsonFields;
using http::kMaxFence;
using http::ProblemError;
using leases::kMaxTtl;
using leases::kMinTtl;

constexpr std::int64_t kMinIntervalMs = 100;
constexpr std::int64_t kMaxIntervalMs = 366LL * 86'400'000;
/// A task's lease is "task/<name>", which must be a lease's name.
constexpr std::size_t kMaxNameBytes = leases::kMaxNameBytes - 5;
constexpr std::size_t kMaxErrorBytes = 4'096;
constexpr const char* kRunAct = "task.run";

TaskKey KeyOf(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (!leases::IsLeaseName(name) || name.size() > kMaxNameBytes)
    throw ProblemError(http::InvalidRequest(
        {{"name", fmt::format("must be 1 to {} of A-Z a-z 0-9 . _ : / @ -", kMaxNameBytes)}}));
  return {http::TenantOf(exchange), name};
}

void WriteTime(JsonWriter& json, std::string_view field, std::int64_t ms) {
  json.Key(field);
  if (ms > 0)
    json.Time(ms);
  else
    json.Null();
}

void WriteTask(JsonWriter& json, const TaskView& task, std::int64_t now_ms) {
  const TaskRow& row = task.row;
  json.BeginObject()
      .Field("name", std::string_view(task.name))
      .Field("interval_ms", row.interval_ms);
  WriteTime(json, "next_run_at", DueMs(row));
  WriteTime(json, "last_run_at", row.last_started_ms);
  WriteTime(json, "last_finished_at", row.last_finished_ms);
  WriteTime(json, "last_nominal_at", row.last_nominal_ms);
  json.Field("runs", row.runs).Field("failures", row.failures).Field("skipped", row.skipped);
  if (!row.last_error.empty()) json.Field("last_error", std::string_view(row.last_error));
  json.Key("holder");
  if (task.locked_ms > 0)
    json.Value(std::string_view(task.holder));
  else
    json.Null();
  json.Field("lock_age_ms", task.locked_ms > 0 ? now_ms - task.locked_ms : 0);
  json.EndObject();
}

/// Tenure's own tasks, then the caller's.
void List(Tasks& tasks, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  tasks.List(kOwnTenant, exchange->caller(), [&tasks, exchange](db::Result<ListReply> own) {
    if (!own.ok()) return exchange->Reply(own.fault());
    tasks.List(
        http::TenantOf(exchange), exchange->caller(),
        [exchange, own = std::move(own.value())](db::Result<ListReply> theirs) {
          if (!theirs.ok()) return exchange->Reply(theirs.fault());
          std::string body;
          JsonWriter json(body);
          json.BeginObject().Key("items").BeginArray();
          for (const auto* reply : std::initializer_list<const ListReply*>{&own, &theirs.value()})
            for (const TaskView& task : reply->tasks) WriteTask(json, task, reply->now_ms);
          json.EndArray().Key("next_cursor").Null().EndObject();
          exchange->Reply(http::JsonResponse(200, std::move(body)));
        });
  });
}

void ReplyTriggered(const ExchangePtr& exchange, db::Answer answer) {
  exchange->Reply(http::JsonResponse(static_cast<int>(answer.status), std::move(answer.body)));
}

void ReplyTriggeredOnce(const ExchangePtr& exchange, db::OnceReply reply, base::Task if_unknown) {
  switch (reply.status) {
    case db::OnceStatus::kAnswered:
      if (!reply.answer.final) return if_unknown();
      return ReplyTriggered(exchange, std::move(reply.answer));
    case db::OnceStatus::kOtherBody:
      return exchange->Reply(http::KeyOfAnotherRequest());
    case db::OnceStatus::kUnderWay:
      return exchange->Reply(http::KeyUnderWay());
  }
}

/// Has a task run, or goes on with `if_unknown`: then nothing is kept under an idempotency key, so
/// that the next try may use it.
void Trigger(Tasks& tasks, const ExchangePtr& exchange, TaskKey task, base::Task if_unknown) {
  if (auto key = http::FindIdempotencyKey(exchange->request(), "runTask"))
    return tasks.TriggerOnce(
        {std::move(task)}, {std::move(key->name), std::move(key->body_hash)},
        http::Acting(exchange, kRunAct),
        [exchange, if_unknown = std::move(if_unknown)](db::Result<db::OnceReply> result) mutable {
          if (!result.ok()) return exchange->Reply(result.fault());
          ReplyTriggeredOnce(exchange, std::move(result.value()), std::move(if_unknown));
        });
  tasks.Trigger(
      {std::move(task)}, http::Acting(exchange, kRunAct),
      [exchange, if_unknown = std::move(if_unknown)](db::Result<TriggerOutcome> result) mutable {
        if (!result.ok()) return exchange->Reply(result.fault());
        if (!result.value().known) return if_unknown();
        ReplyTriggered(exchange, TriggerAnswer(result.value()));
      });
}

/// The caller's task of that name, or Tenure's own.
void Run(Tasks& tasks, const ExchangePtr& exchange) {
  const TaskKey task = KeyOf(exchange);
  JsonFields(exchange->request().body).Finish();
  Trigger(tasks, exchange, task, [&tasks, exchange, name = task.name] {
    Trigger(tasks, exchange, {kOwnTenant, name}, [exchange, name] {
      exchange->Reply(
          http::NotFound(fmt::format("There is no task {}. GET /api/v1/tasks lists them.", name)));
    });
  });
}

void Claim(Tasks& tasks, const ExchangePtr& exchange) {
  ClaimCommand command;
  command.received_boot_ms = tasks.clock().BootMs();
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.term = fields.Uuid("term");
  command.holder = fields.Text("holder", leases::kMaxHolderBytes);
  command.interval_ms = fields.Integer("interval_ms", kMinIntervalMs, kMaxIntervalMs);
  command.lock_timeout_ms = fields.Integer("lock_timeout_ms", kMinTtl.count(), kMaxTtl.count());
  fields.Finish();
  tasks.Claim(std::move(command), exchange->caller(), [exchange](auto result) {
    if (!result.ok()) return exchange->Reply(result.fault());
    std::string body;
    JsonWriter json(body);
    json.BeginObject();
    if (const auto* run = std::get_if<leases::TaskRun>(&result.value())) {
      json.Field("due", true).Field("nominal_ms", run->nominal_ms);
      json.Key("nominal_at").Time(run->nominal_ms);
      json.Field("skipped", run->skipped).Field("reclaimed", run->reclaimed).Key("lock");
      leases::WriteGrant(json, run->lock);
    } else {
      json.Field("due", false)
          .Field("retry_after_ms",
                 std::get<leases::TaskNotDue>(result.value()).retry_after.count());
    }
    json.EndObject();
    exchange->Reply(http::JsonResponse(200, std::move(body)));
  });
}

void Finish(Tasks& tasks, const ExchangePtr& exchange) {
  FinishCommand command;
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.fence = fields.Integer("fence", 1, kMaxFence);
  command.term = fields.Uuid("term");
  command.error = fields.OptionalText("error", kMaxErrorBytes);
  fields.Finish();
  tasks.Finish(std::move(command), exchange->caller(), [exchange](auto result) {
    if (!result.ok()) return exchange->Reply(result.fault());
    const leases::FinishOutcome& outcome = result.value();
    std::string body;
    JsonWriter json(body);
    json.BeginObject().Field("accepted", outcome.accepted);
    if (!outcome.accepted) json.Field("reason", leases::ToText(outcome.reason));
    WriteTime(json, "next_run_at", outcome.next_ms);
    json.EndObject();
    exchange->Reply(http::JsonResponse(200, std::move(body)));
  });
}

}  // namespace

void AddRoutes(http::Router& router, Tasks& tasks) {
  using http::Method;
  const auto add = [&](Method method, const std::string& path, std::string operation,
                       std::string scope, void (*handle)(Tasks&, const ExchangePtr&),
                       std::vector<std::string> acts = {}) {
    router.Add(
        {.method = method,
         .pattern = "/api/v1/tasks" + path,
         .operation = std::move(operation),
         .scope = std::move(scope),
         .handler = [&tasks, handle](const ExchangePtr& exchange) { handle(tasks, exchange); },
         .encoded_slash = true,
         .acts = std::move(acts)});
  };
  add(Method::kGet, "", "listTasks", "ops:read", List);
  add(Method::kPost, "/{name}/run", "runTask", "admin", Run, {kRunAct});
  add(Method::kPost, "/{name}/claim", "claimTask", "leases:write", Claim);
  add(Method::kPost, "/{name}/finish", "finishTask", "leases:write", Finish);
}

}  // namespace tenure::tasks
