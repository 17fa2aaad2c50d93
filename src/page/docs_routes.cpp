// The documents of the version that runs, also without internet.
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "page/reply.hpp"

namespace tenure::page {
namespace {

using http::ExchangePtr;

constexpr std::string_view kIndex = "index";
constexpr std::string_view kMarkdown = ".md";

void ReplyDocument(const ExchangePtr& exchange, std::string_view name) {
  // As links in the sources have it.
  if (name.ends_with(kMarkdown)) name.remove_suffix(kMarkdown.size());
  const auto document = std::ranges::find(Docs(), name, &Asset::name);
  if (document == Docs().end() || (name == kIndex && !exchange->request().path_parameters.empty()))
    throw http::ProblemError(http::NotFound(
        Docs().empty() ? "This program was built without its documents (-DTENURE_DASHBOARD=OFF)."
                       : "There is no such document. /docs/ leads to all of them."));
  const std::string tag = fmt::format("\"{:x}\"", std::hash<std::string_view>()(document->plain));
  http::Response response{.content_type = name.ends_with(".css") ? "text/css; charset=utf-8"
                                                                 : "text/html; charset=utf-8",
                          .headers = {{"Cache-Control", "no-cache"}, {"ETag", tag}}};
  if (exchange->request().FindHeader("If-None-Match") != std::string_view(tag))
    return ReplyFile(exchange, *document, std::move(response));
  response.status = 304;
  exchange->Reply(Guarded(std::move(response)));
}

}  // namespace

void AddDocsRoutes(http::Router& router) {
  AddPublic(router, "/docs", "getDocsRoot",
            [to = router.base() + "/docs/"](const ExchangePtr& exchange) {
              exchange->Reply(Guarded({.status = 303, .headers = {{"Location", to}}}));
            });
  AddPublic(router, "/docs/", "getDocs",
            [](const ExchangePtr& exchange) { ReplyDocument(exchange, kIndex); });
  AddPublic(router, "/docs/{*}", "getDocument", [](const ExchangePtr& exchange) {
    ReplyDocument(exchange, exchange->request().path_parameters.at(0));
  });
}

}  // namespace tenure::page
