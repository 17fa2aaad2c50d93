#include "queues/waiters.hpp"

#include <algorithm>
#include <functional>
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

/// One that asks the store by `kAsk`, and keeps what it says.
template <class Request, class Reply, auto kAsk>
class QueueWatcher : public messages::Watcher {
 public:
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  QueueWatcher(Queues& queues, messages::Consumers& consumers, Awaited awaited, Request request,
               const base::Caller& caller, Callback done)
      : Watcher({awaited.Keys(), "", caller.home}),
        queues_(queues),
        consumers_(consumers),
        request_(std::move(request)),
        fences_(caller.fences),
        awaited_(std::move(awaited)),
        done_(std::move(done)) {}

  messages::TopicKey TopicOf(const std::string& key) const final {
    const auto& keys = place().keys;
    const auto at = std::find(keys.begin(), keys.end(), key) - keys.begin();
    return {awaited_.tenant, awaited_.topics[static_cast<std::size_t>(at)]};
  }
  void Ask(bool, base::UniqueFunction<Answer> answered) final {
    std::invoke(kAsk, queues_, request_, base::Caller(nullptr, fences_),
                [this, answered = std::move(answered)](db::Result<Reply> result) mutable {
                  result_ = std::move(result);
                  answered(result_->ok() ? AnswerOf(result_->value()) : kOver);
                });
  }
  void Finish(const base::Fault* fault) final {
    done_(fault ? db::Result<Reply>(*fault) : std::move(*result_));
  }

 protected:
  virtual Answer AnswerOf(const Reply& reply) const = 0;

  Queues& queues_;
  messages::Consumers& consumers_;
  const Request request_;
  std::optional<db::Result<Reply>> result_;

 private:
  const std::vector<base::Fence> fences_;
  const Awaited awaited_;
  Callback done_;
};

class AcceptWatcher final : public QueueWatcher<AcceptRequest, AcceptReply, &Queues::Accept> {
 public:
  using QueueWatcher::QueueWatcher;

  void GiveBack() override {
    if (!result_->ok() || request_.accept_id || result_->value().sessions.empty()) return;
    ReportRequest request{request_.tenant, request_.queue, {}};
    for (const HeldSession& session : result_->value().sessions)
      request.items.push_back(
          {.kind = Report::Kind::kRelease, .session = session.id, .fence = session.fence});
    queues_.Report(std::move(request), nullptr, [](const auto&) {});
  }

 private:
  Answer AnswerOf(const AcceptReply& reply) const override {
    const bool hopeless =
        reply.kind != AcceptReply::Kind::kDone ||
        (reply.unavailable && reply.unavailable->reason == NotToBeHad::Reason::kUnknown);
    if (hopeless) return kOver;
    if (!reply.sessions.empty()) {
      consumers_.PollSoon();
      return {.kind = Answer::Kind::kEnd,
              .ask_in_ms = reply.look_in_ms,
              .successors = reply.has_left ? std::size_t{1} : 0};
    }
    return {.kind = reply.has_left ? Answer::Kind::kLocked : Answer::Kind::kNotYet,
            .ask_in_ms = reply.look_in_ms,
            .look_in_ms = consumers_.LookInMs(*this)};
  }
};

class ReceiveWatcher final : public QueueWatcher<ReportRequest, ReportReply, &Queues::Report> {
 public:
  using QueueWatcher::QueueWatcher;
  /// What it was handed is its holder's all the same.
  void GiveBack() override {}

 private:
  Answer AnswerOf(const ReportReply& reply) const override {
    const ReportOutcome& outcome = reply.outcomes.front();
    const bool waits = outcome.kind == ReportOutcome::Kind::kDone && outcome.messages.empty() &&
                       outcome.hold == Hold::kHeld;
    if (!waits) return kOver;
    return {.kind = Answer::Kind::kNotYet, .look_in_ms = consumers_.LookInMs(*this)};
  }
};

}  // namespace

Waiters::Id Waiters::Add(AcceptRequest request, std::int64_t wait_ms, base::Caller caller,
                         Callback<AcceptReply> done) {
  Awaited awaited = AwaitedBy(request);
  return consumers_.Add(
      std::make_shared<AcceptWatcher>(queues_, consumers_, std::move(awaited), std::move(request),
                                      caller, std::move(done)),
      wait_ms);
}

Waiters::Id Waiters::Add(ReportRequest request, std::int64_t wait_ms, base::Caller caller,
                         Callback<ReportReply> done) {
  Awaited awaited{request.tenant, {SessionTopic(request.items.front().session)}};
  return consumers_.Add(
      std::make_shared<ReceiveWatcher>(queues_, consumers_, std::move(awaited), std::move(request),
                                       caller, std::move(done)),
      wait_ms);
}

}  // namespace tenure::queues
