// What operators see first: the overview, the search, and why something is as it is.
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using testing::HasSubstr;

class Watching : public testing::TestWithParam<Engine> {
 protected:
  static std::string UrlOf(const Api& api) {
    return "http://127.0.0.1:" + std::to_string(api.port());
  }
  /// A percent-decoded last segment.
  static std::string IdOf(const std::string& target) {
    std::string id = target.substr(target.rfind('/') + 1);
    for (std::size_t at = id.find('%'); at != std::string::npos; at = id.find('%', at + 1))
      id.replace(at, 3, 1, static_cast<char>(std::stoi(id.substr(at + 1, 2), nullptr, 16)));
    return id;
  }

  Api api_{SharedServer(GetParam())};
  SampleRequests samples_{api_};
};
INSTANTIATE_TEST_SUITE_P(Engines, Watching, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

TEST_P(Watching, TheCommandPrintsTheServersSentenceWordForWord) {
  int kinds = 0;
  for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
    constexpr std::string_view kWhy = "/api/v1/why/";
    if (!path.starts_with(kWhy)) continue;
    ++kinds;
    const std::string target = samples_.RequestOf(method, path).target;
    const std::string kind = path.substr(kWhy.size(), path.find('{') - kWhy.size() - 1);
    std::string told, printed;
    // Ages are in it: between two looks a second may pass.
    for (int tries = 0; tries < 5 && (told.empty() || told != printed); ++tries) {
      const Json why = api_.Get(target).Json();
      EXPECT_EQ(why["kind"].Text(), kind);
      EXPECT_FALSE(why["because"].Elements().empty());
      told = why["sentence"].Text() + "\n" + why["next"]["text"].Text() + "\n";
      printed = RunTenure({"why", kind, IdOf(target), "--server", UrlOf(api_)}).out;
    }
    EXPECT_EQ(printed, told) << path;
  }
  EXPECT_GE(kinds, 14);
}

/// Where an age is told it is another list each time.
TEST_P(Watching, AListThatIsAsItWasIsNotSentAgain) {
  static const std::regex kPasses(
      R"("(oldest_age|oldest_ready|lock_age|remaining|waited)_ms":[0-9])");
  int lists = 0;
  for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
    if (method != "GET") continue;
    const std::string target = samples_.RequestOf(method, path).target;
    const HttpResponse first = api_.Get(target);
    if (!first.body.starts_with(R"({"items":)")) continue;
    if (std::regex_search(first.body, kPasses)) continue;
    ++lists;
    Eventually("it is as it was: " + path, [&, &at = path] {
      const auto tag = api_.Get(target).FindHeader("ETag");
      if (!tag) return false;
      const HttpResponse again = api_.Call("GET", target, "", {{"If-None-Match", *tag}});
      if (again.status == 304) {
        EXPECT_TRUE(again.body.empty()) << at;
      }
      return again.status == 304;
    });
    EXPECT_EQ(api_.Call("GET", target, "", {{"If-None-Match", "\"another\""}}).status, 200) << path;
  }
  EXPECT_GE(lists, 20);
}

TEST_P(Watching, WhatIsNotThereHasNoReason) {
  // A seat's has the words of the document that it comes from.
  EXPECT_EQ(api_.Get("/api/v1/why/seat/" + NewUuid()).status, 404);
  for (const char* kind : {"message", "job", "topic", "license", "subscription", "session", "task",
                           "queue", "queue-session", "instance"})
    ExpectProblem(api_.Get(std::string("/api/v1/why/") + kind + "/" + NewUuid()), 404);
  for (const char* path : {"lease/never%2Fgranted", "inbox/stripe%2Fnever", "inbox/no-id",
                           "usage/999999999", "usage/one", "session/no-id", "queue-session/no-id"})
    ExpectProblem(api_.Get(std::string("/api/v1/why/") + path), 404);
}

