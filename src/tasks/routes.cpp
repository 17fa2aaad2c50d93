#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "http/answering.hpp"
#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "leases/json.hpp"
#include "tasks/capability.hpp"
#include "tasks/explain.hpp"
#include "tasks/tasks.hpp"

namespace tenure::tasks {
namespace {

using base::JsonWriter;
using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::kMaxFence;
using leases::kMaxTtl;
using leases::kMinTtl;

constexpr const char* kRunAct = "task.run";

TaskKey KeyOf(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (!leases::IsLeaseName(name) || name.size() > leases::kMaxTaskNameBytes)
    http::RefuseField("name", fmt::format("must be 1 to {} of A-Z a-z 0-9 . _ : / @ -",
                                          leases::kMaxTaskNameBytes));
  return {http::TenantOf(exchange), name};
}

void WriteTask(JsonWriter& json, const TaskView& task, std::int64_t now_ms) {
  const TaskRow& row = task.row;
  json.BeginObject()
      .Field("name", std::string_view(task.name))
      .Field("interval_ms", row.interval_ms);
  json.Key("next_run_at").TimeOrNull(DueMs(row));
  json.Key("last_run_at").TimeOrNull(row.last_started_ms);
  json.Key("last_finished_at").TimeOrNull(row.last_finished_ms);
  json.Key("last_nominal_at").TimeOrNull(row.last_nominal_ms);
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

std::string ListJson(const ListReply& own, const ListReply& theirs) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const ListReply* reply : {&own, &theirs})
    for (const TaskView& task : reply->tasks) WriteTask(json, task, reply->now_ms);
  json.EndArray().Key("next_cursor").Null().EndObject();
  return body;
}

/// Tenure's own tasks, then the caller's.
void List(Tasks& tasks, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const auto then_theirs = [&tasks](const ExchangePtr& to, ListReply own) {
    tasks.List(http::TenantOf(to), to->caller(),
               Answering(to, [own = std::move(own)](const ListReply& theirs) {
                 return ListJson(own, theirs);
               }));
  };
  tasks.List(kOwnTenant, exchange->caller(), Answering(exchange, then_theirs));
}

http::Problem UnknownTask(const std::string& name) {
  return http::NotFound(fmt::format("There is no task {}. GET /api/v1/tasks lists them.", name));
}

/// The caller's task of that name, or Tenure's own. There are few: who has many has to wait.
void SayWhy(Tasks& tasks, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  TaskKey task = KeyOf(exchange);
  const auto explain = [name = task.name](const ExchangePtr& to, const ListReply& listed) {
    const auto found = std::ranges::find(listed.tasks, name, &TaskView::name);
    if (found == listed.tasks.end()) return false;
    to->ReplyJson(explain::ToJson(Explain(*found, listed.now_ms), *to->request().principal));
    return true;
  };
  const auto then_own = [&tasks, explain, name = task.name](const ExchangePtr& to,
                                                            const ListReply& theirs) {
    if (explain(to, theirs)) return;
    tasks.List(kOwnTenant, to->caller(),
               Answering(to, [explain, name](const ExchangePtr& asker, const ListReply& own) {
                 if (!explain(asker, own)) asker->Reply(UnknownTask(name));
               }));
  };
  tasks.List(std::move(task.tenant), exchange->caller(), Answering(exchange, then_own));
}

/// Has a task run, or goes on with `if_unknown`: then nothing is kept under an idempotency key, so
/// that the next try may use it.
void Trigger(Tasks& tasks, const ExchangePtr& exchange, TaskKey task, base::Task if_unknown) {
  auto answer = [if_unknown = std::move(if_unknown)](const ExchangePtr& to,
                                                     const TriggerOutcome& outcome) mutable {
    if (auto told = TriggerAnswer(outcome)) return http::ReplyMade(to, *std::move(told));
    if_unknown();
  };
  if (auto key = http::FindIdempotencyKey(exchange))
    return tasks.TriggerOnce(
        {TriggerCommand{std::move(task)}, *std::move(key)}, http::Acting(exchange, kRunAct),
        http::AnsweringOnce(exchange, [answer = std::move(answer)](
                                          const ExchangePtr& to, const ChangeReply& reply) mutable {
          answer(to, std::get<TriggerOutcome>(reply.outcome));
        }));
  tasks.Trigger({std::move(task)}, http::Acting(exchange, kRunAct),
                Answering(exchange, std::move(answer)));
}

/// The caller's task of that name, or Tenure's own.
void RunNow(Tasks& tasks, const ExchangePtr& exchange) {
  const TaskKey task = KeyOf(exchange);
  http::ExpectReasonAlone(exchange);
  Trigger(tasks, exchange, task, [&tasks, exchange, name = task.name] {
    Trigger(tasks, exchange, {kOwnTenant, name},
            [exchange, name] { exchange->Reply(UnknownTask(name)); });
  });
}

void Claim(Tasks& tasks, const ExchangePtr& exchange) {
  ClaimCommand command;
  command.received_boot_ms = tasks.clock().BootMs();
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.term = fields.Uuid("term");
  command.holder = fields.Text("holder", leases::kMaxHolderBytes);
  command.interval_ms =
      fields.Integer("interval_ms", leases::kMinInterval.count(), leases::kMaxInterval.count());
  command.lock_timeout_ms = fields.Integer("lock_timeout_ms", kMinTtl.count(), kMaxTtl.count());
  fields.Finish();
  tasks.Claim(
      std::move(command), exchange->caller(),
      Answering(exchange, [](const leases::ClaimOutcome& outcome) {
        std::string body;
        JsonWriter json(body);
        json.BeginObject();
        if (const auto* run = std::get_if<leases::TaskRun>(&outcome)) {
          json.Field("due", true).Field("nominal_ms", run->nominal_ms);
          json.Key("nominal_at").Time(run->nominal_ms);
          json.Field("skipped", run->skipped).Field("reclaimed", run->reclaimed).Key("lock");
          leases::WriteGrant(json, run->lock);
        } else {
          json.Field("due", false)
              .Field("retry_after_ms", std::get<leases::TaskNotDue>(outcome).retry_after.count());
        }
        json.EndObject();
        return body;
      }));
}

void Finish(Tasks& tasks, const ExchangePtr& exchange) {
  FinishCommand command;
  command.key = KeyOf(exchange);
  JsonFields fields(exchange->request().body);
  command.fence = fields.Integer("fence", 1, kMaxFence);
  command.term = fields.Uuid("term");
  command.error = fields.OptionalText("error", leases::kMaxTaskErrorBytes);
  fields.Finish();
  tasks.Finish(std::move(command), exchange->caller(),
               Answering(exchange, [](const leases::FinishOutcome& outcome) {
                 std::string body;
                 JsonWriter json(body);
                 json.BeginObject().Field("accepted", outcome.accepted);
                 if (!outcome.accepted) json.Field("reason", leases::ToText(outcome.reason));
                 json.Key("next_run_at").TimeOrNull(outcome.next_ms);
                 json.EndObject();
                 return body;
               }));
}

}  // namespace

void AddRoutes(http::Router& router, Tasks& tasks) {
  using http::Method;
  http::RouteGroup<Tasks&>(router, tasks,
                           {.path = "/api/v1/tasks", .rate_class = "tasks", .encoded_slash = true})
      .Add({{Method::kGet, "", "listTasks", "ops:read", List},
            {Method::kPost, "/{name}/run", "runTask", "admin", RunNow, "", {kRunAct}},
            {Method::kPost, "/{name}/claim", "claimTask", "leases:write", Claim},
            {Method::kPost, "/{name}/finish", "finishTask", "leases:write", Finish}});
  http::RouteGroup<Tasks&>(
      router, tasks, {.path = "/api/v1/why/task", .rate_class = "tasks", .encoded_slash = true})
      .Add({{Method::kGet, "/{name}", "whyTask", "ops:read", SayWhy}});
}

}  // namespace tenure::tasks
