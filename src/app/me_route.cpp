#include "app/me_route.hpp"

#include <set>

#include "base/json_writer.hpp"
#include "http/route_group.hpp"

namespace tenure::app {
namespace {

std::set<std::string_view> AllScopes(const http::Router& router) {
  std::set<std::string_view> scopes;
  for (const http::Route& route : router.routes())
    if (route.scope != http::kPublic && route.scope != http::kAnyToken) scopes.insert(route.scope);
  return scopes;
}

/// Of a token what it says; in protected mode whoever reaches the server is nobody, and may all.
void WriteAsker(base::JsonWriter& json, const MeParts& parts, const http::Principal& asker) {
  if (!parts.asks_for_tokens) {
    json.Field("mode", "protected").Field("tenant", "default").Key("person").Null();
    json.Key("scopes").BeginArray();
    for (const std::string_view scope : AllScopes(parts.router)) json.Value(scope);
    json.EndArray().Key("expires_at").Null();
    return;
  }
  json.Field("mode", "token").Field("tenant", std::string_view(asker.tenant.value_or("")));
  json.Field("person", std::string_view(asker.person)).Key("scopes").BeginArray();
  for (const std::string& scope : asker.scopes) json.Value(std::string_view(scope));
  json.EndArray().Key("expires_at").Time(asker.expires_wall_ms);
}

void Me(const MeParts& parts, const http::ExchangePtr& exchange) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject();
  WriteAsker(json, parts, *exchange->request().principal);
  json.Key("now").Time(base::SystemClock().WallMs());
  json.Field("version", TENURE_VERSION).Field("instance", std::string_view(parts.process));
  json.Field("store", parts.engine.name()).Key("parts").BeginArray();
  for (const server::Capability& each : parts.capabilities) json.Value(each.name);
  json.EndArray().EndObject();
  exchange->ReplyJson(std::move(body));
}

}  // namespace

void AddMeRoute(http::Router& router, const MeParts& parts) {
  http::RouteGroup<const MeParts&>(router, parts, {.rate_class = "ops"})
      .Add({{http::Method::kGet, "/api/v1/me", "getMe", http::kAnyToken, Me}});
}

}  // namespace tenure::app
