#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/json.hpp"
#include "support/port.hpp"
#include "support/raw_http.hpp"
#include "support/server_process.hpp"

namespace tenure::chaos {

/// What all clients together were told. Threads may share it.
class Witness {
 public:
  /// A 2xx answer to PUT: this session exists, with this kind and start.
  void WasTold(const support::Json& session);
  /// A 2xx answer to DELETE: this session has ended.
  void WasToldEnded(const std::string& id);
  /// Anything may have become of this PUT: `outcome-unknown`, or a connection that was lost.
  void MayHaveHappened(const api::Key& key);
  /// A 503 that says that nothing happened.
  void DidNotHappen(const api::Key& key);
  /// A 503 of this type.
  void WasRefused(const std::string& type);

  /// What the clients were told and the tables do not bear out, in sentences: principle 3, and that
  /// a key of which every PUT "did not happen" has no session.
  std::vector<std::string> Lies(const std::vector<api::SessionRow>& rows) const;
  /// Keys whose last outcome is not known.
  std::vector<api::Key> Unknown() const;
  std::size_t Sessions() const;
  /// How many answers of each kind there were, for the log.
  std::string Summary() const;

 private:
  struct Told {
    std::string user;
    std::string tenant;
    std::string capacity;
    std::int64_t kind;
    std::int64_t start_ms;
    std::string previous;  // that it replaced; empty: none
  };

  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, Told> told_;
  std::set<std::string> ended_;
  std::vector<api::Key> unknown_;
  std::set<std::string> touched_;   // users of a PUT that happened or may have
  std::set<std::string> declined_;  // users of a PUT that did not happen
  std::map<std::string, int> answers_;
};

/// From TENURE_TEST_CHAOS_SEED, else a new one; printed, so that a failure can be tried again.
std::uint64_t ChooseSeed();

struct LoadOptions {
  std::vector<int> ports = {};  ///< client i asks server i modulo their number
  int clients = 8;
  std::uint64_t seed = 0;
  /// Servers are killed: a connection that breaks is an unknown outcome and no failure.
  bool servers_may_die = false;
  /// No answer may take longer.
  std::chrono::seconds patience{10};
};

/// Clients that put, upgrade, repeat, end and look at sessions without a pause, each with keys of
/// its own and some that all share, and tell a witness what they were answered.
///
/// Fails the test on any answer but 2xx and a 503 with Retry-After, on an answer that takes too
/// long, and when a session that was answered is not found afterwards.
class Load {
 public:
  Load(LoadOptions options, Witness& witness);
  ~Load() { Stop(); }

  /// Returns when clients have got that many more 2xx answers; throws when that takes a minute.
  void WaitForAnswers(int more);
  /// With `servers_may_die`: whoever lost its server connects again.
  void ServersAreBack();
  void Stop();

 private:
  struct Client {
    int port;
    std::mt19937_64 random;
    std::unique_ptr<support::HttpConnection> connection;
    std::vector<api::Key> keys;    // of its own, used before
    std::vector<std::string> ids;  // of sessions that it was answered
  };

  void Run(Client client);
  void Step(Client& client);
  void Put(Client& client, const api::Key& key);
  void End(Client& client);
  void Look(Client& client);
  support::HttpResponse Call(Client& client, std::string_view method, const std::string& target,
                             const std::string& body = {});
  /// True for 2xx; counts it. Anything but 503 with Retry-After fails the test.
  bool Judge(const support::HttpResponse& response);

  const LoadOptions options_;
  Witness& witness_;
  std::vector<api::Key> shared_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> generation_ = 0;  // rises when servers are back, and at the end
  std::mutex mutex_;
  std::condition_variable answered_;
  long answers_ = 0;  // guarded by mutex_
  int running_ = 0;   // clients that have not given up; guarded by mutex_ once they run
  std::vector<std::jthread> threads_;
};

/// What the clients were told is so. REQUIRES: the load was stopped. Sends the PUTs of unknown
/// outcome again, each of which must work now, and then looks at the rows.
void ExpectTruth(Witness& witness, int port,
                 const std::function<std::vector<api::SessionRow>()>& rows);

/// Servers on ports of their own, which can be killed and come back there.
class Servers {
 public:
  Servers(std::size_t count, std::function<support::ServerOptions()> options)
      : options_(std::move(options)), ports_(count), servers_(count) {
    for (std::size_t i = 0; i < count; ++i) Serve(i);
  }
  void Kill(std::size_t i) {
    servers_[i]->Kill();
    Serve(i);
  }
  support::ServerProcess& operator[](std::size_t i) const { return *servers_[i]; }
  std::size_t size() const { return servers_.size(); }
  std::vector<int> Ports() const {
    std::vector<int> ports;
    for (const auto& port : ports_) ports.push_back(port.number());
    return ports;
  }

 private:
  void Serve(std::size_t i) {
    auto options = options_();
    options.port = ports_[i].number();
    servers_[i] = std::make_unique<support::ServerProcess>(options);
  }

  const std::function<support::ServerOptions()> options_;
  std::vector<support::ReservedPort> ports_;
  std::vector<std::unique_ptr<support::ServerProcess>> servers_;
};

}  // namespace tenure::chaos
