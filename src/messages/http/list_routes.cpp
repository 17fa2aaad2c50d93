// Messages of a topic one after another, and timers, for people.
#include <string>
#include <utility>

#include "messages/http/json.hpp"
#include "messages/http/routes.hpp"

namespace tenure::messages {
namespace {

using http::ExchangePtr;
using http::Method;
using Which = MessagesRequest::Which;

constexpr std::size_t kMaxStateBytes = 10;
constexpr std::size_t kMaxListCursorBytes = 60;

std::optional<Which> ParseWhich(const std::string& state) {
  if (state == "ready") return Which::kReady;
  if (state == "claimed") return Which::kClaimed;
  if (state == "waiting") return Which::kWaiting;
  return std::nullopt;
}

void List(const RouteParts& parts, const ExchangePtr& exchange, http::QueryFields& fields,
          MessagesRequest request) {
  request.tenant = http::TenantOf(exchange);
  request.behind = fields.Parsed(
      "cursor", kMaxListCursorBytes, "must be next_cursor of the page before, of the same list",
      [&](const std::string& text) { return ParseCursor(text, request.which); });
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.messages.List(std::move(request), exchange->caller(),
                      http::Answering(exchange, MessagesJson));
}

void ListOfTopic(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  MessagesRequest request;
  request.topic = fields.Text("topic", kMaxTopicBytes).value_or("");
  if (request.topic.empty())
    http::RefuseField("topic", "is missing: messages are listed topic by topic");
  request.which =
      fields
          .Parsed("state", kMaxStateBytes,
                  "must be ready, claimed or waiting; dead ones are listed by /api/v1/dead-letters",
                  ParseWhich)
          .value_or(Which::kInLine);
  List(parts, exchange, fields, std::move(request));
}

void ListTimers(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  MessagesRequest request;
  request.topic = fields.Text("topic", kMaxTopicBytes).value_or("");
  request.which = Which::kWaiting;
  List(parts, exchange, fields, std::move(request));
}

}  // namespace

void AddListRoutes(http::Router& router, const RouteParts& parts) {
  GroupAt(router, parts, "/api/v1/messages")
      .Add({{Method::kGet, "", "listMessages", kRead, ListOfTopic}});
  GroupAt(router, parts, "/api/v1/timers")
      .Add({{Method::kGet, "", "listTimers", kRead, ListTimers}});
}

}  // namespace tenure::messages
