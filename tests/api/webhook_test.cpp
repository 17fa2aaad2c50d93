// Webhooks by a real server: what is taken, what is refused, and that a refusal leaves nothing.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/github.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpConnection;
using support::HttpResponse;
using support::Json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBots =
    R"({"name":"all","events":["*"],"ordering_scope":"none"},)"
    R"({"name":"issues","events":["issues"],"ordering_scope":"entity","max_size_in_megabytes":1})";
constexpr std::size_t kMebibyte = 1 << 20;

std::string BodyOf(std::size_t size) {
  const std::string around = R"({"x":""})";
  return R"({"x":")" + std::string(size - around.size(), 'x') + R"("})";
}

class Webhooks : public testing::TestWithParam<Engine> {
 protected:
  void Serve(std::vector<std::string> flags = {}) {
    server_.reset();
    server_ = store_.Serve(std::move(flags));
    api_.emplace(*server_);
  }
  void SetUp() override {
    Serve();
    Apply(github_.Bots(kBots));
  }
  void Apply(const std::string& file) const {
    const HttpResponse applied = api().Call("PUT", "/api/v1/bots", file);
    ASSERT_EQ(applied.status, 200) << applied.body;
  }
  const Api& api() const { return *api_; }
  HttpResponse Post(const GitHub::Sent& sent) const { return github_.Post(api(), sent); }
  /// Of one header that is otherwise.
  HttpResponse PostWith(const std::string& name, const std::string& value) const {
    return Post({.headers = {{name, value}}});
  }

  /// Every row that a webhook can make, counted past the server.
  std::string Stored() const {
    const std::string schema = GetParam() == Engine::kSqlite ? "" : "tenure.";
    std::string counts;
    for (const char* table : {"webhook_events", "webhook_payloads", "webhook_deliveries",
                              "messages", "queue_messages", "queue_sessions"})
      counts += store_.Execute(fmt::format("select count(*) from {}{}", schema, table)) + " ";
    return counts;
  }
  /// `ask` is refused like this, and leaves nothing.
  template <class Ask>
  HttpResponse ExpectRefused(int status, const std::string& type, Ask ask) const {
    const std::string before = Stored();
    HttpResponse response = ask();
    ExpectProblem(response, status);
    EXPECT_EQ(ProblemType(response), type);
    EXPECT_EQ(Stored(), before) << type;
    return response;
  }

  StoreUnderTest store_{GetParam()};
  GitHub github_;
  std::unique_ptr<support::ServerProcess> server_;
  std::optional<Api> api_;
};
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

TEST_P(Webhooks, ASecretIsRotatedUnderLoadAndAFileThatWasAwayComesBack) {
  const std::string next = github_.SecretFile("next");
  Apply(fmt::format(
      R"({{"sources":[{{"name":"github","secrets":[{{"file":"{}"}},{{"file":"{}"}}]}}],)"
      R"("bots":[]}})",
      github_.SecretFile(), next));
  const auto loaded = [&] {
    return api().Get("/api/v1/webhooks/sources").Json()["items"][0]["secrets_loaded"].Int();
  };
  const auto read_again = [&](std::int64_t count) {
    server_->process().Kill(SIGHUP);
    Eventually(fmt::format("{} secrets are read", count), [&] { return loaded() == count; });
  };
  EXPECT_EQ(loaded(), 1);
  std::atomic<bool> done = false;
  std::atomic<int> taken = 0;
  GitHub sender("github");  // what GitHub signs with
  sender.Rotate(github_.secret());
  std::mutex mutex;
  std::jthread load([&] {
    while (!done) {
      const std::lock_guard lock(mutex);
      const HttpResponse response = sender.Post(api(), {});
      EXPECT_EQ(response.status, 200) << response.body;
      ++taken;
    }
  });
  const auto goes_on = [&] {
    Eventually("it goes on", [&, from = taken.load()] { return taken > from + 5; });
  };
  support::ReplaceFile(next, "second");
  read_again(2);
  goes_on();
  {
    const std::lock_guard lock(mutex);
    sender.Rotate("second");
  }
  goes_on();
  std::filesystem::remove(github_.SecretFile());
  read_again(1);
  goes_on();
  done = true;
  load.join();
  std::filesystem::remove(next);
  read_again(0);
  EXPECT_EQ(sender.Post(api(), {}).status, 503);
  support::ReplaceFile(next, "second");
  read_again(1);
  EXPECT_EQ(sender.Post(api(), {}).status, 200);
}

