// Usage while everything around it breaks: servers and the receiver that are killed, a receiver
// that refuses, hangs, and drops what it has taken, PostgreSQL that crashes or cuts connections.
// Afterwards the receiver's books say of every session what its start, its end and the factors say,
// to the last micro-unit (U1, U2).

#include <array>
#include <atomic>
#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "support/long_run.hpp"
#include "support/server_process.hpp"

namespace tenure::chaos {
namespace {

using api::Api;
using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using support::Json;
using support::PostgresCluster;
using support::SinkProcess;

__extension__ using Int128 = __int128;

/// For how long the receiver may rightly be told nothing: the server that was killed had the lock of the task
/// that closes windows (30 s, app/background.cpp); then the first request hangs until its time is over (10 s),
/// and the sender, which has failed so often before, pauses for its longest (60 s). The rest is for a machine
/// that has other things to do. A lock of 120 s, and a freeze of as much for a PostgreSQL that was taken for a
/// restored one, once made it more than that.
constexpr std::chrono::seconds kOwnLock{30};
constexpr std::chrono::seconds kPatience = kOwnLock + std::chrono::seconds(10 + 60 + 20);
constexpr int kKinds = 3;

std::int64_t MicrosOf(std::string text) {
  const auto point = text.find('.');
  if (point == std::string::npos || text.size() - point != 7)
    throw std::runtime_error("not six places: " + text);
  return std::stoll(text.erase(point, 1));
}

/// All pages of a list.
std::vector<Json> All(const std::function<support::HttpResponse(const std::string&)>& get,
                      const std::string& target) {
  std::vector<Json> all;
  std::string cursor;
  do {
    const Json page =
        get(target + (cursor.empty() ? "" : fmt::format("&cursor={}", cursor))).Json();
    for (const auto& item : page["items"].Elements()) all.push_back(item);
    cursor =
        page.Has("nextCursor") && !page["nextCursor"].IsNull() ? page["nextCursor"].Text() : "";
  } while (!cursor.empty());
  return all;
}

/// A few people on a few capacities who start, upgrade and end sessions at any server. What becomes
/// of a request does not matter: the tables say.
class People {
 public:
  People(std::vector<int> ports, std::uint64_t seed)
      : ports_(std::move(ports)), random_(seed), thread_([this] { Run(); }) {}
  ~People() { Stop(); }
  void Stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    std::vector<api::Key> keys(12);
    for (api::Key& key : keys) key = api::NewKey();
    std::map<std::string, std::string> sessions;  // by user
    while (!stopping_) {
      const api::Key& key = keys[random_() % keys.size()];
      const int port = ports_[random_() % ports_.size()];
      try {
        if (const auto found = sessions.find(key.user);
            random_() % 8 == 0 && found != sessions.end())
          support::Call(port, "DELETE", "/sessions/" + found->second, "", {});
        else if (const auto reply =
                     support::Call(port, "PUT", "/sessions",
                                   api::PutBody(key, 1 + static_cast<int>(random_() % kKinds)), {});
                 reply.status < 300)
          sessions[key.user] = reply.Json()["sessionId"].Text();
      } catch (const std::exception&) {
        // Its server was killed under it.
      }
    }
  }

  const std::vector<int> ports_;
  std::mt19937_64 random_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

class UsageChaos {
 public:
  explicit UsageChaos(std::uint64_t seed) : random_(seed) {}

  std::vector<int> Ports() const { return servers_.Ports(); }
  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }

  // What goes wrong.
  void KillAServer() { servers_.Kill(Random(servers_.size())); }
  void KillTheSink() {
    sink_->Kill();
    sink_ = NewSink();
  }
  void RestartPostgres() { postgres_.Restart(PostgresCluster::StopMode::kImmediate); }
  void CutConnections() { postgres_.KillAllBackends(); }
  void ChangeFaults() {
    static constexpr std::array kFaults{"", "500:0.3,drop-after:0.3", "413:0.4,drop-before:0.2",
                                        "401:0.3,hang:0.1,drop-after:0.2", "422:0.3,503:0.3"};
    sink_->SetFaults(kFaults[Random(kFaults.size())]);
  }
  void ChangeAFactor() {
    const auto body = fmt::format(R"({{"sessionKind":{},"factor":"{}.{:06}"}})", 1 + Random(kKinds),
                                  Random(10'000'000), Random(1'000'000));
    try {
      server().Call("POST", "/usage/factors", body);
    } catch (const std::exception&) {
      // It may have been set, or not.
    }
  }

  void AwaitRecords(std::int64_t more) {
    const std::int64_t wanted = Records() + more;
    Eventually(
        "the receiver goes on", [&] { return Records() >= wanted; }, kPatience);
  }

  /// The faults stop; all sessions but a few end, and all of their usage is taken.
  void Quiet() {
    sink_->SetFaults("");
    Eventually("all sessions but a few have ended", [&] {
      const auto open = All(Get(), "/sessions?active=true&limit=1000");
      for (std::size_t i = 3; i < open.size(); ++i) server().Delete(open[i]["sessionId"].Text());
      return open.size() <= 3;
    });
    const std::int64_t quiet_ms = api::WallMs();
    Eventually(
        "all that was closed is taken",
        [&] {
          server().Call("POST", "/usage/refused/resend", "{}");
          return Taken().end_ms >= quiet_ms;
        },
        kPatience);
  }

  /// The receiver's books against the tables.
  void Compare() {
    const std::int64_t until = Taken().window;
    std::map<int, std::map<std::int64_t, std::int64_t>> factors;  // by kind, then by when
    for (const auto& factor : All(Get(), "/usage/factors?"))
      factors[static_cast<int>(factor["sessionKind"].Int())]
             [api::TimeMs(factor["fromUtc"].Text())] = MicrosOf(factor["factor"].Text());
    std::size_t compared = 0;
    std::size_t open = 0;
    std::int64_t sum = 0;
    for (const auto& session : All(Get(), "/sessions?limit=1000")) {
      const auto taken = CompareOne(session, until, factors);
      sum += taken;
      ++compared;
      open += session.Has("endReason") && !session["endReason"].IsNull() ? 0 : 1;
    }
    std::cout << compared << " sessions, " << open << " of them open, " << until << " windows, "
              << Records() << " records, " << sum << " micro-units\n";
    EXPECT_GT(compared, 20u);
    EXPECT_EQ(sink_->Call("GET", "/totals?by=all").Json()["conflicts"].Int(), 0);
    EXPECT_EQ(store_.Execute("select incarnation from tenure.store"), "1")
        << "nothing was restored, and so nothing was frozen";
    EXPECT_EQ(store_.Execute("select max(longest_ttl_ms) from tenure.leases where tenant = ''"),
              std::to_string(std::chrono::milliseconds(kOwnLock).count()))
        << "for how long the work of a server that is killed stands still";
  }

 private:
  Api server() { return Api(servers_[Random(servers_.size())]); }
  std::function<support::HttpResponse(const std::string&)> Get() {
    return [this](const std::string& target) { return server().Get(target); };
  }

  std::unique_ptr<SinkProcess> NewSink() {
    return std::make_unique<SinkProcess>(
        support::ServerOptions{.data_dir = books_.path(), .port = sink_port_.number()});
  }
  support::ServerOptions Options() const {
    // Large, so that a millisecond is many micro-units.
    return store_.Options({"--set", "usage.interval=1s", "--set", "usage.chunk=5", "--set",
                           "usage.factors.1=123456.789", "--set", "usage.factors.2=2000000.000001",
                           "--set", "usage.factors.3=7777777.777777", "--set",
                           "usage.endpoint=" + sink_->Endpoint()});
  }

