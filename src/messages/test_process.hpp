#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::messages {

class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store, std::string id = "p")
      : Process(test_store),
        messages_(store(), wake(), std::move(id), test_store.clock(), test_store.metrics()) {}

  static NewMessage Of(std::string topic, std::string payload = "{}") {
    NewMessage message;
    message.topic = std::move(topic);
    message.payload = std::move(payload);
    return message;
  }

  std::vector<EnqueuedMessage> EnqueueAll(std::vector<NewMessage> messages,
                                          const std::string& tenant = "default") {
    return Call(messages_, &Messages::Enqueue, {tenant, std::move(messages)}).messages;
  }
  base::Uuid Enqueue(NewMessage message, const std::string& tenant = "default") {
    return EnqueueAll({std::move(message)}, tenant).front().id;
  }
  base::Uuid Enqueue(const std::string& topic, const std::string& payload = "{}") {
    return Enqueue(Of(topic, payload));
  }

  ClaimReply Claim(ClaimRequest request) {
    return Call(messages_, &Messages::Claim, std::move(request));
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

  std::vector<SettleOutcome> Settle(Disposition disposition,
                                    std::vector<messages::Settlement> settlements,
                                    const std::string& tenant = "default",
                                    std::optional<std::int64_t> lease_ms = {}) {
    return Call(messages_, &Messages::Settle,
                {tenant, disposition, std::move(settlements), lease_ms})
        .reply.outcomes;
  }
  SettleOutcome Settle(Disposition disposition, const ClaimedMessage& delivery,
                       const std::string& error = "",
                       std::optional<std::int64_t> retry_after_ms = {}) {
    return Settle(disposition, {{delivery.id, delivery.fence, error, retry_after_ms, {}}}).front();
  }
  SettleOutcome Ack(const ClaimedMessage& delivery) { return Settle(Disposition::kDone, delivery); }

  bool Beat(HeartbeatRequest::Kind kind, std::int64_t worker) {
    return Call(messages_, &Messages::Heartbeat, {kind, worker, "default", "worker"}).alive;
  }
  void Start(const base::Uuid& claim, std::int64_t started) {
    Call(messages_, &Messages::Started, {"default", claim, started});
  }

  PromoteReply Promote() { return Call(messages_, &Messages::PromoteSome); }
  SortReply Sort(SortRequest request = {}) { return Call(messages_, &Messages::SortSome, request); }
  ReapReply Reap(bool leases = true) { return Call(messages_, &Messages::ReapSome, {leases}); }
  db::Swept Tidy(const TidyRequest& request = {}) {
    return Call(messages_, &Messages::TidySome, request);
  }
  db::Swept ForgetTopics(const UnusedTopicsRequest& request = {}) {
    return Call(messages_, &Messages::ForgetTopics, request);
  }

  std::optional<MessageView> Find(const base::Uuid& id, const std::string& tenant = "default") {
    return Call(messages_, &Messages::Find, {tenant, id}).message;
  }
  MessageState StateOf(const base::Uuid& id) {
    const auto found = Find(id);
    return found ? found->state : MessageState::kDone;
  }
  TopicsReply Topics(const std::string& name = "", const std::string& tenant = "default") {
    return Call(messages_, &Messages::ListTopics, {tenant, name, "", 100});
  }
  MessagesReply List(MessagesRequest request) {
    if (request.tenant.empty()) request.tenant = "default";
    return Call(messages_, &Messages::List, std::move(request));
  }
  DeadReply Dead(DeadRequest request) {
    return Call(messages_, &Messages::ListDead, std::move(request));
  }
  CountsReply Count() { return Call(messages_, &Messages::Count); }
  CancelOutcome Cancel(const base::Uuid& id, const std::string& tenant = "default") {
    return Call(messages_, &Messages::Cancel, {tenant, id}).outcome;
  }
  GroupsReply Groups(const std::string& topic = "", const std::string& tenant = "default") {
    return Call(messages_, &Messages::GroupDead, {tenant, topic});
  }
  FoundTopics FindTopics(FindTopicsRequest request) {
    return Call(messages_, &Messages::FindTopics, std::move(request));
  }
  DeadChangeReply ChangeDead(DeadChangeRequest request) {
    return Call(messages_, &Messages::ChangeDead, std::move(request));
  }
  void ChangeTopic(TopicChange change) {
    if (change.tenant.empty()) change.tenant = "default";
    Call(messages_, &Messages::ChangeTopic, std::move(change));
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

  Messages& messages() { return messages_; }

 private:
  Messages messages_;
};

}  // namespace tenure::messages
