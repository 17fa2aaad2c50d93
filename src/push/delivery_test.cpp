// Requests over the wire: a real sender, real endpoints that misbehave.

#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "push/answer.hpp"
#include "push/courier.hpp"
#include "push/signature.hpp"
#include "support/temp_dir.hpp"
#include "support/tls_receiver.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::push {
namespace {

using support::TlsReceiver;
using testing::HasSubstr;

class PushDelivery : public testing::Test {
 protected:
  PushDelivery() { support::ReplaceFile(folder_ / "ca.pem", authority_.pem()); }

  TlsReceiver::Answer Always(std::string answer) {
    return [answer = std::move(answer)](const support::ReceivedRequest&) { return answer; };
  }
  std::unique_ptr<Courier> Made(Courier::Options options) {
    options.ca_file = folder_ / "ca.pem";
    auto courier = std::make_unique<Courier>(std::move(options), tracer_, base::SystemClock());
    courier->Start();
    return courier;
  }
  std::unique_ptr<Courier> Made() {
    return Made({.allowed = {{"127.0.0.1", true}, {"localhost", true}}});
  }
  Endpoint To(std::string url, std::int64_t timeout_ms = 20'000) {
    Endpoint endpoint;
    endpoint.key = {"acme", "s"};
    endpoint.topic = "orders";
    endpoint.url = std::move(url);
    endpoint.timeout_ms = timeout_ms;
    endpoint.secrets = {{secret_, 0}};
    return endpoint;
  }
  std::future<Delivered> Begin(Courier& courier, const Endpoint& endpoint,
                               std::function<bool()> may_begin = {}) {
    auto promise = std::make_shared<std::promise<Delivered>>();
    auto future = promise->get_future();
    message_.id = base::Uuid::V7(1);
    message_.topic = "orders";
    message_.payload = R"({"order":7})";
    courier.Deliver(endpoint, message_, std::move(may_begin),
                    [promise](Delivered delivered) { promise->set_value(std::move(delivered)); });
    return future;
  }
  http::OutgoingReply Reply(Courier& courier, const Endpoint& endpoint) {
    return Begin(courier, endpoint).get().reply;
  }
  AnswerKind Kind(Courier& courier, const Endpoint& endpoint) {
    return Judge(Reply(courier, endpoint)).kind;
  }

  const support::TempDir folder_;
  support::Authority authority_;
  telemetry::Registry metrics_;
  telemetry::Tracer tracer_{0, base::SystemClock(), metrics_};
  const std::string secret_ = NewSigningSecret();
  Parcel message_{};
};

TEST_F(PushDelivery, ARequestIsSignedAndSaysWhatItIs) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(204)));
  const auto courier = Made();
  Endpoint endpoint = To(receiver.Url("/hook?a=b"));
  endpoint.headers = {{"Authorization", "Bearer x"}};
  EXPECT_EQ(Reply(*courier, endpoint).status, 204);
  const auto request = receiver.WaitFor(1).front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/hook?a=b");
  EXPECT_EQ(request.body, R"({"order":7})");
  EXPECT_EQ(request.FindHeader("authorization"), "Bearer x");
  EXPECT_EQ(request.FindHeader("ce-id"), message_.id.ToString());
  EXPECT_EQ(request.FindHeader("webhook-id"), message_.id.ToString());
  EXPECT_EQ(request.FindHeader("content-type"), "application/json");
  const std::vector<std::string> secrets{secret_};
  EXPECT_EQ(request.FindHeader("webhook-signature"),
            Signatures({message_.id.ToString(),
                        std::stoll(*request.FindHeader("webhook-timestamp")), request.body},
                       secrets));
}