  std::int64_t Records() {
    const Json items = sink_->Call("GET", "/totals?by=all").Json()["items"];
    return items.Size() == 0 ? 0 : items[0]["records"].Int();
  }
  /// The last window up to which everything is taken.
  struct Until {
    std::int64_t window = 0;
    std::int64_t end_ms = 0;
  };
  Until Taken() {
    Until until;
    const auto windows = All(Get(), "/usage/windows?limit=1000");
    for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
      if ((*window)["state"].Text() != "sent") break;
      until = {(*window)["window"].Int(), api::TimeMs((*window)["windowEndUtc"].Text())};
    }
    return until;
  }

  /// What the receiver was told of a session, which must be what it owes up to that window.
  std::int64_t CompareOne(const Json& session, std::int64_t until,
                          std::map<int, std::map<std::int64_t, std::int64_t>>& factors) {
    const std::string id = session["sessionId"].Text();
    const std::int64_t start_ms = api::TimeMs(session["sessionStartUtc"].Text());
    const std::int64_t end_ms = api::TimeMs(session["sessionEndUtc"].Text());
    std::int64_t taken = 0;
    std::int64_t number = 0;
    std::int64_t taken_until_ms = start_ms;
    const auto records = All([&](const std::string& target) { return sink_->Call("GET", target); },
                             "/records?limit=1000&sessionId=" + id);
    for (const auto& record : records) {
      const std::string record_id = record["recordId"].Text();
      const std::int64_t window = std::stoll(record_id.substr(0, record_id.find('-')));
      if (window > until) break;
      EXPECT_TRUE(number == 0 || window == number + 1) << id << ": no record of " << number + 1;
      number = window;
      // Below 2^52 micro-units: the nearest is the number that was printed.
      taken += std::llround(record["usage"].Number() * 1e6);
      taken_until_ms = std::min(end_ms, api::TimeMs(record["windowEndUtc"].Text()));
    }
    if (session.Has("endReason") && !session["endReason"].IsNull()) {
      EXPECT_EQ(taken_until_ms, end_ms) << id << " ended, and was not charged to its end";
    }
    Int128 weight = 0;
    const auto& rows = factors[static_cast<int>(session["sessionKind"].Int())];
    for (auto row = rows.begin(); row != rows.end(); ++row) {
      const std::int64_t from_ms = std::max(start_ms, row->first);
      const auto next = std::next(row);
      const std::int64_t to_ms =
          next == rows.end() ? taken_until_ms : std::min(taken_until_ms, next->first);
      if (to_ms > from_ms) weight += static_cast<Int128>(to_ms - from_ms) * row->second;
    }
    EXPECT_EQ(taken, static_cast<std::int64_t>(weight / 2'592'000'000)) << session.Dump();
    return taken;
  }

  std::mt19937_64 random_;
  PostgresCluster postgres_;
  const StoreUnderTest store_{Engine::kPostgres, &postgres_};
  support::TempDir books_;
  support::ReservedPort sink_port_;
  std::unique_ptr<SinkProcess> sink_ = NewSink();
  Servers servers_{3, [this] { return Options(); }};
};

TEST(UsageBroken, U1_WhateverDiesTheReceiverIsToldOfEveryMillisecondOnce) {
  std::mt19937_64 random(ChooseSeed());
  UsageChaos chaos(random());
  People people(chaos.Ports(), random());
  chaos.AwaitRecords(20);
  const std::vector<std::function<void()>> blows{
      [&] { chaos.ChangeFaults(); },    [&] { chaos.KillAServer(); },
      [&] { chaos.KillTheSink(); },     [&] { chaos.ChangeAFactor(); },
      [&] { chaos.RestartPostgres(); }, [&] { chaos.CutConnections(); },
  };
  for (std::size_t blow = 0; blow < (support::IsLongRun() ? 40 : 8); ++blow) {
    // Each kind once, then as the seed says.
    blows[blow < blows.size() ? blow : random() % blows.size()]();
    chaos.AwaitRecords(5 + static_cast<std::int64_t>(random() % 30));
  }
  people.Stop();
  chaos.Quiet();
  chaos.Compare();
}

}  // namespace
}  // namespace tenure::chaos
