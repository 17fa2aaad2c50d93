// The load that wrk cannot make. Each mode ends by itself and prints one JSON object.
//
//   load fill    --port P --count N [--first F] [--connections C]
//       creates the keys F … F+N-1
//   load history --port P --count N --rounds R [--connections C]
//       R x (created, upgraded twice, deleted) for each of N keys, then one active session
//   load open    --port P --rate R --seconds S --connections C [--patience-ms M] [--first F]
//       creates at a fixed rate
//   load bodies  --count N --file PATH
//       the bodies of PUTs for the keys 0 … N-1
//
// A status that a mode does not expect ends it with exit status 1.

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include "client.hpp"
#include "latencies.hpp"
#include "options.hpp"
#include "session_requests.hpp"

namespace bench {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kNanosPerMicro = 1'000;
/// How long after the last request answers are waited for.
constexpr std::int64_t kDrainNanos = 10 * kNanosPerSecond;

std::uint16_t PortOf(const Options& options) {
  return static_cast<std::uint16_t>(options.Number("port"));
}

double Seconds(std::int64_t nanos) {
  return static_cast<double>(nanos) / static_cast<double>(kNanosPerSecond);
}

/// Far from the keys of `fill` and `history`.
std::uint64_t RandomFirst() { return std::uint64_t{std::random_device()()} << 31; }

int Fill(const Options& options) {
  const std::uint64_t first = options.Number("first", 0);
  const std::uint64_t end = first + options.Number("count");
  std::uint64_t next = first;
  std::vector<std::int64_t> sent(options.Number("connections", 64));
  Latencies latencies;
  Client* all = nullptr;
  const auto send_next = [&](std::size_t connection) {
    if (next == end) return;
    sent[connection] = NowNanos();
    all->Send(connection, PutRequest(next++, 1));
  };
  Client client(PortOf(options), sent.size(), [&](std::size_t connection, const Answer& answer) {
    if (answer.status != 201) Die(fmt::format("a create was answered {}", answer.status));
    latencies.Add((NowNanos() - sent[connection]) / kNanosPerMicro);
    send_next(connection);
  });
  all = &client;
  const std::int64_t begun = NowNanos();
  for (std::size_t i = 0; i < client.size(); ++i) send_next(i);
  while (client.busy() > 0) client.Poll(1'000);
  const double seconds = Seconds(NowNanos() - begun);
  fmt::print("{{\"requests\": {}, \"seconds\": {:.3f}, \"rate\": {:.1f}, {}}}\n", end - first,
             seconds, static_cast<double>(end - first) / seconds, latencies.Json("latency"));
  return 0;
}

/// One connection's way through its share of the keys.
struct Historian {
  std::uint64_t key = 0;
  std::uint64_t round = 0;
  int step = 0;  // 0 to 2: PUT of that kind + 1; 3: DELETE
  std::string session;
};

int History(const Options& options) {
  const std::uint64_t keys = options.Number("count");
  const std::uint64_t rounds = options.Number("rounds");
  std::vector<Historian> historians(options.Number("connections", 64));
  std::uint64_t ended = 0;
  Client* all = nullptr;
  const auto send_next = [&](std::size_t connection) {
    Historian& self = historians[connection];
    if (self.key >= keys) return;
    all->Send(connection,
              self.step < 3 ? PutRequest(self.key, self.step + 1) : DeleteRequest(self.session));
  };
  Client client(PortOf(options), historians.size(),
                [&](std::size_t connection, const Answer& answer) {
                  Historian& self = historians[connection];
                  if (answer.status != (self.step < 3 ? 201 : 204))
                    Die(fmt::format("step {} was answered {}", self.step, answer.status));
                  self.session = answer.location;
                  if (self.step > 0) ++ended;
                  const bool last = self.round == rounds;  // the session that stays
                  self.step = last ? 0 : (self.step + 1) % 4;
                  if (self.step == 0) {
                    self.key += historians.size();
                    if (self.key >= keys && !last) {
                      ++self.round;
                      self.key = connection;
                    }
                  }
                  send_next(connection);
                });
  all = &client;
  const std::int64_t begun = NowNanos();
  for (std::size_t i = 0; i < client.size(); ++i) {
    historians[i].key = i;
    send_next(i);
  }
  while (client.busy() > 0) client.Poll(1'000);
  fmt::print("{{\"active\": {}, \"ended\": {}, \"seconds\": {:.3f}}}\n", keys, ended,
             Seconds(NowNanos() - begun));
  return 0;
}

/// Requests are due at fixed instants, whatever the server does. One that finds all connections
/// busy waits in line; after `patience` it is given up and counted as unsent.
class OpenLoop {
 public:
  explicit OpenLoop(const Options& options)
      : interval_(static_cast<double>(kNanosPerSecond) /
                  static_cast<double>(options.Number("rate"))),
        patience_(static_cast<std::int64_t>(options.Number("patience-ms", 1'000)) * 1'000'000),
        seconds_(static_cast<std::int64_t>(options.Number("seconds"))),
        next_key_(options.Number("first", RandomFirst())),
        under_way_(options.Number("connections")),
        client_(PortOf(options), under_way_.size(),
                [this](std::size_t connection, const Answer& answer) {
                  Answered(connection, answer);
                }) {
    for (std::size_t i = 0; i < under_way_.size(); ++i) free_.push_back(i);
  }

  int Run() {
    begun_ = NowNanos();
    const std::int64_t end = begun_ + seconds_ * kNanosPerSecond;
    for (std::int64_t now = begun_; now < end; now = NowNanos()) {
      Arrive(now);
      SendWaiting();
      // Asleep in between: a client that spins would take a core from the server.
      client_.PollFor(std::max<std::int64_t>(0, Due(arrived_) - NowNanos()));
    }
    const std::int64_t give_up = NowNanos() + kDrainNanos;
    while (client_.busy() > 0 && NowNanos() < give_up) client_.Poll(100);
    Print();
    return 0;
  }

 private:
  struct UnderWay {
    std::int64_t due;
    std::int64_t sent;
  };

  std::int64_t Due(std::uint64_t number) const {
    return begun_ + static_cast<std::int64_t>(interval_ * static_cast<double>(number));
  }

  void Arrive(std::int64_t now) {
    for (; Due(arrived_) <= now; ++arrived_) line_.push_back(Due(arrived_));
    for (; !line_.empty() && line_.front() + patience_ < now; line_.pop_front()) ++unsent_;
  }

  void SendWaiting() {
    for (; !line_.empty() && !free_.empty(); line_.pop_front()) {
      const std::size_t connection = free_.front();
      free_.pop_front();
      under_way_[connection] = {line_.front(), NowNanos()};
      ++sent_;
      client_.Send(connection, PutRequest(next_key_++, 1));
    }
  }

  void Answered(std::size_t connection, const Answer& answer) {
    free_.push_back(connection);
    ++statuses_[answer.status];
    const std::int64_t now = NowNanos();
    const UnderWay& request = under_way_[connection];
    if (answer.status / 100 == 2) {
      from_due_.Add((now - request.due) / kNanosPerMicro);
      from_sent_.Add((now - request.sent) / kNanosPerMicro);
    } else {
      refused_.Add((now - request.sent) / kNanosPerMicro);
    }
  }

  void Print() {
    std::string statuses;
    for (const auto& [status, count] : statuses_)
      statuses += fmt::format("{}\"{}\": {}", statuses.empty() ? "" : ", ", status, count);
    fmt::print(
        "{{\"due\": {}, \"sent\": {}, \"unsent\": {}, \"unanswered\": {}, \"seconds\": {}, "
        "\"goodput\": {:.1f}, \"statuses\": {{{}}}, {}, {}, {}}}\n",
        arrived_, sent_, unsent_ + line_.size(), client_.busy(), seconds_,
        static_cast<double>(statuses_[201]) / static_cast<double>(seconds_), statuses,
        from_due_.Json("from_due"), from_sent_.Json("from_sent"), refused_.Json("refused"));
  }

  const double interval_;
  const std::int64_t patience_;
  const std::int64_t seconds_;
  std::uint64_t next_key_;
  std::vector<UnderWay> under_way_;  // by connection
  std::deque<std::size_t> free_;     // connections; the one that rested longest first
  std::deque<std::int64_t> line_;    // when those that wait were due
  std::int64_t begun_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t unsent_ = 0;
  std::map<int, std::uint64_t> statuses_;
  Latencies from_due_;
  Latencies from_sent_;
  Latencies refused_;
  Client client_;
};

int Bodies(const Options& options) {
  std::ofstream file(options.Text("file"));
  for (std::uint64_t i = 0; i < options.Number("count"); ++i) file << PutBody(i, 1) << '\n';
  file.close();
  if (!file) Die("cannot write the file");
  fmt::print("{{}}\n");
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const bench::Options options(count > 1 ? count - 2 : 0, words + 2);
  if (mode == "fill") return bench::Fill(options);
  if (mode == "history") return bench::History(options);
  if (mode == "open") return bench::OpenLoop(options).Run();
  if (mode == "bodies") return bench::Bodies(options);
  bench::Die("usage: load fill|history|open|bodies --option value …; see main.cpp");
}
