// Push by a real server: settings, routes, commands, real endpoints, and the package that receivers
// verify with.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/github.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "support/http_receiver.hpp"
#include "support/port.hpp"
#include "support/process.hpp"
#include "support/tls_receiver.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using support::TlsReceiver;
using testing::HasSubstr;

constexpr const char* kSubscriptions = "/api/v1/subscriptions/";

class Push : public testing::TestWithParam<Engine> {
 protected:
  Push() { support::ReplaceFile(folder_ / "ca.pem", authority_.pem()); }

  std::vector<std::string> Flags() const {
    return PushSettings::Flags({"--set", "push.ca_file=" + (folder_ / "ca.pem").string()});
  }
  static TlsReceiver::Answer Always(std::string answer) {
    return [answer = std::move(answer)](const support::ReceivedRequest&) { return answer; };
  }
  static std::string Wish(const std::string& topic, const std::string& url,
                          const std::string& more = "") {
    return R"({"topic":")" + topic + R"(","url":")" + url + "\"" + more + "}";
  }
  static void Send(const Api& api, const std::string& topic, int count = 1) {
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(
          api.Call("POST", "/api/v1/messages",
                   R"({"topic":")" + topic + R"(","payload":{"n":)" + std::to_string(i) + "}}")
              .status,
          201);
  }
  static Json Of(const Api& api, const std::string& name) {
    return api.Get(kSubscriptions + name).Json();
  }

  const support::TempDir folder_;
  support::Authority authority_;
  StoreUnderTest store_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Stores, Push, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         testing::PrintToStringParamName());

TEST_P(Push, MessagesReachTheirEndpointAndEachIsAcknowledged) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(204)));
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  const HttpResponse made =
      api.Call("PUT", std::string(kSubscriptions) + "s", Wish("orders", receiver.Url()));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(made.Json()["secret"].Text(), testing::StartsWith("whsec_"));
  Send(api, "orders", 20);
  const auto received = receiver.WaitFor(20);
  EXPECT_EQ(received.front().FindHeader("ce-type"), "orders");
  Eventually("all are counted", [&] { return Of(api, "s")["delivered"].Int() == 20; });
  EXPECT_EQ(api.Get("/api/v1/topics/orders").Json()["claimed"].Int(), 0);
  EXPECT_EQ(receiver.Received().size(), 20u);
  const std::string metrics = api.Get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("push_delivered_total 20"));
  EXPECT_THAT(metrics, HasSubstr("tenure_push_subscriptions_held 1"));
  for (const char* name : {"push_in_flight", "push_latency_seconds_count"})
    EXPECT_THAT(metrics, HasSubstr(name));
  EXPECT_EQ(api.Get("/health").Json()["push"]["delivers"].Text(), "on");
  EXPECT_THAT(server->Output(), testing::Not(HasSubstr(made.Json()["secret"].Text())));
}

TEST_P(Push, AnEndpointThatIsGoneDisablesItsSubscriptionOnRecord) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(410)));
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  api.Call("PUT", std::string(kSubscriptions) + "s", Wish("orders", receiver.Url()));
  Send(api, "orders");
  Eventually("it is disabled", [&] { return Of(api, "s")["state"].Text() == "disabled"; });
  EXPECT_EQ(Of(api, "s")["gone_at"].IsNull(), false);
  EXPECT_THAT(api.Get("/metrics").body, HasSubstr("push_failed_total{reason=\"gone\"} 1"));
  Eventually("it is counted", [&] {
    return api.Get("/metrics").body.find("tenure_push_subscriptions_disabled 1") !=
           std::string::npos;
  });
  EXPECT_THAT(api.Get("/api/v1/audit").body, HasSubstr("subscription.disable"));
  const HttpResponse ping = api.Call("POST", std::string(kSubscriptions) + "s/test", "{}");
  EXPECT_EQ(ping.Json()["status"].Int(), 410) << "a ping is sent also then";
}

TEST_P(Push, AnEndpointThatHangsHoldsUpNoOther) {
  TlsReceiver hanging(authority_, Always(TlsReceiver::kHang));
  TlsReceiver quick(authority_, Always(TlsReceiver::Http(200)));
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  api.Call("PUT", std::string(kSubscriptions) + "dead",
           Wish("dead", hanging.Url(), R"(,"timeout_ms":60000)"));
  api.Call("PUT", std::string(kSubscriptions) + "quick", Wish("quick", quick.Url()));
  Send(api, "dead", 20);
  hanging.WaitFor(16);
  Send(api, "quick", 20);
  quick.WaitFor(20);
  EXPECT_EQ(hanging.most_at_once(), 16u);
}

