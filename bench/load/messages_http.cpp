// Messages over HTTP, in batches of 500. Each mode prints one JSON object.
//
//   messages_http enqueue --port P --seconds T [--connections C]
//   messages_http process --port P --count N [--connections C]     claims and acknowledges N
//   messages_http latency --port P --count N [--enqueue-port Q | --store URL] [--load-rate R]
//       one message at a time, from the call that enqueues it (on port Q, or in SQL: select
//       tenure.enqueue), and from its answer, which says that it is committed, until a claim that
//       waits on port P has it; while R messages of other topics are enqueued and done each second
//   messages_http wait    --port P --seconds T                     one claim after another, in vain
//
// With --topics N the messages are of N topics (1). An answer that is not what it should be ends it
// with exit status 1.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <libpq-fe.h>

#include "client.hpp"
#include "latencies.hpp"
#include "message_batch.hpp"
#include "options.hpp"

namespace bench {
namespace {

std::uint16_t PortOf(const Options& options, const char* name = "port") {
  return static_cast<std::uint16_t>(options.Number(name));
}

std::string Post(std::string_view path, std::string_view body) {
  return HttpRequest("POST", path, body);
}

std::string EnqueueBatch(const std::string& topic, std::uint64_t first) {
  std::string items;
  for (std::uint64_t i = 0; i < kMessageBatch; ++i)
    items += fmt::format(R"({}{{"topic":"{}","payload":{}}})", i == 0 ? "" : ",", topic,
                         MessagePayload(first + i));
  return Post("/api/v1/messages", fmt::format(R"({{"messages":[{}]}})", items));
}

std::string EnqueueOne(const std::string& topic, std::uint64_t number) {
  return Post("/api/v1/messages",
              fmt::format(R"({{"topic":"{}","payload":{}}})", topic, MessagePayload(number)));
}

std::string Claim(std::string_view topics, std::size_t max, std::int64_t wait_ms = 0) {
  return Post(
      "/api/v1/messages/claim",
      fmt::format(R"({{"topics":{},"max":{},"owner":"bench","lease_ms":600000,"wait_ms":{}}})",
                  topics, max, wait_ms));
}

/// Acknowledges what a claim's answer holds; `count` says how many that are.
std::string AckOf(std::string_view answer, std::size_t& count) {
  constexpr std::string_view kId = R"("id":")";
  constexpr std::string_view kFence = R"("fence":)";
  constexpr std::size_t kIdSize = 36;
  std::string claims;
  count = 0;
  for (std::size_t at = answer.find(kId); at != std::string_view::npos;
       at = answer.find(kId, at + 1)) {
    const std::size_t fence = answer.find(kFence, at) + kFence.size();
    const std::size_t end = answer.find_first_not_of("0123456789", fence);
    claims +=
        fmt::format(R"({}{{"id":"{}","fence":{}}})", count++ == 0 ? "" : ",",
                    answer.substr(at + kId.size(), kIdSize), answer.substr(fence, end - fence));
  }
  return Post("/api/v1/messages/ack", fmt::format(R"({{"claims":[{}]}})", claims));
}

/// How many ids stand in the first list of an acknowledgement's answer, {"done":[…],…}.
std::size_t DoneIn(std::string_view answer) {
  const std::string_view done = answer.substr(0, answer.find(']'));
  const auto quotes = std::count(done.begin(), done.end(), '"');
  return static_cast<std::size_t>(quotes - 2) / 2;
}

std::string TopicList(const Options& options) {
  std::string names;
  for (std::uint64_t i = 0; i < options.Number("topics", 1); ++i)
    names += fmt::format("{}\"{}\"", i == 0 ? "" : ",", TopicName(i));
  return "[" + names + "]";
}

void Expect(const Answer& answer, int status) {
  if (answer.status != status)
    Die(fmt::format("answered {} {}", answer.status, answer.body.substr(0, 500)));
}

void Print(std::uint64_t count, std::int64_t begun) {
  const double seconds = static_cast<double>(NowNanos() - begun) / 1e9;
  fmt::print("{{\"jobs\": {}, \"seconds\": {:.3f}, \"rate\": {:.1f}}}\n", count, seconds,
             static_cast<double>(count) / seconds);
}

int Enqueue(const Options& options) {
  std::vector<std::string> batches;
  for (std::uint64_t i = 0; i < options.Number("topics", 1); ++i)
    batches.push_back(EnqueueBatch(TopicName(i), i * kMessageBatch));
  std::uint64_t sent = 0, answered = 0;
  std::int64_t end = 0;
  Client* all = nullptr;
  const auto send = [&](std::size_t connection) {
    if (NowNanos() < end) all->Send(connection, batches[sent++ % batches.size()]);
  };
  Client client(PortOf(options), options.Number("connections", 8),
                [&](std::size_t connection, const Answer& answer) {
                  Expect(answer, 201);
                  answered += kMessageBatch;
                  send(connection);
                });
  all = &client;
  const std::int64_t begun = NowNanos();
  end = begun + static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000'000;
  for (std::size_t i = 0; i < client.size(); ++i) send(i);
  while (client.busy() > 0) client.Poll(1'000);
  Print(answered, begun);
  return 0;
}

/// Claims and acknowledges in turns on each connection, until a claim finds nothing.
class Processing {
 public:
  Processing(std::uint16_t port, std::size_t connections, std::string topics)
      : topics_(std::move(topics)),
        asked_(connections),
        client_(port, connections, [this](std::size_t connection, const Answer& answer) {
          Take(connection, answer);
        }) {}

  std::uint64_t Run() {
    for (std::size_t i = 0; i < client_.size(); ++i) Ask(i);
    while (client_.busy() > 0) client_.Poll(1'000);
    return done_;
  }

 private:
  void Ask(std::size_t connection) {
    asked_[connection] = 0;
    client_.Send(connection, Claim(topics_, kMessageBatch));
  }
  void Take(std::size_t connection, const Answer& answer) {
    Expect(answer, 200);
    if (asked_[connection] > 0) {
      if (DoneIn(answer.body) != asked_[connection]) Die(std::string(answer.body.substr(0, 300)));
      done_ += asked_[connection];
      return Ask(connection);
    }
    const std::string ack = AckOf(answer.body, asked_[connection]);
    if (asked_[connection] > 0) client_.Send(connection, ack);
  }

  const std::string topics_;
  std::vector<std::size_t> asked_;  // to acknowledge; 0: a claim is under way
  std::uint64_t done_ = 0;
  Client client_;
};

int Process(const Options& options) {
  const std::uint64_t count = options.Number("count");
  Processing processing(PortOf(options), options.Number("connections", 4), TopicList(options));
  const std::int64_t begun = NowNanos();
  const std::uint64_t done = processing.Run();
  Print(done, begun);
  if (done != count) Die(fmt::format("{} messages, but {} were done", count, done));
  return 0;
}

/// One connection and its last answer.
class Caller {
 public:
  explicit Caller(std::uint16_t port)
      : client_(port, 1, [this](std::size_t, const Answer& answer) {
          status_ = answer.status;
          body_ = answer.body;
        }) {}

  void Send(const std::string& request) { client_.Send(0, request); }
  const std::string& Receive(int status) {
    while (client_.busy() > 0) client_.Poll(1'000);
    if (status_ != status) Die(fmt::format("answered {} {}", status_, body_));
    return body_;
  }

 private:
  int status_ = 0;
  std::string body_;
  Client client_;
};

/// Enqueues by SQL, as somebody's own transaction would.
class SqlProducer {
 public:
  explicit SqlProducer(const std::string& url) : connection_(PQconnectdb(url.c_str()), PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) Die(PQerrorMessage(connection_.get()));
  }
  void Enqueue(const std::string& topic, const std::string& payload) {
    const char* values[] = {topic.c_str(), payload.c_str()};
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexecParams(connection_.get(), "select tenure.enqueue($1, $2::jsonb)", 2, nullptr, values,
                     nullptr, nullptr, 0),
        PQclear);
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) Die(PQerrorMessage(connection_.get()));
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

/// Enqueues and does so many messages a second, in batches, until it is stopped.
class Background {
 public:
  Background(std::uint16_t port, std::uint64_t rate)
      : thread_([port, rate](const std::stop_token& stop) {
          if (rate == 0) return;
          const std::string batch = EnqueueBatch("background", 0);
          Caller caller(port);
          Processing processing(port, 1, R"(["background"])");
          const auto step_ns = static_cast<std::int64_t>(kMessageBatch * 1'000'000'000 / rate);
          std::int64_t next = NowNanos();
          while (!stop.stop_requested()) {
            caller.Send(batch);
            caller.Receive(201);
            processing.Run();
            next += step_ns;
            std::this_thread::sleep_for(std::chrono::nanoseconds(next - NowNanos()));
          }
        }) {}

 private:
  std::jthread thread_;
};

int Latency(const Options& options) {
  const std::string store = options.Text("store", "");
  const auto producer = store.empty() ? nullptr : std::make_unique<SqlProducer>(store);
  const std::string topic = "latency";
  Caller waiter(PortOf(options)), acker(PortOf(options));
  Caller enqueuer(static_cast<std::uint16_t>(options.Number("enqueue-port", PortOf(options))));
  const Background background(PortOf(options), options.Number("load-rate", 0));
  Latencies from_call, from_commit;
  const std::uint64_t count = options.Number("count");
  for (std::uint64_t i = 0; i < count; ++i) {
    waiter.Send(Claim(R"(["latency"])", 1, 60'000));
    // Who waits has asked and found nothing by then.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::int64_t begun = NowNanos();
    if (producer) {
      producer->Enqueue(topic, MessagePayload(i));
    } else {
      enqueuer.Send(EnqueueOne(topic, i));
      enqueuer.Receive(201);
    }
    const std::int64_t committed = NowNanos();
    std::size_t claimed = 0;
    const std::string ack = AckOf(waiter.Receive(200), claimed);
    const std::int64_t started = NowNanos();
    from_call.Add((started - begun) / 1'000);
    from_commit.Add((started - committed) / 1'000);
    if (claimed != 1) Die("nothing was claimed");
    acker.Send(ack);
    if (DoneIn(acker.Receive(200)) != 1) Die("the message was not acknowledged");
  }
  fmt::print("{{\"count\": {}, {}, {}}}\n", count, from_call.Json("from_call"),
             from_commit.Json("from_commit"));
  return 0;
}

int Wait(const Options& options) {
  Caller waiter(PortOf(options));
  const std::int64_t end =
      NowNanos() + static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000'000;
  while (NowNanos() < end) {
    waiter.Send(Claim(R"(["idle"])", 1, 20'000));
    waiter.Receive(200);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const bench::Options options(count > 1 ? count - 2 : 0, words + 2);
  if (mode == "enqueue") return bench::Enqueue(options);
  if (mode == "process") return bench::Process(options);
  if (mode == "latency") return bench::Latency(options);
  if (mode == "wait") return bench::Wait(options);
  bench::Die("usage: messages_http enqueue|process|latency|wait …; see messages_http.cpp");
}
