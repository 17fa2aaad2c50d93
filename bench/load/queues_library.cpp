// Ordered messages through the library, on a store of this process. Prints one JSON object.
//
//   cycle   --store S --count C --session N [--in-flight F]
//   rounds  --store S --seconds T                  send, accept, complete one message of each of 100 sessions, each timed
//   produce --store S --count C --keys K           64 at a time that send one message each, to K sessions
//
// cycle: C messages in sessions of N, sent in batches of 500; then all are accepted and completed in their order, 100
// sessions and 100 messages of each at a time. A store is a postgres:// address or a folder. An answer that is not
// what it should be, or a message out of its order, ends it with exit status 1.

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "client.hpp"
#include "local_messages.hpp"
#include "loops.hpp"
#include "message_batch.hpp"
#include "options.hpp"

namespace bench {
namespace {

namespace queues = tenure::queues;

constexpr const char* kBenchQueue = "bench";
constexpr const char* kBenchTenant = "default";

template <class Reply>
Reply Unwrap(tenure::db::Result<Reply> result) {
  if (!result.ok()) Die(fmt::format("the store refused: {}", result.fault().what()));
  return std::move(result.value());
}

template <class Reply, class Submit>
Reply Await(const Submit& submit) {
  std::promise<tenure::db::Result<Reply>> done;
  submit([&](tenure::db::Result<Reply> result) { done.set_value(std::move(result)); });
  return Unwrap(done.get_future().get());
}

void Declare(LocalMessages& local) {
  queues::DeclareRequest declare{kBenchTenant, kBenchQueue, {}};
  declare.wish.settings.max_messages = 0;
  Await<queues::DeclareReply>(
      [&](auto done) { local.queues().Declare(declare, nullptr, std::move(done)); });
}

queues::NewMessage NewMessageOf(std::string key, std::uint64_t number) {
  queues::NewMessage message;
  message.key = std::move(key);
  message.payload = MessagePayload(number);
  return message;
}

class Cycle {
 public:
  explicit Cycle(const Options& options)
      : local_(options.Text("store")),
        count_(options.Number("count")),
        session_(options.Number("session")),
        in_flight_(options.Number("in-flight", 8)) {
    Declare(local_);
  }

  void Run() {
    const std::int64_t begun = NowNanos();
    Send();
    const std::int64_t sent = NowNanos();
    Handle();
    const std::int64_t ended = NowNanos();
    if (completed_ != count_) Die(fmt::format("{} were sent, {} done", count_, completed_.load()));
    const auto seconds = [](std::int64_t nanos) { return static_cast<double>(nanos) / 1e9; };
    const auto all = static_cast<double>(count_);
    fmt::print(
        "{{\"jobs\": {}, \"send_rate\": {:.1f}, \"handle_rate\": {:.1f}, \"rate\": {:.1f}}}\n",
        count_, all / seconds(sent - begun), all / seconds(ended - sent),
        all / seconds(ended - begun));
  }

 private:
  void Send() {
    std::atomic<std::uint64_t> next{0};
    Loops loops(in_flight_);
    std::function<void()> step = [&] {
      const std::uint64_t first = next.fetch_add(kMessageBatch);
      if (first >= count_) return loops.End();
      queues::SendRequest request{kBenchTenant, kBenchQueue, {}, true};
      for (std::uint64_t i = first; i < std::min(count_, first + kMessageBatch); ++i)
        request.messages.push_back(NewMessageOf(fmt::format("session-{}", i / session_), i));
      local_.queues().Send(std::move(request), nullptr,
                           [&](tenure::db::Result<queues::SendReply> result) {
                             if (Unwrap(std::move(result)).kind != queues::SendReply::Kind::kSent)
                               Die("a message was not taken");
                             step();
                           });
    };
    for (std::size_t i = 0; i < in_flight_; ++i) step();
    loops.Await();
  }

  void Handle() {
    Loops loops(kConsumers);
    std::function<void()> accept = [&] {
      queues::AcceptRequest request;
      request.tenant = kBenchTenant;
      request.queue = kBenchQueue;
      request.consumer = "bench";
      request.max_sessions = 100;
      request.max_messages = 100;
      local_.queues().Accept(std::move(request), nullptr,
                             [&](tenure::db::Result<queues::AcceptReply> result) {
                               const queues::AcceptReply reply = Unwrap(std::move(result));
                               if (reply.sessions.empty() && !reply.has_left) return loops.End();
                               if (reply.sessions.empty()) return accept();
                               queues::ReportRequest report{kBenchTenant, kBenchQueue, {}};
                               for (const queues::HeldSession& each : reply.sessions)
                                 Add(report, each.id, each.fence, each.messages);
                               Complete(std::move(report), accept);
                             });
    };
    for (std::size_t i = 0; i < kConsumers; ++i) accept();
    loops.Await();
  }

  /// All of a session's slice is done.
  void Add(queues::ReportRequest& report, const tenure::base::Uuid& session, std::int64_t fence,
           const std::vector<queues::Message>& messages) {
    for (std::size_t i = 1; i < messages.size(); ++i)
      if (messages[i].sequence != messages[i - 1].sequence + 1) Die("a slice has a gap");
    completed_ += messages.size();
    queues::Report& item = report.items.emplace_back();
    item.kind = queues::Report::Kind::kComplete;
    item.session = session;
    item.fence = fence;
    item.sequence = messages.back().sequence;
    item.max_messages = 100;
  }

