#include "http/router.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    for (const auto& [method, pattern] : std::initializer_list<std::pair<Method, const char*>>{
             {Method::kGet, "/"},
             {Method::kPut, "/sessions"},
             {Method::kGet, "/sessions"},
             {Method::kGet, "/sessions/{id}"},
             {Method::kDelete, "/sessions/{session}"},
             {Method::kGet, "/sessions/active"},
             {Method::kPost, "/{kind}/{id}/break"},
             {Method::kPost, "/leases/{name}/{action}"}})
      router_.Add({method, pattern, std::string(ToText(method)) + " " + pattern, kPublic, {}});
  }

  std::string Operation(Method method, std::string_view path) const {
    const auto match = router_.Find(method, path);
    return match.route ? match.route->operation : "none";
  }

  Router router_;
};

TEST_F(RouterTest, BelowABaseEverythingIsFoundWithItAndWithoutIt) {
  router_.SetBase("/tenure");
  for (const char* path : {"/", "/tenure", "/tenure/"})
    EXPECT_EQ(Operation(Method::kGet, path), "GET /") << path;
  EXPECT_EQ(Operation(Method::kGet, "/sessions/5"), "GET /sessions/{id}");
  EXPECT_EQ(Operation(Method::kGet, "/tenure/sessions/5"), "GET /sessions/{id}");
  EXPECT_THAT(router_.Find(Method::kGet, "/tenure/sessions/5").path_parameters, ElementsAre("5"));
  EXPECT_EQ(Operation(Method::kGet, "/tenure/tenure/sessions/5"), "none");
  EXPECT_EQ(Operation(Method::kGet, "/tenures/sessions"), "none");
}

TEST_F(RouterTest, FindsFixedPathsAndPatterns) {
  EXPECT_EQ(Operation(Method::kGet, "/"), "GET /");
  EXPECT_EQ(Operation(Method::kPut, "/sessions"), "PUT /sessions");
  EXPECT_EQ(Operation(Method::kGet, "/sessions/5"), "GET /sessions/{id}");
  EXPECT_EQ(Operation(Method::kDelete, "/sessions/5"), "DELETE /sessions/{session}");
  EXPECT_THAT(router_.Find(Method::kGet, "/sessions/5").path_parameters, ElementsAre("5"));
  EXPECT_THAT(router_.Find(Method::kPost, "/a/b/break").path_parameters, ElementsAre("a", "b"));
}

TEST_F(RouterTest, TheFixedSegmentWins) {
  EXPECT_EQ(Operation(Method::kGet, "/sessions/active"), "GET /sessions/active");
  EXPECT_EQ(Operation(Method::kPost, "/leases/x/break"), "POST /leases/{name}/{action}");
  EXPECT_EQ(Operation(Method::kPost, "/seats/x/break"), "POST /{kind}/{id}/break");
}

TEST_F(RouterTest, OtherPathsAreNotFound) {
  for (const char* path : {"", "*", "sessions", "/session", "/sessions/", "/sessions//", "//",
                           "/sessions/5/", "/sessions/5/6", "/Sessions", "/sess%69ons"}) {
    const auto match = router_.Find(Method::kGet, path);
    EXPECT_EQ(match.route, nullptr) << path;
    EXPECT_THAT(match.allowed, IsEmpty()) << path;
  }
}

TEST_F(RouterTest, HeadIsServedByGet) {
  EXPECT_EQ(Operation(Method::kHead, "/sessions"), "GET /sessions");
  EXPECT_EQ(Operation(Method::kHead, "/leases/x/break"), "none");
}

TEST_F(RouterTest, AWrongMethodNamesTheRightOnes) {
  EXPECT_THAT(router_.Find(Method::kPost, "/sessions").allowed,
              ElementsAre(Method::kGet, Method::kHead, Method::kPut));
  EXPECT_THAT(router_.Find(Method::kOther, "/sessions/5").allowed,
              ElementsAre(Method::kGet, Method::kHead, Method::kDelete));
}

TEST_F(RouterTest, ParametersAreDecoded) {
  EXPECT_THAT(router_.Find(Method::kGet, "/sessions/a%20%C3%a9+%25").path_parameters,
              ElementsAre("a \u00e9+%"));
  for (const char* bad : {"/sessions/%", "/sessions/%2", "/sessions/%gg", "/sessions/%00",
                          "/sessions/a%2fb", "/sessions/a%2Fb", "/sessions/%ff", "/sessions/\xff"})
    EXPECT_THROW(router_.Find(Method::kGet, bad), ProblemError) << bad;
}

TEST_F(RouterTest, ARouteMayTakeNamesWithSlashes) {
  router_.Add({.method = Method::kPost,
               .pattern = "/names/{name}/renew",
               .operation = "renew",
               .scope = kPublic,
               .handler = {},
               .encoded_slash = true});
  router_.Add({Method::kGet, "/names/{name}/renew", "look", kPublic, {}});
  const auto match = router_.Find(Method::kPost, "/names/db%2Fshard%2f7%252F/renew");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->operation, "renew");
  EXPECT_THAT(match.path_parameters, ElementsAre("db/shard/7%2F"));
  EXPECT_EQ(router_.Find(Method::kPost, "/names/db/shard/renew").route, nullptr);
  EXPECT_THROW(router_.Find(Method::kPost, "/names/a%2Fb%00/renew"), ProblemError);
  EXPECT_THROW(router_.Find(Method::kGet, "/names/a%2Fb/renew"), ProblemError);
}

TEST_F(RouterTest, TwoRoutesOfOneMethodAndPathAreADefect) {
  EXPECT_DEATH(router_.Add({Method::kGet, "/sessions/{other}", "again", kPublic, {}}),
               "two routes");
}

TEST_F(RouterTest, ARouteThatSaysNothingAboutTokensIsADefect) {
  EXPECT_DEATH(router_.Add({Method::kGet, "/open", "open", {}, {}}), "no scope");
}

}  // namespace
}  // namespace tenure::http
