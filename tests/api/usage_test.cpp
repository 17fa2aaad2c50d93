// Usage over HTTP: windows, records, totals, factors; what is wrong is said. And its receiver as a
// process of its own: what it has answered survives its death, and what a server sends it through
// lost answers and refusals adds up to the last millionth.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;
using support::SinkProcess;
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

INSTANTIATE_TEST_SUITE_P(Stores, UsageApi, EachEngine(), testing::PrintToStringParamName());

constexpr const char* kSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";

std::int64_t RecordsOf(const SinkProcess& sink) {
  const support::Json items = sink.Call("GET", "/totals").Json()["items"];
  return items.Size() == 0 ? 0 : items[0]["records"].Int();
}

std::string RecordOf(int window) {
  return std::string(R"({"recordId":")") + std::to_string(window) + "-" + kSession +
         R"(","sessionId":")" + kSession +
         R"(","userObjectId":"11111111-1111-4111-8111-111111111111",)"
         R"("tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
         R"("capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":2,)"
         R"("windowStartUtc":"2026-01-01T00:00:00.000Z",)"
         R"("windowEndUtc":"2026-01-01T00:01:00.000Z","usage":0.000046})";
}

TEST(UsageSink, KilledAndStartedAgainItHasEverythingThatItAnswered) {
  const support::TempDir folder;
  for (int round = 0; round < 3; ++round) {
    SinkProcess sink({.data_dir = folder.path()});
    EXPECT_EQ(RecordsOf(sink), round);
    const std::string body = "[" + RecordOf(round + 1) + "]";
    EXPECT_EQ(sink.Call("POST", "/usages", body).body, R"({"applied":1,"duplicate":0})");
    sink.Kill();
  }
  SinkProcess sink({.data_dir = folder.path()});
  EXPECT_EQ(sink.Call("POST", "/usages", "[" + RecordOf(2) + "]").body,
            R"({"applied":0,"duplicate":1})");
  EXPECT_THAT(sink.Call("GET", "/totals").body, HasSubstr("\"usage\":0.000138"));
  EXPECT_EQ(RunTenure({"usage-sink", "--listen", "127.0.0.1:0", "--data", folder.path()}).exit_code,
            1)
      << "the folder belongs to one";
  EXPECT_EQ(sink.Terminate(), 0);
  EXPECT_THAT(sink.Output(), HasSubstr("usage 0.000138 in 3 records of 1 sessions"));
}

TEST(UsageSink, WithoutATokenItServesThisMachineOnly) {
  const support::TempDir folder;
  const ProgramResult refused =
      RunTenure({"usage-sink", "--listen", "0.0.0.0:0", "--data", folder.path()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("without --token-file only this machine is served"));
}

/// PUT /sessions for one of a few users; the session's id.
std::string Put(const support::ServerProcess& server, int user, int kind) {
  const std::string body = R"({"userObjectId":"11111111-1111-4111-8111-11111111111)" +
                           std::to_string(user) +
                           R"(","tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
                           R"("capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":)" +
                           std::to_string(kind) + "}";
  return server.Call("PUT", "/sessions", body).Json()["sessionId"].Text();
}

void AwaitAcknowledged(const support::ServerProcess& server, std::int64_t number) {
  Eventually("window " + std::to_string(number) + " is acknowledged", [&] {
    const support::Json windows = server.Call("GET", "/usage/windows").Json()["items"];
    for (const support::Json& window : windows.Elements())
      if (window["window"].Int() == number) return window["state"].Text() == "sent";
    return false;
  });
}

TEST(UsageSink, UnderFaultsEveryRecordArrivesExactlyOnceAndTheAuditAgrees) {
  const SinkProcess sink(
      {.flags = {"--fault", "503:0.2,drop-before:0.1,drop-after:0.3", "--fault-seed", "4"}});
  const support::ServerProcess server(
      {.flags = {"--set", "usage.interval=1s", "--set", "usage.endpoint=" + sink.Endpoint()}});
  for (const int user : {1, 2, 3}) Put(server, user, user);
  Eventually("records arrive", [&] { return RecordsOf(sink) >= 6; });
  // Everything that ends or changes what a session costs.
  EXPECT_EQ(
      RunTenure({"usage", "factors", "set", "premium", "2.75", "--server", server.Url()}).exit_code,
      0);
  EXPECT_NE(Put(server, 1, 2), "") << "upgraded";
  EXPECT_EQ(server.Call("DELETE", "/sessions/" + Put(server, 2, 2)).status, 204);
  const auto newest = server.Call("GET", "/usage/windows?limit=1").Json()["items"][0]["window"];
  Eventually("more arrive", [&] { return RecordsOf(sink) >= 12; });
  sink.SetFaults("");
  AwaitAcknowledged(server, newest.Int() + 2);
  const ProgramResult audit =
      RunTenure({"usage", "audit", "--server", server.Url(), "--sink", sink.Url()});
  EXPECT_EQ(audit.exit_code, 0) << audit.out << audit.err;
  EXPECT_THAT(audit.out, HasSubstr("differences   0\n"));
}

}  // namespace
}  // namespace tenure::api