TEST_P(Watching, EverythingIsFoundByItsIdOrTheBeginningOfItsName) {
  const auto kinds_of = [&](const std::string& text) {
    std::set<std::string> kinds;
    for (const Json& each : api_.Get("/api/v1/search?q=" + text).Json()["items"].Elements())
      kinds.insert(each["kind"].Text());
    return kinds;
  };
  for (const auto& [path, kind] : std::vector<std::pair<std::string, std::string>>{
           {"/api/v1/messages/{id}", "message"},
           {"/api/v1/topics/{topic}", "topic"},
           {"/api/v1/jobs/{name}", "job"},
           {"/api/v1/subscriptions/{name}", "subscription"},
           {"/api/v1/licenses/{id}", "license"},
           {"/api/v1/licenses/sessions/{id}", "seat"},
           {"/sessions/{id}", "session"},
           {"/api/v1/queues/{queue}", "queue"},
           {"/api/v1/queues/{queue}/sessions/{id}", "queue-session"},
           {"/api/v1/why/inbox/{id}", "inbox"},
           {"/api/v1/leases/{name}", "lease"}}) {
    const std::string id = IdOf(samples_.RequestOf("GET", path).target);
    EXPECT_TRUE(kinds_of(id).contains(kind)) << kind << " " << id;
    if (kind == "topic" || kind == "job" || kind == "subscription" || kind == "lease") {
      EXPECT_TRUE(kinds_of(id.substr(0, id.size() - 1)).contains(kind)) << kind << " " << id;
    }
  }
  EXPECT_TRUE(kinds_of("usage.w").contains("task"));
  const Key key = NewKey();
  api_.Put(key, 1);
  EXPECT_EQ(kinds_of(key.user), std::set<std::string>{"session"});
}

TEST_P(Watching, ASearchIsOfOneTo200Bytes) {
  for (const std::string& query : {std::string(), std::string("?q="), "?q=" + std::string(201, 'x'),
                                   std::string("?text=a"), std::string("?q=%00")})
    ExpectProblem(api_.Get("/api/v1/search" + query), 400);
  for (const std::string& text :
       {std::string("x"), std::string(200, 'x'), std::string("%25"), std::string("__"),
        std::string("%27%22"), std::string("%01%02"), std::string("%E2%80%AE%C3%A4")})
    EXPECT_EQ(api_.Get("/api/v1/search?q=" + text).Json()["items"].Size(), 0U) << text;
}

/// Every name that may need attention: those of the alert rules, and those that only this page has.
TEST(Overview, ItsNamesAreThoseOfTheAlertRules) {
  const std::string rules = support::ReadFile(support::SourceDir() / "ops" / "alerts.yaml");
  const std::string page = support::ReadFile(support::SourceDir() / "docs" / "dashboard.md");
  int names = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(support::SourceDir() / "src")) {
    const std::string name = entry.path().filename();
    if (name != "attention.cpp" && name != "capability.cpp") continue;
    const std::string text = support::ReadFile(entry.path());
    constexpr std::string_view kName = ".name = \"";
    for (std::size_t at = text.find(kName); at != std::string::npos;
         at = text.find(kName, at + 1)) {
      const std::size_t begin = at + kName.size();
      const std::string word = text.substr(begin, text.find('"', begin) - begin);
      if (word.empty() || std::islower(static_cast<unsigned char>(word.front()))) continue;
      ++names;
      EXPECT_TRUE(rules.find("alert: " + word + "\n") != std::string::npos ||
                  page.find("`" + word + "`") != std::string::npos)
          << word << " is neither in ops/alerts.yaml nor in docs/dashboard.md";
    }
  }
  EXPECT_GE(names, 12);
}

