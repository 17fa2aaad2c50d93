#include "app/search_route.hpp"

#include <memory>

#include "base/json_writer.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"

namespace tenure::app {
namespace {

using http::ExchangePtr;

constexpr std::size_t kMostBytes = 200;

std::string FoundJson(const std::vector<server::FoundList>& lists) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const server::FoundList& list : lists)
    for (const server::Found& each : list)
      json.BeginObject()
          .Field("kind", each.kind)
          .Field("id", std::string_view(each.id))
          .Field("title", std::string_view(each.title))
          .Field("state", std::string_view(each.state))
          .EndObject();
  json.EndArray().EndObject();
  return body;
}

/// Looks of all kinds under way for one question. They end on the question's loop, one after another.
struct Looks {
  ExchangePtr exchange;
  std::vector<server::FoundList> found;
  std::size_t left = 0;
  bool failed = false;

  void End(std::size_t kind, db::Result<server::FoundList> result) {
    --left;
    if (failed) return;
    if (!result.ok()) {
      failed = true;
      return exchange->Reply(result.fault());
    }
    found[kind] = std::move(result.value());
    if (left == 0) exchange->ReplyJson(FoundJson(found));
  }
};

server::Search ReadSearch(const ExchangePtr& exchange) {
  server::Search search{.tenant = http::TenantOf(exchange),
                        .every_tenant = !exchange->request().principal->tenant};
  http::QueryFields fields(exchange->request().query);
  const auto text = fields.Text("q", kMostBytes);
  fields.Finish();
  if (!text || text->empty())
    http::RefuseField("q", "must be 1 to 200 bytes: an id, or the beginning of a name");
  search.text = *text;
  search.id = base::Uuid::Parse(search.text);
  return search;
}

void ReplyFound(const server::Capabilities& capabilities, const ExchangePtr& exchange) {
  const server::Search search = ReadSearch(exchange);
  const http::Principal& asker = *exchange->request().principal;
  std::vector<const server::Finder*> finders;
  for (const server::Running& each : capabilities.running())
    for (const server::Finder& finder : each.finders)
      if (!asker.tenant || asker.Has(finder.scope)) finders.push_back(&finder);
  const auto looks = std::make_shared<Looks>();
  looks->exchange = exchange;
  looks->found.resize(finders.size());
  looks->left = finders.size() + 1;
  for (std::size_t i = 0; i < finders.size(); ++i)
    finders[i]->find(
        search, &exchange->executor(),
        [looks, i](db::Result<server::FoundList> result) { looks->End(i, std::move(result)); });
  // Those that found nothing at once are over already; the rest ends later.
  looks->found.emplace_back();
  looks->End(finders.size(), server::FoundList());
}

}  // namespace

void AddSearchRoute(http::Router& router, const server::Capabilities& capabilities) {
  http::RouteGroup<const server::Capabilities&>(router, capabilities, {.rate_class = "ops"})
      .Add({{http::Method::kGet, "/api/v1/search", "search", http::kAnyToken, ReplyFound}});
}

}  // namespace tenure::app
