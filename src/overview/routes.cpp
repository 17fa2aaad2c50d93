#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "overview/explain.hpp"
#include "overview/overview.hpp"

namespace tenure::overview {
namespace {

using http::ExchangePtr;

void ReplyOverview(const Overview& overview, const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  const bool day = fields
                       .Parsed("range", 4, "must be 1h or 24h",
                               [](const std::string& text) -> std::optional<bool> {
                                 if (text == "1h") return false;
                                 if (text == "24h") return true;
                                 return std::nullopt;
                               })
                       .value_or(false);
  fields.Finish();
  const std::string rest = RestOfBoard(*overview.Now(), *exchange->request().principal, day);
  http::Response response{.headers = {{"Cache-Control", "no-cache"}}};
  const std::string tag = fmt::format("\"{:016x}\"", std::hash<std::string>()(rest));
  response.headers.emplace_back("ETag", tag);
  if (exchange->request().FindHeader("If-None-Match") == std::string_view(tag)) {
    response.status = 304;
  } else {
    base::JsonWriter(response.body).BeginObject().Key("now").Time(overview.WallMs());
    response.body += "," + rest;
  }
  exchange->Reply(std::move(response));
}

void ReplyInstances(const Overview& overview, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  exchange->ReplyJson(InstancesJson(*overview.Now()));
}

void SayWhyInstance(const Overview& overview, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const std::string& id = exchange->request().path_parameters[0];
  const auto board = overview.Now();
  const auto found = std::ranges::find(board->instances, id, &Instance::instance);
  if (found == board->instances.end())
    return exchange->Reply(http::NotFound(
        fmt::format("There is no process {}. GET /api/v1/instances lists them.", id)));
  exchange->ReplyJson(
      explain::ToJson(Explain(*found, overview.WallMs()), *exchange->request().principal));
}

}  // namespace

void AddRoutes(http::Router& router, const Overview& overview) {
  using http::Method;
  http::RouteGroup<const Overview&>(router, overview, {.path = "/api/v1", .rate_class = "ops"})
      .Add({{Method::kGet, "/overview", "getOverview", "ops:read", ReplyOverview},
            {Method::kGet, "/instances", "listInstances", "ops:read", ReplyInstances},
            {Method::kGet, "/why/instance/{id}", "whyInstance", "ops:read", SayWhyInstance}});
}

}  // namespace tenure::overview
