#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/mutex.hpp"
#include "client/leases/lease_runtime.hpp"
#include "client/seats/backend.hpp"

namespace tenure::client {

/// What the server said about holdings that are over, for the handler that tells of the loss.
/// Threads: any.
class SeatVerdicts {
 public:
  void Put(const std::string& session, SeatGone gone);
  /// Nothing: it was lost because nothing was heard.
  std::optional<SeatGone> Take(const std::string& session);

 private:
  /// A verdict that nobody asks for is of a holding that was over when it came.
  static constexpr std::size_t kMostKept = 20'000;

  base::Mutex mutex_;
  std::unordered_map<std::string, SeatGone> gone_ TENURE_GUARDED_BY(mutex_);
};

/// What all holders of a process share that use one server: the threads and the table that keep
/// leases keep their seats (client/leases/lease_runtime.hpp). A holding is a hold whose term is its
/// session; due heartbeats are one call.
///
/// Life: the last holder's end is its end: releases that wait are sent, threads end. Must not be
/// destroyed by a handler.
/// Threads: any.
class SeatServer {
 public:
  struct Options {
    const Clock* clock = nullptr;
    Milliseconds call_timeout{5'000};
    std::function<void(const std::string&)> on_trouble{};
    std::uint64_t seed = 0;  ///< 0: from the machine
  };
  SeatServer(std::shared_ptr<SeatBackend> backend, const Options& options);
  ~SeatServer();
  SeatServer(const SeatServer&) = delete;
  SeatServer& operator=(const SeatServer&) = delete;

  LeaseRuntime& runtime() { return *runtime_; }
  SeatBackend& backend() { return *backend_; }
  SeatVerdicts& verdicts() { return *verdicts_; }
  const Clock& clock() const { return runtime_->clock(); }

 private:
  const std::shared_ptr<SeatBackend> backend_;
  const std::shared_ptr<SeatVerdicts> verdicts_;
  const std::shared_ptr<LeaseRuntime> runtime_;
};

/// The one of this process for that address; made by the first holder that asks, gone with the last.
/// `options` are the first one's.
std::shared_ptr<SeatServer> SharedSeatServer(const ServerAddress& address,
                                             const SeatServer::Options& options);

}  // namespace tenure::client