TEST_P(Push, APingIsSentWhenDisabledAndCountsNowhere) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(500, "", std::string(300, '\xfc'))));
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  api.Call("PUT", std::string(kSubscriptions) + "s",
           Wish("orders", receiver.Url(), R"(,"enabled":false)"));
  EXPECT_EQ(
      api.Call("PUT", std::string(kSubscriptions) + "t", Wish("orders", receiver.Url())).status,
      409)
      << "a topic has one, also when that is disabled";
  Send(api, "orders");
  const HttpResponse ping = api.Call("POST", std::string(kSubscriptions) + "s/test", "{}");
  ASSERT_EQ(ping.status, 200);
  EXPECT_EQ(ping.Json()["status"].Int(), 500);
  EXPECT_LE(ping.Json()["body"].Text().size(), 600u) << "200 bytes, none of which is text";
  EXPECT_EQ(receiver.Received().size(), 1u);
  const Json s = Of(api, "s");
  EXPECT_EQ(s["delivered"].Int() + s["failed"].Int() + s["failures"].Int(), 0);
  EXPECT_EQ(api.Get("/api/v1/topics/orders").Json()["ready"].Int(), 1) << "no message was made";
}

TEST_P(Push, ADeliveryIsASpanBelowItsMessagesTrace) {
  constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(204)));
  support::HttpReceiver collector;
  std::vector<std::string> flags = Flags();
  flags.insert(flags.end(),
               {"--set", "telemetry.traces_endpoint=" + collector.Url() + "/v1/traces"});
  const auto server = store_.Serve(flags);
  const Api api(*server);
  api.Call("PUT", std::string(kSubscriptions) + "s", Wish("orders", receiver.Url()));
  api.Call("POST", "/api/v1/messages", R"({"topic":"orders","payload":1})",
           {{"traceparent", std::string("00-") + kTrace + "-00f067aa0ba902b7-01"}});
  const auto request = receiver.WaitFor(1).front();
  const std::string parent = request.FindHeader("traceparent").value_or("");
  ASSERT_THAT(parent, HasSubstr(kTrace));
  const std::string span = parent.substr(36, 16);
  // The receiver's parent is the delivery's own span.
  for (std::string body; body.find("push.deliver") == std::string::npos; collector.Answer(200)) {
    body = collector.Next().body;
    if (body.find("push.deliver") == std::string::npos) continue;
    EXPECT_THAT(body, testing::AllOf(HasSubstr(kTrace), HasSubstr(span)));
  }
}

TEST_P(Push, NoProxyOfTheEnvironmentSeesARequest) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(204)));
  TlsReceiver proxy(authority_, Always(TlsReceiver::kReset));
  const std::string url = "http://127.0.0.1:" + std::to_string(proxy.port());
  support::ServerOptions options = store_.Options(Flags());
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    options.environment.emplace_back(name, url);
  support::ServerProcess server(std::move(options));
  const Api api(server);
  api.Call("PUT", std::string(kSubscriptions) + "s", Wish("orders", receiver.Url()));
  Send(api, "orders");
  receiver.WaitFor(1);
  EXPECT_EQ(api.Call("POST", std::string(kSubscriptions) + "s/test", "{}").Json()["status"].Int(),
            204);
  EXPECT_EQ(proxy.connections(), 0u);
}

