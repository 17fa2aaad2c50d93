// What is answered at the door of webhooks, over HTTP.

#include "webhooks/intake.hpp"

#include <fstream>
#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"
#include "webhooks/rules/signature.hpp"
#include "webhooks/test_process.hpp"

namespace tenure::webhooks {
namespace {

using support::HttpConnection;
using support::HttpHeaders;
using support::HttpResponse;
using testing::HasSubstr;

constexpr std::size_t kMaxBody = 100'000;
constexpr std::size_t kOnLoop = 2'000;

/// A server with nothing but the door.
class Door : public testing::Test {
 protected:
  void SetUp() override {
    Write("first", "new secret\n");
    Write("second", "old secret");
    process_.Apply(fmt::format(
        "sources:\n"
        "  - {{name: github, secrets: [{{file: {0}/first}}, {{file: {0}/second}}]}}\n"
        "  - {{name: elsewhere, secrets: [{{file: {0}/first}}], allow_from: [192.0.2.0/24]}}\n"
        "  - {{name: seldom, secrets: [{{file: {0}/first}}], rate: 1/h}}\n"
        "  - {{name: closed, secrets: [{{file: {0}/missing}}]}}\n"
        "bots: [{{name: all, events: [\"*\"], ordering_scope: none}}]\n",
        folder_.path().string()));
    process_.Learn();
    intake_.AddRoutes(router_);
    server_.emplace(http::ServerOptions{.port = 0}, router_, store_.metrics(), store_.clock());
    process_.store().Start();
    server_->Start();
  }
  void TearDown() override {
    server_->Stop(0);
    intake_.Stop();
    process_.store().Stop();
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  /// Puts a file in force that this process hears nothing of.
  void ApplyElsewhere(const std::string& yaml) {
    std::promise<bool> applied;
    process_.webhooks().Apply(TestProcess::Request(yaml),
                              [&](auto result) { applied.set_value(result.ok()); });
    ASSERT_TRUE(applied.get_future().get());
  }
  HttpResponse Ask(const std::string& path, const std::string& body, const HttpHeaders& headers) {
    return HttpConnection(server_->port()).Call("POST", path, body, headers);
  }
  /// As GitHub sends, but for `other` headers; one with an empty value is left out.
  HttpResponse Post(const std::string& body, const HttpHeaders& other = {},
                    const std::string& path = "/webhooks/github") {
    HttpHeaders headers = {{"X-GitHub-Event", "issues"},
                           {"X-GitHub-Delivery", fmt::format("d{}", ++deliveries_)},
                           {"X-GitHub-Hook-ID", "42"},
                           {"X-Hub-Signature-256", rules::SignatureOf(body, "new secret")}};
    for (const auto& [name, value] : other) {
      std::erase_if(headers, [&, &key = name](const auto& each) { return each.first == key; });
      if (!value.empty()) headers.emplace_back(name, value);
    }
    return Ask(path, body, headers);
  }
  void ExpectProblem(const HttpResponse& response, int status, std::string_view type) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_THAT(response.body, HasSubstr(fmt::format("urn:tenure:problem:{}", type)));
  }
  std::int64_t Stored() {
    return store_.Number("select count(*) from webhook_events",
                         "select count(*) from tenure.webhook_events");
  }

