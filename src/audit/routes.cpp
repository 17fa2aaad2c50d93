#include "audit/routes.hpp"

#include "audit/json.hpp"
#include "base/time_parse.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"

namespace tenure::audit {
namespace {

using http::ExchangePtr;
using http::ProblemError;

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::size_t kMaxTimeBytes = 40;
constexpr std::size_t kMaxCursorBytes = 50;

[[noreturn]] void Refuse(const char* field, const char* message) {
  throw ProblemError(http::InvalidRequest({{field, message}}));
}

std::int64_t ParseTime(const char* field, const std::optional<std::string>& text,
                       std::int64_t otherwise) {
  if (!text) return otherwise;
  const auto time_ms = base::ParseRfc3339Ms(*text);
  if (!time_ms) Refuse(field, "must be a time of RFC 3339, such as 2026-01-31T12:00:00Z");
  return *time_ms;
}

ListRequest DecodeList(const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  ListRequest list;
  list.tenant = fields.Text("tenant", kMaxNameBytes).value_or("");
  list.person = fields.Text("person", kMaxNameBytes).value_or("");
  list.act = fields.Text("act", kMaxNameBytes).value_or("");
  list.object = fields.Text("object", kMaxNameBytes).value_or("");
  const auto from = fields.Text("from", kMaxTimeBytes);
  const auto to = fields.Text("to", kMaxTimeBytes);
  const auto cursor = fields.Text("cursor", kMaxCursorBytes);
  list.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  fields.Finish();
  list.from_ms = ParseTime("from", from, 0);
  list.to_ms = ParseTime("to", to, ListRequest::kForEver);
  if (cursor) list.before = ParsePlace(*cursor);
  if (cursor && !list.before) Refuse("cursor", "is not one of this list");
  return list;
}

void List(Audit& audit, const ExchangePtr& exchange) {
  audit.List(DecodeList(exchange), &exchange->executor(),
             [exchange](const db::Result<ListReply>& result) {
               if (!result.ok()) return exchange->Reply(result.fault());
               exchange->Reply(http::JsonResponse(200, ListJson(result.value())));
             });
}

}  // namespace

void AddRoutes(http::Router& router, Audit& audit) {
  router.Add({.method = http::Method::kGet,
              .pattern = "/api/v1/audit",
              .operation = "listAudit",
              .scope = "admin",
              .handler = [&audit](const ExchangePtr& exchange) { List(audit, exchange); }});
}

}  // namespace tenure::audit