TEST_P(Webhooks, ABodyOfExactly25MebibytesComesBackByteForByte) {
  Apply(github_.Bots(R"({"name":"all","events":["*"],"ordering_scope":"none"})"));
  const std::string body = BodyOf(25 * kMebibyte);
  const HttpResponse taken = Post({.event = "push", .body = body});
  ASSERT_EQ(taken.status, 200) << taken.body;
  const Json claimed =
      api()
          .Call("POST", "/api/v1/messages/claim", R"({"topics":["queue:all"],"owner":"bot"})")
          .Json()["messages"][0]["payload"];
  EXPECT_TRUE(claimed["payload"].IsNull());
  const HttpResponse payload = support::Call(api().port(), "GET", claimed["payload_url"].Text());
  EXPECT_EQ(payload.status, 200);
  EXPECT_TRUE(payload.body == body);
  EXPECT_EQ(payload.Header("X-Hub-Signature-256"), SignatureOf(body, github_.secret()));
}

TEST_P(Webhooks, BodiesBeyondTheirMemoryAreRefusedByTheirHeader) {
  Serve({"--set", "webhooks.bytes_in_flight=64MiB"});
  const std::string header = fmt::format(
      "POST /webhooks/github HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nExpect: 100-continue\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
      api().port(), 25 * kMebibyte);
  std::vector<HttpConnection> clients;
  int welcome = 0;
  for (int i = 0; i < 16; ++i) {
    const HttpResponse response = clients.emplace_back(api().port()).Ask(header);
    if (response.status == 100)
      ++welcome;
    else
      ExpectProblem(response, 503);
  }
  EXPECT_EQ(welcome, 2);
  EXPECT_EQ(Post({}).status, 200) << "a small one fits";
  clients.clear();
  Eventually("there is room again",
             [&] { return HttpConnection(api().port()).Ask(header).status == 100; });
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
}

TEST_P(Webhooks, AFileWithMistakesIsRefusedWithAllOfThemAndNothingIsApplied) {
  const auto revision = [&] { return api().Get("/api/v1/bots").Json()["revision"].Int(); };
  const std::int64_t before = revision();
  const HttpResponse refused = api().Call(
      "PUT", "/api/v1/bots",
      R"({"sources":[{"name":"github"}],"bots":[{"name":"b","events":["issues.*"],)"
      R"("ordering_scope":"repositry","x":1},{"name":"c","events":["*.*.*"],"ordering_scope":"none"}]})");
  EXPECT_EQ(FieldsOf(refused),
            (Fields{"sources[0]", "bots[0].ordering_scope", "bots[0]", "bots[1].events[0]"}))
      << refused.body;
  EXPECT_EQ(revision(), before);
  const HttpResponse moved =
      api().Call("PUT", fmt::format("/api/v1/bots?revision={}", before + 7), github_.Bots(kBots));
  ExpectProblem(moved, 409);
  EXPECT_EQ(ProblemType(moved), "revision-moved");
  const HttpResponse dry = api().Call("PUT", "/api/v1/bots?dry_run=true", github_.Bots(""));
  EXPECT_EQ(dry.Json()["changes"].Size(), 2U);
  EXPECT_EQ(revision(), before);
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

/// What each process does with a file that it is given: `queues.files`.
TEST_P(Webhooks, TheFirstProcessPutsItsFileInForceAndOneWithAnotherRefuses) {
  const support::TempDir folder;
  const auto write = [&](const std::string& name, const std::string& bots) {
    const std::string path = folder / name;
    support::ReplaceFile(
        path, "tenant: acme\nsources: [{name: ours, secrets: [{env: S}]}]\nbots:\n" + bots);
    return path;
  };
  const std::string file =
      write("bots.yaml", "  - {name: b, events: [push], ordering_scope: none}\n");
  Serve({"--set", "queues.files=" + file});
  EXPECT_EQ(api().Get("/api/v1/webhooks/sources").Json()["items"].Size(), 1U) << "of this tenant";
  EXPECT_EQ(api().Call("POST", "/webhooks/github/ours", "{}").status, 503) << "it is in force";
  Serve({"--set", "queues.files=" + file});
  server_.reset();
  const std::string other =
      write("other.yaml", "  - {name: b, events: [issues], ordering_scope: none}\n");
  std::vector<std::string> serve{"serve", "--listen", "127.0.0.1:0", "--set",
                                 "queues.files=" + other};
  for (const std::string& flag : store_.Flags()) serve.push_back(flag);
  const ProgramResult refused = RunTenure(serve);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("is not what is in force (revision 2):\n  b: it gets other "
                                     "events from the next one on"));
  Serve();
  EXPECT_EQ(api().Call("POST", "/webhooks/github/ours", "{}").status, 503)
      << "it takes the store's";
}