  support::TempDir folder_;
  store::TestStore store_{store::EngineKind::kSqlite, AllQueries()};
  TestProcess process_{store_};
  http::Router router_;
  Intake intake_{
      process_.webhooks(),
      store_.clock(),
      {.max_body_bytes = kMaxBody, .bytes_in_flight = 2 * kMaxBody, .on_loop_bytes = kOnLoop}};
  std::optional<http::Server> server_;
  int deliveries_ = 0;
};

const std::string kBody = R"({"action":"opened","issue":{"number":7}})";

TEST_F(Door, AGoodWebhookIsStoredBeforeItIsAnswered) {
  const HttpResponse response = Post(kBody);
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.Json()["duplicate"].Bool());
  EXPECT_EQ(response.Json()["messages"].Int(), 1);
  EXPECT_EQ(Stored(), 1);
}

TEST_F(Door, TheSameDeliveryAgainIsItsFirstEvent) {
  const HttpHeaders id = {{"X-GitHub-Delivery", "again"}};
  const HttpResponse first = Post(kBody, id);
  const HttpResponse again = Post(kBody, id);
  EXPECT_TRUE(again.Json()["duplicate"].Bool());
  EXPECT_FALSE(again.Json().Has("messages"));
  EXPECT_EQ(again.Json()["event_id"].Text(), first.Json()["event_id"].Text());
  EXPECT_EQ(Stored(), 1);
}

TEST_F(Door, NoMalformedRepeatedOrWrongSignatureAreAllAlikeHoweverTheRestLooks) {
  const std::string good = rules::SignatureOf(kBody, "new secret");
  std::vector<HttpResponse> refusals;
  for (const std::string& signature :
       {std::string(), std::string("x"), good + "0", rules::SignatureOf(kBody, "other secret")})
    refusals.push_back(Post(kBody, {{"X-Hub-Signature-256", signature}}));
  refusals.push_back(Ask("/webhooks/github", kBody,
                         {{"X-Hub-Signature-256", good}, {"X-Hub-Signature-256", good}}));
  refusals.push_back(Post("no JSON", {{"X-Hub-Signature-256", good},
                                      {"Content-Type", "text/plain"},
                                      {"X-GitHub-Event", "NO EVENT"}}));
  refusals.push_back(
      Post(std::string(3 * kOnLoop, 'x'), {{"X-Hub-Signature-256", good}}));  // on the worker
  const auto without_id = [](const HttpResponse& response) {
    std::string text = response.body;
    return text.substr(0, text.find("\"request_id\""));
  };
  for (const HttpResponse& refusal : refusals) {
    ExpectProblem(refusal, 401, "bad-signature");
    EXPECT_EQ(without_id(refusal), without_id(refusals.front()));
  }
  EXPECT_EQ(Stored(), 0);
}

TEST_F(Door, AnySecretOfTheSourceCountsAndAFileThatComesBackDoes) {
  EXPECT_EQ(Post(kBody, {{"X-Hub-Signature-256", rules::SignatureOf(kBody, "old secret")}}).status,
            200);
  const auto closed = [&] { return Post(kBody, {}, "/webhooks/github/closed"); };
  const HttpResponse refused = closed();
  ExpectProblem(refused, 503, "secrets-unavailable");
  EXPECT_EQ(refused.Header("Retry-After"), "10");
  Write("missing", "new secret\n");
  process_.webhooks().secrets().Read(*process_.webhooks().bots().Get());
  EXPECT_EQ(closed().status, 200);
}

TEST_F(Door, AnUnknownSourceAForbiddenAddressAndTooManyAreRefused) {
  ExpectProblem(Post(kBody, {}, "/webhooks/github/nobody"), 404, "not-found");
  ExpectProblem(Post(kBody, {}, "/webhooks/github/elsewhere"), 403, "source-forbidden");
  EXPECT_EQ(Post(kBody, {}, "/webhooks/github/seldom").status, 200);
  const HttpResponse often = Post(kBody, {}, "/webhooks/github/seldom");
  ExpectProblem(often, 429, "rate-limited");
  EXPECT_NE(often.Header("Retry-After"), "");
  EXPECT_EQ(Stored(), 1);
}

/// Each request is wrong in one way, and in every way that is looked at later.
TEST_F(Door, TheFirstThatIsWrongIsTheAnswer) {
  Post(kBody, {}, "/webhooks/github/seldom");  // all that it may send in an hour
  const std::int64_t stored = Stored();
  const HttpHeaders wrong = {{"X-Hub-Signature-256", "none"},
                             {"Content-Type", "text/plain"},
                             {"Content-Encoding", "gzip"},
                             {"X-GitHub-Event", "NO EVENT"},
                             {"X-GitHub-Delivery", "a b"}};
  const auto ask = [&](const std::string& source, std::size_t bytes) {
    return HttpConnection(server_->port())
        .Ask(fmt::format("POST /webhooks/github/{} HTTP/1.1\r\nHost: localhost\r\n"
                         "X-Hub-Signature-256: none\r\nContent-Length: {}\r\n\r\n",
                         source, bytes));
  };
  ExpectProblem(ask("nobody", kMaxBody + 1), 404, "not-found");
  ExpectProblem(ask("elsewhere", kMaxBody + 1), 403, "source-forbidden");
  ExpectProblem(ask("seldom", kMaxBody + 1), 413, "body-too-large");
  const auto post = [&](const std::string& source, const HttpHeaders& headers) {
    return Post("no JSON", headers, "/webhooks/github/" + source);
  };
  ExpectProblem(post("nobody", wrong), 404, "not-found");
  ExpectProblem(post("elsewhere", wrong), 403, "source-forbidden");
  ExpectProblem(post("seldom", wrong), 429, "rate-limited");
  ExpectProblem(post("closed", wrong), 503, "secrets-unavailable");
  ExpectProblem(post("github", wrong), 401, "bad-signature");
  HttpHeaders behind(wrong.begin() + 1, wrong.end());
  ExpectProblem(post("github", behind), 415, "unsupported-media-type");
  behind.erase(behind.begin(), behind.begin() + 2);
  ExpectProblem(post("github", behind), 400, "invalid-request");
  ExpectProblem(post("github", {}), 400, "invalid-json");
  EXPECT_EQ(Stored(), stored);
}

/// A "no" is none before the store has said so: another process may have been told a moment ago.
TEST_F(Door, AFileThatThisProcessHasNotSeenYetCountsBeforeAWebhookIsRefused) {
  Write("third", "third secret");
  Write("missing", "third secret");
  ApplyElsewhere(
      fmt::format("sources:\n"
                  "  - {{name: github, secrets: [{{file: {0}/third}}]}}\n"
                  "  - {{name: elsewhere, secrets: [{{file: {0}/third}}]}}\n"
                  "  - {{name: fresh, secrets: [{{file: {0}/third}}]}}\n"
                  "  - {{name: closed, secrets: [{{file: {0}/third}}]}}\n",
                  folder_.path().string()));
  const HttpHeaders by_third = {{"X-Hub-Signature-256", rules::SignatureOf(kBody, "third secret")}};
  EXPECT_EQ(Post(kBody, by_third).status, 200);
  for (const char* source : {"elsewhere", "fresh", "closed"})
    EXPECT_EQ(Post(kBody, by_third, std::string("/webhooks/github/") + source).status, 200)
        << source;
  ExpectProblem(Post(kBody), 401, "bad-signature");
}

TEST_F(Door, ASecretThatWasTakenAwayInAnotherProcessOpensNothingAnyMore) {
  ApplyElsewhere(fmt::format("sources: [{{name: github, secrets: [{{file: {}/second}}]}}]\n",
                             folder_.path().string()));
  ExpectProblem(Post(kBody), 401, "bad-signature");
  EXPECT_EQ(Stored(), 0);
}

TEST_F(Door, WhatIsWrongBehindAGoodSignatureIsSaid) {
  ExpectProblem(Post(kBody, {{"Content-Type", "text/plain"}}), 415, "unsupported-media-type");
  for (const char* encoding : {"gzip", "identity"})
    ExpectProblem(Post(kBody, {{"Content-Encoding", encoding}}), 415, "unsupported-media-type");
  for (const auto& [name, value] : HttpHeaders{{"X-GitHub-Event", ""},
                                               {"X-GitHub-Event", "Issues"},
                                               {"X-GitHub-Event", std::string(65, 'a')},
                                               {"X-GitHub-Delivery", ""},
                                               {"X-GitHub-Delivery", "a b"},
                                               {"X-GitHub-Delivery", std::string(101, 'a')},
                                               {"X-GitHub-Hook-ID", "a b"}}) {
    const HttpResponse response = Post(kBody, {{name, value}});
    ExpectProblem(response, 400, "invalid-request");
    EXPECT_THAT(response.body, HasSubstr(name)) << value;
  }
  const HttpHeaders json = {{"Content-Type", "application/json"}};  // also of an empty body
  for (const char* body : {"", "[]", "1", "{", "{} {}"})
    ExpectProblem(Post(body, json), 400, "invalid-json");
  const HttpHeaders form = {{"Content-Type", "application/x-www-form-urlencoded"}};
  for (const char* body : {"other=1", "payload=%7B%7D&x=1", "payload=%", "payload=1"})
    ExpectProblem(Post(body, form), 400, "invalid-json");
  EXPECT_EQ(Stored(), 0);
}

TEST_F(Door, AWellFormedEventIsNeverRefusedWhateverItIs) {
  for (const char* body :
       {"{}", R"({"x":"\ud800\u0000"})", R"({"n":1e999})", R"({"repository":5,"action":{}})"})
    for (const char* event : {"issues", "nobody_has_heard_of_it", "sub_issues"})
      EXPECT_EQ(Post(body, {{"X-GitHub-Event", event}}).status, 200) << body << event;
  const std::string deep = R"({"a":)" + std::string(500, '[') + std::string(500, ']') + "}";
  EXPECT_EQ(Post(deep).status, 200);
  EXPECT_EQ(Post(kBody, {{"X-GitHub-Hook-ID", ""}}).status, 200);
}

TEST_F(Door, AFormIsSignedAndKeptAsItCameAndItsPayloadIsWhatCounts) {
  const std::string form = "payload=%7B%22action%22%3A+%22opened%22%7D";
  const HttpResponse response =
      Post(form, {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}});
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(store_.Number("select bytes from webhook_events", ""),
            static_cast<std::int64_t>(form.size()));
}