TEST_P(Push, AKeyOnTopSealsAnewAndTheOldLineMayGo) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(204)));
  const std::string keys = folder_ / "keys";
  const auto serve = [&](const std::string& lines) {
    support::ReplaceFile(keys, lines);
    std::filesystem::permissions(
        keys, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return store_.Serve({"--set", "push.allow=private 127.0.0.1", "--set",
                         "secrets.key_file=" + keys, "--set",
                         "push.ca_file=" + (folder_ / "ca.pem").string()});
  };
  const std::string old_line = "old:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=\n";
  const std::string new_line = "new:bGxsbGxsbGxsbGxsbGxsbGxsbGxsbGxsbGxsbGxsbGw=\n";
  {
    const auto server = serve(old_line);
    EXPECT_EQ(Api(*server)
                  .Call("PUT", std::string(kSubscriptions) + "s",
                        Wish("orders", receiver.Url(), R"(,"headers":{"X-Key":"k"})"))
                  .status,
              201);
    server->Terminate();
  }
  const auto sealed_by = [&](const std::string& key) {
    return store_.Execute("select count(*) from " +
                          std::string(GetParam() == Engine::kSqlite ? "" : "tenure.") +
                          "subscriptions where secrets like '" + key + ":%' and headers like '" +
                          key + ":%'") == "1";
  };
  {
    const auto server = serve(new_line);
    Eventually("it says that it cannot", [&] {
      return Api(*server).Get("/metrics").body.find("tenure_push_subscriptions_of_old_keys 1") !=
             std::string::npos;
    });
    EXPECT_EQ(Api(*server).Call("POST", std::string(kSubscriptions) + "s/rotate", "{}").status,
              409);
    server->Terminate();
  }
  {
    const auto server = serve(new_line + old_line);
    Eventually("it is sealed anew", [&] { return sealed_by("new"); });
    EXPECT_EQ(Api(*server).Get("/health").Json()["push"]["of_old_keys"].Int(), 0);
    server->Terminate();
  }
  const auto server = serve(new_line);
  Send(Api(*server), "orders");
  const auto request = receiver.WaitFor(1).front();
  EXPECT_EQ(request.FindHeader("X-Key"), "k");
}

TEST_P(Push, WhatCannotBeMeantIs422AndNamesTheField) {
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  const auto put = [&](const std::string& body, const std::string& name = "s") {
    return api.Call("PUT", kSubscriptions + name, body);
  };
  for (const char* url :
       {"https://10.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/",
        "https://127.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "http://127.0.0.1/",
        "https://u@127.0.0.1/", "https://hooks.example.com/", "https://localhost/"}) {
    const HttpResponse refused = put(Wish("t", url));
    EXPECT_EQ(refused.status, 422) << url;
    EXPECT_EQ(refused.Json()["errors"][0]["field"].Text(), "url") << url;
  }
  const std::string url = "https://127.0.0.1:1/";
  EXPECT_EQ(put(Wish("t", url, R"(,"secret":"whsec_AAAA")")).status, 422);
  EXPECT_EQ(put(Wish("t", url, R"(,"headers":{"Host":"x"})")).status, 422);
  const HttpResponse odd_name =
      put(Wish("t", url, R"(,"headers":{")" + std::string(99, 'x') + "\u00fc\u00fc" + R"(":"x"})"));
  EXPECT_EQ(odd_name.status, 422);
  EXPECT_EQ(odd_name.Json()["errors"][0]["field"].Text(), "headers") << "no half of a character";
  EXPECT_EQ(put(Wish("t", url), "a%20b").status, 422);
  EXPECT_EQ(put(Wish("t", url, R"(,"max_in_flight":0)")).status, 400);
  EXPECT_EQ(put(Wish("t", url)).status, 201);
  EXPECT_EQ(put(Wish("t", url), "other").status, 409);
  EXPECT_EQ(api.Call("PUT", std::string(kSubscriptions) + "s", Wish("t", url), {{"If-Match", "7"}})
                .status,
            412);
}