TEST_P(Webhooks, CheckSaysEverythingThatIsWrongInALineEachAndAppliesNothing) {
  const support::TempDir folder;
  const std::string file = folder / "bots.yaml";
  support::ReplaceFile(file,
                       "bots:\n"
                       "  - {name: one, events: [Issues], ordering_scope: none}\n"
                       "  - {name: two, events: [issues], ordering_scope: repositry}\n"
                       "  - {name: three, events: [issues], ordering_scope: entity, x: 1}\n");
  for (const char* command : {"check", "apply"}) {
    std::vector<std::string> arguments{"queue", command, file};
    if (command == std::string("apply"))
      arguments.insert(arguments.end(), {"--server", server_->Url()});
    const ProgramResult result = RunTenure(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 3) << result.err;
    for (const char* line :
         {"bots.yaml:2: bots[0] one: events[0]", "bots.yaml:3: bots[1] two: ordering_scope",
          "bots.yaml:4: bots[2] three: \"x\""})
      EXPECT_THAT(result.err, HasSubstr(line));
  }
  EXPECT_EQ(api().Get("/api/v1/bots").Json()["revision"].Int(), 1);
}

TEST_P(Webhooks, AFileIsInForceInEveryProcessBeforeItsApplyIsAnswered) {
  if (GetParam() == Engine::kSqlite) GTEST_SKIP() << "one process has a file";
  const auto second = store_.Serve(), third = store_.Serve();
  int n = 0;
  for (const char* scope : {"none", "entity", "none"})
    for (const support::ServerProcess* server : {server_.get(), second.get(), third.get()}) {
      const Api here(*server);
      const std::string bot = fmt::format("b{}", ++n);
      EXPECT_EQ(
          here.Call("PUT", "/api/v1/bots",
                    github_.Bots(fmt::format(
                        R"({{"name":"{}","events":["*"],"ordering_scope":"{}"}})", bot, scope)))
              .status,
          200);
      for (const support::ServerProcess* other : {server_.get(), second.get(), third.get()}) {
        const GitHub::Sent sent;
        EXPECT_EQ(github_.Post(Api(*other), sent).Json()["messages"].Int(), 1);
      }
      // Its own three, and none of another revision's.
      const std::string counted =
          scope == std::string("none")
              ? fmt::format(
                    "select count(*) from tenure.messages join tenure.topics using "
                    "(topic_id) where name = 'queue:{}'",
                    bot)
              : fmt::format(
                    "select count(*) from tenure.queue_messages m join tenure.queue_sessions "
                    "s using (session_id) join tenure.queues q using (queue_id) where "
                    "q.name = '{}'",
                    bot);
      EXPECT_EQ(store_.Execute(counted), "3") << bot;
    }
}

}  // namespace
}  // namespace tenure::api
