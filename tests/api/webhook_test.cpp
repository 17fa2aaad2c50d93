// Webhooks by a real server: what is taken, what is refused, and that a refusal leaves nothing.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>

#include <gmock/gmock.h>

#include "api/webhooks_fixture.hpp"

namespace tenure::api {
namespace {

using support::HttpConnection;
using support::HttpResponse;
using support::Json;
using testing::HasSubstr;
using testing::Not;
INSTANTIATE_TEST_SUITE_P(Stores, Webhooks, EachEngine(), EngineName);

TEST_P(Webhooks, ASignatureThatIsMissingMalformedRepeatedOrWrongIs401AndAllAreAlike) {
  const GitHub::Sent sent;
  const std::string good = SignatureOf(sent.body, github_.secret());
  const auto without_id = [](const HttpResponse& response) {
    return response.body.substr(0, response.body.find("\"request_id\""));
  };
  std::string alike;
  const auto refused = [&](const GitHub::Sent& bad) {
    const std::string text =
        without_id(ExpectRefused(401, "bad-signature", [&] { return Post(bad); }));
    if (alike.empty()) alike = text;
    EXPECT_EQ(text, alike);
  };
  const auto signed_with = [](const std::string& signature) {
    return GitHub::Sent{.headers = {{"X-Hub-Signature-256", signature}}};
  };
  refused(signed_with(""));
  refused(signed_with("sha1=" + std::string(40, 'a')));
  refused(signed_with(good.substr(0, good.size() - 1)));
  refused(signed_with(good + "0"));
  refused(signed_with(SignatureOf(sent.body, "another")));
  refused({.headers = {{"X-Hub-Signature-256", good}, {"x-hub-signature-256", good}}});
  // However the rest looks.
  GitHub::Sent odd{.event = "NO EVENT", .body = "no JSON", .id = "a b"};
  odd.headers = {{"X-Hub-Signature-256", good}, {"Content-Type", "text/plain"}};
  refused(odd);
  odd.headers.emplace_back("Content-Encoding", "gzip");
  odd.body = BodyOf(kMebibyte);  // not on the loop
  refused(odd);

  // On record are the first one and, later, how many followed.
  const Json entries = api().Get("/api/v1/audit?act=webhook.refused").Json()["items"];
  ASSERT_EQ(entries.Size(), 1U);
  EXPECT_EQ(entries[0]["object"].Text(), "github");
  EXPECT_EQ(entries[0]["address"].Text(), "127.0.0.1");
  EXPECT_THAT(api().Get("/metrics").body,
              HasSubstr(R"(webhook_deliveries_total{source="other",event="issues",)"
                        R"(outcome="bad_signature"})"));
}

TEST_P(Webhooks, WhatIsAskedBeforeTheSignatureIsAnsweredBeforeIt) {
  const auto at = [&](const std::string& path) {
    return api().Call("POST", path, "{}", {{"X-Hub-Signature-256", "none"}});
  };
  ExpectRefused(404, "not-found", [&] { return at("/webhooks/github/nobody"); });
  const GitHub elsewhere("elsewhere"), seldom("seldom"), closed("closed");
  Apply(elsewhere.Bots(kBots, R"(,"allow_from":["192.0.2.0/24"])"));
  ExpectRefused(404, "not-found", [&] { return at("/webhooks/github"); });  // not any more
  ExpectRefused(403, "source-forbidden", [&] { return at("/webhooks/github/elsewhere"); });
  Apply(seldom.Bots(kBots, R"(,"rate":"1/h")"));
  EXPECT_EQ(at("/webhooks/github/seldom").status, 401);
  const HttpResponse often =
      ExpectRefused(429, "rate-limited", [&] { return at("/webhooks/github/seldom"); });
  EXPECT_NE(often.Header("Retry-After"), "");
  std::filesystem::remove(closed.SecretFile());
  Apply(closed.Bots(kBots));
  const HttpResponse no_secret =
      ExpectRefused(503, "secrets-unavailable", [&] { return at("/webhooks/github/closed"); });
  EXPECT_EQ(no_secret.Header("Retry-After"), "10");
}

TEST_P(Webhooks, ABodyThatIsTooLargeIsRefusedByItsHeader) {
  ExpectRefused(413, "body-too-large", [&] {
    HttpConnection client(api().port());
    return client.Ask(
        fmt::format("POST /webhooks/github HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                    "Content-Length: {}\r\n\r\n",
                    api().port(), 25 * kMebibyte + 1));
  });
  // And as its chunks grow.
  Serve({"--set", "webhooks.max_body=64KiB"});
  ExpectRefused(413, "body-too-large", [&] {
    HttpConnection client(api().port());
    client.Send(
        fmt::format("POST /webhooks/github HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\n",
                    api().port(), 60'000, std::string(60'000, 'x')));
    return client.Ask(fmt::format("{:x}\r\n", 60'000));
  });
}

TEST_P(Webhooks, WhatIsWrongBehindAGoodSignatureIsNamed) {
  for (const auto& [name, value] : support::HttpHeaders{{"Content-Type", "text/plain"},
                                                        {"Content-Type", "application/xml"},
                                                        {"Content-Encoding", "gzip"}})
    ExpectRefused(415, "unsupported-media-type",
                  [&, &n = name, &v = value] { return PostWith(n, v); });
  for (const auto& [name, value] :
       support::HttpHeaders{{"X-GitHub-Event", ""},
                            {"X-GitHub-Event", "Issues"},
                            {"X-GitHub-Event", std::string(65, 'a')},
                            {"X-GitHub-Delivery", ""},
                            {"X-GitHub-Delivery", "a b"},
                            {"X-GitHub-Delivery", std::string(101, 'a')},
                            {"X-GitHub-Hook-ID", "a b"}}) {
    const HttpResponse refused = ExpectRefused(
        400, "invalid-request", [&, &n = name, &v = value] { return PostWith(n, v); });
    EXPECT_EQ(FieldsOf(refused), Fields{name});
  }
  for (const char* body : {"[]", "1", "{", "{} {}", R"("text")"})
    ExpectRefused(400, "invalid-json", [&] { return Post({.body = body}); });
  for (const char* body : {"other=1", "payload=%7B%7D&x=1", "payload=%", "payload=1"})
    ExpectRefused(400, "invalid-json", [&] {
      return Post(
          {.body = body, .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}});
    });
}

TEST_P(Webhooks, AFullQueueOfOneBotRefusesItForAll) {
  const GitHub::Sent large{.body = BodyOf(600'000)};
  EXPECT_EQ(Post(large).status, 200);
  const HttpResponse refused = ExpectRefused(
      503, "queue-full", [&] { return Post({.body = large.body, .id = "redelivered"}); });
  EXPECT_NE(refused.Header("Retry-After"), "");
  EXPECT_THAT(refused.body, Not(HasSubstr("issues"))) << "strangers read it";
  EXPECT_EQ(Post({.event = "push"}).status, 200) << "what the full one does not want";
  EXPECT_THAT(api().Get("/metrics").body,
              HasSubstr(R"(webhook_deliveries_total{source="other",event="issues",)"
                        R"(outcome="queue_full"} 1)"));
  Apply(github_.Bots(R"({"name":"all","events":["*"],"ordering_scope":"none"})"));
  const HttpResponse again = Post({.body = large.body, .id = "redelivered"});
  EXPECT_EQ(again.status, 200);
  EXPECT_FALSE(again.Json()["duplicate"].Bool()) << "nothing of it was stored";
}

TEST_P(Webhooks, AWellFormedSignedEventIsTakenWhateverItIs) {
  for (const char* body :
       {"{}", R"({"x":"\ud800\u0000"})", R"({"n":1e999})", R"({"repository":5,"action":{}})"})
    for (const char* event : {"issues", "nobody_has_heard_of_it", "sub_issues", "ping"})
      EXPECT_EQ(Post({.event = event, .body = body}).status, 200) << body << event;
  const std::string form = "payload=%7B%22action%22%3A+%22opened%22%7D";
  EXPECT_EQ(Post({.body = form, .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}})
                .status,
            200);
  // Bytes that are no text, in headers that are kept.
  EXPECT_EQ(Post({.headers = {{"Content-Type", "application/json; charset=\xFF"},
                              {"User-Agent", "GitHub\xC3("}}})
                .status,
            200);
  // Where a rule does not apply it goes by the next one, and is counted.
  EXPECT_EQ(Post({.body = R"({"repository":{"id":1}})"}).status, 200);
  EXPECT_THAT(api().Get("/metrics").body,
              HasSubstr(R"(queue_routing_fallbacks_total{event="issues"} 1)"));
}

TEST_P(Webhooks, OfAFormConsumersGetThePayloadWhateverItsSize) {
  Apply(github_.Bots(R"({"name":"all","events":["*"],"ordering_scope":"none"})"));
  const std::string payload = BodyOf(2 * kMebibyte);
  const std::string form = "payload=%7B%22x%22" + payload.substr(4, payload.size() - 5) + "%7D";
  const HttpResponse taken =
      Post({.body = form, .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}});
  ASSERT_EQ(taken.status, 200) << taken.body;
  const Json message =
      api()
          .Call("POST", "/api/v1/messages/claim", R"({"topics":["queue:all"],"owner":"bot"})")
          .Json()["messages"][0]["payload"];
  EXPECT_TRUE(message["payload"].IsNull());
  const HttpResponse json = support::Call(api().port(), "GET", message["payload_url"].Text());
  EXPECT_EQ(json.Header("Content-Type"), "application/json");
  EXPECT_TRUE(json.body == payload);
  const HttpResponse bytes =
      support::Call(api().port(), "GET",
                    "/api/v1/webhooks/events/" + taken.Json()["event_id"].Text() + "/payload");
  EXPECT_EQ(bytes.Header("X-Hub-Signature-256"), SignatureOf(form, github_.secret()));
  EXPECT_TRUE(bytes.body == form);
}

TEST_P(Webhooks, TheSameDeliverySentFiveTimesAtOnceAndAfterARestartIsOneEvent) {
  const GitHub::Sent sent;
  std::atomic<int> fresh = 0;
  {
    std::vector<std::jthread> senders;
    for (int i = 0; i < 5; ++i)
      senders.emplace_back([&] {
        const HttpResponse response = Post(sent);
        EXPECT_EQ(response.status, 200) << response.body;
        if (!response.Json()["duplicate"].Bool()) ++fresh;
      });
  }
  EXPECT_EQ(fresh, 1);
  const std::string stored = Stored();
  Serve();
  EXPECT_TRUE(Post(sent).Json()["duplicate"].Bool());
  EXPECT_EQ(Stored(), stored);
  GitHub::Sent of_another_hook = sent;
  of_another_hook.headers = {{"X-GitHub-Hook-ID", "43"}};
  const HttpResponse other = Post(of_another_hook);
  EXPECT_FALSE(other.Json()["duplicate"].Bool());
  EXPECT_EQ(other.Json()["messages"].Int(), 2);
}

TEST_P(Webhooks, ABodyOfExactly25MebibytesArrivesByteForByteAtConsumersOfEitherKind) {
  Apply(github_.Bots(R"({"name":"all","events":["*"],"ordering_scope":"none"},)"
                     R"({"name":"ordered","events":["*"],"ordering_scope":"entity"})"));
  const std::string body = BodyOf(25 * kMebibyte);
  const HttpResponse taken = Post({.event = "push", .body = body});
  ASSERT_EQ(taken.status, 200) << taken.body;
  const Json claimed =
      api()
          .Call("POST", "/api/v1/messages/claim", R"({"topics":["queue:all"],"owner":"bot"})")
          .Json()["messages"][0]["payload"];
  const Json accepted = api()
                            .Call("POST", "/api/v1/queues/ordered/accept", R"({"consumer":"bot"})")
                            .Json()["sessions"][0]["messages"][0];
  for (const Json& message : {claimed, accepted}) {
    EXPECT_TRUE(message["payload"].IsNull());
    const HttpResponse payload = support::Call(api().port(), "GET", message["payload_url"].Text());
    EXPECT_EQ(payload.status, 200);
    EXPECT_TRUE(payload.body == body);
    // As GitHub signed it: by its secret over SHA-256.
    EXPECT_EQ(payload.Header("X-Hub-Signature-256"), SignatureOf(body, github_.secret()));
  }
}

/// "VmHWM", the most memory that a process ever had, and the like; in bytes.
std::size_t MemoryOf(pid_t process, const std::string& what) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what + ":")) return std::stoul(line.substr(what.size() + 1)) * 1'024;
  throw std::runtime_error("no " + what);
}

