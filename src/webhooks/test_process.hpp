#pragma once

// For tests only: a process with webhooks on a test's store.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"
#include "store/process.hpp"
#include "webhooks/bots/read.hpp"
#include "webhooks/webhooks.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {

inline std::vector<const db::Query*> AllQueries() {
  std::vector<const db::Query*> queries;
  for (const auto module : {sql::All(), messages::sql::All(), queues::sql::All()})
    queries.insert(queries.end(), module.begin(), module.end());
  return queries;
}

inline constexpr std::int64_t kTestDedupMs = 3'600'000;

/// A delivery that came with a good signature.
struct Sent {
  std::string id = "1";
  std::string body = R"({"action":"opened","issue":{"number":7},"repository":{"id":1,)"
                     R"("full_name":"acme/shop"},"sender":{"id":5,"login":"ada"}})";
  std::string event = "issues";
  std::string hook = "42";
  std::string source = "github";
};

inline DeliveryPtr Made(const Sent& sent) {
  auto body = std::make_shared<const std::string>(sent.body);
  auto delivery = std::make_shared<Delivery>();
  delivery->body = *body;
  delivery->keeps = body;
  delivery->source = sent.source;
  delivery->hook = sent.hook;
  delivery->delivery_id = sent.id;
  delivery->event = sent.event;
  delivery->content_type = "application/json";
  delivery->signature = "sha256=x";
  delivery->headers = R"({"X-GitHub-Event":"issues"})";
  delivery->payload = rules::Payload::Parse(delivery->body);
  return delivery;
}

class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store)
      : Process(test_store),
        messages_(store(), wake(), "test", test_store.clock(), test_store.metrics()),
        queues_(store(), wake(), messages_, test_store.clock()),
        webhooks_(store(), wake(), messages_, test_store.metrics(),
                  {.dedup_ms = kTestDedupMs, .inline_payload_bytes = 1'000}) {}

  ReceiveReply Receive(const Sent& sent) {
    return Call(webhooks_, &Webhooks::Receive, ReceiveRequest{Made(sent)});
  }
  ApplyReply Apply(std::string_view yaml, std::optional<std::int64_t> revision = std::nullopt) {
    return Call(webhooks_, &Webhooks::Apply, Request(yaml, revision));
  }
  static ApplyRequest Request(std::string_view yaml,
                              std::optional<std::int64_t> revision = std::nullopt) {
    bots::Reading reading = bots::ReadYaml(yaml);
    EXPECT_TRUE(reading.mistakes.empty()) << bots::ToText(reading.mistakes.front(), "f");
    ApplyRequest request;
    request.file = std::move(reading.file);
    request.content = bots::ToJson(request.file);
    request.person = "ada";
    request.revision = revision;
    return request;
  }
  /// What this process would learn by itself, soon.
  void Learn() {
    if (const auto bots = Call(webhooks_, &Webhooks::InForce, InForceRequest{}).bots)
      webhooks_.bots().Put(bots);
  }
  std::vector<EventRow> Events(ListRequest list = {}) {
    if (list.tenant.empty()) list.tenant = "default";
    return Call(webhooks_, &Webhooks::ListEvents, list).rows;
  }
  std::vector<messages::ClaimedMessage> ClaimMessages(const std::string& topic) {
    messages::ClaimRequest claim;
    claim.tenant = "default";
    claim.topics = {topic};
    claim.owner = "w";
    return Call(messages_, &messages::Messages::Claim, claim).messages;
  }
  /// The payloads of a topic's messages, which are claimed.
  std::vector<std::string> Claim(const std::string& topic) {
    std::vector<std::string> payloads;
    for (const auto& message : ClaimMessages(topic)) payloads.push_back(message.payload);
    return payloads;
  }
  void Acknowledge(const messages::ClaimedMessage& message) {
    messages::SettleRequest settle;
    settle.tenant = "default";
    settle.settlements = {{message.id, message.fence, {}, {}, {}}};
    Call(messages_, &messages::Messages::Settle, settle);
  }
  static queues::AcceptRequest Asking(const std::string& queue, std::int64_t sessions = 10) {
    queues::AcceptRequest accept;
    accept.tenant = "default";
    accept.queue = queue;
    accept.consumer = "w";
    accept.max_sessions = sessions;
    return accept;
  }
  queues::AcceptReply Accept(const std::string& queue, std::int64_t sessions = 10) {
    return Call(queues_, &queues::Queues::Accept, Asking(queue, sessions));
  }
  /// What the holder of a session says of the message with that sequence.
  queues::ReportOutcome Tell(const std::string& queue, queues::Report::Kind kind,
                             const queues::HeldSession& held, std::int64_t sequence = 0) {
    queues::Report report;
    report.kind = kind;
    report.session = held.id;
    report.fence = held.fence;
    report.sequence = sequence;
    return Call(queues_, &queues::Queues::Report, {"default", queue, {report}}).outcomes.front();
  }
  void CompleteAll(const std::string& queue, const queues::HeldSession& held) {
    Tell(queue, queues::Report::Kind::kComplete, held, held.messages.back().sequence);
  }
  queues::SendReply Send(const std::string& queue, const std::string& key) {
    queues::NewMessage message;
    message.key = key;
    message.payload = "{}";
    return Call(queues_, &queues::Queues::Send, {"default", queue, {message}, false});
  }
  /// What the reliable task does.
  void Tidy() { Call(queues_, &queues::Queues::DropSome); }
  queues::Queues& queues() { return queues_; }
  Webhooks& webhooks() { return webhooks_; }

 private:
  messages::Messages messages_;
  queues::Queues queues_;
  Webhooks webhooks_;
};

}  // namespace tenure::webhooks
