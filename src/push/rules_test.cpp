// What push decides without a store, a clock or a network.

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

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

/// Takes as many as it gets.
std::int64_t TakeAll(Places& places, std::int64_t most) {
  std::int64_t under_way = 0;
  while (under_way < most && places.Take(under_way)) ++under_way;
  return under_way;
}

TEST(PushPlaces, OneThatHangsHasHalfOfThemAtMost) {
  Places places(32);
  for (int i = 0; i < 3; ++i) places.Join();
  EXPECT_EQ(TakeAll(places, 1'000), 15);
  EXPECT_EQ(TakeAll(places, 1'000), 8);
  EXPECT_EQ(TakeAll(places, 1'000), 4);
  for (int i = 0; i < 5; ++i) {
    places.Join();
    EXPECT_GE(TakeAll(places, 1), 1) << "who comes later has one at the least";
  }
}

TEST(PushPlaces, AThousandThatHangLeaveAsMuchToEachThatComesLater) {
  Places places(kMostUnderWay);
  for (int i = 0; i < 1'000; ++i) {
    places.Join();
    EXPECT_EQ(TakeAll(places, 10), 10) << i;
  }
  places.Join();
  EXPECT_GE(TakeAll(places, 16), 10);
}

/// Subscriptions that come, go, begin and end, as it falls. What the places count is counted apart.
class Crowd {
 public:
  Crowd(std::uint64_t seed, std::int64_t most, std::size_t subscriptions_max)
      : random_(seed), most_(most), subscriptions_max_(subscriptions_max), places_(most) {}

  void Step() {
    const auto what = random_() % 100;
    if (what < 5 && subscriptions_.size() < subscriptions_max_) {
      places_.Join();
      subscriptions_.push_back(0);
    } else if (subscriptions_.empty()) {
      return;
    } else if (auto& one = subscriptions_[random_() % subscriptions_.size()];
               what < 8 && one == 0) {
      places_.Leave();
      std::swap(one, subscriptions_.back());
      subscriptions_.pop_back();
    } else if (what < (is_ebb_ ? 40 : 80)) {
      Begin(one);
    } else if (one > 0) {
      --taken_;
      places_.Give(--one);
    }
    if (random_() % 500 == 0) is_ebb_ = !is_ebb_;
  }

  std::int64_t taken() const { return taken_; }
  std::int64_t refused() const { return refused_; }

 private:
  void Begin(std::int64_t& one) {
    const bool may = places_.Take(one);
    refused_ += !may;
    EXPECT_TRUE(may || one > 0) << "who has none under way always gets one";
    if (!may) return;
    ++one;
    EXPECT_LE(++taken_, most_);
  }

  std::mt19937_64 random_;
  const std::int64_t most_;
  const std::size_t subscriptions_max_;
  Places places_;
  std::vector<std::int64_t> subscriptions_{};  // how many each has under way
  std::int64_t taken_ = 0;
  std::int64_t refused_ = 0;
  bool is_ebb_ = false;
};

TEST(PushPlaces, ThereAreNeverMoreThanMostAndWhoHasNoneGetsOne) {
  std::int64_t refused = 0;
  std::int64_t fullest = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::int64_t most = 16 + static_cast<std::int64_t>(seed % 7) * 40;
    Crowd crowd(seed, most, static_cast<std::size_t>(std::max<std::int64_t>(most / 16, 1)));
    for (int i = 0; i < 5'000; ++i) {
      crowd.Step();
      fullest = std::max(fullest, 100 * crowd.taken() / most);
    }
    refused += crowd.refused();
  }
  EXPECT_GT(refused, 10'000) << "they were full";
  EXPECT_GT(fullest, 85);
}

TEST(PushPlaces, AsManySubscriptionsAsPlacesHaveOneEach) {
  Places places(100);
  for (int i = 0; i < 100; ++i) places.Join();
  EXPECT_EQ(TakeAll(places, 1'000), 1) << "the others' are kept for them";
  for (int i = 1; i < 100; ++i) EXPECT_TRUE(places.Take(0));
  EXPECT_FALSE(places.Take(1));
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

TEST(PushRules, AnEventOfAQueueSaysItsPlaceInBothFormats) {
  const Turn turn{.queue = "triage",
                  .fence = 9,
                  .sequence = 12,
                  .key = "github.com/r1/thread/7",
                  .name = "acme/shop/issue/7",
                  .event_type = "com.github.issues.opened",
                  .delivery_id = "d1"};
  Event event;
  event.id = "i";
  event.tenant = "acme";
  event.topic = "queue:triage";
  event.type = turn.event_type;
  event.payload = "{}";
  event.turn = &turn;
  const EncodedEvent binary = Encode(event, Format::kBinary);
  const std::map<std::string, std::string> headers(binary.headers.begin(), binary.headers.end());
  EXPECT_EQ(headers.at("ce-source"), "/tenants/acme/queues/triage");
  EXPECT_EQ(headers.at("ce-sequence"), "0000000000000000012");
  EXPECT_EQ(headers.at("ce-tenurefence"), "9");
  EXPECT_EQ(headers.at("ce-githubdelivery"), "d1");
  const std::string body = Encode(event, Format::kStructured).body;
  EXPECT_NE(
      body.find(R"("subject":"acme/shop/issue/7","partitionkey":"github.com/r1/thread/7",)"
                R"("sequence":"0000000000000000012","tenurefence":"9","githubdelivery":"d1")"),
      std::string::npos)
      << body;
}

}  // namespace
}  // namespace tenure::push
