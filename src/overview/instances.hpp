#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "db/columns.hpp"
#include "db/method.hpp"

namespace tenure::overview {

/// A process of the ensemble. Times are milliseconds: those of `started_ms` by its own clock, the others by
/// the store's.
struct Instance {
  std::string instance{};  ///< "host:pid:random"
  std::string version{};
  std::string host{};
  std::int64_t started_ms = 0;
  std::int64_t seen_ms = 0;
  std::int64_t left_ms = 0;  ///< when it said good-bye; 0: it did not
  bool workers = false;
  std::int64_t requests_per_1000s = 0;  ///< of its last 10 seconds
  std::int64_t clock_gap_ms = 0;        ///< how far its clock is ahead of the store's
  std::int64_t lanes = 0;
};

/// Who has not been seen for so long is missed.
inline constexpr std::int64_t kMissedMs = 25'000;
/// For so long.
inline constexpr std::int64_t kForgottenMs = 3'600'000;

/// Writes the row of one process, forgets those that were not seen for an hour, and reads all of them.
struct BeatRequest {
  Instance own{};
  bool leaves = false;

  std::size_t bytes() const { return own.instance.size() + own.version.size() + own.host.size(); }
};
struct BeatReply {
  std::vector<Instance> instances{};
  std::int64_t now_ms = 0;
};
/// On a store of one process nothing is written, and nobody is there but itself.
void BeatInstances(db::Transaction& tx, db::Items<BeatRequest, BeatReply> items);

void WriteInstance(base::JsonWriter& json, const Instance& instance);

}  // namespace tenure::overview
