#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "seats/redis/redis_round.hpp"
#include "seats/redis/seat_redis.hpp"

namespace tenure::seats {

/// Heartbeats by a Redis beside the store. What it cannot answer is asked from the store, one request
/// at a time: so without it, or when it forgets, stands still or is another one, everything goes on.
///
/// Which way a heartbeat goes:
///  1. What the process does not remember of its holding is read from the store.
///  2. All that wait go to the Redis in one call. What it keeps is answered, if the process still has
///     authority after the reply; where half of the horizon is used up it is adopted in the
///     background.
///  3. What it does not know, or does not revive, is adopted: the store renews it and says how far the
///     Redis may promise it, which is then put there. The answer is the store's.
///  4. Everything else is an ordinary heartbeat in the store.
///
/// Life: construct, Start, Stop. Threads: any.
class RedisPath final : public BeatPath {
 public:
  struct Options {
    RedisRound::Options round{};
    std::size_t most_remembered = 500'000;  ///< holdings
  };
  /// Two ways to the same Redis: heartbeats wait for nothing else.
  struct Connections {
    std::unique_ptr<SeatRecords> beats{};
    std::unique_ptr<SeatRecords> round{};
  };
  RedisPath(Seats& seats, Connections connections, const Options& options, const base::Clock& clock,
            telemetry::Registry& metrics);
  /// Throws std::invalid_argument for certificates that cannot be used.
  RedisPath(Seats& seats, const client::RedisAddress& address, const Options& options,
            const base::Clock& clock, telemetry::Registry& metrics);

  void Start();
  void Stop();
  /// For a simulation, which has no threads and a time of its own: does one thing of what the threads
  /// would do. False: there is nothing now. REQUIRES: it was not started.
  bool RunOne(std::int64_t now_ms) { return thread_.RunOne(now_ms) || round_.RunOne(now_ms); }

  void Heartbeat(BeatRequest request, base::Caller caller,
                 base::UniqueFunction<db::Result<Heartbeats>> done) override;
  void GiveOn(const base::Uuid& license, base::UniqueFunction<GivenOn> done) override;
  void Ask(const base::Uuid& license, std::vector<HoldingPlace> places,
           base::UniqueFunction<std::vector<KnownThere>> done) override;
  void Forget(const std::string& tenant, const std::string& person, const base::Uuid& session,
              base::UniqueFunction<bool> done) override;
  void Resumed(const std::string& tenant, const std::string& person,
               const base::Uuid& session) override;
  void Ended(const base::Uuid& license, std::int64_t slot, std::int64_t fence) override;
  void Changed(const base::Uuid& license) override;

  RedisRound& round() { return round_; }

 private:
  class Asking;
  struct Waiting {
    std::shared_ptr<Asking> asking{};
    std::size_t place = 0;  ///< of the session
    SeatRecords::BeatAsked asked{};
  };

  void Push(std::vector<Waiting> waiting);
  void BeatSome();
  void BeatThese(const std::vector<Waiting>& these);

  Seats& seats_;
  const Options options_;
  RedisProbe probe_;
  RedisUse use_;
  HoldingCache cache_;
  const std::unique_ptr<SeatRecords> redis_;
  RedisRound round_;

  base::Mutex mutex_;
  std::deque<Waiting> waiting_ TENURE_GUARDED_BY(mutex_);
  bool stops_ TENURE_GUARDED_BY(mutex_) = false;
  TaskThread thread_;  // last: it uses the rest
};

}  // namespace tenure::seats
