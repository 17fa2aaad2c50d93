#include "app/settings_route.hpp"

#include "base/json_writer.hpp"
#include "config/printable.hpp"
#include "config/table.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"

namespace tenure::app {
namespace {

void ReplySettings(const SettingsShown& shown, const http::ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  exchange->ReplyJson(*shown.Json());
}

}  // namespace

void SettingsShown::Show(const config::Loaded& loaded) {
  auto body = std::make_shared<std::string>();
  base::JsonWriter json(*body);
  json.BeginObject().Key("items").BeginArray();
  for (const config::Setting& setting : config::Table()) {
    json.BeginObject().Field("name", setting.name);
    json.Field("value", std::string_view(config::ValueText(setting.kind, loaded.settings)));
    json.Field("from", std::string_view(config::Printable(loaded.OriginOf(setting).where)));
    json.Field("shared", setting.more.scope == config::Scope::kEnsemble);
    json.Field("reloads", setting.more.takes == config::Takes::kWhileRunning);
    json.Field("does", setting.does).EndObject();
  }
  json.EndArray().EndObject();
  const base::Lock lock(mutex_);
  json_ = std::move(body);
}

std::shared_ptr<const std::string> SettingsShown::Json() const {
  const base::Lock lock(mutex_);
  return json_;
}

void AddSettingsRoute(http::Router& router, const SettingsShown& shown) {
  http::RouteGroup<const SettingsShown&>(router, shown, {.rate_class = "ops"})
      .Add({{http::Method::kGet, "/api/v1/settings", "getSettings", "admin", ReplySettings}});
}

}  // namespace tenure::app