  void Complete(queues::ReportRequest report, const std::function<void()>& accept) {
    queues::ReportRequest said = report;
    local_.queues().Report(
        std::move(report), nullptr,
        [this, said = std::move(said), &accept](tenure::db::Result<queues::ReportReply> result) {
          const queues::ReportReply reply = Unwrap(std::move(result));
          queues::ReportRequest next{kBenchTenant, kBenchQueue, {}};
          for (std::size_t i = 0; i < reply.outcomes.size(); ++i) {
            const queues::ReportOutcome& outcome = reply.outcomes[i];
            if (outcome.kind != queues::ReportOutcome::Kind::kDone)
              Die("a message was not completed");
            if (!outcome.messages.empty())
              Add(next, said.items[i].session, said.items[i].fence, outcome.messages);
          }
          if (next.items.empty()) return accept();
          Complete(std::move(next), accept);
        });
  }

  static constexpr std::size_t kConsumers = 4;
  LocalMessages local_;
  const std::uint64_t count_;
  const std::uint64_t session_;
  const std::size_t in_flight_;
  std::atomic<std::uint64_t> completed_{0};
};

/// One batch at a time, so that nothing is measured but what a batch costs.
void Rounds(const Options& options) {
  constexpr std::size_t kSessions = 100;
  LocalMessages local(options.Text("store"));
  Declare(local);
  const auto nanos = static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000'000;
  std::int64_t send = 0, accept = 0, complete = 0;
  std::uint64_t rounds = 0;
  const auto timed = [](std::int64_t& sum, const auto& step) {
    const std::int64_t begun = NowNanos();
    auto reply = step();
    sum += NowNanos() - begun;
    return reply;
  };
  for (const std::int64_t begun = NowNanos(); NowNanos() - begun < nanos; ++rounds) {
    queues::SendRequest sent{kBenchTenant, kBenchQueue, {}, true};
    for (std::size_t i = 0; i < kSessions; ++i)
      sent.messages.push_back(NewMessageOf(fmt::format("round-{}", i), rounds));
    timed(send, [&] {
      return Await<queues::SendReply>(
          [&](auto done) { local.queues().Send(sent, nullptr, std::move(done)); });
    });
    queues::AcceptRequest wanted;
    wanted.tenant = kBenchTenant;
    wanted.queue = kBenchQueue;
    wanted.consumer = "bench";
    wanted.max_sessions = kSessions;
    const auto accepted = timed(accept, [&] {
      return Await<queues::AcceptReply>(
          [&](auto done) { local.queues().Accept(wanted, nullptr, std::move(done)); });
    });
    if (accepted.sessions.size() != kSessions) Die("an accept found too few");
    queues::ReportRequest report{kBenchTenant, kBenchQueue, {}};
    for (const queues::HeldSession& each : accepted.sessions) {
      queues::Report& item = report.items.emplace_back();
      item.kind = queues::Report::Kind::kComplete;
      item.session = each.id;
      item.fence = each.fence;
      item.sequence = each.messages.back().sequence;
    }
    const auto told = timed(complete, [&] {
      return Await<queues::ReportReply>(
          [&](auto done) { local.queues().Report(report, nullptr, std::move(done)); });
    });
    for (const queues::ReportOutcome& each : told.outcomes)
      if (each.kind != queues::ReportOutcome::Kind::kDone) Die("a message was not completed");
  }
  const auto us = [&](std::int64_t sum) {
    return static_cast<double>(sum) / 1e3 / static_cast<double>(rounds * kSessions);
  };
  fmt::print(
      "{{\"rounds\": {}, \"send_us\": {:.3f}, \"accept_us\": {:.3f}, \"complete_us\": {:.3f}}}\n",
      rounds, us(send), us(accept), us(complete));
}

void Produce(const Options& options) {
  constexpr std::size_t kProducers = 64;
  LocalMessages local(options.Text("store"));
  Declare(local);
  const std::uint64_t count = options.Number("count"), keys = options.Number("keys");
  std::atomic<std::uint64_t> next{0};
  Loops loops(kProducers);
  std::function<void()> step = [&] {
    const std::uint64_t number = next.fetch_add(1);
    if (number >= count) return loops.End();
    local.queues().Send({kBenchTenant,
                         kBenchQueue,
                         {NewMessageOf(fmt::format("session-{}", number % keys), number)}},
                        nullptr, [&](tenure::db::Result<queues::SendReply> result) {
                          if (Unwrap(std::move(result)).kind != queues::SendReply::Kind::kSent)
                            Die("a message was not taken");
                          step();
                        });
  };
  const std::int64_t begun = NowNanos();
  for (std::size_t i = 0; i < kProducers; ++i) step();
  loops.Await();
  fmt::print("{{\"jobs\": {}, \"rate\": {:.1f}}}\n", count,
             static_cast<double>(count) * 1e9 / static_cast<double>(NowNanos() - begun));
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const bench::Options options(count - 2, words + 2);
  if (mode == "cycle")
    bench::Cycle(options).Run();
  else if (mode == "rounds")
    bench::Rounds(options);
  else if (mode == "produce")
    bench::Produce(options);
  else
    bench::Die("usage: queues_library cycle|rounds|produce …; see queues_library.cpp");
  return 0;
}
