#include "lease_loops.hpp"

#include <vector>

#include "client.hpp"
#include "latencies.hpp"
#include "lease_peers.hpp"

namespace bench {
namespace {

constexpr std::int64_t kNanosPerMicro = 1'000;

std::uint16_t PortOf(const Options& options) {
  return static_cast<std::uint16_t>(options.Number("port"));
}

/// The time of a closed loop: who is answered after its end sends nothing more.
struct Stretch {
  explicit Stretch(const Options& options)
      : end(begun + static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000'000) {}

  void Print(const char* what, std::uint64_t count, Latencies& latencies) const {
    const double seconds = static_cast<double>(NowNanos() - begun) / 1e9;
    fmt::print("{{\"{}\": {}, \"seconds\": {:.3f}, \"rate\": {:.1f}, {}}}\n", what, count, seconds,
               static_cast<double>(count) / seconds, latencies.Json("latency"));
  }

  std::int64_t begun = NowNanos();
  std::int64_t end;
};

/// One connection's way through acquire and release.
struct Walker {
  Hold hold{};
  int step = 0;
  bool releasing = false;
  std::int64_t begun = 0;
};

/// Takes `held` names on each connection, all at once.
class Taking {
 public:
  Taking(LeasePeer& peer, std::vector<std::vector<Hold>>& holds) : peer_(peer), holds_(holds) {}

  /// Sends the connection's next request; false: it has all its names.
  bool Next(Client& client, std::size_t connection) {
    const auto& own = holds_[connection];
    Place& place = places_[connection];
    if (place.taken == own.size()) return false;
    client.Send(connection, peer_.Acquire(own[place.taken], place.step));
    return true;
  }

  void Answered(std::size_t connection, const Answer& answer) {
    auto& own = holds_[connection];
    Place& place = places_[connection];
    peer_.Acquired(own[place.taken], place.step, answer);
    if (place.step++ < peer_.last_step()) return;
    const std::int64_t id = own[place.taken++].id;
    if (place.taken == own.size()) return;
    own[place.taken].id = id;
    place.step = peer_.first_step(own[place.taken]);
  }

 private:
  struct Place {
    std::size_t taken = 0;
    int step = 0;
  };

  LeasePeer& peer_;
  std::vector<std::vector<Hold>>& holds_;
  std::vector<Place> places_ = std::vector<Place>(holds_.size());
};

}  // namespace

int Pairs(const Options& options) {
  const auto peer = MakeLeasePeer(options);
  std::vector<Walker> walkers(options.Number("connections"));
  const std::uint64_t names = options.Number("names", 0);
  Latencies latencies;
  std::uint64_t pairs = 0;
  Client* all = nullptr;
  const auto send = [&](std::size_t connection) {
    const Walker& self = walkers[connection];
    all->Send(connection,
              self.releasing ? peer->Release(self.hold) : peer->Acquire(self.hold, self.step));
  };
  const auto begin = [&](std::size_t connection) {
    Walker& self = walkers[connection];
    const std::int64_t id = self.hold.id;
    self.hold = NewHold();
    if (names > 0) self.hold.name = fmt::format("bench/{}/{}", connection, pairs % names);
    self.hold.id = id;
    self.step = peer->first_step(self.hold);
    self.releasing = false;
    self.begun = NowNanos();
    send(connection);
  };
  const Stretch stretch(options);
  Client client(
      PortOf(options), walkers.size(),
      [&](std::size_t connection, const Answer& answer) {
        Walker& self = walkers[connection];
        if (!self.releasing) {
          peer->Acquired(self.hold, self.step, answer);
          self.releasing = self.step++ == peer->last_step();
          return send(connection);
        }
        peer->Released(answer);
        ++pairs;
        latencies.Add((NowNanos() - self.begun) / kNanosPerMicro);
        if (NowNanos() < stretch.end) begin(connection);
      },
      peer->parser());
  all = &client;
  for (std::size_t i = 0; i < client.size(); ++i) begin(i);
  while (client.busy() > 0) client.Poll(1'000);
  stretch.Print("pairs", pairs, latencies);
  return 0;
}

int Renewals(const Options& options) {
  const auto peer = MakeLeasePeer(options);
  std::vector<std::vector<Hold>> holds(options.Number("connections"));
  for (auto& own : holds)
    for (std::uint64_t i = 0; i < options.Number("held", 16); ++i) own.push_back(NewHold());
  Taking taking(*peer, holds);
  std::vector<std::uint64_t> turns(holds.size());
  std::vector<std::int64_t> sent(holds.size());
  Latencies latencies;
  std::uint64_t renewals = 0;
  bool taken = false;
  std::int64_t end = 0;
  Client* all = nullptr;
  const auto renew = [&](std::size_t connection) {
    const auto& own = holds[connection];
    sent[connection] = NowNanos();
    all->Send(connection, peer->Renew(own[turns[connection]++ % own.size()]));
  };
  Client client(
      PortOf(options), holds.size(),
      [&](std::size_t connection, const Answer& answer) {
        if (!taken) {
          taking.Answered(connection, answer);
          taking.Next(*all, connection);
          return;
        }
        peer->Renewed(answer);
        ++renewals;
        latencies.Add((NowNanos() - sent[connection]) / kNanosPerMicro);
        if (NowNanos() < end) renew(connection);
      },
      peer->parser());
  all = &client;
  for (std::size_t i = 0; i < client.size(); ++i) taking.Next(client, i);
  while (client.busy() > 0) client.Poll(1'000);
  taken = true;
  const Stretch stretch(options);
  end = stretch.end;
  for (std::size_t i = 0; i < client.size(); ++i) renew(i);
  while (client.busy() > 0) client.Poll(1'000);
  stretch.Print("renewals", renewals, latencies);
  return 0;
}

}  // namespace bench
