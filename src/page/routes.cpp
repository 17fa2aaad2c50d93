#include "page/routes.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "page/assets.hpp"
#include "page/reply.hpp"

namespace tenure::page {
namespace {

using http::ExchangePtr;
using http::Response;

constexpr std::string_view kAssetsPath = "/ui/assets/";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kForEver = "public, max-age=31536000, immutable";

/// Only files of this server, no inline script or style, and no text that becomes a script.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

constexpr std::string_view kWithoutPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tenure</title>"
    "<p>This program was built without its page (-DTENURE_DASHBOARD=OFF). The API is there, and "
    "the tool: <code>tenure --help</code>.</p></html>";

/// "main-3QK2ZB7A.js" of "main-" and ".js"; empty when there is none.
std::string_view NameOf(std::string_view beginning, std::string_view ending) {
  for (const Asset& each : Assets())
    if (each.name.starts_with(beginning) && each.name.ends_with(ending)) return each.name;
  return {};
}

std::string_view TypeOf(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "image/svg+xml";
}

/// Its own text says what to do when the script does not come: behind a load balancer another
/// version may have answered for it.
std::string ShellText(const std::string& base) {
  if (Assets().empty()) return std::string(kWithoutPage);
  return fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tenure</title>
<link rel="icon" href="{0}{1}">
<link rel="stylesheet" href="{0}{2}">
<script type="module" src="{0}{3}"></script>
</head>
<body>
<div id="app">
<p>The page is loading. If this text stays, its script did not arrive: perhaps the server was
updated meanwhile. Reload the page. Without JavaScript, use the command: <code>tenure --help</code>.</p>
</div>
</body>
</html>
)",
      base + std::string(kAssetsPath), NameOf("icon-", ".svg"), NameOf("style-", ".css"),
      NameOf("main-", ".js"));
}

struct Shell {
  std::string root;
  std::string text;
  /// The names have the hashes of all that the shell leads to.
  std::string tag;
};

Shell ShellAt(const std::string& base) {
  return {base + "/ui/", ShellText(base),
          fmt::format("\"{}+{}\"", NameOf("main-", ".js"), NameOf("style-", ".css"))};
}

void ToShell(const Shell& shell, const ExchangePtr& exchange) {
  exchange->Reply(
      Guarded({.status = 303, .content_type = kHtml, .headers = {{"Location", shell.root}}}));
}

void ReplyShell(const Shell& shell, const ExchangePtr& exchange) {
  Response response{.content_type = kHtml,
                    .headers = {{"Cache-Control", "no-cache"}, {"ETag", shell.tag}}};
  const bool known = exchange->request().FindHeader("If-None-Match") == std::string_view(shell.tag);
  if (known)
    response.status = 304;
  else
    response.body = shell.text;
  exchange->Reply(Guarded(std::move(response)));
}

void ReplyAsset(const ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters.at(0);
  const auto asset = std::ranges::find(Assets(), std::string_view(name), &Asset::name);
  if (asset == Assets().end())
    throw http::ProblemError(http::NotFound(
        "The page has no such file. If the server was updated meanwhile, reload the page."));
  ReplyFile(
      exchange, *asset,
      {.content_type = TypeOf(asset->name), .headers = {{"Cache-Control", std::string(kForEver)}}});
}

/// By the header's plain form, which all browsers send: a list of names, "gzip" without "q=0".
bool TakesGzip(const http::Request& request) {
  std::string_view accepted = request.FindHeader("Accept-Encoding").value_or(std::string_view());
  const std::size_t at = accepted.find("gzip");
  return at != std::string_view::npos && !accepted.substr(at).starts_with("gzip;q=0");
}

}  // namespace

Response Guarded(Response response) {
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Permissions-Policy", "");
  return response;
}

void ReplyFile(const ExchangePtr& exchange, const Asset& file, Response response) {
  const bool gzip = TakesGzip(exchange->request());
  response.body = std::string(gzip ? file.gzip : file.plain);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  exchange->Reply(Guarded(std::move(response)));
}

void AddPublic(http::Router& router, std::string pattern, std::string operation,
               http::Handler handler) {
  router.Add({.method = http::Method::kGet,
              .pattern = std::move(pattern),
              .operation = std::move(operation),
              .scope = http::kPublic,
              .handler = std::move(handler),
              .page = true});
}

void AddRoutes(http::Router& router) {
  const auto shell = std::make_shared<const Shell>(ShellAt(router.base()));
  const auto with = [&](void (*reply)(const Shell&, const ExchangePtr&)) {
    return [shell, reply](const ExchangePtr& exchange) { reply(*shell, exchange); };
  };
  AddPublic(router, "/", "getRoot", with(ToShell));
  AddPublic(router, "/ui", "getPageRoot", with(ToShell));
  AddPublic(router, "/ui/", "getPage", with(ReplyShell));
  AddPublic(router, "/ui/{*}", "getPageBelow", with(ReplyShell));
  AddPublic(router, "/ui/assets/{*}", "getPageAsset", ReplyAsset);
  AddDocsRoutes(router);
}

}  // namespace tenure::page
