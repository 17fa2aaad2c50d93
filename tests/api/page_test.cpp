// The page: what is served of it, to whom, and what its browser may do with it. What it shows is
// tested in a browser (tests/browser).
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/guarded.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpHeaders;
using support::HttpResponse;
using testing::HasSubstr;
using testing::Not;

class PageServed : public testing::Test {
 protected:
  HttpResponse Get(const std::string& path, const HttpHeaders& headers = {}) const {
    return support::Call(port_, "GET", path, "", headers);
  }
  std::string Header(const HttpResponse& response, const std::string& name) const {
    return response.FindHeader(name).value_or("");
  }
  /// The first path of an asset in the shell that ends with this.
  std::string AssetOf(std::string_view ending) const {
    const std::string shell = Get("/ui/").body;
    for (std::size_t at = shell.find("\"/ui/assets/"); at != std::string::npos;
         at = shell.find("\"/ui/assets/", at + 1)) {
      const std::string path = shell.substr(at + 1, shell.find('"', at + 1) - at - 1);
      if (path.ends_with(ending)) return path;
    }
    ADD_FAILURE() << "the shell leads to no " << ending;
    return {};
  }

  /// What `href`s a document has.
  static std::vector<std::string> LinksOf(const std::string& html) {
    constexpr std::string_view kBegin = " href=\"";
    std::vector<std::string> links;
    for (std::size_t at = html.find(kBegin); at != std::string::npos; at = html.find(kBegin, at)) {
      at += kBegin.size();
      links.push_back(html.substr(at, html.find('"', at) - at));
    }
    return links;
  }
  /// As a browser does it.
  static std::string Resolved(const std::string& path, const std::string& link) {
    if (link.starts_with('#')) return path + link;
    const std::filesystem::path folder = path.substr(0, path.rfind('/') + 1);
    return (folder / link).lexically_normal().generic_string();
  }

  const int port_ = SharedServer(Engine::kSqlite).Port();
};

