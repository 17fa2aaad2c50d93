// Traces: what a collector receives for requests on leases, checked against OTLP's JSON form.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "support/http_receiver.hpp"

namespace tenure::api {
namespace {

using support::HttpReceiver;
using support::Json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kParentId = "00f067aa0ba902b7";

struct SeenSpan {
  std::string name;
  std::string id;
  std::string trace_id;
  std::string parent_id;
  std::int64_t kind = 0;
  bool failed = false;
  std::map<std::string, std::string> attributes;
};

bool IsId(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos &&
         text.find_first_not_of('0') != std::string::npos;
}

/// {"key": …, "value": {"stringValue": …} or {"intValue": "…"}}, and nothing else.
std::map<std::string, std::string> ReadAttributes(const Json& list) {
  std::map<std::string, std::string> read;
  for (const Json& attribute : list.Elements()) {
    EXPECT_THAT(attribute.Keys(), ElementsAre("key", "value"));
    const Json value = attribute["value"];
    EXPECT_EQ(value.Size(), 1U) << value.Dump();
    const std::string text =
        value.Has("intValue") ? value["intValue"].Text() : value["stringValue"].Text();
    EXPECT_TRUE(read.emplace(attribute["key"].Text(), text).second) << "a key comes once";
  }
  return read;
}

SeenSpan ReadSpan(const Json& span) {
  const std::set<std::string> known{
      "traceId",           "spanId",          "parentSpanId", "name",  "kind",
      "startTimeUnixNano", "endTimeUnixNano", "attributes",   "status"};
  for (const std::string& key : span.Keys()) EXPECT_TRUE(known.contains(key)) << key;
  EXPECT_TRUE(IsId(span["traceId"].Text(), 32)) << span.Dump();
  EXPECT_TRUE(IsId(span["spanId"].Text(), 16)) << span.Dump();
  // 64-bit numbers are strings, and these are of this century.
  const std::int64_t start_ns = std::stoll(span["startTimeUnixNano"].Text());
  EXPECT_GT(start_ns, 1'700'000'000'000'000'000);
  EXPECT_GE(std::stoll(span["endTimeUnixNano"].Text()), start_ns);
  const bool failed = span["status"].Has("code");
  if (failed) {
    EXPECT_EQ(span["status"]["code"].Int(), 2);
  }
  const bool has_parent = span.Has("parentSpanId");
  return {span["name"].Text(),
          span["spanId"].Text(),
          span["traceId"].Text(),
          has_parent ? span["parentSpanId"].Text() : "",
          span["kind"].Int(),
          failed,
          ReadAttributes(span["attributes"])};
}

/// The spans of one request of the exporter.
std::vector<SeenSpan> ReadBatch(const support::ReceivedRequest& request) {
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/traces?from=test");
  EXPECT_EQ(request.FindHeader("Content-Type"), "application/json");
  const Json body = Json::Parse(request.body);
  EXPECT_THAT(body.Keys(), ElementsAre("resourceSpans"));
  EXPECT_EQ(body["resourceSpans"].Size(), 1U);
  const Json resource = body["resourceSpans"][0];
  const auto about = ReadAttributes(resource["resource"]["attributes"]);
  EXPECT_EQ(about.at("service.name"), "tenure");
  EXPECT_NE(about.at("service.instance.id"), "");
  EXPECT_EQ(resource["scopeSpans"].Size(), 1U);
  const Json scope = resource["scopeSpans"][0];
  EXPECT_EQ(scope["scope"]["name"].Text(), "tenure");
  std::vector<SeenSpan> spans;
  for (const Json& span : scope["spans"].Elements()) spans.push_back(ReadSpan(span));
  return spans;
}

class Traces : public testing::Test {
 protected:
  support::HttpHeaders Under(const std::string& flags) const {
    return {{"traceparent", std::string("00-") + kTraceId + "-" + kParentId + "-" + flags}};
  }
  std::unique_ptr<support::ServerProcess> Serve() const {
    return store_.Serve(
        {"--set", "telemetry.traces_endpoint=" + receiver_.Url() + "/v1/traces?from=test"});
  }
  /// Takes what is sent until that many spans have come.
  std::vector<SeenSpan> Await(std::size_t count) {
    std::vector<SeenSpan> all;
    while (all.size() < count) {
      const auto batch = ReadBatch(receiver_.Next());
      receiver_.Answer(200);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(all.size(), count);
    return all;
  }

  StoreUnderTest store_{Engine::kSqlite};
  HttpReceiver receiver_;
};

TEST_F(Traces, ATracedAcquireArrivesBelowItsParent) {
  const auto server = Serve();
  Lease lease{Api(*server)};
  const Ask ask;
  ASSERT_EQ(lease.Post("acquire", ask.Body(), Under("01")).status, 200);
  const SeenSpan span = Await(1).at(0);
  EXPECT_EQ(span.name, "Lease.Acquire");
  EXPECT_EQ(span.trace_id, kTraceId);
  EXPECT_EQ(span.parent_id, kParentId);
  EXPECT_EQ(span.kind, 2) << "of a server";
  EXPECT_FALSE(span.failed);
  EXPECT_EQ(span.attributes.at("lease.name"), lease.name());
  EXPECT_EQ(span.attributes.at("lease.id"), ask.term);
  EXPECT_EQ(span.attributes.at("lease.provider"), "server");
  EXPECT_EQ(span.attributes.at("lease.result"), "granted");
  EXPECT_EQ(span.attributes.at("http.response.status_code"), "200");
}

TEST_F(Traces, EachOutcomeOfALeaseHasItsWord) {
  const auto server = Serve();
  const Api api(*server);
  Lease lease(api);
  lease.Acquire();
  Lease other = lease.SeenBy(api);
  other.Acquire();
  lease.Renew();
  api.Call(
      "POST", "/api/v1/leases/renew",
      R"({"leases":[{"name":")" + lease.name() + "\"," + lease.FenceAndTerm().substr(1) + "]}");
  lease.Post("acquire", R"({"ttl_ms":1})");
  lease.Release();
  lease.Release();
  lease.Renew();
  api.Get("/livez");
  std::vector<std::string> seen;
  for (const SeenSpan& span : Await(8)) {
    seen.push_back(span.name + " " + span.attributes.at("lease.result"));
    EXPECT_EQ(span.parent_id, "") << "each is a trace of its own";
  }
  EXPECT_THAT(seen,
              ElementsAre("Lease.Acquire granted", "Lease.Acquire held", "Lease.Renew renewed",
                          "Lease.Renew renewed", "Lease.Acquire refused", "Lease.Release released",
                          "Lease.Release lost:released", "Lease.Renew lost:released"));
}

TEST_F(Traces, AHeartbeatOfManyIsOneSpanThatNamesWhatWasLost) {
  const auto server = Serve();
  const Api api(*server);
  Lease kept(api);
  Lease lost(api);
  std::string items;
  for (Lease* lease : {&kept, &lost}) {
    lease->Acquire();
    items += (items.empty() ? "" : ",") + (R"({"name":")" + lease->name()) + "\"," +
             lease->FenceAndTerm().substr(1);
  }
  lost.Release();
  api.Call("POST", "/api/v1/leases/renew", "{\"leases\":[" + items + "]}");
  const SeenSpan span = Await(4).back();
  EXPECT_EQ(span.name, "Lease.Renew");
  EXPECT_EQ(span.attributes.at("lease.count"), "2");
  EXPECT_EQ(span.attributes.at("lease.lost"), "1");
  EXPECT_EQ(span.attributes.at("lease.name"), lost.name());
  EXPECT_EQ(span.attributes.at("lease.id"), lost.term());
  EXPECT_EQ(span.attributes.at("lease.result"), "lost:released");
}

TEST_F(Traces, EachOutcomeOfASeatHasItsWordAndItsLicense) {
  const auto server = Serve();
  const Api api(*server);
  const std::string path = "/api/v1/licenses";
  const Json license = api.Call("POST", path, R"({"seats":1})").Json();
  const auto acquire = [&](const std::string& more) {
    return api.Call("POST", path + "/acquire",
                    R"({"license_key":")" + license["license_key"].Text() + "\"," + more + "}");
  };
  const std::string session = acquire(R"("machine_id":"m1")").Json()["session_id"].Text();
  acquire(R"("machine_id":"m2")");
  const std::string one = path + "/sessions/" + session;
  api.Call("PATCH", one + "/heartbeat");
  api.Call("DELETE", one);
  api.Call("DELETE", one);
  api.Call("PATCH", one + "/heartbeat");
  api.Call("POST", path + "/heartbeats", R"({"session_ids":[")" + session + "\"]}");
  std::vector<std::string> seen;
  const auto spans = Await(7);
  for (const SeenSpan& span : spans) {
    seen.push_back(span.name + " " + span.attributes.at("seat.result"));
    EXPECT_EQ(span.attributes.at("license.id"), license["id"].Text()) << seen.back();
  }
  EXPECT_THAT(seen,
              ElementsAre("Seat.Acquire granted", "Seat.Acquire full", "Seat.Heartbeat renewed",
                          "Seat.Release released", "Seat.Release not_found",
                          "Seat.Heartbeat lost:released", "Seat.Heartbeat lost:released"));
  EXPECT_EQ(spans.back().attributes.at("seat.session"), session);
  EXPECT_EQ(spans.back().attributes.at("seat.count"), "1");
  EXPECT_EQ(spans.back().attributes.at("seat.lost"), "1");
}

