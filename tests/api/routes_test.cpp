// The server answers exactly what openapi.json describes, and refuses the rest properly.
#include <algorithm>
#include <cctype>
#include <regex>
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

  support::Json OperationOf(std::string method, const std::string& path) const {
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    return support::Json::Parse(document_.text())["paths"][path][method];
  }
  std::string Described(const std::string& method, const std::string& path) const {
    const auto operation = OperationOf(method, path);
    return operation.Has("description") ? operation["description"].Text() : "";
  }
  bool NamesKey(const std::string& method, const std::string& path) const {
    const auto operation = OperationOf(method, path);
    return operation.Has("parameters") &&
           (operation["parameters"].Dump().find("IdempotencyKey") != std::string::npos ||
            operation["parameters"].Dump().find("Idempotency-Key") != std::string::npos);
  }

  /// How long a seat is left, and was waited for, is told anew by each answer.
  static std::string WithoutWhatPasses(const std::string& body) {
    static const std::regex kPasses(R"("(remaining|waited)_ms":[0-9]+)");
    return std::regex_replace(body, kPasses, "");
  }

  const OpenApi& document_ = OpenApi::OfTheSource();
  Api api_{SharedServer(Engine::kSqlite)};
  SampleRequests samples_{api_};
};

TEST_F(Routes, EveryDocumentedOperationAnswers) {
  EXPECT_GE(document_.Operations().size(), 20U);
  for (const auto& [method, path] : document_.Operations()) {
    const auto [target, body, headers] = samples_.RequestOf(method, path);
    const int status = api_.Call(method, target, body, headers).status;
    if (path == "/usage/send")
      EXPECT_EQ(status, 409) << "the shared server has nobody to send to";
    else
      EXPECT_TRUE(status >= 200 && status < 300) << method << " " << path << " -> " << status;
  }
}

/// What acts is carried out once per key, or says why it needs none.
TEST_F(Routes, EveryActionTakesAnIdempotencyKeyOrSaysWhyItNeedsNone) {
  int takers = 0;
  for (const auto& [method, path] : document_.Operations()) {
    if (method == "GET" || method == "DELETE") continue;
    const std::string what = method + " " + path;
    const SampleRequests::Request request = samples_.RequestOf(method, path);
    const std::string& body = request.body;
    const auto ask = [&, &by = method](const std::string& said, const std::string& key) {
      support::HttpHeaders headers = request.headers;
      headers.emplace_back("Idempotency-Key", key);
      return api_.Call(by, request.target, said, headers);
    };
    const bool takes = ask(body, "no key").status == 400;
    EXPECT_EQ(takes, NamesKey(method, path)) << what;
    if (!takes) {
      EXPECT_NE(Described(method, path).find("so it takes no Idempotency-Key"), std::string::npos)
          << what;
      continue;
    }
    ++takers;
    const std::string key = NewUuid();
    const HttpResponse first = ask(body, key);
    EXPECT_LT(first.status, 300) << what;
    const HttpResponse again = ask(body, key);
    EXPECT_EQ(again.status, first.status) << what;
    // A topic is told as it is by now, what is left of a seat as well, and a licence's key once.
    const bool shows_key = first.body.starts_with(R"({"license_key":)");
    if (path == "/api/v1/licenses/acquire") {
      const auto granted = [](const HttpResponse& response) {
        return response.body.substr(0, response.body.find(R"("remaining_ms")"));
      };
      EXPECT_EQ(granted(again), granted(first)) << what;
    } else if (shows_key) {
      EXPECT_TRUE(again.body.starts_with(R"({"license_key":null,)")) << what;
    } else if (first.body.starts_with(R"({"secret":)")) {
      EXPECT_EQ(again.body, R"({"secret":null})") << what;
    } else if (method != "PATCH") {
      EXPECT_EQ(WithoutWhatPasses(again.body), WithoutWhatPasses(first.body)) << what;
    }
    EXPECT_EQ(ask(body + " ", key).status, 422) << what;
  }
  EXPECT_GE(takers, 8);
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
  for (const char* path : {"/session", "/Sessions", "/sessions/", "//sessions", "/sessions/a/b",
                           "/livez/", "/api/v1", "/sessions%2f", "/./sessions", "/%2e%2e/etc"})
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