class Overviews : public testing::TestWithParam<Engine> {
 protected:
  const StoreUnderTest store_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Engines, Overviews, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

TEST_P(Overviews, ShowsWhatWasCountedAndWhatNeedsAttention) {
  {
    const auto server = store_.Serve();
    const Api api(*server);
    const Topic topic(api, "mail");
    topic.Send();
    api.Call("PATCH", "/api/v1/topics/mail", R"({"paused":true,"reason":"supplier is down"})");
    Lease lease(api);
    lease.Acquire({.ttl_ms = 600'000});
    Eventually("it is known",
               [&] { return api.Get("/api/v1/instances").Json()["items"].Size() == 1; });
  }
  // A server counts when it starts.
  const auto server = store_.Serve();
  const Api api(*server);
  Eventually("it is counted",
             [&] { return api.Get("/api/v1/overview").Json()["figures"].Has("messages"); });
  const HttpResponse response = api.Get("/api/v1/overview");
  const Json overview = response.Json();
  EXPECT_EQ(overview["figures"]["messages"]["ready"].Int(), 1);
  EXPECT_GE(overview["figures"]["leases"]["held"].Int(), 1) << "with those of Tenure's own tasks";
  EXPECT_EQ(overview["capped"].Size(), 0U);
  const Json attention = overview["attention"];
  ASSERT_GE(attention.Size(), 1U) << response.body;
  EXPECT_THAT(attention.Dump(), HasSubstr("mail is paused since"));
  EXPECT_THAT(attention.Dump(), HasSubstr("supplier is down"));
  EXPECT_THAT(attention.Dump(), HasSubstr(R"("link":"/topics/mail")"));
  const Json instances = api.Get("/api/v1/instances").Json()["items"];
  // The first one said good-bye.
  ASSERT_EQ(instances.Size(), GetParam() == Engine::kSqlite ? 1U : 2U);
  EXPECT_EQ(overview["instances"].Size(), instances.Size());
  EXPECT_EQ(attention.Dump().find("TenureInstanceLost"), std::string::npos);
  EXPECT_EQ(overview["series"]["values"]["messages.ready"].Elements().back().Int(), 1);
}

TEST_P(Overviews, TheSettingsInEffectAreShownWithTheirOriginAndWithoutSecrets) {
  support::ServerOptions options =
      store_.Options({"--set", "http.base_path=/below", "--set", "usage.endpoint=http://[::1]:1/"});
  options.environment.emplace_back("TENURE_USAGE_AUTH", "hunter2");
  const support::ServerProcess server(options);
  const HttpResponse response = Api(server).Get("/api/v1/settings");
  EXPECT_EQ(response.body.find("hunter2"), std::string::npos);
  std::map<std::string, Json> settings;
  for (const Json& each : response.Json()["items"].Elements())
    settings.emplace(each["name"].Text(), each);
  EXPECT_EQ(settings.at("http.base_path")["value"].Text(), "/below");
  EXPECT_EQ(settings.at("http.base_path")["from"].Text(), "--set http.base_path");
  EXPECT_EQ(settings.at("usage.auth")["from"].Text(), "TENURE_USAGE_AUTH");
  EXPECT_EQ(settings.at("log.level")["from"].Text(), "default");
  EXPECT_TRUE(settings.at("sessions.duration")["shared"].Bool());
  EXPECT_EQ(support::Call(server.Port(), "GET", "/below/api/v1/settings").body, response.body);
}

TEST_P(Overviews, IsNotSentTwiceAndNotToEverybody) {
  const auto server = store_.Serve();
  const Api api(*server);
  ExpectProblem(api.Get("/api/v1/overview?range=2h"), 400);
  for (const char* range : {"1h", "24h"}) {
    const std::string path = std::string("/api/v1/overview?range=") + range;
    // It changes when it is counted again, which may be in between.
    Eventually("it is as it was", [&] {
      const std::string tag = api.Get(path).FindHeader("ETag").value_or("");
      const HttpResponse again = api.Call("GET", path, "", {{"If-None-Match", tag}});
      return again.status == 304 && again.body.empty();
    });
  }
}

}  // namespace
}  // namespace tenure::api
