#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "client/redis/link.hpp"
#include "leases/descriptor.hpp"

namespace tenure::client {
struct RedisScript;
}  // namespace tenure::client

namespace tenure::seats {

/// The Redis did not answer as it should, or not in time. What was asked may have been carried out.
class RedisAway : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The records of seats in a Redis: what lua/ says, by EVALSHA, whole batches at once.
///
/// Each call names the Redis that it means, and another one answers nothing: `nullopt`. Another database
/// or prefix is another one, too: who has other records must not testify about these. Times are the
/// Redis's, in milliseconds. After a failure the connection is given up, since a late reply must not
/// be taken for that to another question; the next call makes a new one.
///
/// Threads: one at a time; `Cancel` any.
class SeatRedis {
 public:
  struct Options {
    std::int64_t timeout_ms = 250;  ///< of a call, connecting included
  };
  /// Throws std::invalid_argument for certificates that cannot be used. Does not connect.
  SeatRedis(client::RedisAddress address, const Options& options);
  ~SeatRedis();
  SeatRedis(const SeatRedis&) = delete;
  SeatRedis& operator=(const SeatRedis&) = delete;

  struct Greeting {
    std::string identity{};
    std::int64_t now_ms = 0;
  };
  Greeting Greet();

  /// Which Redis, and under which epoch.
  struct Under {
    std::string identity{};
    std::int64_t epoch = 0;
  };

  struct BeatAsked {
    std::string seat{};
    std::int64_t fence = 0;
    std::int64_t ttl_ms = 0;
  };
  struct BeatTold {
    enum class Kind { kKept, kUnknown, kLate };
    Kind kind = Kind::kUnknown;
    std::int64_t left_ms = 0;
    bool half_gone = false;  ///< of its horizon: it is time to adopt it again
  };
  struct Beats {
    std::int64_t now_ms = 0;
    std::vector<BeatTold> told{};  ///< in the order of what was asked
  };
  std::optional<Beats> Beat(const Under& under, std::int64_t half_horizon_ms,
                            std::span<const BeatAsked> asked);

  struct PutAsked {
    std::string seat{};
    std::int64_t fence = 0;
    std::int64_t ttl_ms = 0;
    std::int64_t horizon_ms = 0;
  };
  /// Which of them are there now; none, when `not_after_ms` had passed.
  std::optional<std::vector<bool>> Put(const Under& under, std::int64_t not_after_ms,
                                       std::span<const PutAsked> asked);

  struct Seen {
    bool known = false;
    std::int64_t dead_in_ms = 0;  ///< 0: it is
    std::int64_t soft_ms = 0;     ///< its last promise
    std::int64_t fence = 0;       ///< of the holding that is promised
  };
  struct Sight {
    std::int64_t now_ms = 0;
    std::vector<Seen> seats{};
  };
  std::optional<Sight> Look(const Under& under, std::int64_t margin_ms,
                            std::span<const std::string> seats);

  struct Over {
    std::string seat{};
    std::int64_t fence = 0;  ///< and those before it
  };
  /// True: none of them has a record any more. False: another Redis answered.
  bool Drop(const Under& under, std::span<const Over> over);

  /// Ends the call that is under way, and all later ones.
  void Cancel();

 private:
  /// One call of a script. Throws RedisAway.
  client::RedisReply Run(const client::RedisScript& script, std::vector<std::string> arguments);
  /// What every script gets first; nothing: another one is meant.
  std::optional<std::vector<std::string>> ArgumentsFor(const Under& under) const;

  const client::RedisAddress address_;
  const std::string place_;  // what its identity ends with: of the records, not of the process
  const Options options_;
  const std::unique_ptr<client::WireTls> tls_;
  const leases::Descriptor cancel_;  // readable: cancelled
  std::unique_ptr<client::RedisLink> link_;
};

}  // namespace tenure::seats
