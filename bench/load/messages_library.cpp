// Messages through the library, on a store of this process. Each mode prints one JSON object.
//
//   enqueue --store S --seconds T [--in-flight N]   batches of 500, N of them at a time
//   process --store S --count C [--in-flight N]     claims and acknowledges the C that are there
//   fill    --store S --count C [--keep-ms K]       C messages; with K: done at once and kept
//   rounds  --store S --seconds T [--keep-ms K]     enqueue, claim, acknowledge 500, each timed
//   latency --store S --count C                     one at a time: call, commit, claim
//
// A store is a postgres:// address or a folder. With --topics N they are of N topics (1). An answer
// that is not what it should be ends it with exit status 1.

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <thread>

#include "client.hpp"
#include "latencies.hpp"
#include "local_messages.hpp"
#include "loops.hpp"
#include "message_batch.hpp"
#include "options.hpp"

namespace bench {
namespace {

namespace messages = tenure::messages;
using messages::ClaimReply;
using messages::EnqueueReply;
using messages::SettleResult;

const std::string kTenant = "default";

double SecondsSince(std::int64_t begun) { return static_cast<double>(NowNanos() - begun) / 1e9; }

double CpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <class Reply>
Reply Unwrap(tenure::db::Result<Reply> result) {
  if (!result.ok()) Die(fmt::format("the store refused: {}", result.fault().what()));
  return std::move(result.value());
}

std::uint64_t TopicsOf(const Options& options) { return options.Number("topics", 1); }

/// Batches take turns among the topics.
messages::EnqueueRequest NewBatch(std::uint64_t first, std::uint64_t topics) {
  messages::EnqueueRequest request{.tenant = kTenant};
  request.messages.resize(kMessageBatch);
  for (std::size_t i = 0; i < kMessageBatch; ++i)
    request.messages[i] = {.topic = TopicName(first / kMessageBatch % topics),
                           .payload = MessagePayload(first + i)};
  return request;
}

messages::ClaimRequest ClaimOf(std::int64_t max, std::uint64_t topics) {
  messages::ClaimRequest request{
      .tenant = kTenant, .max = max, .lease_ms = 600'000, .owner = "bench"};
  for (std::uint64_t i = 0; i < topics; ++i) request.topics.push_back(TopicName(i));
  return request;
}

messages::SettleRequest DoneWith(const ClaimReply& claim) {
  messages::SettleRequest request{.tenant = kTenant, .disposition = messages::Disposition::kDone};
  for (const messages::ClaimedMessage& each : claim.messages)
    request.settlements.push_back({.id = each.id, .fence = each.fence});
  return request;
}

std::uint64_t CheckedDone(const SettleResult& result) {
  for (const messages::SettleOutcome outcome : result.reply.outcomes)
    if (outcome != messages::SettleOutcome::kDone) Die("a message was not acknowledged");
  return result.reply.outcomes.size();
}

/// Batches in flight until `more` says no. Returns how many messages went in.
std::uint64_t EnqueueWhile(LocalMessages& local, std::uint64_t topics, std::size_t in_flight,
                           const std::function<bool(std::uint64_t)>& more) {
  std::atomic<std::uint64_t> next{0};
  Loops loops(in_flight);
  std::function<void()> step = [&] {
    const std::uint64_t first = next.fetch_add(kMessageBatch);
    if (!more(first)) {
      next.fetch_sub(kMessageBatch);
      return loops.End();
    }
    local->Enqueue(NewBatch(first, topics), nullptr, [&](tenure::db::Result<EnqueueReply> result) {
      if (Unwrap(std::move(result)).messages.size() != kMessageBatch) Die("messages are missing");
      step();
    });
  };
  for (std::size_t i = 0; i < in_flight; ++i) step();
  loops.Await();
  return next.load();
}

/// Claims and acknowledges until nothing is found. Returns how many messages were done.
std::uint64_t ProcessAll(LocalMessages& local, std::uint64_t topics, std::size_t in_flight) {
  std::atomic<std::uint64_t> done{0};
  Loops loops(in_flight);
  std::function<void()> step = [&] {
    local->Claim(
        ClaimOf(kMessageBatch, topics), nullptr, [&](tenure::db::Result<ClaimReply> result) {
          const ClaimReply claim = Unwrap(std::move(result));
          if (claim.messages.empty()) return loops.End();
          local->Settle(DoneWith(claim), nullptr, [&](tenure::db::Result<SettleResult> report) {
            done.fetch_add(CheckedDone(Unwrap(std::move(report))));
            step();
          });
        });
  };
  for (std::size_t i = 0; i < in_flight; ++i) step();
  loops.Await();
  return done.load();
}

void Print(std::uint64_t count, std::int64_t begun, double cpu_begun) {
  const double seconds = SecondsSince(begun);
  const auto all = static_cast<double>(count);
  fmt::print("{{\"jobs\": {}, \"seconds\": {:.3f}, \"rate\": {:.1f}, \"cpu_us\": {:.2f}}}\n", count,
             seconds, all / seconds, (CpuSeconds() - cpu_begun) * 1e6 / all);
}

/// Calls and waits for the answer.
template <class Reply, class Start>
Reply Await(const Start& start) {
  std::promise<tenure::db::Result<Reply>> promise;
  start([&](tenure::db::Result<Reply> result) { promise.set_value(std::move(result)); });
  return Unwrap(promise.get_future().get());
}

void KeepFinished(LocalMessages& local, const Options& options) {
  const auto keep_ms = static_cast<std::int64_t>(options.Number("keep-ms", 0));
  if (keep_ms == 0) return;
  for (std::uint64_t i = 0; i < TopicsOf(options); ++i)
    Await<messages::TopicChangeReply>([&](auto done) {
      local->ChangeTopic({.tenant = kTenant, .name = TopicName(i), .retention_ms = keep_ms},
                         nullptr, std::move(done));
    });
}

int Enqueue(const Options& options) {
  LocalMessages local(options.Text("store"));
  const std::size_t in_flight = options.Number("in-flight", 8);
  const auto nanos = static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000'000;
  EnqueueWhile(local, TopicsOf(options), in_flight,
               [](std::uint64_t first) { return first < 20 * kMessageBatch; });
  const double cpu_begun = CpuSeconds();
  const std::int64_t begun = NowNanos();
  const std::uint64_t count = EnqueueWhile(local, TopicsOf(options), in_flight, [&](std::uint64_t) {
    return NowNanos() - begun < nanos;
  });
  Print(count, begun, cpu_begun);
  return 0;
}

int Process(const Options& options) {
  LocalMessages local(options.Text("store"));
  const std::size_t in_flight = options.Number("in-flight", 4);
  const std::uint64_t count = options.Number("count");
  const double cpu_begun = CpuSeconds();
  const std::int64_t begun = NowNanos();
  const std::uint64_t done = ProcessAll(local, TopicsOf(options), in_flight);
  Print(done, begun, cpu_begun);
  if (done != count) Die(fmt::format("{} messages, but {} were done", count, done));
  return 0;
}

int Fill(const Options& options) {
  LocalMessages local(options.Text("store"));
  KeepFinished(local, options);
  const std::uint64_t count = options.Number("count");
  const double cpu_begun = CpuSeconds();
  const std::int64_t begun = NowNanos();
  EnqueueWhile(local, TopicsOf(options), 8, [&](std::uint64_t first) { return first < count; });
  if (options.Number("keep-ms", 0) > 0 && ProcessAll(local, TopicsOf(options), 4) < count)
    Die("some were not done");
  Print(count, begun, cpu_begun);
  return 0;
}

int Rounds(const Options& options) {
  LocalMessages local(options.Text("store"));
  KeepFinished(local, options);
  const auto nanos = static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000'000;
  std::int64_t enqueue = 0, claim = 0, ack = 0;
  std::uint64_t rounds = 0;
  const auto timed = [](std::int64_t& sum, const auto& step) {
    const std::int64_t begun = NowNanos();
    auto reply = step();
    sum += NowNanos() - begun;
    return reply;
  };
  for (const std::int64_t begun = NowNanos(); NowNanos() - begun < nanos; ++rounds) {
    timed(enqueue, [&] {
      return Await<EnqueueReply>([&](auto done) {
        local->Enqueue(NewBatch(rounds * kMessageBatch, TopicsOf(options)), nullptr,
                       std::move(done));
      });
    });
    const ClaimReply claimed = timed(claim, [&] {
      return Await<ClaimReply>([&](auto done) {
        local->Claim(ClaimOf(kMessageBatch, TopicsOf(options)), nullptr, std::move(done));
      });
    });
    if (claimed.messages.size() != kMessageBatch) Die("a claim found too few");
    CheckedDone(timed(ack, [&] {
      return Await<SettleResult>(
          [&](auto done) { local->Settle(DoneWith(claimed), nullptr, std::move(done)); });
    }));
  }
  const auto us = [&](std::int64_t sum) {
    return static_cast<double>(sum) / 1e3 / static_cast<double>(rounds * kMessageBatch);
  };
  fmt::print(
      "{{\"rounds\": {}, \"enqueue_us\": {:.3f}, \"claim_us\": {:.3f}, \"ack_us\": {:.3f}}}\n",
      rounds, us(enqueue), us(claim), us(ack));
  return 0;
}

int Latency(const Options& options) {
  LocalMessages local(options.Text("store"));
  Latencies from_call, from_commit;
  const std::uint64_t count = options.Number("count");
  for (std::uint64_t i = 0; i < count; ++i) {
    std::promise<std::int64_t> committed, claimed;
    local->ClaimWaiting(ClaimOf(1, 1), 60'000, nullptr, [&](tenure::db::Result<ClaimReply> result) {
      const std::int64_t now = NowNanos();
      const ClaimReply claim = Unwrap(std::move(result));
      if (claim.messages.size() != 1) Die("nothing was claimed");
      local->Settle(DoneWith(claim), nullptr, [](const auto&) {});
      claimed.set_value(now);
    });
    // Who waits has asked and found nothing by then.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::int64_t begun = NowNanos();
    messages::EnqueueRequest one{.tenant = kTenant};
    one.messages.push_back({.topic = TopicName(0), .payload = MessagePayload(i)});
    local->Enqueue(std::move(one), nullptr, [&](const auto&) { committed.set_value(NowNanos()); });
    const std::int64_t commit = committed.get_future().get();
    const std::int64_t started = claimed.get_future().get();
    from_call.Add((started - begun) / 1'000);
    from_commit.Add(std::max<std::int64_t>(0, started - commit) / 1'000);
  }
  fmt::print("{{\"count\": {}, {}, {}}}\n", count, from_call.Json("from_call"),
             from_commit.Json("from_commit"));
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const bench::Options options(count > 1 ? count - 2 : 0, words + 2);
  if (mode == "enqueue") return bench::Enqueue(options);
  if (mode == "process") return bench::Process(options);
  if (mode == "fill") return bench::Fill(options);
  if (mode == "rounds") return bench::Rounds(options);
  if (mode == "latency") return bench::Latency(options);
  bench::Die(
      "usage: messages_library enqueue|process|fill|rounds|latency …; see messages_library.cpp");
}
