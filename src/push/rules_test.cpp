// What push decides without a store, a clock or a network.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "push/answer.hpp"
#include "push/circuit.hpp"
#include "push/cloud_event.hpp"
#include "push/places.hpp"
#include "push/signature.hpp"
#include "push/subscription.hpp"

namespace tenure::push {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

TEST(PushSignature, IsThatOfTheStandardsOwnExample) {
  const std::vector<std::string> secrets{kSecret};
  EXPECT_EQ(
      Signatures({"msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"}, secrets),
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(PushSignature, EverySecretSigns) {
  const std::vector<std::string> secrets{NewSigningSecret(), kSecret};
  EXPECT_THAT(
      Signatures({"msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"}, secrets),
      testing::EndsWith(" v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
}

TEST(PushSignature, ASecretHas24To64Bytes) {
  EXPECT_TRUE(ParseSigningSecret(NewSigningSecret()));
  EXPECT_NE(NewSigningSecret(), NewSigningSecret());
  for (const char* bad :
       {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
    EXPECT_FALSE(ParseSigningSecret(bad)) << bad;
  EXPECT_FALSE(ParseSigningSecret("whsec_" + std::string(88, 'A')));
}

Event Sample() {
  return {.id = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81",
          .tenant = "acme",
          .topic = "orders/new ü",
          .time_ms = 1'766'311'200'000,
          .trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          .payload = R"({"order":7})"};
}

TEST(PushEvent, OfBinaryModeHasItsAttributesInHeaders) {
  const EncodedEvent event = Encode(Sample(), Format::kBinary);
  EXPECT_THAT(
      event.headers,
      UnorderedElementsAre(
          Pair("ce-specversion", "1.0"), Pair("ce-id", "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81"),
          Pair("ce-source", "/tenants/acme/topics/orders%2Fnew%20%C3%BC"),
          Pair("ce-type", "orders/new%20%C3%BC"), Pair("ce-time", "2025-12-21T10:00:00.000Z"),
          Pair("Content-Type", "application/json"),
          Pair("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")));
  EXPECT_EQ(event.body, R"({"order":7})");
}

TEST(PushEvent, OfStructuredModeIsOneDocument) {
  EXPECT_EQ(
      Encode(Sample(), Format::kStructured).body,
      R"({"specversion":"1.0","id":"0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81","source":"/tenants/acme/topics/orders%2Fnew%20%C3%BC",)"
      R"("type":"orders/new ü","time":"2025-12-21T10:00:00.000Z","datacontenttype":"application/json",)"
      R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","data":{"order":7}})");
  Event bytes = Sample();
  bytes.kind = messages::PayloadKind::kBytes;
  bytes.payload = std::string_view("\x00\xff", 2);
  EXPECT_THAT(Encode(bytes, Format::kStructured).body, HasSubstr(R"("data_base64":"AP8=")"));
  EXPECT_EQ(Encode(bytes, Format::kBinary).body, bytes.payload);
}

TEST(PushEvent, ItsTypeIsTheHeaderOfTheMessageOrTheTopic) {
  EXPECT_EQ(TypeOf(R"({"type":"order.made"})"), "order.made");
  EXPECT_EQ(TypeOf(R"({"type":7})"), "");
  EXPECT_EQ(TypeOf(""), "");
  Event event = Sample();
  event.type = "order.made\r\nx: y";
  for (const auto& [name, value] : Encode(event, Format::kBinary).headers)
    EXPECT_EQ(value.find_first_of("\r\n"), std::string::npos) << name;
}

TEST(PushHeaders, ThoseThatAreOursCannotBeGiven) {
  for (const char* name : {"Host", "content-type", "Content-Length", "CE-id", "webhook-signature",
                           "Webhook-Extra", "Transfer-Encoding", "", "a b", "a:b"})
    EXPECT_TRUE(HeaderProblem(name, "x")) << name;
  EXPECT_FALSE(HeaderProblem("Authorization", "Bearer x"));
  EXPECT_TRUE(HeaderProblem("Authorization", "a\r\nHost: b"));
  EXPECT_TRUE(HeaderProblem("Authorization", ""));
}

http::OutgoingReply Status(int status, std::optional<std::int64_t> retry_after_ms = {}) {
  http::OutgoingReply reply;
  reply.status = status;
  reply.retry_after_ms = retry_after_ms;
  return reply;
}

TEST(PushAnswers, MeanWhatTheTableOfTheDocumentationSays) {
  for (const int status : {200, 201, 202, 204, 299})
    EXPECT_EQ(Judge(Status(status)).kind, AnswerKind::kAcknowledged) << status;
  for (const int status : {300, 301, 302, 307, 308, 401, 403, 404, 408, 425, 429, 502, 503, 504})
    EXPECT_EQ(Judge(Status(status)).kind, AnswerKind::kEndpointFault) << status;
  for (const int status : {400, 402, 405, 409, 413, 415, 418, 422, 500, 501, 505})
    EXPECT_EQ(Judge(Status(status)).kind, AnswerKind::kMessageFault) << status;
  EXPECT_EQ(Judge(Status(410)).kind, AnswerKind::kDisable);
  for (const int status : {429, 503}) {
    EXPECT_EQ(Judge(Status(status, 7'000)).kind, AnswerKind::kHold);
    EXPECT_EQ(Judge(Status(status, 7'000)).hold_ms, 7'000);
    EXPECT_EQ(Judge(Status(status, 86'400'000)).hold_ms, kMaxHoldMs);
  }
  EXPECT_EQ(Judge(Status(500, 7'000)).kind, AnswerKind::kMessageFault);
  http::OutgoingReply none;
  EXPECT_EQ(Judge(none).kind, AnswerKind::kEndpointFault) << "it never left";
  none.maybe_received = true;
  EXPECT_EQ(Judge(none).kind, AnswerKind::kMessageFault) << "silence after it was sent";
}

TEST(PushAnswers, WhatThisProcessDidItselfSpeaksOfNobody) {
  http::OutgoingReply none;
  none.own_doing = http::OutgoingReply::OwnDoing::kGivenUp;
  EXPECT_EQ(Judge(none).kind, AnswerKind::kDropped);
  none.maybe_received = true;
  EXPECT_EQ(Judge(none).kind, AnswerKind::kDropped);
  none.own_doing = http::OutgoingReply::OwnDoing::kTooMany;
  EXPECT_EQ(Judge(none).kind, AnswerKind::kHold) << "a moment's pause, and no failure";
}

TEST(PushPlaces, EndpointsThatHangLeaveTheOthersTheirOwn) {
  Places places(8);
  places.SetSubscriptions(2);
  std::int64_t own = 0;
  std::int64_t taken = 0;
  for (Place place = places.Take(own); place != Place::kNone; place = places.Take(own)) {
    own += place == Place::kOwn;
    ++taken;
  }
  EXPECT_EQ(own, 2);
  EXPECT_EQ(taken, 6) << "its own, and all common ones";
  EXPECT_EQ(places.Take(0), Place::kOwn);
  EXPECT_EQ(places.Take(1), Place::kOwn);
  EXPECT_EQ(places.Take(2), Place::kNone);
  places.Give(Place::kCommon);
  EXPECT_EQ(places.Take(2), Place::kCommon);
  places.SetSubscriptions(100);
  EXPECT_EQ(places.Take(0), Place::kOwn) << "one at the least";
  EXPECT_EQ(places.Take(1), Place::kNone);
}

constexpr Judgement kFault{AnswerKind::kEndpointFault, "unavailable"};
constexpr Judgement kDelivered{AnswerKind::kAcknowledged, "delivered"};

TEST(PushCircuit, BacksOffOneAtATimeThenOpensAndProbes) {
  Circuit circuit;
  std::int64_t now = 1'000'000;
  EXPECT_EQ(circuit.MayBeUnderWay(16, now), 16);
  const std::int64_t pauses[] = {1'000,   2'000,   4'000,   8'000,  16'000, 30'000,
                                 30'000,  30'000,  30'000,  30'000, 60'000, 120'000,
                                 240'000, 480'000, 600'000, 600'000};
  int failures = 0;
  for (const std::int64_t pause : pauses) {
    EXPECT_TRUE(circuit.End(circuit.Begin(), kFault, now));
    ++failures;
    EXPECT_EQ(circuit.row().next_ms, now + pause) << failures;
    EXPECT_EQ(circuit.StateAt(now),
              failures < 10 ? CircuitState::kBackingOff : CircuitState::kOpen);
    EXPECT_EQ(circuit.MayBeUnderWay(16, now + pause - 1), 0);
    now += pause;
    EXPECT_EQ(circuit.MayBeUnderWay(16, now), 1);
  }
  EXPECT_TRUE(circuit.End(circuit.Begin(), kDelivered, now));
  EXPECT_EQ(circuit.StateAt(now), CircuitState::kOk);
  EXPECT_EQ(circuit.MayBeUnderWay(16, now), 16);
}

TEST(PushCircuit, RequestsThatWereUnderWayTogetherFailOnce) {
  Circuit circuit;
  const auto together = circuit.Begin();
  for (int i = 0; i < 16; ++i) circuit.End(together, kFault, 0);
  EXPECT_EQ(circuit.row().failures, 1);
  circuit.End(together, kDelivered, 0);
  EXPECT_EQ(circuit.row().failures, 1) << "what began before says nothing of what came after";
}

TEST(PushCircuit, APauseThatIsAskedForIsNoFailure) {
  Circuit circuit;
  circuit.End(circuit.Begin(), {AnswerKind::kHold, "held", 60'000}, 0);
  EXPECT_EQ(circuit.row().failures, 0);
  EXPECT_EQ(circuit.StateAt(0), CircuitState::kBackingOff);
  EXPECT_EQ(circuit.MayBeUnderWay(16, 59'999), 0);
  EXPECT_EQ(circuit.MayBeUnderWay(16, 60'000), 16);
  circuit.End(circuit.Begin(), {AnswerKind::kHold, "held", 1}, 60'000);
  circuit.End(circuit.Begin(), {AnswerKind::kHold, "held", 5'000}, 60'000);
  circuit.End(circuit.Begin(), {AnswerKind::kHold, "held", 2'000}, 60'000);
  EXPECT_EQ(circuit.row().next_ms, 65'000) << "the longest counts";
}

TEST(PushCircuit, A2xxThatWasUnderWayWithAPauseDoesNotEndIt) {
  Circuit circuit;
  const auto together = circuit.Begin();
  circuit.End(together, {AnswerKind::kHold, "held", 60'000}, 0);
  circuit.End(together, kDelivered, 10);
  EXPECT_EQ(circuit.MayBeUnderWay(16, 59'999), 0);
  EXPECT_EQ(circuit.MayBeUnderWay(16, 60'000), 16);
}

TEST(PushCircuit, AnAnswerThatIsNo2xxDoesNotCloseIt) {
  Circuit circuit({.failures = 10, .next_ms = 0});
  circuit.End(circuit.Begin(), {AnswerKind::kMessageFault, "refused"}, 1'000);
  EXPECT_EQ(circuit.StateAt(1'000), CircuitState::kOpen);
  EXPECT_EQ(circuit.row().next_ms, 31'000);
}

}  // namespace
}  // namespace tenure::push