TEST_P(Webhooks, SixteenLargeBodiesAtOnceTakeNoMoreMemoryThanTheyMay) {
  Serve({"--set", "webhooks.bytes_in_flight=64MiB"});
  const std::string body = BodyOf(25 * kMebibyte);
  const std::string signature = SignatureOf(body, github_.secret());
  const auto header = [&](int i) {
    return fmt::format(
        "POST /webhooks/github HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nExpect: 100-continue\r\n"
        "X-GitHub-Event: push\r\nX-GitHub-Delivery: {}\r\nX-Hub-Signature-256: {}\r\n"
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        api().port(), i, signature, body.size());
  };
  const pid_t server = server_->process().pid();
  const std::size_t before = MemoryOf(server, "VmRSS");
  std::vector<HttpConnection> clients;
  std::vector<HttpConnection*> welcome;
  clients.reserve(16);
  for (int i = 0; i < 16; ++i) {
    HttpConnection& client = clients.emplace_back(api().port(), std::chrono::seconds(60));
    const HttpResponse response = client.Ask(header(i));
    if (response.status == 100)
      welcome.push_back(&client);
    else
      ExpectProblem(response, 503);
  }
  EXPECT_EQ(welcome.size(), 2U);
  EXPECT_EQ(Post({}).status, 200) << "a small one fits";
  for (HttpConnection* client : welcome) client->Send(body);
  for (HttpConnection* client : welcome) EXPECT_EQ(client->ReadResponse().status, 200);
  // And some: on its way into the store one at a time of each lane.
  EXPECT_LT(MemoryOf(server, "VmHWM"), before + (64 + 4 * 25) * kMebibyte);
  clients.clear();
  Eventually("there is room again",
             [&] { return HttpConnection(api().port()).Ask(header(16)).status == 100; });
}

