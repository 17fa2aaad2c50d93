#include "inbox/routes.hpp"

#include <fmt/format.h>

#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "inbox/json.hpp"

namespace tenure::inbox {
namespace {

using http::ExchangePtr;
using http::JsonFields;
using http::ProblemError;

MessageKey ReadKey(JsonFields& fields, const ExchangePtr& exchange) {
  MessageKey key;
  key.tenant = http::TenantOf(exchange);
  key.source = fields.NonEmptyText("source", kMaxKeyBytes);
  key.message_id = fields.NonEmptyText("message_id", kMaxKeyBytes);
  return key;
}

http::Problem UnknownMessage(const MessageKey& key) {
  return http::NotFound(fmt::format(
      "The message {} from {} was never begun, or its entry was removed after its retention.",
      key.message_id, key.source));
}

/// Replies with the fault, or goes on with the value.
template <class Reply, class Then>
auto Answering(const ExchangePtr& exchange, Then then) {
  return [exchange, then = std::move(then)](db::Result<Reply> result) mutable {
    if (!result.ok()) return exchange->Reply(result.fault());
    then(exchange, std::move(result.value()));
  };
}

auto AnsweringFinish(const ExchangePtr& exchange, const MessageKey& key, std::int64_t fence) {
  return Answering<FinishOutcome>(
      exchange, [key, fence](const ExchangePtr& to, const FinishOutcome& outcome) {
        switch (outcome.kind) {
          case FinishOutcome::Kind::kAccepted:
            return to->Reply(http::JsonResponse(200, FinishJson(outcome)));
          case FinishOutcome::Kind::kStale:
            return to->Reply(StaleProblem(fence, outcome));
          case FinishOutcome::Kind::kUnknown:
            return to->Reply(UnknownMessage(key));
          case FinishOutcome::Kind::kBusy:
            return to->Reply(base::Fault(
                base::FaultKind::kContended,
                "a transaction that completes this message, or takes it over, is under way"));
        }
      });
}

void Begin(Inbox& inbox, const ExchangePtr& exchange) {
  BeginCommand command;
  JsonFields fields(exchange->request().body);
  command.key = ReadKey(fields, exchange);
  if (auto hash = fields.OptionalText("hash", kMaxHashBytes)) {
    if (hash->empty()) fields.Refuse("hash", "must not be empty; leave it out to match any");
    command.hash = std::move(*hash);
  }
  command.lease_ms =
      fields.OptionalInteger("lease_ms", kMinLeaseMs, kMaxLeaseMs).value_or(kDefaultLeaseMs);
  command.term = fields.OptionalUuid("term");
  if (command.term == base::Uuid()) fields.Refuse("term", "must not be the nil UUID");
  fields.Finish();
  inbox.Begin(
      std::move(command), exchange->caller(),
      Answering<BeginOutcome>(exchange, [](const ExchangePtr& to, const BeginOutcome& outcome) {
        to->Reply(http::JsonResponse(200, BeginJson(outcome)));
      }));
}

void Complete(Inbox& inbox, const ExchangePtr& exchange) {
  CompleteCommand command;
  JsonFields fields(exchange->request().body);
  command.key = ReadKey(fields, exchange);
  command.fence = fields.Integer("fence", 1, http::kMaxFence);
  command.result = fields.OptionalValue("result", kMaxResultBytes).value_or("");
  fields.Finish();
  auto done = AnsweringFinish(exchange, command.key, command.fence);
  inbox.Complete(std::move(command), exchange->caller(), std::move(done));
}

void Fail(Inbox& inbox, const ExchangePtr& exchange) {
  FailCommand command;
  JsonFields fields(exchange->request().body);
  command.key = ReadKey(fields, exchange);
  command.fence = fields.Integer("fence", 1, http::kMaxFence);
  command.error = fields.Text("error", kMaxErrorBytes);
  fields.Finish();
  auto done = AnsweringFinish(exchange, command.key, command.fence);
  inbox.Fail(std::move(command), exchange->caller(), std::move(done));
}

void Get(Inbox& inbox, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  const auto& path = exchange->request().path_parameters;
  const MessageKey key{http::TenantOf(exchange), path[0], path[1]};
  std::vector<http::FieldError> errors;
  for (const auto& [name, value] :
       {std::pair{"source", &key.source}, std::pair{"message_id", &key.message_id}})
    if (value->empty() || value->size() > kMaxKeyBytes)
      errors.push_back({name, fmt::format("must have 1 to {} bytes in UTF-8", kMaxKeyBytes)});
  if (!errors.empty()) throw ProblemError(http::InvalidRequest(std::move(errors)));
  inbox.Find({key}, exchange->caller(),
             Answering<FindReply>(exchange, [key](const ExchangePtr& to, const FindReply& reply) {
               if (!reply.entry) return to->Reply(UnknownMessage(key));
               to->Reply(http::JsonResponse(200, EntryJson(key, *reply.entry, reply.now_ms)));
             }));
}

}  // namespace

void AddRoutes(http::Router& router, Inbox& inbox) {
  using http::Method;
  const auto add = [&](Method method, const std::string& path, std::string operation,
                       std::string scope, void (*handle)(Inbox&, const ExchangePtr&)) {
    router.Add(
        {.method = method,
         .pattern = "/api/v1/inbox/" + path,
         .operation = std::move(operation),
         .scope = std::move(scope),
         .handler = [&inbox, handle](const ExchangePtr& exchange) { handle(inbox, exchange); },
         .encoded_slash = true});
  };
  add(Method::kPost, "begin", "beginInbox", "messages:write", Begin);
  add(Method::kPost, "complete", "completeInbox", "messages:write", Complete);
  add(Method::kPost, "fail", "failInbox", "messages:write", Fail);
  add(Method::kGet, "{source}/{message_id}", "getInboxEntry", "messages:read", Get);
}

}  // namespace tenure::inbox
