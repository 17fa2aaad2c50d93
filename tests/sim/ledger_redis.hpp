#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "seats/redis/seat_records.hpp"

namespace tenure::sim {

/// What is wrong on purpose about heartbeats in a Redis.
enum class LedgerBug {
  kNothing,
  // Of the Redis.
  kSameEpoch,     ///< another Redis is used under the same epoch
  kOldRecord,     ///< a record of an older epoch is honoured
  kNoHorizon,     ///< it promises beyond the horizon
  kLatePut,       ///< a put takes effect however late it comes
  kAbsentIsDead,  ///< a seat that it does not know counts as dead
  kRedisRevives,  ///< a late heartbeat revives there
  // Of the process.
  kNoAuthority,   ///< nobody looks after the reply whether its authority has run out
  kJumpBelieved,  ///< a clock that jumped is believed
  // Of the store.
  kNoFreeze,        ///< an epoch is raised without a freeze
  kShortFreeze,     ///< the freeze is as long as a ttl
  kLowerHorizon,    ///< a heartbeat in the store lowers the horizon
  kLowerEpoch,      ///< an adoption that a bump overtook lowers the row's epoch
  kStaleTestimony,  ///< testimony counts for a row that was adopted since: nothing shows it
  kReleaseForgets,  ///< a release frees at once what a former process was promised
  kDeadNotLocked,   ///< seats of the dead are read and not locked: only where transactions overlap
};

/// One Redis: who it is, its clock, its records. What src/seats/redis/lua says is said here again.
class LedgerRedis {
 public:
  struct Record {
    std::int64_t fence = 0;
    std::int64_t epoch = 0;
    std::int64_t soft_ms = 0;
    std::int64_t horizon_ms = 0;
  };
  using Records = std::map<std::string, Record>;
  using R = seats::SeatRecords;

  LedgerRedis(std::string who, LedgerBug planted) : identity(std::move(who)), planted_(planted) {}

  std::string identity;
  bool is_up = true;
  std::int64_t offset_ms = 0;  ///< of its clock
  Records records{};
  Records copy{};  ///< an older file of it
  std::int64_t kept = 0;
  std::int64_t testified = 0;

  R::Greeting Greet(std::int64_t now_ms) const;
  std::optional<R::Beats> Beat(std::int64_t now_ms, const R::Under& under, std::int64_t half_ms,
                               std::span<const R::BeatAsked> asked);
  std::optional<std::vector<bool>> Put(std::int64_t now_ms, const R::Under& under,
                                       std::int64_t not_after_ms,
                                       std::span<const R::PutAsked> asked);
  std::optional<R::Sight> Look(std::int64_t now_ms, const R::Under& under, std::int64_t margin_ms,
                               std::span<const std::string> seats);
  bool Drop(const R::Under& under, std::span<const R::Over> over);

 private:
  bool IsMeant(const R::Under& under) const { return under.identity == Greet(0).identity; }
  const Record* Find(const std::string& seat) const;

  const LedgerBug planted_;
};

/// A process's connection to a Redis, over a network of the simulation's.
class LedgerLink final : public seats::SeatRecords {
 public:
  /// Carries a question there and its answer back. It may throw RedisAway, and also when the question
  /// has been, or will be, carried out: so what it is given owns what it needs.
  using Question = std::function<void(LedgerRedis&, std::int64_t now_ms)>;
  enum class Kind { kBeat, kPut, kOther };
  using Network = std::function<void(Kind, Question)>;
  explicit LedgerLink(Network network) : network_(std::move(network)) {}

  Greeting Greet() override;
  std::optional<Beats> Beat(const Under& under, std::int64_t half_horizon_ms,
                            std::span<const BeatAsked> asked) override;
  std::optional<std::vector<bool>> Put(const Under& under, std::int64_t not_after_ms,
                                       std::span<const PutAsked> asked) override;
  std::optional<Sight> Look(const Under& under, std::int64_t margin_ms,
                            std::span<const std::string> seats) override;
  bool Drop(const Under& under, std::span<const Over> over) override;
  void Cancel() override {}

 private:
  const Network network_;
};

}  // namespace tenure::sim