TEST_P(Webhooks, AListenerOfTheirOwnServesThemToAnybodyAndNothingElse) {
  Serve({"--set", "webhooks.listen=127.0.0.1:0"});
  const std::string says = "Webhooks are also taken on http://127.0.0.1:";
  const std::string output = server_->Output();
  ASSERT_THAT(output, HasSubstr(says));
  const int port = std::stoi(output.substr(output.find(says) + says.size()));
  const GitHub::Sent sent{
      .headers = {{"Host", "tenure.example"}, {"X-Forwarded-For", "192.0.2.1"}}};
  const support::HttpHeaders headers = github_.HeadersOf(sent);
  const HttpResponse through = support::Call(port, "POST", github_.Path(), sent.body, headers);
  EXPECT_EQ(through.status, 200) << through.body;
  EXPECT_EQ(Post(sent).status, 403) << "without authentication the other one is for local clients";
  for (const char* path : {"/livez", "/metrics", "/api/v1/bots", "/openapi.json", "/ui/"})
    EXPECT_EQ(support::Call(port, "GET", path).status, 404) << path;
  EXPECT_EQ(support::Call(port, "POST", "/api/v1/webhooks/explain", "{}").status, 404);
  const auto same =
      RunTenure({"serve", "--listen", "127.0.0.1:7", "--set", "webhooks.listen=127.0.0.1:7"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("webhooks.listen (127.0.0.1:7) must not be listen"));
}

TEST_P(Webhooks, AnEventIsFoundByWhatItIsAboutAndExplained) {
  const GitHub::Sent sent;
  const std::string id = Post(sent).Json()["event_id"].Text();
  for (const char* query : {"delivery_id=", "event=issues&delivery_id=",
                            "repository=ACME%2Fshop&entity=issue%2F7&delivery_id="})
    EXPECT_EQ(api()
                  .Get("/api/v1/webhooks/events?" + (query + sent.id))
                  .Json()["items"][0]["event_id"]
                  .Text(),
              id);
  EXPECT_EQ(api()
                .Get("/api/v1/webhooks/events?correlation_id=" + id)
                .Json()["items"][0]["delivery_id"]
                .Text(),
            sent.id);
  const Json event = api().Get("/api/v1/webhooks/events/" + id).Json();
  EXPECT_EQ(event["delivery_id"].Text(), sent.id);
  EXPECT_EQ(event["messages"].Int(), 2);
  const std::string stored = Stored();
  const Json explained = api()
                             .Call("POST", "/api/v1/webhooks/explain",
                                   fmt::format(R"({{"event":"issues","payload":{}}})", sent.body))
                             .Json();
  EXPECT_EQ(Stored(), stored);
  EXPECT_EQ(explained["bots"][1]["sessions"][0]["key"].Text(), "github.com/r1/thread/7");
  EXPECT_EQ(explained["bots"][1]["sessions"][0]["name"].Text(), "acme/shop/issue/7");
  EXPECT_EQ(event["ways"].Size(), 2U);
  EXPECT_EQ(event["ways"][0]["state"].Text(), "waiting");
  EXPECT_EQ(event["ways"][1]["key"].Text(), "github.com/r1/thread/7");
  EXPECT_EQ(event["ways"][1]["sequence"].Int(), 1);
  const std::string metrics = api().Get("/metrics").body;
  for (const char* line :
       {"webhook_intake_seconds_count 1", R"(webhook_secrets{source="other"} 1)"})
    EXPECT_THAT(metrics, HasSubstr(line));
}

/// `explain` says of a payload what becomes of it when it is sent.
TEST_P(Webhooks, WhatIsExplainedIsWhatHappens) {
  Apply(github_.Bots(
      R"({"name":"a","events":["*","!*.labeled"],"ordering_scope":"entity","checks":"pull_requests"},)"
      R"({"name":"b","events":["issue*","push"],"ordering_scope":"repository"},)"
      R"({"name":"c","events":["*"],"ordering_scope":"custom","session_key":"{$event}/{x}"},)"
      R"({"name":"d","events":["*"],"ordering_scope":"entity","repositories":["acme/*"],)"
      R"("routes":[{"events":["push"],"entity":"ref"}]})"));
  const std::string shop = R"("repository":{"id":1,"full_name":"acme/shop"})";
  const std::pair<const char*, std::string> kSent[] = {
      {"issues", R"({"action":"labeled","issue":{"number":7},)" + shop + "}"},
      {"issue_comment", R"({"action":"created","issue":{"number":7},"x":"y/z",)" + shop + "}"},
      {"push", R"({"ref":"refs/heads/main","x":1,)" + shop + "}"},
      {"check_run",
       R"({"check_run":{"id":9,"pull_requests":[{"number":2,"base":{"repo":{"id":1}}},)"
       R"({"number":3,"base":{"repo":{"id":1}}}]},)" +
           shop + "}"},
      {"organization", R"({"organization":{"id":4,"login":"acme"}})"},
      {"nobody_has_heard_of_it", "{}"},
  };
  using Place = std::tuple<std::string, std::string, std::string>;
  for (const auto& [event, body] : kSent) {
    const Json explained =
        api()
            .Call("POST", "/api/v1/webhooks/explain",
                  fmt::format(
                      R"({{"event":"{}","payload":{},"headers":{{"X-GitHub-Hook-ID":"42"}}}})",
                      event, body))
            .Json()["bots"];
    std::set<Place> said, happened;
    for (std::size_t i = 0; i < explained.Size(); ++i) {
      if (!explained[i]["matched"].Bool()) continue;
      const Json sessions = explained[i]["sessions"];
      for (std::size_t k = 0; k < sessions.Size(); ++k)
        said.insert(
            {explained[i]["bot"].Text(), sessions[k]["key"].Text(), sessions[k]["name"].Text()});
    }
    const std::string id = Post({.event = event, .body = body}).Json()["event_id"].Text();
    const Json ways = api().Get("/api/v1/webhooks/events/" + id).Json()["ways"];
    for (std::size_t i = 0; i < ways.Size(); ++i)
      happened.insert({ways[i]["bot"].Text(), ways[i]["key"].Text(), ways[i]["name"].Text()});
    EXPECT_EQ(said, happened) << event;
    EXPECT_FALSE(said.empty());
  }
}

TEST_P(Webhooks, StoredEventsAreAppendedToABotThatCameLaterOnceForEachKey) {
  const auto late = R"({"name":"late","events":["issues"],"ordering_scope":"none"})";
  for (int i = 0; i < 3; ++i) Post({});
  EXPECT_EQ(api().Call("POST", "/api/v1/webhooks/replay", R"({"queue":"late","events":{}})").status,
            404);
  Apply(github_.Bots(late));
  const auto replay = [&](const std::string& body, const std::string& key) {
    return api().Call("POST", "/api/v1/webhooks/replay", body, {{"Idempotency-Key", key}});
  };
  EXPECT_EQ(
      FieldsOf(replay(R"({"queue":"late","events":{"since":"now","x":"1"},"cursor":"x","limit":0})",
                      "a")),
      (Fields{"events.since", "events.x", "cursor", "limit"}));
  EXPECT_EQ(FieldsOf(replay("{}", "b")), (Fields{"queue", "events"}));
  for (int i = 0; i < 2; ++i) {
    const Json replayed =
        replay(R"({"queue":"late","events":{"repository":"ACME/shop"}})", "c").Json();
    EXPECT_EQ(replayed["found"].Int(), 3);
    EXPECT_EQ(replayed["changed"].Int(), 3);
    EXPECT_TRUE(replayed["next_cursor"].IsNull());
  }
  EXPECT_EQ(api().Get("/api/v1/topics/queue:late").Json()["ready"].Int(), 3);
  // The same under the queue's own address.
  const auto into_queue = [&](const std::string& body) {
    return api().Call("POST", "/api/v1/queues/late/replay", body);
  };
  EXPECT_EQ(into_queue(R"({"events":{},"dry_run":true})").Json()["found"].Int(), 3);
  EXPECT_EQ(into_queue(R"({"events":{}})").Json()["changed"].Int(), 3);
  EXPECT_EQ(FieldsOf(into_queue(R"({"events":{},"session":"x"})")), Fields{"session"});
}

/// Deliveries of each issue one after another, to whichever server is next, each until it is answered;
/// servers are killed meanwhile. What was answered is there once, in the order in which it was sent.
TEST_P(Webhooks, WhatIsAnsweredIsThereOnceAndInOrderThoughServersAreKilled) {
  constexpr int kIssues = 8, kEach = 30, kKills = 6;
  const std::size_t count = GetParam() == Engine::kSqlite ? 1 : 3;
  server_.reset();
  std::vector<std::unique_ptr<support::ServerProcess>> servers;
  std::vector<std::atomic<int>> ports(count);
  for (std::size_t i = 0; i < count; ++i) {
    servers.push_back(store_.Serve());
    ports[i] = servers[i]->Port();
  }
  std::atomic<int> answered = 0;
  std::atomic<std::size_t> turn = 0;
  const auto deliver = [&](const GitHub::Sent& sent) {
    try {
      return support::Call(ports[turn++ % count], "POST", github_.Path(), sent.body,
                           github_.HeadersOf(sent))
                 .status == 200;
    } catch (const std::exception&) {
      return false;  // killed: nobody knows, so it is sent again
    }
  };
  std::vector<std::jthread> senders;
  for (int issue = 1; issue <= kIssues; ++issue)
    senders.emplace_back([&, issue] {
      for (int n = 1; n <= kEach; ++n) {
        GitHub::Sent sent;
        sent.id = fmt::format("{}-{}", issue, n);
        sent.body = fmt::format(
            R"({{"action":"edited","issue":{{"number":{}}},"repository":{{"id":1,"full_name":"a/b"}}}})",
            issue);
        while (!deliver(sent)) std::this_thread::yield();
        ++answered;
      }
    });
  for (int kill = 1; kill <= kKills; ++kill) {
    Eventually(
        "it goes on", [&] { return answered > kill * kIssues * kEach / (kKills + 2); },
        std::chrono::seconds(120));
    const std::size_t which = static_cast<std::size_t>(kill) % count;
    servers[which]->Kill();
    servers[which] = store_.Serve();
    ports[which] = servers[which]->Port();
  }
  senders.clear();
  const std::string schema = GetParam() == Engine::kSqlite ? "" : "tenure.";
  const auto number = [&](const std::string& query) { return std::stoi(store_.Execute(query)); };
  EXPECT_EQ(number(fmt::format("select count(*) from {}webhook_events", schema)), kIssues * kEach);
  EXPECT_EQ(number(fmt::format("select count(*) from {0}messages m join {0}topics t on "
                               "t.topic_id = m.topic_id where t.name = 'queue:all'",
                               schema)),
            kIssues * kEach);
  for (int issue = 1; issue <= kIssues; ++issue)
    EXPECT_EQ(
        number(fmt::format(
            "select count(*) from {0}queue_messages m join {0}queue_sessions s on "
            "s.session_id = m.session_id join {0}webhook_events e on e.event_id = m.event_id "
            "where s.key = 'github.com/r1/thread/{1}' and e.delivery_id = '{1}-' || m.sequence",
            schema, issue)),
        kEach);
}

}  // namespace
}  // namespace tenure::api
