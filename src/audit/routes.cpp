#include "audit/audit.hpp"
#include "audit/capability.hpp"
#include "base/json_text.hpp"
#include "base/json_writer.hpp"
#include "base/tenant.hpp"
#include "base/time_text.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"

namespace tenure::audit {
namespace {

using http::ExchangePtr;

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::size_t kMaxTimeBytes = 40;
constexpr std::size_t kMaxCursorBytes = 50;

ListRequest DecodeList(const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  ListRequest list;
  const std::string tenant = fields.Text("tenant", kMaxNameBytes).value_or("");
  list.tenant = base::CanonicalTenant(tenant).value_or(tenant);
  list.person = fields.Text("person", kMaxNameBytes).value_or("");
  list.act = fields.Text("act", kMaxNameBytes).value_or("");
  list.object = fields.Text("object", kMaxNameBytes).value_or("");
  const auto time = [&](std::string_view field) {
    return fields.Parsed(field, kMaxTimeBytes,
                         "must be a time of RFC 3339, such as 2026-01-31T12:00:00Z",
                         base::ParseRfc3339Ms);
  };
  list.from_ms = time("from").value_or(0);
  list.to_ms = time("to").value_or(ListRequest::kForEver);
  list.before = fields.Parsed("cursor", kMaxCursorBytes, http::kNoCursor, ParsePosition);
  list.limit = fields.PageLimit();
  fields.Finish();
  return list;
}

void WriteEntry(base::JsonWriter& json, const Entry& entry) {
  json.BeginObject().Field("sequence", entry.sequence);
  json.Key("at").Time(entry.at_ms);
  json.Field("tenant", std::string_view(entry.tenant))
      .Field("person", std::string_view(entry.person))
      .Field("address", std::string_view(entry.address))
      .Field("request_id", std::string_view(entry.request_id))
      .Field("act", std::string_view(entry.act))
      .Field("object", std::string_view(entry.object));
  json.Key("detail").Raw(base::ObjectOrEmpty(entry.detail)).EndObject();
}

/// {"items": […], "next_cursor": …}
std::string ListJson(const ListReply& reply) {
  return base::PageJson(reply.rows, reply.has_more, WriteEntry, [](const Entry& last) {
    return ToText(Position{last.at_ms, last.sequence});
  });
}

void List(Audit& audit, const ExchangePtr& exchange) {
  audit.List(DecodeList(exchange), &exchange->executor(), http::Answering(exchange, ListJson));
}

}  // namespace

void AddRoutes(http::Router& router, Audit& audit) {
  http::RouteGroup<Audit&>(router, audit, {.path = "/api/v1/audit", .rate_class = "ops"})
      .Add({{http::Method::kGet, "", "listAudit", "admin", List}});
}

}  // namespace tenure::audit