TEST_P(Push, EventsOfAnOrderedQueueAreSentInTheirOrderAndSayWhereTheyStand) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(204)));
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  const GitHub github;
  const auto applied =
      api.Call("PUT", "/api/v1/bots",
               github.Bots(R"({"name":"q","events":["*"],"ordering_scope":"entity"})"));
  ASSERT_EQ(applied.status, 200) << applied.body;
  const std::string wish = R"({"queue":"q","url":")" + receiver.Url() + R"("})";
  const HttpResponse made = api.Call("PUT", std::string(kSubscriptions) + "s", wish);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.Json()["topic"].Text(), "queue:q");
  EXPECT_EQ(made.Json()["queue"].Text(), "q");
  const std::string delivery = NewUuid();
  EXPECT_EQ(github.Post(api, {.id = delivery}).status, 200);
  const std::string large = R"({"action":"edited","issue":{"number":7},)"
                            R"("repository":{"id":1,"full_name":"acme/shop"},"x":")" +
                            std::string(1 << 20, 'x') + "\"}";
  EXPECT_EQ(github.Post(api, {.body = large}).status, 200);
  EXPECT_EQ(api.Call("POST", "/api/v1/queues/q/messages",
                     R"({"session_key":"github.com/r1/thread/7","payload":{"n":3},)"
                     R"("headers":{"type":"mine"}})")
                .status,
            201);
  const auto received = receiver.WaitFor(3);
  const auto& first = received[0];
  EXPECT_EQ(first.body, GitHub::Sent().body) << "the payload's bytes";
  EXPECT_EQ(first.FindHeader("ce-type"), "com.github.issues.opened");
  EXPECT_EQ(first.FindHeader("ce-source"), "/tenants/default/queues/q");
  EXPECT_EQ(first.FindHeader("ce-subject"), "acme/shop/issue/7");
  EXPECT_EQ(first.FindHeader("ce-partitionkey"), "github.com/r1/thread/7");
  EXPECT_EQ(first.FindHeader("ce-sequence"), "0000000000000000001");
  EXPECT_EQ(first.FindHeader("ce-githubdelivery"), delivery);
  EXPECT_THAT(first.FindHeader("ce-tenurefence").value_or(""), testing::MatchesRegex("[0-9]+"));
  EXPECT_THAT(received[1].body, HasSubstr(R"("payload_url":"/api/v1/webhooks/events/)"));
  EXPECT_EQ(received[1].FindHeader("ce-sequence"), "0000000000000000002");
  EXPECT_EQ(received[2].body, R"({"n":3})");
  EXPECT_EQ(received[2].FindHeader("ce-type"), "mine");
  Eventually("all are counted", [&] { return Of(api, "s")["delivered"].Int() == 3; });
  EXPECT_EQ(api.Get("/api/v1/queues/q").Json()["messages"].Int(), 0);
  EXPECT_THAT(api.Get("/api/v1/why/subscription/s").body, HasSubstr("tenure why queue q"));
}

TEST_P(Push, AQueueIsNamedInOneWayAndIsThere) {
  const auto server = store_.Serve(Flags());
  const Api api(*server);
  const auto put = [&](const std::string& what) {
    return api.Call("PUT", std::string(kSubscriptions) + "s",
                    "{" + what + R"("url":"https://127.0.0.1:1/"})");
  };
  EXPECT_EQ(put(R"("queue":"q","topic":"t",)").status, 400);
  EXPECT_EQ(put(R"("queue":"",)").status, 400);
  EXPECT_EQ(put("").status, 400);
  for (const char* what : {R"("queue":"q",)", R"("topic":"queue:q",)"}) {
    const HttpResponse refused = put(what);
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.Json()["errors"][0]["field"].Text(), "queue");
  }
}

TEST_P(Push, WithoutItsSettingsPushIsOffAndSaysWhichIsMissing) {
  const auto bare = store_.Serve();
  const Api api(*bare);
  const auto detail = [&](const Api& asked) {
    const HttpResponse answer =
        asked.Call("PUT", std::string(kSubscriptions) + "s", Wish("t", "https://127.0.0.1:1/"));
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(ProblemType(answer), "push-off");
    return answer.Json()["detail"].Text();
  };
  EXPECT_THAT(detail(api), HasSubstr("push.allow"));
  StoreUnderTest other(GetParam());
  const auto keyless = other.Serve({"--set", "push.allow=*"});
  EXPECT_THAT(detail(Api(*keyless)), HasSubstr("secrets.key_file"));
}

TEST_P(Push, TheCommandsDoWhatTheirPageSays) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(404)));
  const auto server = store_.Serve(Flags());
  const auto run = [&](std::vector<std::string> words) {
    return RunTenure(std::move(words), {{"TENURE_SERVER", server->Url()}});
  };
  const auto made = run({"subscription", "put", "s", "orders", receiver.Url()});
  EXPECT_EQ(made.exit_code, 0) << made.out;
  EXPECT_THAT(made.out, HasSubstr("whsec_"));
  EXPECT_THAT(run({"subscription", "rotate", "s"}).out, HasSubstr("whsec_"));
  EXPECT_THAT(run({"subscription", "test", "s"}).out, HasSubstr("404"));
  const Api api(*server);
  Send(api, "orders");
  Eventually("it backs off", [&] { return Of(api, "s")["failures"].Int() > 0; });
  EXPECT_THAT(run({"why", "subscription", "s"}).out, HasSubstr("in a row"));
  EXPECT_THAT(run({"subscription", "list"}).out, HasSubstr("backing_off"));
  EXPECT_THAT(run({"subscription", "show", "s"}).out,
              testing::AllOf(HasSubstr("404"), testing::Not(HasSubstr("whsec_"))));
  EXPECT_EQ(run({"subscription", "delete", "s"}).exit_code, 0);
  EXPECT_EQ(run({"why", "subscription", "s"}).exit_code, 3);
}

