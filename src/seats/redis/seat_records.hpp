#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenure::seats {

/// The Redis did not answer as it should, or not in time. What was asked may have been carried out.
class RedisAway : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The records of seats in a Redis, whole batches at once.
///
/// Each call names the Redis that it means, and another one answers nothing: `nullopt`. Times are the
/// Redis's, in milliseconds. Every call may throw RedisAway.
///
/// Threads: one at a time; `Cancel` any.
class SeatRecords {
 public:
  SeatRecords() = default;
  virtual ~SeatRecords() = default;
  SeatRecords(const SeatRecords&) = delete;
  SeatRecords& operator=(const SeatRecords&) = delete;

  struct Greeting {
    std::string identity{};
    std::int64_t now_ms = 0;
  };
  virtual Greeting Greet() = 0;

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
  virtual std::optional<Beats> Beat(const Under& under, std::int64_t half_horizon_ms,
                                    std::span<const BeatAsked> asked) = 0;

  struct PutAsked {
    std::string seat{};
    std::int64_t fence = 0;
    std::int64_t ttl_ms = 0;
    std::int64_t horizon_ms = 0;
  };
  /// Which of them are there now; none, when `not_after_ms` had passed.
  virtual std::optional<std::vector<bool>> Put(const Under& under, std::int64_t not_after_ms,
                                               std::span<const PutAsked> asked) = 0;

  struct Seen {
    bool known = false;
    std::int64_t dead_in_ms = 0;  ///< 0: it is
    std::int64_t soft_ms = 0;     ///< its last promise
    std::int64_t fence = 0;       ///< of the holding that is promised
    std::int64_t beat_ms = 0;     ///< its last heartbeat that was kept here; 0: none
  };
  struct Sight {
    std::int64_t now_ms = 0;
    std::vector<Seen> seats{};
  };
  virtual std::optional<Sight> Look(const Under& under, std::int64_t margin_ms,
                                    std::span<const std::string> seats) = 0;

  struct Over {
    std::string seat{};
    std::int64_t fence = 0;  ///< and those before it
  };
  /// True: none of them has a record any more. False: another Redis answered.
  virtual bool Drop(const Under& under, std::span<const Over> over) = 0;

  /// Ends the call that is under way, and all later ones.
  virtual void Cancel() = 0;
};

}  // namespace tenure::seats
