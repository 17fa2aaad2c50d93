#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/redis/link.hpp"
#include "leases/descriptor.hpp"
#include "seats/redis/seat_records.hpp"

namespace tenure::client {
struct RedisScript;
}  // namespace tenure::client

namespace tenure::seats {

/// The records in a real one: what lua/ says, by EVALSHA. Another database or prefix is another Redis,
/// too: who has other records must not testify about these. After a failure the connection is given
/// up, since a late reply must not be taken for that to another question; the next call makes a new
/// one.
class SeatRedis final : public SeatRecords {
 public:
  struct Options {
    std::int64_t timeout_ms = 250;  ///< of a call, connecting included
  };
  /// Throws std::invalid_argument for certificates that cannot be used. Does not connect.
  SeatRedis(client::RedisAddress address, const Options& options);
  ~SeatRedis() override;

  Greeting Greet() override;
  std::optional<Beats> Beat(const Under& under, std::int64_t half_horizon_ms,
                            std::span<const BeatAsked> asked) override;
  std::optional<std::vector<bool>> Put(const Under& under, std::int64_t not_after_ms,
                                       std::span<const PutAsked> asked) override;
  std::optional<Sight> Look(const Under& under, std::int64_t margin_ms,
                            std::span<const std::string> seats) override;
  bool Drop(const Under& under, std::span<const Over> over) override;
  void Cancel() override;

 private:
  /// One call of a script. Throws RedisAway.
  client::RedisReply Run(const client::RedisScript& script, std::vector<std::string> arguments);
  /// What every script gets first; nothing: another one is meant.
  std::optional<std::vector<std::string>> ArgumentsFor(const Under& under) const;

  const client::RedisAddress address_;
  const std::string place_;  // what its identity ends with: of the records, not of the process
  const Options options_;
  const std::unique_ptr<client::WireTls> tls_;
  std::atomic<bool> cancelled_ =
      false;                         // no call begins any more: a quick reply is never waited for
  const leases::Descriptor cancel_;  // readable: cancelled, also for the call that waits
  std::unique_ptr<client::RedisLink> link_;
};

}  // namespace tenure::seats