TEST_F(Door, APingIsAnsweredAndNotStored) {
  const HttpResponse response = Post(R"({"zen":"x"})", {{"X-GitHub-Event", "ping"}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"ping":true})");
  EXPECT_EQ(Stored(), 0);
}

TEST_F(Door, ABodyUpToTheLimitIsTakenAndOneByteMoreIsNotRead) {
  const std::string around = R"({"x":""})";
  const std::string whole = R"({"x":")" + std::string(kMaxBody - around.size(), 'x') + R"("})";
  EXPECT_EQ(Post(whole).status, 200);
  HttpConnection client(server_->port());
  const HttpResponse refused = client.Ask(
      fmt::format("POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
                  kMaxBody + 1));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(Stored(), 1);
}

TEST_F(Door, BodiesBeyondTheirMemoryAreRefusedAndNothingOfThemIsStored) {
  const std::string header = fmt::format(
      "POST /webhooks/github HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
      kMaxBody - 1'000);
  HttpConnection first(server_->port()), second(server_->port()), third(server_->port());
  EXPECT_EQ(first.Ask(header).status, 100);
  EXPECT_EQ(second.Ask(header).status, 100);
  EXPECT_EQ(third.Ask(header).status, 503);
  EXPECT_EQ(Post(kBody).status, 200) << "a small one needs none";
}

}  // namespace
}  // namespace tenure::webhooks