/// The receivers of docs/push.md, as they stand there.
class PushReceivers : public Push {
 protected:
  /// The block of that language, in a file of its own.
  std::filesystem::path Written(const std::string& language, const std::string& name) {
    const std::string page = support::ReadFile(support::SourceDir() / "docs" / "push.md");
    const std::string fence = "```" + language + "\n";
    const std::size_t begin = page.find(fence);
    if (begin == std::string::npos) throw std::runtime_error("no receiver in " + language);
    const std::size_t code = begin + fence.size();
    support::ReplaceFile(folder_ / name, page.substr(code, page.find("```\n", code) - code));
    const support::Certificate own = authority_.Issue();
    support::ReplaceFile(folder_ / "cert.pem", own.certificate);
    support::ReplaceFile(folder_ / "key.pem", own.key);
    return folder_ / name;
  }
  /// All messages are taken, also while two secrets sign, of which the receiver knows one: the old one, then the new.
  void ExpectAccepted(const std::vector<std::string>& argv) {
    const support::ReservedPort port;
    const std::string url = "https://127.0.0.1:" + std::to_string(port.number()) + "/";
    const auto server = store_.Serve(Flags());
    const Api api(*server);
    const auto made = api.Call("PUT", std::string(kSubscriptions) + "s",
                               Wish("orders", url, R"(,"enabled":false)"));
    ASSERT_EQ(made.status, 201) << made.body;
    std::optional<support::Process> receiver;
    const auto receive = [&](const std::string& secret) {
      receiver.reset();
      receiver.emplace(support::ProcessOptions{
          .argv = argv,
          .environment = {{"SECRET", secret}, {"PORT", std::to_string(port.number())}},
          .working_dir = folder_.path()});
      Eventually("it listens", [&] {
        return api.Call("POST", std::string(kSubscriptions) + "s/test", "{}")
                   .Json()["status"]
                   .Dump() == "204";
      });
    };
    receive(made.Json()["secret"].Text());
    EXPECT_EQ(api.Call("PUT", std::string(kSubscriptions) + "s", Wish("orders", url)).status, 200);
    Send(api, "orders", 5);
    const auto rotated = api.Call("POST", std::string(kSubscriptions) + "s/rotate", "{}");
    ASSERT_EQ(rotated.status, 200);
    Send(api, "orders", 5);
    Eventually("all are acknowledged", [&] { return Of(api, "s")["delivered"].Int() == 10; });
    receive(rotated.Json()["secret"].Text());
    Send(api, "orders", 5);
    Eventually("so they are by the new secret",
               [&] { return Of(api, "s")["delivered"].Int() == 15; });
    EXPECT_EQ(Of(api, "s")["failed"].Int(), 0);
    const HttpResponse replaced =
        api.Call("PUT", std::string(kSubscriptions) + "s",
                 Wish("orders", url, R"(,"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")"));
    EXPECT_EQ(replaced.status, 200);
    EXPECT_EQ(api.Call("POST", std::string(kSubscriptions) + "s/test", "{}").Json()["status"].Int(),
              401)
        << "what another secret signed is refused";
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, PushReceivers, testing::Values(Engine::kSqlite),
                         testing::PrintToStringParamName());

TEST_P(PushReceivers, ThatOfThePublicPackageAcceptsEveryDelivery) {
  const auto packages = support::SourceDir() / "tests" / "node" / "node_modules";
  if (!std::filesystem::exists(packages / "standardwebhooks"))
    GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  std::filesystem::create_directory_symlink(packages, folder_ / "node_modules");
  ExpectAccepted({"node", Written("js", "receiver.mjs").string()});
}

TEST_P(PushReceivers, ThatOfPythonAcceptsEveryDelivery) {
  EXPECT_EQ(support::ReadFile(Written("python", "receiver.py")),
            support::ReadFile(support::SourceDir() / "examples" / "push" / "receiver.py"))
      << "the page's tour runs the latter";
  ExpectAccepted({"python3", Written("python", "receiver.py").string()});
}

TEST_P(PushReceivers, ThatOfGoAcceptsEveryDelivery) {
  if (std::system("command -v go > /dev/null") != 0) GTEST_SKIP() << "there is no Go here";
  ExpectAccepted({"go", "run", Written("go", "receiver.go").string()});
}

}  // namespace
}  // namespace tenure::api