TEST_F(PageServed, EveryPathLeadsToTheSameShell) {
  for (const char* path : {"/", "/ui"}) {
    const HttpResponse response = Get(path);
    EXPECT_EQ(response.status, 303) << path;
    EXPECT_EQ(Header(response, "Location"), "/ui/") << path;
  }
  const HttpResponse shell = Get("/ui/");
  EXPECT_EQ(shell.status, 200);
  EXPECT_EQ(Header(shell, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(Header(shell, "Cache-Control"), "no-cache");
  for (const char* path : {"/ui/leases", "/ui/leases/a%2Fb", "/ui/../x", "/ui/%00", "/ui/a?b=c"})
    EXPECT_EQ(Get(path).body, shell.body) << path;
  const HttpResponse known = Get("/ui/leases", {{"If-None-Match", Header(shell, "ETag")}});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
  EXPECT_EQ(support::Call(port_, "POST", "/ui/", "{}").status, 405);
}

TEST_F(PageServed, NothingInlineAndNothingFromElsewhereMayRun) {
  for (const std::string& path : {std::string("/ui/"), AssetOf(".js")}) {
    const HttpResponse response = Get(path);
    const std::string policy = Header(response, "Content-Security-Policy");
    for (const char* rule :
         {"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
          "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"})
      EXPECT_THAT(policy, HasSubstr(rule)) << path;
    EXPECT_THAT(policy, Not(HasSubstr("unsafe"))) << path;
    EXPECT_EQ(Header(response, "Referrer-Policy"), "no-referrer") << path;
    EXPECT_EQ(Header(response, "Cross-Origin-Opener-Policy"), "same-origin") << path;
  }
  const std::string shell = Get("/ui/").body;
  EXPECT_THAT(shell, Not(HasSubstr("<style")));
  EXPECT_THAT(shell, Not(HasSubstr("style=")));
  EXPECT_THAT(shell, Not(HasSubstr("http")));
}

TEST_F(PageServed, AnAssetNeverChangesAndIsSentSmallWhereThatIsUnderstood) {
  std::size_t bytes = 0;
  for (const char* ending : {".js", ".css", ".svg"}) {
    const std::string path = AssetOf(ending);
    const HttpResponse plain = Get(path);
    EXPECT_EQ(plain.status, 200) << path;
    EXPECT_THAT(Header(plain, "Cache-Control"), HasSubstr("immutable"));
    EXPECT_EQ(Header(plain, "Vary"), "Accept-Encoding");
    EXPECT_EQ(Header(plain, "Content-Encoding"), "");
    const HttpResponse small = Get(path, {{"Accept-Encoding", "br, gzip"}});
    EXPECT_EQ(Header(small, "Content-Encoding"), "gzip");
    EXPECT_EQ(small.body.substr(0, 2), "\x1f\x8b");
    EXPECT_EQ(Get(path, {{"Accept-Encoding", "gzip;q=0"}}).body, plain.body);
    bytes += small.body.size();
  }
  EXPECT_LE(bytes, 100'000U) << "what the first page loads";
  for (const char* path : {"/ui/assets/main-00000000.js", "/ui/assets/", "/ui/assets/../main.js"})
    EXPECT_EQ(Get(path).status, 404) << path;
}

/// Somebody followed a link in a chat. Nothing else of another site is let in.
TEST_F(PageServed, ALinkOnAnotherSiteLeadsToThePageAndToNothingElse) {
  const HttpHeaders visit{{"Sec-Fetch-Site", "cross-site"},
                          {"Sec-Fetch-Mode", "navigate"},
                          {"Sec-Fetch-Dest", "document"}};
  EXPECT_EQ(Get("/ui/leases", visit).status, 200);
  EXPECT_EQ(Get("/", visit).status, 303);
  EXPECT_EQ(Get(AssetOf(".js"), visit).status, 200);
  EXPECT_EQ(Get("/docs/leases", visit).status, 200);
  for (const char* path : {"/sessions", "/api/v1/leases", "/api/v1/me", "/health", "/livez"})
    EXPECT_EQ(Get(path, visit).status, 403) << path;
  for (const char* dest : {"iframe", "script", "image", "empty"})
    EXPECT_EQ(Get("/ui/", {{"Sec-Fetch-Site", "cross-site"},
                           {"Sec-Fetch-Mode", "navigate"},
                           {"Sec-Fetch-Dest", dest}})
                  .status,
              403)
        << dest;
}

/// Every page from the first one on: each link leads to a page, and each anchor is there.
TEST_F(PageServed, TheDocumentsOfThisVersionAreServedAndTheirLinksLeadSomewhere) {
  EXPECT_EQ(Header(Get("/docs"), "Location"), "/docs/");
  std::map<std::string, std::string> pages;  // by path
  std::vector<std::string> open{"/docs/"};
  std::vector<std::string> anchors;  // with their page
  while (!open.empty()) {
    const std::string path = open.back();
    open.pop_back();
    if (pages.contains(path)) continue;
    const HttpResponse page = Get(path);
    ASSERT_EQ(page.status, 200) << path;
    EXPECT_EQ(Header(page, "Content-Type"), "text/html; charset=utf-8") << path;
    EXPECT_THAT(Header(page, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(page.body, Not(HasSubstr("<script"))) << path;
    EXPECT_THAT(page.body, Not(HasSubstr("style="))) << path;
    pages[path] = page.body;
    for (const std::string& link : LinksOf(page.body)) {
      if (link.find(':') != std::string::npos) continue;  // elsewhere
      const std::string target = Resolved(path, link);
      const std::string to = target.substr(0, target.find('#'));
      if (target.find('#') != std::string::npos) anchors.push_back(target);
      if (to.starts_with("/docs/") && !to.ends_with(".css")) open.push_back(to);
    }
  }
  EXPECT_GT(pages.size(), 30U);
  for (const std::string& target : anchors) {
    const std::size_t hash = target.find('#');
    EXPECT_THAT(pages[target.substr(0, hash)], HasSubstr(" id=\"" + target.substr(hash + 1) + "\""))
        << target;
  }
  EXPECT_THAT(pages["/docs/problems"], HasSubstr("id=\"lease-held\""));
  EXPECT_EQ(Get("/docs/leases.md").body, pages["/docs/leases"]) << "as the sources have it";
  EXPECT_THAT(Header(Get("/docs/style.css"), "Content-Type"), HasSubstr("text/css"));

  const HttpResponse small = Get("/docs/leases", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(small.body.substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(Get("/docs/leases", {{"If-None-Match", Header(small, "ETag")}}).status, 304);
  for (const char* path : {"/docs/none", "/docs/index", "/docs/../README", "/docs/reference/"})
    EXPECT_EQ(Get(path).status, 404) << path;
}

TEST_F(PageServed, WhoReadsItIsToldWhatThereIs) {
  const auto me = Api(port_).Get("/api/v1/me").Json();
  EXPECT_EQ(me["mode"].Text(), "protected");
  EXPECT_EQ(me["store"].Text(), "sqlite");
  EXPECT_THAT(me["parts"].Dump(), HasSubstr("\"leases\""));
  EXPECT_THAT(me["scopes"].Dump(), HasSubstr("\"admin\""));
  EXPECT_TRUE(me["person"].IsNull());
}

TEST(PageGuarded, TheShellIsOpenAndTellsNothing) {
  const GuardedServer server;
  EXPECT_EQ(support::Call(server.port(), "GET", "/ui/").status, 200);
  EXPECT_EQ(support::Call(server.port(), "GET", "/api/v1/me").status, 401);
  const std::string tenant = NewUuid();
  const auto me = server.As({.tenant = tenant, .scopes = "leases:read"}).Get("/api/v1/me").Json();
  EXPECT_EQ(me["mode"].Text(), "token");
  EXPECT_EQ(me["tenant"].Text(), tenant);
  EXPECT_EQ(me["person"].Text(), "ada");
  EXPECT_EQ(me["scopes"].Dump(), R"(["leases:read"])");
  EXPECT_FALSE(me["expires_at"].IsNull());
}

TEST(PageGuarded, WithTheSettingOffThereIsNone) {
  const GuardedServer server([](config::Settings& settings) { settings.dashboard = false; });
  for (const char* path : {"/", "/ui", "/ui/", "/ui/leases", "/docs/", "/docs/leases"})
    EXPECT_EQ(support::Call(server.port(), "GET", path).status, 404) << path;
  EXPECT_EQ(server.As({.tenant = NewUuid()}).Get("/api/v1/me").status, 200);
}

}  // namespace
}  // namespace tenure::api
