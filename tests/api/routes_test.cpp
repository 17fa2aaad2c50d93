// The server answers exactly what openapi.json describes, and refuses the rest properly.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;

class Routes : public testing::Test {
 protected:
  static std::set<std::string> Words(std::string list) {
    std::ranges::replace(list, ',', ' ');
    std::istringstream words(list);
    return {std::istream_iterator<std::string>(words), {}};
  }

  const OpenApi& document_ = OpenApi::OfTheSource();
  Api api_{SharedServer(Engine::kSqlite)};
  SampleRequests samples_{api_};
};

TEST_F(Routes, EveryDocumentedOperationAnswers) {
  EXPECT_GE(document_.Operations().size(), 20U);
  for (const auto& [method, path] : document_.Operations()) {
    const auto [target, body] = samples_.RequestOf(method, path);
    const int status = api_.Call(method, target, body).status;
    // No window of usage is closed yet, and nobody is there to send to: usage_test.cpp has more.
    if (path.starts_with("/usage/") && (status == 404 || status == 409)) continue;
    EXPECT_TRUE(status >= 200 && status < 300) << method << " " << path << " -> " << status;
  }
}

TEST_F(Routes, EveryOtherMethodIs405AndAllowSaysWhichThereAre) {
  for (const std::string& path : document_.Paths()) {
    const auto known = document_.MethodsOf(path);
    for (const char* method : {"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"}) {
      if (std::ranges::find(known, method) != known.end()) continue;
      const HttpResponse response = api_.Call(method, samples_.RequestOf(method, path).target);
      EXPECT_EQ(response.status, 405) << method << " " << path;
      EXPECT_EQ(Words(response.FindHeader("Allow").value_or("")),
                std::set<std::string>(known.begin(), known.end()))
          << method << " " << path;
    }
  }
}

TEST_F(Routes, TheServedDocumentIsTheCheckedInFile) {
  EXPECT_EQ(api_.Get("/openapi.json").body, document_.text());
}

TEST_F(Routes, AnUnknownPathIsNotFound) {
  for (const char* path :
       {"/", "/session", "/Sessions", "/sessions/", "//sessions", "/sessions/a/b", "/livez/",
        "/api/v1", "/sessions%2f", "/./sessions", "/%2e%2e/etc"})
    for (const char* method : {"GET", "PUT", "DELETE", "OPTIONS"})
      EXPECT_EQ(api_.Call(method, path).status, 404) << method << " " << path;
}

TEST_F(Routes, AWriteThatIsNotJsonIs415AlsoWithoutABody) {
  const std::string body = PutBody(NewKey(), 1);
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                           "multipart/form-data", "text/json", "application", ""}) {
    EXPECT_EQ(api_.Call("PUT", "/sessions", body, {{"Content-Type", type}}).status, 415) << type;
    EXPECT_EQ(api_.Call("PUT", "/sessions", "", {{"Content-Type", type}}).status, 415) << type;
  }
  EXPECT_EQ(api_.Call("PUT", "/sessions").status, 415) << "no content type at all";
  EXPECT_EQ(api_.Call("PUT", "/sessions", body,
                      {{"Content-Type", "application/json"}, {"Content-Type", "text/plain"}})
                .status,
            415);
}

TEST_F(Routes, AWriteThatIsJsonInAnySpellingIsTaken) {
  for (const char* type : {"application/json", "application/json; charset=utf-8",
                           "Application/JSON", "application/json ;charset=UTF-8"})
    EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(NewKey(), 1), {{"Content-Type", type}}).status,
              201)
        << type;
}

TEST_F(Routes, AClientsRequestIdComesBackUnlessItCouldDoHarm) {
  const auto answered = [&](const std::string& id) {
    return api_.Call("GET", "/nowhere", "", {{"X-Request-Id", id}}).Json()["request_id"].Text();
  };
  EXPECT_EQ(answered("order-66:a.b_c"), "order-66:a.b_c");
  for (const std::string& id :
       {std::string("a b"), std::string("\"><script>"), std::string(200, 'x')})
    EXPECT_NE(answered(id), id);
}

}  // namespace
}  // namespace tenure::api
