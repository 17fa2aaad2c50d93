// Usage over HTTP (spec 10): windows, records, totals, factors; what is wrong is said.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/sink_process.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::HasSubstr;

class UsageApi : public testing::TestWithParam<Engine> {
 protected:
  UsageApi() : store_(GetParam()) {}

  void Serve(std::vector<std::string> more = {}) {
    server_.reset();
    std::vector<std::string> flags = {"--set", "usage.interval=1s"};
    flags.insert(flags.end(), more.begin(), more.end());
    server_ = store_.Serve(std::move(flags));
  }
  Api api() const { return Api(*server_); }
  std::int64_t Windows() const {
    const Json items = api().Get("/usage/windows?limit=1").Json()["items"];
    return items.Size() == 0 ? 0 : items[0]["window"].Int();
  }
  void AwaitWindow(std::int64_t number) const {
    Eventually("window " + std::to_string(number) + " is closed",
               [&] { return Windows() >= number; });
  }
  support::HttpResponse Post(const std::string& path, const std::string& body) const {
    return api().Call("POST", path, body);
  }

  StoreUnderTest store_;
  std::unique_ptr<support::ServerProcess> server_;
};

TEST_P(UsageApi, WindowsFollowEachOtherWithoutAGapAlsoAfterDowntime) {
  Serve();
  const Key key = NewKey();
  api().Put(key, 1);
  AwaitWindow(2);
  ASSERT_EQ(server_->Terminate(), 0);
  Serve();
  AwaitWindow(5);
  const Json items = api().Get("/usage/windows?limit=1000").Json()["items"];
  ASSERT_GE(items.Size(), 5u);
  for (std::size_t i = 1; i < items.Size(); ++i) {
    EXPECT_EQ(items[i]["window"].Int(), items[i - 1]["window"].Int() - 1);
    EXPECT_EQ(items[i]["windowEndUtc"].Text(), items[i - 1]["windowStartUtc"].Text());
    EXPECT_EQ(items[i]["state"].Text(), "closed") << "nobody is told";
  }
  EXPECT_EQ(items[items.Size() - 1]["window"].Int(), 1);
}

TEST_P(UsageApi, RecordsAndTotalsCanBeAskedForByUserTenantAndCapacity) {
  Serve();
  const Key key = NewKey();
  const Key other = NewKey();
  const std::string session = api().Put(key, 3).Json()["sessionId"].Text();
  api().Put(other, 1);
  AwaitWindow(2);
  const auto records = api().Get("/usage/windows/2/records?userObjectId=" + key.user);
  ASSERT_EQ(records.Json()["items"].Size(), 1u) << records.body;
  EXPECT_EQ(records.Json()["items"][0]["recordId"].Text(), "2-" + session);
  EXPECT_THAT(records.body, HasSubstr(R"("usage":0.00000)"));
  EXPECT_EQ(api().Get("/usage/windows/2/records").Json()["items"].Size(), 2u);
  EXPECT_EQ(api().Get("/usage/windows/2/records?limit=1").Json()["items"].Size(), 1u);
  EXPECT_EQ(api().Get("/usage/totals?tenantObjectId=" + key.tenant).Json()["sessions"].Int(), 1);
  EXPECT_EQ(api().Get("/usage/totals?fromWindow=1&toWindow=2").Json()["sessions"].Int(), 2);
}

TEST_P(UsageApi, WhatIsWrongIsSaid) {
  Serve();
  ExpectProblem(api().Get("/usage/totals"), 404);  // nothing is closed before the first session
  ExpectProblem(api().Get("/usage/windows/7/records"), 404);
  ExpectProblem(api().Get("/usage/windows/one/records"), 404);
  ExpectProblem(api().Get("/usage/windows?cursor=x"), 400);
  ExpectProblem(api().Get("/usage/totals?fromWindow=3&toWindow=2"), 400);
  ExpectProblem(api().Get("/usage/refused?cursor=x"), 400);
  for (const char* body :
       {R"({"sessionKind":4,"factor":"1"})", R"({"sessionKind":1,"factor":1.5})",
        R"({"sessionKind":1,"factor":"1.0000001"})", R"({"sessionKind":1,"factor":"-1"})",
        R"({"sessionKind":1})", R"({"sessionKind":1,"factor":"1000000000.000001"})"})
    EXPECT_EQ(Post("/usage/factors", body).status, 400) << body;
  EXPECT_EQ(ProblemType(Post("/usage/send", R"({"fromWindow":1})")), "no-usage-endpoint");
}

TEST_P(UsageApi, AFactorCountsFromTheNextWindowOn) {
  Serve({"--set", "usage.factors.2=2.5"});
  EXPECT_EQ(Post("/usage/factors", R"({"sessionKind":1,"factor":"4"})").Json()["factor"].Text(),
            "4.000000");
  std::map<std::int64_t, std::string> latest;
  const Json items = api().Get("/usage/factors").Json()["items"];
  for (std::size_t i = 0; i < items.Size(); ++i)
    latest[items[i]["sessionKind"].Int()] = items[i]["factor"].Text();
  EXPECT_EQ(latest[1], "4.000000");
  EXPECT_EQ(latest[2], "2.500000") << "the configuration's, where the store had none";
}

TEST_P(UsageApi, ARecordThatIsRefusedIsShownAndCanBeSentAgain) {
  const support::SinkProcess sink;
  Serve({"--set", "usage.endpoint=" + sink.Endpoint()});
  const Key key = NewKey();
  const std::string bad = api().Put(key, 1).Json()["sessionId"].Text();
  const std::string good = api().Put(NewKey(), 2).Json()["sessionId"].Text();
  sink.SetFaults("refuse-session:" + bad + "=422");
  Eventually("a record is refused",
             [&] { return api().Get("/usage/refused").Json()["items"].Size() > 0; });
  const Json refused = api().Get("/usage/refused").Json()["items"][0];
  EXPECT_EQ(refused["sessionId"].Text(), bad);
  EXPECT_THAT(refused["answer"].Text(), HasSubstr("422"));
  Eventually("the other one's is taken", [&] {
    return sink.Call("GET", "/records?sessionId=" + good).Json()["items"].Size() > 0;
  });
  api().Delete(bad);
  sink.SetFaults("");
  Eventually("all is taken after all", [&] {
    Post("/usage/refused/resend", "{}");
    const Json items = api().Get("/usage/windows?limit=1000").Json()["items"];
    std::int64_t unsent = 0;
    for (std::size_t i = 0; i < items.Size(); ++i) unsent += items[i]["unsentRecords"].Int();
    return unsent == 0 && api().Get("/usage/refused").Json()["items"].Size() == 0;
  });
}

INSTANTIATE_TEST_SUITE_P(Stores, UsageApi, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tenure::api
