#include "lease_waits.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "client.hpp"
#include "latencies.hpp"
#include "lease_peers.hpp"

namespace bench {
namespace {

constexpr std::int64_t kNanosPerMicro = 1'000;
constexpr std::int64_t kLongestWaitMs = 60'000;
constexpr std::int64_t kTenMinutesMs = 600'000;

std::uint16_t PortOf(const Options& options, const char* name = "port") {
  return static_cast<std::uint16_t>(options.Number(name));
}

double SecondsSince(std::int64_t begun) { return static_cast<double>(NowNanos() - begun) / 1e9; }

/// One connection and its last answer.
class Caller {
 public:
  explicit Caller(std::uint16_t port)
      : client_(port, 1, [this](std::size_t, const Answer& answer) {
          status_ = answer.status;
          body_ = answer.body;
        }) {}

  void Send(const std::string& request) { client_.Send(0, request); }
  /// The body of the answer; any status but 200 ends the program.
  const std::string& Receive() {
    while (client_.busy() > 0) client_.Poll(1'000);
    if (status_ != 200) Die(fmt::format("answered {} {}", status_, body_));
    return body_;
  }
  const std::string& Call(const std::string& request) {
    Send(request);
    return Receive();
  }

 private:
  int status_ = 0;
  std::string body_;
  Client client_;
};

/// A waiter that has not got its ticket yet is no waiter: looks until the server shows so many.
void AwaitWaiters(Caller& looker, const Hold& hold, std::string_view count) {
  while (JsonValue(looker.Call(Get(LeasePath(hold))), "waiters") != count) {
  }
}

std::int64_t FenceOf(const std::string& grant) {
  return std::stoll(std::string(JsonValue(grant, "fence")));
}

/// The leases of HoldMany and Wait: the same for the same number.
Hold NumberedHold(std::uint64_t number) {
  return {.name = fmt::format("held/{}", number),
          .term = fmt::format("00000000-0000-4000-8000-{:012x}", number),
          .id = 1};
}

/// Takes the leases in order on many connections.
void TakeNumbered(std::uint16_t port, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t end = first + count;
  std::uint64_t next = first;
  Client* all = nullptr;
  const auto send = [&](std::size_t connection) {
    if (next < end)
      all->Send(connection, AcquireRequest(NumberedHold(next++), {.ttl_ms = kTenMinutesMs}));
  };
  Client client(port, 64, [&](std::size_t connection, const Answer& answer) {
    if (answer.status != 200 || JsonValue(answer.body, "fence") != "1")
      Die(fmt::format("acquire was answered {} {}", answer.status, answer.body));
    send(connection);
  });
  all = &client;
  for (std::size_t i = 0; i < client.size(); ++i) send(i);
  while (client.busy() > 0) client.Poll(1'000);
}

/// The heartbeat of the leases first … end-1.
std::string Heartbeat(std::uint64_t first, std::uint64_t end) {
  std::string items;
  for (std::uint64_t i = first; i < end; ++i) {
    const Hold hold = NumberedHold(i);
    items += fmt::format(R"({}{{"name":"{}","fence":{},"term":"{}"}})", i == first ? "" : ",",
                         hold.name, hold.id, hold.term);
  }
  return Post("/api/v1/leases/renew", fmt::format(R"({{"leases":[{}]}})", items));
}

}  // namespace

int HandOver(const Options& options) {
  Caller waiter(PortOf(options));
  Caller holder(PortOf(options, "release-port"));
  Hold held = NewHold();
  held.id = FenceOf(holder.Call(AcquireRequest(held, {})));
  Latencies latencies;
  const std::uint64_t count = options.Number("count");
  for (std::uint64_t i = 0; i < count; ++i) {
    Hold wanted = NewHold();
    wanted.name = held.name;
    waiter.Send(AcquireRequest(wanted, {.wait_ms = kLongestWaitMs}));
    AwaitWaiters(holder, held, "1");
    const std::int64_t begun = NowNanos();
    holder.Send(ReleaseRequest(held));
    const std::string grant = waiter.Receive();
    latencies.Add((NowNanos() - begun) / kNanosPerMicro);
    if (JsonValue(holder.Receive(), "released") != "true") Die("nothing was released");
    wanted.id = FenceOf(grant);
    held = wanted;
  }
  fmt::print("{{\"count\": {}, {}}}\n", count, latencies.Json("latency"));
  return 0;
}

int Takeover(const Options& options) {
  const auto ttl_ms = static_cast<std::int64_t>(options.Number("ttl-ms", 1'000));
  std::vector<Hold> holds(options.Number("count"));
  std::vector<std::int64_t> renewed(holds.size());
  Latencies latencies;
  Caller holder(PortOf(options));
  Client waiters(PortOf(options), holds.size(), [&](std::size_t i, const Answer& answer) {
    if (answer.status != 200) Die(fmt::format("answered {} {}", answer.status, answer.body));
    latencies.Add((NowNanos() - renewed[i]) / kNanosPerMicro);
  });
  // One after another, so that the deadlines spread over some time.
  for (std::size_t i = 0; i < holds.size(); ++i) {
    holds[i] = NewHold();
    holds[i].id = FenceOf(holder.Call(AcquireRequest(holds[i], {.ttl_ms = ttl_ms})));
    Hold other = NewHold();
    other.name = holds[i].name;
    waiters.Send(i, AcquireRequest(other, {.ttl_ms = ttl_ms, .wait_ms = kLongestWaitMs}));
    renewed[i] = NowNanos();
    holder.Call(RenewRequest(holds[i]));
    waiters.Poll(0);
  }
  while (waiters.busy() > 0) waiters.Poll(1'000);
  fmt::print("{{\"count\": {}, {}}}\n", holds.size(), latencies.Json("latency"));
  return 0;
}

int HoldMany(const Options& options) {
  const std::uint64_t count = options.Number("count");
  const std::uint64_t first = options.Number("first", 0);
  const std::uint64_t batch = options.Number("batch", 2'000);
  std::int64_t begun = NowNanos();
  TakeNumbered(PortOf(options), first, count);
  const double taking = SecondsSince(begun);
  Caller caller(PortOf(options));
  Latencies latencies;
  std::uint64_t calls = 0;
  begun = NowNanos();
  for (std::uint64_t i = first; i < first + count; i += batch, ++calls) {
    const std::int64_t sent = NowNanos();
    const std::string& answer = caller.Call(Heartbeat(i, std::min(i + batch, first + count)));
    if (answer.find("\"reason\"") != std::string::npos) Die("a renewal was refused: " + answer);
    latencies.Add((NowNanos() - sent) / kNanosPerMicro);
  }
  fmt::print(
      "{{\"leases\": {}, \"taking_s\": {:.3f}, \"calls\": {}, \"renewing_s\": {:.3f}, {}}}\n",
      count, taking, calls, SecondsSince(begun), latencies.Json("latency"));
  return 0;
}

int Wait(const Options& options) {
  const std::uint64_t count = options.Number("count");
  Client client(PortOf(options), count, [](std::size_t, const Answer& answer) {
    if (answer.status != 409) Die(fmt::format("answered {} {}", answer.status, answer.body));
  });
  for (std::uint64_t i = 0; i < count; ++i) {
    Hold wanted = NewHold();
    wanted.name = NumberedHold(i).name;
    client.Send(i, AcquireRequest(wanted, {.wait_ms = kLongestWaitMs}));
  }
  while (client.busy() > 0) client.Poll(1'000);
  return 0;
}

}  // namespace bench
