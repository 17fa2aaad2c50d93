#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/raw_http.hpp"
#include "witness.hpp"

namespace tenure::chaos {

/// From TENURE_CHAOS_SEED, else a new one; printed, so that a failure can be tried again.
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

/// Sends the PUTs of unknown outcome again: each must work now.
void RepeatUnknown(Witness& witness, int port);

}  // namespace tenure::chaos
