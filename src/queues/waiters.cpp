#include "queues/waiters.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "queues/queues.hpp"

namespace tenure::queues {
namespace {

using WaitAnswer = wake::Waiter::Answer;

/// What a waiter waits for, by the names under which others tell of it.
struct Awaited {
  std::string tenant{};
  std::vector<std::string> topics{};

  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    keys.reserve(topics.size());
    for (const std::string& topic : topics) keys.push_back(messages::WakeKey(tenant, topic));
    return keys;
  }
};

Awaited AwaitedBy(const AcceptRequest& request) {
  if (request.session) return {request.tenant, {SessionTopic(*request.session)}};
  if (!request.key.empty()) return {request.tenant, {QueueTopic(request.queue)}};
  return {request.tenant,
          {QueueTopic(request.queue), ConsumerTopic(request.queue, request.consumer)}};
}

/// The next one of the line asks in its place.
constexpr WaitAnswer kOver{.kind = WaitAnswer::Kind::kEnd, .ask_in_ms = 0};

class QueueWatcher : public messages::Watcher {
 public:
  QueueWatcher(Queues& queues, messages::Consumers& consumers, Awaited awaited,
               const base::Caller& caller)
      : Watcher({awaited.Keys(), "", caller.home}),
        queues_(queues),
        consumers_(consumers),
        fences_(caller.fences),
        awaited_(std::move(awaited)) {}

  messages::TopicKey TopicOf(const std::string& key) const override {
    const auto& keys = place().keys;
    const auto at = std::find(keys.begin(), keys.end(), key) - keys.begin();
    return {awaited_.tenant, awaited_.topics[static_cast<std::size_t>(at)]};
  }

 protected:
  base::Caller caller() const { return {nullptr, fences_}; }
  std::int64_t LookInMs() const { return consumers_.LookInMs(*this); }

  Queues& queues_;
  messages::Consumers& consumers_;

 private:
  const std::vector<base::Fence> fences_;
  const Awaited awaited_;
};

}  // namespace

class Waiters::AcceptWaiter final : public QueueWatcher {
 public:
  AcceptWaiter(Waiters& waiters, AcceptRequest request, const base::Caller& caller,
               Callback<AcceptReply> done)
      : QueueWatcher(waiters.queues_, waiters.consumers_, AwaitedBy(request), caller),
        request_(std::move(request)),
        done_(std::move(done)) {}

  void Ask(bool, base::UniqueFunction<Answer> answered) override {
    queues_.Accept(request_, caller(),
                   [this, answered = std::move(answered)](db::Result<AcceptReply> result) mutable {
                     result_ = std::move(result);
                     answered(AnswerOf(*result_));
                   });
  }
  void Finish(const base::Fault* fault) override {
    if (fault)
      done_(*fault);
    else
      done_(std::move(*result_));
  }
  void GiveBack() override {
    if (!result_->ok() || request_.accept_id || result_->value().sessions.empty()) return;
    ReportRequest request{request_.tenant, request_.queue, {}};
    for (const HeldSession& session : result_->value().sessions)
      request.items.push_back(
          {.kind = Report::Kind::kRelease, .session = session.id, .fence = session.fence});
    queues_.Report(std::move(request), nullptr, [](const auto&) {});
  }

 private:
  Answer AnswerOf(const db::Result<AcceptReply>& result) const {
    if (!result.ok()) return kOver;
    const AcceptReply& reply = result.value();
    const bool hopeless =
        reply.kind != AcceptReply::Kind::kDone ||
        (reply.unavailable && reply.unavailable->reason == Unavailable::Reason::kUnknown);
    if (hopeless) return kOver;
    if (!reply.sessions.empty()) {
      consumers_.PollSoon();
      return {.kind = Answer::Kind::kEnd,
              .ask_in_ms = reply.look_in_ms,
              .successors = reply.has_left ? std::size_t{1} : 0};
    }
    return {.kind = reply.has_left ? Answer::Kind::kLocked : Answer::Kind::kNotYet,
            .ask_in_ms = reply.look_in_ms,
            .look_in_ms = LookInMs()};
  }

  const AcceptRequest request_;
  Callback<AcceptReply> done_;
  std::optional<db::Result<AcceptReply>> result_;
};

class Waiters::ReceiveWaiter final : public QueueWatcher {
 public:
  ReceiveWaiter(Waiters& waiters, ReportRequest request, const base::Caller& caller,
                Callback<ReportReply> done)
      : QueueWatcher(waiters.queues_, waiters.consumers_,
                     {request.tenant, {SessionTopic(request.items.front().session)}}, caller),
        request_(std::move(request)),
        done_(std::move(done)) {}

  void Ask(bool, base::UniqueFunction<Answer> answered) override {
    queues_.Report(request_, caller(),
                   [this, answered = std::move(answered)](db::Result<ReportReply> result) mutable {
                     result_ = std::move(result);
                     answered(AnswerOf(*result_));
                   });
  }
  void Finish(const base::Fault* fault) override {
    if (fault)
      done_(*fault);
    else
      done_(std::move(*result_));
  }
  /// What it was handed is its holder's all the same.
  void GiveBack() override {}

 private:
  Answer AnswerOf(const db::Result<ReportReply>& result) const {
    if (!result.ok()) return kOver;
    const ReportOutcome& outcome = result.value().outcomes.front();
    const bool waits = outcome.kind == ReportOutcome::Kind::kDone && outcome.messages.empty() &&
                       outcome.hold == Hold::kHeld;
    if (!waits) return kOver;
    return {.kind = Answer::Kind::kNotYet, .look_in_ms = LookInMs()};
  }

  const ReportRequest request_;
  Callback<ReportReply> done_;
  std::optional<db::Result<ReportReply>> result_;
};

Waiters::Id Waiters::Add(AcceptRequest request, std::int64_t wait_ms, base::Caller caller,
                         Callback<AcceptReply> done) {
  return consumers_.Add(
      std::make_shared<AcceptWaiter>(*this, std::move(request), caller, std::move(done)), wait_ms);
}

Waiters::Id Waiters::Add(ReportRequest request, std::int64_t wait_ms, base::Caller caller,
                         Callback<ReportReply> done) {
  return consumers_.Add(
      std::make_shared<ReceiveWaiter>(*this, std::move(request), caller, std::move(done)), wait_ms);
}

}  // namespace tenure::queues