TEST_F(Traces, TheWorkOnAMessageIsInTheTraceOfWhoSentIt) {
  const auto server = Serve();
  const Topic topic{Api(*server)};
  ASSERT_EQ(topic.Enqueue("", Under("01")).status, 201);
  const Json message = topic.Claim().Json()["messages"][0];
  topic.Report("ack", {message["id"].Text(), message["fence"].Int()});
  std::map<std::string, SeenSpan> spans;
  for (const SeenSpan& span : Await(4)) spans[span.name] = span;
  const SeenSpan& sent = spans.at("Message.Enqueue");
  EXPECT_EQ(sent.trace_id, kTraceId);
  EXPECT_EQ(sent.parent_id, kParentId);
  EXPECT_EQ(sent.attributes.at("message.result"), "enqueued");
  EXPECT_EQ(message["traceparent"].Text(), std::string("00-") + kTraceId + "-" + sent.id + "-01");
  const SeenSpan& handled = spans.at("Message.Handle");
  EXPECT_EQ(handled.trace_id, kTraceId);
  EXPECT_EQ(handled.parent_id, sent.id);
  EXPECT_EQ(handled.attributes.at("message.topic"), topic.name());
  EXPECT_EQ(handled.attributes.at("message.result"), "done");
  EXPECT_NE(spans.at("Message.Claim").trace_id, kTraceId)
      << "the worker's own requests are its own";
  EXPECT_EQ(spans.at("Message.Acknowledge").attributes.at("message.count"), "1");
}

