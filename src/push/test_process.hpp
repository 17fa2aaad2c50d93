#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "leases/fence_check.hpp"
#include "leases/leases.hpp"
#include "leases_sql/queries.hpp"
#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "push/deliverer.hpp"
#include "push/subscriptions.hpp"
#include "push_sql/queries.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::push {

inline std::vector<const db::Query*> QueriesOfPush() {
  std::vector<const db::Query*> all;
  for (const auto queries :
       {sql::All(), leases::sql::All(), messages::sql::All(), queues::sql::All()})
    all.insert(all.end(), queries.begin(), queries.end());
  return all;
}

/// A process that delivers, driven by hand. Its endpoints are the test's: a request stays under way
/// until the test answers it.
class TestProcess final : public store::Process {
 public:
  struct Options {
    std::string keys = KeyLine('k');
    std::int64_t most_under_way = kMostUnderWay;
  };
  /// A line of a key file, the first key's above.
  static std::string KeyLine(char key) {
    return key + (":" + base::EncodeBase64(std::string(32, key))) + "\n";
  }

  explicit TestProcess(store::TestStore& test_store, const std::string& id = "p")
      : TestProcess(test_store, id, Options()) {}
  TestProcess(store::TestStore& test_store, const std::string& id, const Options& options)
      : Process(test_store),
        clock_(test_store.clock()),
        vault_(Vault::Parse(options.keys)),
        probe_(metrics_),
        leases_(store(), wake(), id, clock_, metrics_),
        messages_(store(), wake(), id, clock_, metrics_),
        queues_(store(), wake(), messages_, clock_),
        subscriptions_(store(), wake(), &vault_),
        deliverer_({.subscriptions = subscriptions_,
                    .messages = messages_,
                    .queues = queues_,
                    .leases = leases_,
                    .wake = wake(),
                    .clock = clock_,
                    .probe = probe_,
                    .vault = vault_,
                    .process = id,
                    .deliver =
                        [this](const Endpoint& endpoint, const Parcel& message,
                               std::function<bool()> may_begin, Courier::Done done) {
                          requests_.push_back({endpoint, message.payload, message.id, message.turn,
                                               std::move(may_begin), std::move(done)});
                        },
                    .give_up = [this](std::uint64_t group) { GiveUp(group); },
                    .most_under_way = options.most_under_way}) {
    store().SetFenceCheck(fence_check_);
  }

  struct Request {
    Endpoint endpoint{};
    std::string payload{};
    base::Uuid id{};
    std::optional<Turn> turn{};
    std::function<bool()> may_begin{};
    Courier::Done done{};
  };
  /// Those under way.
  std::vector<Request>& requests() { return requests_; }
  void Answer(std::size_t which, http::OutgoingReply reply) {
    Request request = std::move(requests_.at(which));
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(which));
    request.done({std::move(reply), 1});
    Drive();
  }
  void Answer(int status, std::optional<std::int64_t> retry_after_ms = {}) {
    http::OutgoingReply reply;
    reply.status = status;
    reply.retry_after_ms = retry_after_ms;
    Answer(0, std::move(reply));
  }

  PutCommand Wish(const std::string& name, const std::string& topic) {
    PutCommand put;
    put.key = {"default", name};
    put.topic = topic;
    put.url = "https://hooks.example.com/" + name;
    return put;
  }
  Outcome Change(Command command) {
    const Outcome outcome = Call(subscriptions_, &Subscriptions::Change, std::move(command));
    Drive();
    return outcome;
  }
  Outcome Put(const std::string& name, const std::string& topic) {
    return Change(Wish(name, topic));
  }
  std::optional<Subscription> Find(const std::string& name) {
    return Call(subscriptions_, &Subscriptions::Find, {"default", name}).subscription;
  }

  void Enqueue(const std::string& topic, int count = 1) {
    messages::EnqueueRequest request;
    request.tenant = "default";
    for (int i = 0; i < count; ++i) {
      messages::NewMessage message;
      message.topic = topic;
      message.payload = std::to_string(i);
      request.messages.push_back(std::move(message));
    }
    Call(messages_, &messages::Messages::Enqueue, std::move(request));
    Drive();
  }
  messages::TopicView Topic(const std::string& name) {
    return Call(messages_, &messages::Messages::ListTopics, {"default", name, "", 100}).rows.at(0);
  }

  Deliverer& deliverer() { return deliverer_; }
  Subscriptions& subscriptions() { return subscriptions_; }
  messages::Messages& messages() { return messages_; }
  queues::Queues& queues() { return queues_; }
  leases::Leases& leases() { return leases_; }
  const Vault& vault() const { return vault_; }
  telemetry::Registry& metrics() { return metrics_; }

 private:
  void GiveUp(std::uint64_t group) {
    for (std::size_t i = 0; i < requests_.size();) {
      if (requests_[i].endpoint.group != group) {
        ++i;
        continue;
      }
      Request request = std::move(requests_[i]);
      requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(i));
      http::OutgoingReply reply;
      reply.maybe_received = true;
      reply.own_doing = http::OutgoingReply::OwnDoing::kGivenUp;
      request.done({std::move(reply), 1});
    }
  }

  base::ManualClock& clock_;
  telemetry::Registry metrics_;
  const Vault vault_;
  leases::LeaseFenceCheck fence_check_;
  Probe probe_;
  std::vector<Request> requests_;
  leases::Leases leases_;
  messages::Messages messages_;
  queues::Queues queues_;
  Subscriptions subscriptions_;
  Deliverer deliverer_;
};

}  // namespace tenure::push
