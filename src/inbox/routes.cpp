#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "http/answering.hpp"
#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "inbox/capability.hpp"
#include "inbox/entry_id.hpp"
#include "inbox/explain.hpp"
#include "inbox/inbox.hpp"

namespace tenure::inbox {
namespace {

using base::JsonWriter;
using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::ProblemError;

/// JSON that was checked when it came in.
void WriteResult(JsonWriter& json, const std::string& result) {
  if (!result.empty()) json.Key("result").Stored(result);
}

std::string WhyStale(std::int64_t fence, const FinishOutcome& outcome) {
  if (outcome.fence == fence) {
    switch (outcome.state) {
      case State::kDone:
        return fmt::format("The claim with fence {} has completed the message.", fence);
      case State::kDead:
        return fmt::format("The message was given up; fence {} was its last claim.", fence);
      default:
        return fmt::format("The claim with fence {} has failed; the message is tried again at {}.",
                           fence, base::UtcText(outcome.until_ms));
    }
  }
  switch (outcome.state) {
    case State::kClaimed:
      return fmt::format("Fence {} is not the latest: fence {} holds the message until {}.", fence,
                         outcome.fence, base::UtcText(outcome.until_ms));
    case State::kDone:
      return fmt::format("Fence {} is not the latest: fence {} has completed the message.", fence,
                         outcome.fence);
    default:
      return fmt::format("Fence {} is not the latest: fence {} was, and has failed.", fence,
                         outcome.fence);
  }
}

std::string BeginJson(const BeginOutcome& outcome) {
  std::string body;
  body.reserve(outcome.result.size() + 160);
  JsonWriter json(body);
  json.BeginObject().Field("outcome", ToText(outcome.kind));
  switch (outcome.kind) {
    case BeginOutcome::Kind::kProcess:
      json.Field("fence", outcome.fence).Key("until").Time(outcome.until_ms);
      json.Field("attempts", outcome.attempts).Field("crashes", outcome.crashes);
      break;
    case BeginOutcome::Kind::kInProgress:
      json.Key("until").Time(outcome.until_ms);
      json.Field("retrying", outcome.retrying);
      break;
    case BeginOutcome::Kind::kDone:
      WriteResult(json, outcome.result);
      break;
    case BeginOutcome::Kind::kConflict:
      json.Field("hash", std::string_view(outcome.hash));
      break;
    case BeginOutcome::Kind::kDead:
      json.Field("error", std::string_view(outcome.error));
      break;
  }
  json.EndObject();
  return body;
}

/// REQUIRES: kAccepted.
std::string FinishJson(const FinishOutcome& outcome) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Field("state", ToText(outcome.state)).Field("fence", outcome.fence);
  if (outcome.state == State::kRetrying) json.Key("until").Time(outcome.until_ms);
  json.Field("attempts", outcome.attempts).EndObject();
  return body;
}

/// The object stays open. A list leaves results out: they may be large.
void WriteEntry(JsonWriter& json, const MessageKey& key, const MessageRow& row, std::int64_t now_ms,
                bool with_result) {
  json.BeginObject()
      .Field("source", std::string_view(key.source))
      .Field("message_id", std::string_view(key.message_id))
      .Field("state", Standing(row, now_ms))
      .Field("fence", row.fence);
  if (!row.hash.empty()) json.Field("hash", std::string_view(row.hash));
  if (row.state == State::kClaimed) json.Key("until").Time(row.lease_until_ms);
  if (row.state == State::kRetrying) json.Key("until").Time(row.not_before_ms);
  json.Field("attempts", row.attempts).Field("crashes", row.crashes);
  if (with_result) WriteResult(json, row.result);
  if (!row.error.empty()) json.Field("error", std::string_view(row.error));
  json.Key("received_at").Time(row.received_ms);
  json.Key("updated_at").Time(row.updated_ms);
}

std::string EntryJson(const MessageKey& key, const MessageRow& row, std::int64_t now_ms) {
  std::string body;
  JsonWriter json(body);
  WriteEntry(json, key, row, now_ms, true);
  json.Key("now").Time(now_ms);
  json.EndObject();
  return body;
}

std::string EntriesJson(const db::Page<Entry>& page) {
  return base::PageJson(
      page.rows, page.has_more,
      [&page](JsonWriter& json, const Entry& entry) {
        WriteEntry(json, entry.key, entry.row, page.now_ms, false);
        json.EndObject();
      },
      [](const Entry& last) { return EntryId(last.key); });
}

/// The claim with `fence` is over; says what is instead.
http::Problem StaleProblem(std::int64_t fence, const FinishOutcome& outcome) {
  http::Problem problem{
      .status = 409, .type = "inbox-stale", .title = "This claim on the message is over"};
  problem.detail = WhyStale(fence, outcome);
  std::string state;
  JsonWriter(state).Value(ToText(outcome.state));
  problem.extensions = {{"state", state}, {"fence", std::to_string(outcome.fence)}};
  return problem;
}

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

auto AnsweringFinish(const ExchangePtr& exchange, const MessageKey& key, std::int64_t fence) {
  return Answering(exchange, [key, fence](const ExchangePtr& to, const FinishOutcome& outcome) {
    switch (outcome.kind) {
      case FinishOutcome::Kind::kAccepted:
        return to->ReplyJson(FinishJson(outcome));
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
  inbox.Begin(std::move(command), exchange->caller(), Answering(exchange, BeginJson));
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
  http::ExpectNoQuery(exchange->request());
  const auto& path = exchange->request().path_parameters;
  const MessageKey key{http::TenantOf(exchange), path[0], path[1]};
  std::vector<http::FieldError> errors;
  for (const auto& [name, value] :
       {std::pair{"source", &key.source}, std::pair{"message_id", &key.message_id}})
    if (value->empty() || value->size() > kMaxKeyBytes)
      errors.push_back({name, fmt::format("must have 1 to {} bytes in UTF-8", kMaxKeyBytes)});
  if (!errors.empty()) throw ProblemError(http::InvalidRequest(std::move(errors)));
  inbox.Find({key}, exchange->caller(),
             Answering(exchange, [key](const ExchangePtr& to, const FindReply& reply) {
               if (!reply.entry) return to->Reply(UnknownMessage(key));
               to->ReplyJson(EntryJson(key, *reply.entry, reply.now_ms));
             }));
}

void List(Inbox& inbox, const ExchangePtr& exchange) {
  EntriesRequest request;
  request.tenant = http::TenantOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.source = fields.Text("source", kMaxKeyBytes).value_or("");
  request.state = fields.Parsed(
      "state", 10, "must be claimed, retrying, done or dead", [](std::string_view text) {
        return http::OneOf(text, {State::kClaimed, State::kRetrying, State::kDone, State::kDead});
      });
  // Percent signs and slashes of the source are three bytes each.
  if (auto after = fields.Parsed(
          "cursor", 4 * kMaxKeyBytes + 1, http::kNoCursor,
          [&](const std::string& text) { return ParseEntryId(request.tenant, text); }))
    request.after = *std::move(after);
  request.limit = fields.PageLimit();
  fields.Finish();
  inbox.List(std::move(request), exchange->caller(), Answering(exchange, EntriesJson));
}

void SayWhy(Inbox& inbox, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const std::string& id = exchange->request().path_parameters[0];
  const auto key = ParseEntryId(http::TenantOf(exchange), id);
  if (!key)
    return exchange->Reply(http::NotFound(fmt::format(
        "{} is no inbound message: it is named SOURCE/MESSAGE, with %2F for a slash of the source.",
        id)));
  inbox.Find({*key}, exchange->caller(),
             Answering(exchange, [key = *key](const ExchangePtr& to, const FindReply& reply) {
               if (!reply.entry) return to->Reply(UnknownMessage(key));
               to->ReplyJson(explain::ToJson(Explain(key, *reply.entry, reply.now_ms),
                                             *to->request().principal));
             }));
}

}  // namespace

void AddRoutes(http::Router& router, Inbox& inbox) {
  using http::Method;
  http::RouteGroup<Inbox&>(router, inbox,
                           {.path = "/api/v1/inbox", .rate_class = "inbox", .encoded_slash = true})
      .Add({{Method::kPost, "/begin", "beginInbox", "messages:write", Begin},
            {Method::kPost, "/complete", "completeInbox", "messages:write", Complete},
            {Method::kPost, "/fail", "failInbox", "messages:write", Fail},
            {Method::kGet, "", "listInbox", "messages:read", List},
            {Method::kGet, "/{source}/{message_id}", "getInboxEntry", "messages:read", Get}});
  http::RouteGroup<Inbox&>(
      router, inbox, {.path = "/api/v1/why/inbox", .rate_class = "inbox", .encoded_slash = true})
      .Add({{Method::kGet, "/{id}", "whyInbox", "messages:read", SayWhy}});
}

}  // namespace tenure::inbox