TEST_F(Traces, WhoLeavesTheLineLeavesASpan) {
  const auto server = Serve();
  const Api api(*server);
  Lease lease(api);
  lease.Acquire();
  WaitingAcquire waiting(api, lease, {.wait_ms = 60'000});
  AwaitLine(lease, 1);
  waiting.Leave();
  const SeenSpan span = Await(2).back();
  EXPECT_EQ(span.name, "Lease.Acquire");
  EXPECT_EQ(span.attributes.at("lease.result"), "abandoned");
  EXPECT_FALSE(span.attributes.contains("http.response.status_code")) << "nobody was answered";
}

TEST_F(Traces, WhatIsSentToTheReceiverOfUsageIsASpanAndTellsIt) {
  HttpReceiver usage;
  const auto server = store_.Serve(
      {"--set", "telemetry.traces_endpoint=" + receiver_.Url() + "/v1/traces?from=test", "--set",
       "usage.endpoint=" + usage.Url() + "/usages", "--set", "usage.interval=1s"});
  Api(*server).Put(NewKey(), 1);
  const auto sent = usage.Next();
  usage.Answer(200);
  const SeenSpan span = Await(1).at(0);
  EXPECT_EQ(span.name, "Usage.Send");
  EXPECT_EQ(span.kind, 3) << "of a client";
  EXPECT_EQ(span.parent_id, "");
  EXPECT_EQ(sent.FindHeader("traceparent"), "00-" + span.trace_id + "-" + span.id + "-01");
  EXPECT_EQ(span.attributes.at("usage.key"), sent.FindHeader("Idempotency-Key"));
  EXPECT_EQ(span.attributes.at("http.response.status_code"), "200");
}

TEST_F(Traces, ACommandOfATracedScriptIsPartOfItsTrace) {
  const auto server = Serve();
  const std::string trace = Under("01").front().second;
  const auto result =
      RunTenure({"lease", "run", "nightly", "--server", server->Url(), "--", "true"},
                {{"TRACEPARENT", trace}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const SeenSpan& span : Await(2)) {
    EXPECT_EQ(span.trace_id, kTraceId) << span.name;
    EXPECT_EQ(span.parent_id, kParentId) << span.name;
  }
}

TEST_F(Traces, LinesOfTheLogNameTheTrace) {
  const auto server = Serve();
  const Api api(*server);
  Lease lease(api);
  lease.Acquire();
  lease.Post("break", R"({"reason":"test"})", Under("01"));
  Eventually("the line is written",
             [&] { return server->Output().find("leases.break") != std::string::npos; });
  EXPECT_THAT(server->Output(), HasSubstr(std::string(R"("trace_id":")") + kTraceId));
  EXPECT_THAT(server->Output(), HasSubstr(R"("client":"127.0.0.1")"));
}

TEST_F(Traces, WhatTheCallerDoesNotRecordIsNotRecordedHereAndNonsenseBeginsATrace) {
  const auto server = Serve();
  Lease lease{Api(*server)};
  lease.Post("acquire", Ask().Body(), Under("00"));
  lease.Post("acquire", Ask().Body(), Under("01, nonsense"));
  auto twice = Under("01");
  twice.push_back(twice.front());
  lease.Post("acquire", Ask().Body(), twice);
  for (const SeenSpan& span : Await(2)) {
    EXPECT_EQ(span.parent_id, "");
    EXPECT_NE(span.trace_id, kTraceId);
  }
}

TEST_F(Traces, ACollectorThatAsksForPatienceIsAskedAgainWithTheSameSpans) {
  const auto server = Serve();
  Lease lease{Api(*server)};
  lease.Acquire();
  const auto first = receiver_.Next();
  receiver_.Answer(503);
  const auto second = receiver_.Next();
  receiver_.Answer(200);
  EXPECT_EQ(first.body, second.body);
  Eventually("it is counted",
             [&] { return Metric(Api(*server), "tenure_trace_spans_exported_total") == 1; });
}

TEST_F(Traces, WhatIsLeftIsSentWhenTheServerStops) {
  const auto server = Serve();
  Lease lease{Api(*server)};
  lease.Acquire();
  server->process().Kill(SIGTERM);
  EXPECT_EQ(Await(1).at(0).name, "Lease.Acquire");
  EXPECT_EQ(server->process().Wait(), 0);
}

TEST_F(Traces, ACollectorThatHangsHoldsUpNeitherRequestsNorTheEnd) {
  const auto server = Serve();
  Lease lease{Api(*server)};
  EXPECT_EQ(lease.Acquire().status, 200);
  receiver_.Next();  // and no answer
  EXPECT_EQ(lease.Renew().status, 200);
  EXPECT_EQ(server->Terminate(), 0);
}

TEST_F(Traces, ACollectorThatRefusesIsNotAskedAgainAndLoggedOnce) {
  const auto server = Serve();
  Lease lease{Api(*server)};
  for (int i = 0; i < 2; ++i) {
    lease.Acquire();
    receiver_.Next();
    receiver_.Answer(404);
  }
  Eventually("both are given up", [&] {
    const std::string text = Api(*server).Get("/metrics").body;
    return text.find("tenure_trace_spans_dropped_total{reason=\"not_taken\"} 2\n") !=
           std::string::npos;
  });
  const std::string output = server->Output();
  const auto logged = output.find("traces.failed");
  EXPECT_NE(logged, std::string::npos);
  EXPECT_EQ(output.find("traces.failed", logged + 1), std::string::npos);
  EXPECT_THAT(output, HasSubstr("it answered 404"));
}

}  // namespace
}  // namespace tenure::api