TEST_F(PushDelivery, WhateverAnEndpointDoesIsUnderstood) {
  std::mutex mutex;
  std::string next;
  TlsReceiver receiver(authority_, [&](const support::ReceivedRequest&) {
    const std::lock_guard lock(mutex);
    return next;
  });
  const auto courier = Made();
  const auto kind_of = [&](std::string answer, std::int64_t timeout_ms = 20'000) {
    {
      const std::lock_guard lock(mutex);
      next = std::move(answer);
    }
    return Kind(*courier, To(receiver.Url(), timeout_ms));
  };
  EXPECT_EQ(kind_of(TlsReceiver::Http(200)), AnswerKind::kAcknowledged);
  EXPECT_EQ(kind_of(TlsReceiver::Http(410)), AnswerKind::kDisable);
  EXPECT_EQ(kind_of(TlsReceiver::Http(429, "Retry-After: 7\r\n")), AnswerKind::kHold);
  EXPECT_EQ(kind_of(TlsReceiver::Http(302, "Location: https://127.0.0.1:1/\r\n")),
            AnswerKind::kEndpointFault);
  EXPECT_EQ(kind_of(TlsReceiver::Http(500)), AnswerKind::kMessageFault);
  EXPECT_EQ(kind_of(TlsReceiver::kReset), AnswerKind::kMessageFault) << "it had the request";
  EXPECT_EQ(kind_of(TlsReceiver::kHang, 300), AnswerKind::kMessageFault);
  EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nno more", 300),
            AnswerKind::kAcknowledged)
      << "the status decides";
  EXPECT_EQ(kind_of(TlsReceiver::Http(200, "", std::string(1 << 20, 'x'))),
            AnswerKind::kAcknowledged);
  EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\nContent-Le", 300), AnswerKind::kMessageFault);
}

TEST_F(PushDelivery, WhatCannotBeReachedOrTrustedIsTheEndpointsFault) {
  const auto courier = Made();
  int port = 0;
  {
    TlsReceiver gone(authority_, Always(TlsReceiver::Http(200)));
    port = gone.port();
  }
  EXPECT_EQ(Kind(*courier, To("https://127.0.0.1:" + std::to_string(port))),
            AnswerKind::kEndpointFault);
  support::Authority stranger;
  TlsReceiver untrusted(stranger, Always(TlsReceiver::Http(200)));
  EXPECT_EQ(Kind(*courier, To(untrusted.Url())), AnswerKind::kEndpointFault);
  TlsReceiver misnamed(authority_, Always(TlsReceiver::Http(200)), {.names = "DNS:other.example"});
  EXPECT_EQ(Kind(*courier, To(misnamed.Url())), AnswerKind::kEndpointFault);
  EXPECT_TRUE(untrusted.Received().empty());
  EXPECT_TRUE(misnamed.Received().empty());
}

TEST_F(PushDelivery, ARedirectIsNotFollowed) {
  TlsReceiver inside(authority_, Always(TlsReceiver::Http(200)));
  TlsReceiver outside(authority_,
                      Always(TlsReceiver::Http(307, "Location: " + inside.Url() + "\r\n")));
  const auto courier = Made();
  EXPECT_EQ(Reply(*courier, To(outside.Url())).status, 307);
  EXPECT_EQ(inside.connections(), 0u);
}

TEST_F(PushDelivery, ANameThatLeadsInsideIsNotConnectedTo) {
  TlsReceiver inside(authority_, Always(TlsReceiver::Http(200)));
  const std::string port = std::to_string(inside.port());
  const auto addresses = std::make_shared<std::vector<std::string>>();
  const auto courier = Made({.allowed = {{"*", false}}, .look_up = [addresses](const std::string&) {
                               Resolved resolved;
                               for (const std::string& text : *addresses)
                                 resolved.addresses.push_back(*HostAddress::Parse(text));
                               return resolved;
                             }});
  int number = 0;
  for (const std::vector<std::string>& leads :
       std::vector<std::vector<std::string>>{{"127.0.0.1"},
                                             {"::1"},
                                             {"::ffff:127.0.0.1"},
                                             {"8.8.8.8", "127.0.0.1"},
                                             {"10.0.0.1"},
                                             {"169.254.169.254"},
                                             {"64:ff9b::7f00:1"}}) {
    *addresses = leads;
    // A name of its own each time, so that none is remembered.
    const auto reply =
        Reply(*courier, To("https://n" + std::to_string(++number) + ".example:" + port));
    EXPECT_EQ(reply.status, 0);
    EXPECT_FALSE(reply.maybe_received);
    EXPECT_THAT(reply.error, HasSubstr("not public"));
  }
  // Also what was put on record before the rules were as they are.
  for (const char* url : {"https://127.0.0.1:", "https://2130706433:", "https://[::1]:"})
    EXPECT_EQ(Kind(*courier, To(url + port)), AnswerKind::kEndpointFault) << url;
  EXPECT_EQ(inside.connections(), 0u);
}

TEST_F(PushDelivery, ThisHostsOwnNamesLeadNowhereWhoeverLooksThemUp) {
  TlsReceiver inside(authority_, Always(TlsReceiver::Http(200)));
  const auto courier = Made({.allowed = {{"*", false}}});
  const auto reply =
      Reply(*courier, To("https://localhost:" + std::to_string(inside.port()) + "/"));
  EXPECT_THAT(reply.error, HasSubstr("not public"));
  EXPECT_FALSE(reply.maybe_received);
  EXPECT_EQ(inside.connections(), 0u);
}

