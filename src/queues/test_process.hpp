#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::queues {

/// A process with queues: its calls run the lanes until they are answered.
class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store, std::string id = "p")
      : Process(test_store),
        messages_(store(), wake(), std::move(id), test_store.clock(), test_store.metrics()),
        tracer_(100, test_store.clock(), test_store.metrics()),
        queues_(store(), wake(), messages_, test_store.clock(), &test_store.metrics(), &tracer_) {}

  DeclareReply Declare(const QueueSettings& settings = {}, const std::string& rule = "",
                       const std::string& queue = "q") {
    return Call(queues_, &Queues::Declare, {"default", queue, {settings, rule, false}});
  }
  PauseReply Pause(bool paused) {
    return Call(queues_, &Queues::Pause, {"default", "q", paused, "why"});
  }

  static NewMessage Of(const std::string& key, const std::string& payload = "{}") {
    NewMessage message;
    message.key = key;
    message.payload = payload;
    return message;
  }
  SendReply Send(std::vector<NewMessage> messages, const std::string& queue = "q") {
    return Call(queues_, &Queues::Send, {"default", queue, std::move(messages), true});
  }
  SentMessage Send(const std::string& key, const std::string& payload = "{}") {
    const SendReply reply = Send({Of(key, payload)});
    EXPECT_EQ(reply.kind, SendReply::Kind::kSent);
    return reply.messages.empty() ? SentMessage() : reply.messages.front();
  }

  static AcceptRequest Ask(std::int64_t sessions = 1, const std::string& consumer = "c",
                           std::int64_t messages = kDefaultSlice) {
    AcceptRequest request;
    request.tenant = "default";
    request.queue = "q";
    request.consumer = consumer;
    request.max_sessions = sessions;
    request.max_messages = messages;
    return request;
  }
  AcceptReply Accept(AcceptRequest request) {
    return Await<AcceptReply>(
        [&](auto done) { queues_.Accept(std::move(request), nullptr, std::move(done)); });
  }
  HeldSession AcceptOne(const std::string& consumer = "c") {
    AcceptReply reply = Accept(Ask(1, consumer));
    EXPECT_EQ(reply.sessions.size(), 1u) << "nothing to accept";
    return reply.sessions.empty() ? HeldSession() : std::move(reply.sessions.front());
  }

  ReportReply Reports(std::vector<Report> items) {
    return Await<ReportReply>([&](auto done) {
      queues_.Report({"default", "q", std::move(items)}, nullptr, std::move(done));
    });
  }
  ReportOutcome Tell(Report report) { return Reports({std::move(report)}).outcomes.front(); }
  static Report Of(Report::Kind kind, const HeldSession& session, std::int64_t sequence = 0) {
    Report report;
    report.kind = kind;
    report.session = session.id;
    report.fence = session.fence;
    report.sequence = sequence;
    return report;
  }
  ReportOutcome Complete(const HeldSession& session, std::int64_t sequence) {
    return Tell(Of(Report::Kind::kComplete, session, sequence));
  }
  ReportOutcome Fail(const HeldSession& session, std::int64_t sequence,
                     const std::string& error = "no") {
    Report report = Of(Report::Kind::kFail, session, sequence);
    report.error = error;
    return Tell(std::move(report));
  }
  ReportOutcome Release(const HeldSession& session) {
    return Tell(Of(Report::Kind::kRelease, session));
  }

  messages::Messages& messages() { return messages_; }
  Queues& queues() { return queues_; }
  telemetry::Tracer& tracer() { return tracer_; }

 private:
  messages::Messages messages_;
  telemetry::Tracer tracer_;
  Queues queues_;
};

inline std::vector<std::int64_t> Sequences(const std::vector<Message>& messages) {
  std::vector<std::int64_t> sequences;
  for (const Message& each : messages) sequences.push_back(each.sequence);
  return sequences;
}

}  // namespace tenure::queues
