#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "store/test_store.hpp"

namespace tenure::messages {

/// One process on a test's store, driven by hand: every call runs the lanes until it is answered.
class TestProcess {
 public:
  explicit TestProcess(store::TestStore& test_store, std::string id = "p")
      : test_store_(test_store),
        store_(test_store.NewProcess()),
        wake_(test_store.clock()),
        messages_(*store_, wake_, std::move(id), test_store.clock(), test_store.metrics()) {}

  static NewMessage Of(std::string topic, std::string payload = "{}") {
    NewMessage message;
    message.topic = std::move(topic);
    message.payload = std::move(payload);
    return message;
  }

  std::vector<EnqueuedMessage> EnqueueAll(std::vector<NewMessage> messages,
                                          const std::string& tenant = "default") {
    return Await<EnqueueReply>([&](auto done) {
             messages_.Enqueue({tenant, std::move(messages)}, nullptr, std::move(done));
           })
        .messages;
  }
  base::Uuid Enqueue(NewMessage message, const std::string& tenant = "default") {
    return EnqueueAll({std::move(message)}, tenant).front().id;
  }
  base::Uuid Enqueue(const std::string& topic, const std::string& payload = "{}") {
    return Enqueue(Of(topic, payload));
  }

  ClaimReply Claim(ClaimRequest request) {
    return Await<ClaimReply>(
        [&](auto done) { messages_.Claim(std::move(request), nullptr, std::move(done)); });
  }
  static ClaimRequest Ask(std::vector<std::string> topics, std::int64_t max = kDefaultClaim) {
    ClaimRequest request;
    request.tenant = "default";
    request.topics = std::move(topics);
    request.max = max;
    request.owner = "somebody";
    return request;
  }
  std::vector<ClaimedMessage> Claim(const std::string& topic, std::int64_t max = kDefaultClaim) {
    return Claim(Ask({topic}, max)).messages;
  }
  ClaimedMessage ClaimOne(const std::string& topic) {
    auto messages = Claim(topic, 1);
    EXPECT_EQ(messages.size(), 1u) << "nothing to claim of " << topic;
    return messages.empty() ? ClaimedMessage() : messages.front();
  }

  std::vector<ReportOutcome> Report(Verdict verdict, std::vector<messages::Report> reports,
                                    const std::string& tenant = "default",
                                    std::optional<std::int64_t> lease_ms = {}) {
    return Await<ReportResult>([&](auto done) {
             messages_.Report({tenant, verdict, std::move(reports), lease_ms}, nullptr,
                              std::move(done));
           })
        .reply.outcomes;
  }
  ReportOutcome Report(Verdict verdict, const ClaimedMessage& delivery,
                       const std::string& error = "",
                       std::optional<std::int64_t> retry_after_ms = {}) {
    return Report(verdict, {{delivery.id, delivery.fence, error, retry_after_ms, {}}}).front();
  }
  ReportOutcome Ack(const ClaimedMessage& delivery) { return Report(Verdict::kDone, delivery); }

  bool Beat(HeartbeatRequest::Kind kind, std::int64_t worker) {
    return Await<HeartbeatReply>([&](auto done) {
             messages_.Heartbeat({kind, worker, "default", "worker"}, std::move(done));
           })
        .alive;
  }
  void Start(const base::Uuid& claim, std::int64_t started) {
    Await<StartedReply>([&](auto done) {
      messages_.Started({"default", claim, started}, std::move(done));
    });
  }

  PromoteReply Promote() {
    return Await<PromoteReply>([&](auto done) { messages_.PromoteSome(std::move(done)); });
  }
  ReapReply Reap(bool leases = true) {
    return Await<ReapReply>([&](auto done) { messages_.ReapSome({leases}, std::move(done)); });
  }
  TidyReply Tidy(const TidyRequest& request = {}) {
    return Await<TidyReply>([&](auto done) { messages_.TidySome(request, {}, std::move(done)); });
  }

  std::optional<MessageView> Find(const base::Uuid& id, const std::string& tenant = "default") {
    return Await<FindReply>([&](auto done) {
             messages_.Find({tenant, id}, nullptr, std::move(done));
           })
        .message;
  }
  MessageState StateOf(const base::Uuid& id) {
    const auto found = Find(id);
    return found ? found->state : MessageState::kDone;
  }
  TopicsReply Topics(const std::string& name = "", const std::string& tenant = "default") {
    return Await<TopicsReply>([&](auto done) {
      messages_.ListTopics({tenant, name, "", 100}, nullptr, std::move(done));
    });
  }
  DeadReply Dead(DeadRequest request) {
    return Await<DeadReply>(
        [&](auto done) { messages_.ListDead(std::move(request), nullptr, std::move(done)); });
  }
  CountsReply Count() {
    return Await<CountsReply>([&](auto done) { messages_.Count(std::move(done)); });
  }
  CancelOutcome Cancel(const base::Uuid& id, const std::string& tenant = "default") {
    return Await<CancelReply>([&](auto done) {
             messages_.Cancel({tenant, id}, nullptr, std::move(done));
           })
        .outcome;
  }
  DeadChangeReply ChangeDead(DeadChangeRequest request) {
    return Await<DeadChangeReply>(
        [&](auto done) { messages_.ChangeDead(std::move(request), nullptr, std::move(done)); });
  }
  void ChangeTopic(TopicChange change) {
    if (change.tenant.empty()) change.tenant = "default";
    Await<TopicChangeReply>(
        [&](auto done) { messages_.ChangeTopic(std::move(change), nullptr, std::move(done)); });
  }

  /// A claim that waits; its answer shows up in `outcome`.
  struct Waiting {
    std::optional<db::Result<ClaimReply>> outcome{};
    Consumers::Id id = 0;
  };
  std::shared_ptr<Waiting> Wait(ClaimRequest request, std::int64_t wait_ms) {
    auto waiting = std::make_shared<Waiting>();
    waiting->id = messages_.ClaimWaiting(
        std::move(request), wait_ms, nullptr,
        [waiting](db::Result<ClaimReply> result) { waiting->outcome = std::move(result); });
    Drive();
    return waiting;
  }

  /// Runs lanes and waiters until nothing moves at this instant.
  void Drive() {
    do {
      store::Drive(*store_);
    } while (wake_.RunDue() > 0);
  }
  /// Time passes for everybody of this process, step by step.
  void Pass(std::int64_t ms, std::int64_t step_ms = 50) {
    for (std::int64_t passed = 0; passed < ms; passed += step_ms) {
      test_store_.clock().Advance(std::min(step_ms, ms - passed));
      Drive();
    }
  }

  Messages& messages() { return messages_; }
  db::Store& store() { return *store_; }
  wake::Registry& wake() { return wake_; }

 private:
  template <class Reply, class Submit>
  Reply Await(Submit submit) {
    std::optional<db::Result<Reply>> answer;
    submit([&](db::Result<Reply> result) { answer = std::move(result); });
    store::Drive(*store_);
    if (!answer) throw std::logic_error("no answer");
    if (!answer->ok()) throw answer->fault();
    return std::move(answer->value());
  }

  store::TestStore& test_store_;
  std::unique_ptr<db::Store> store_;
  wake::Registry wake_;
  Messages messages_;
};

}  // namespace tenure::messages