TEST_F(PushDelivery, ANameThatChangesAfterItWasJudgedChangesNothing) {
  TlsReceiver judged(authority_, Always(TlsReceiver::Http(200)), {.names = "DNS:moving.example"});
  // 127.0.0.1 is judged (as an address that only we can reach and may); whoever looked the name up once
  // more to connect would get an address where nobody is.
  const auto looks = std::make_shared<std::atomic<int>>(0);
  const auto courier =
      Made({.allowed = {{"moving.example", true}}, .look_up = [looks](const std::string&) {
              const bool is_first = (*looks)++ == 0;
              return Resolved{{*HostAddress::Parse(is_first ? "127.0.0.1" : "127.0.0.9")}, {}};
            }});
  EXPECT_EQ(Reply(*courier, To("https://moving.example:" + std::to_string(judged.port()))).status,
            200);
  EXPECT_EQ(looks->load(), 1);
}

TEST_F(PushDelivery, EndpointsThatHangHoldUpNobodyElse) {
  TlsReceiver hanging(authority_, Always(TlsReceiver::kHang));
  TlsReceiver quick(authority_, Always(TlsReceiver::Http(200)));
  const auto courier = Made();
  Endpoint dead = To(hanging.Url(), 60'000);
  dead.group = 7;
  std::vector<std::future<Delivered>> hung;
  for (int i = 0; i < 16; ++i) hung.push_back(Begin(*courier, dead));
  hanging.WaitFor(16);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Reply(*courier, To(quick.Url())).status, 200);
  EXPECT_EQ(quick.connections(), 1u) << "a connection is kept";
  courier->GiveUp(7);
  for (auto& one : hung) {
    const auto reply = one.get().reply;
    EXPECT_EQ(reply.status, 0);
    EXPECT_TRUE(reply.maybe_received);
  }
}

TEST_F(PushDelivery, WhoMayNotBeginDoesNot) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(200)));
  const auto courier = Made();
  const auto reply = Begin(*courier, To(receiver.Url()), [] { return false; }).get().reply;
  EXPECT_EQ(reply.status, 0);
  EXPECT_FALSE(reply.maybe_received);
  EXPECT_EQ(receiver.connections(), 0u);
}

TEST_F(PushDelivery, ATraceThatIsNoneDoesNotSpoilTheRequest) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(200)));
  const auto courier = Made();
  message_.trace = "x\r\nHost: inside";
  EXPECT_EQ(Reply(*courier, To(receiver.Url())).status, 200);
  EXPECT_FALSE(receiver.WaitFor(1).front().FindHeader("traceparent"));
}

TEST_F(PushDelivery, WhatFindsNoPlaceIsNoFaultOfItsEndpoint) {
  TlsReceiver hanging(authority_, Always(TlsReceiver::kHang));
  const auto courier = Made({.allowed = {{"127.0.0.1", true}}, .in_flight_max = 1});
  auto hung = Begin(*courier, To(hanging.Url(), 60'000));
  hanging.WaitFor(1);
  EXPECT_EQ(Kind(*courier, To(hanging.Url(), 100)), AnswerKind::kHold);
  courier->Stop();
  EXPECT_EQ(Judge(hung.get().reply).kind, AnswerKind::kDropped);
}

TEST_F(PushDelivery, APingSaysWhatCameBack) {
  TlsReceiver receiver(authority_, Always(TlsReceiver::Http(418, "", "teapot")));
  const auto courier = Made();
  std::promise<Delivered> promise;
  const Endpoint endpoint = To(receiver.Url());
  courier->Ping(endpoint, [&](Delivered delivered) { promise.set_value(std::move(delivered)); });
  const Delivered delivered = promise.get_future().get();
  EXPECT_EQ(delivered.reply.status, 418);
  EXPECT_EQ(delivered.reply.body, "teapot");
  EXPECT_EQ(receiver.WaitFor(1).front().FindHeader("ce-type"), "tenure.ping");
}

TEST_F(PushDelivery, StoppingEndsWhatIsUnderWay) {
  TlsReceiver hanging(authority_, Always(TlsReceiver::kHang));
  const auto courier = Made();
  auto hung = Begin(*courier, To(hanging.Url(), 60'000));
  hanging.WaitFor(1);
  courier->Stop();
  EXPECT_EQ(hung.get().reply.status, 0);
}

}  // namespace
}  // namespace tenure::push
