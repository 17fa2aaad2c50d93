#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "db/method.hpp"
#include "seats/promise.hpp"

namespace tenure::seats {

/// Which Redis keeps heartbeats, and the store's time, which was read before that.
struct EpochSeen {
  RedisEpoch epoch{};
  std::int64_t incarnation = 0;  ///< of the store
  std::int64_t longest_ms = 0;   ///< the longest ttl and grace that any licence ever had
  std::int64_t now_ms = 0;
};
EpochSeen ReadRedisEpochNow(db::Transaction& tx, std::int64_t now_ms);

/// A process says that it uses the Redis of this epoch.
struct UseRequest {
  std::int64_t epoch = 0;
  std::size_t bytes() const { return sizeof(UseRequest); }
};
struct UseReply {};
void NoteUse(db::Transaction& tx, db::Items<UseRequest, UseReply> items);

/// Another Redis keeps heartbeats from now on, or none does. Nothing that was promised before counts when
/// the freeze is over: it begins here, with the longest ttl and grace that any licence ever had.
struct RaiseRequest {
  std::int64_t from = 0;
  std::optional<std::string> identity{};
  std::int64_t offset_ms = 0;
  RedisRules rules{};
  std::string_view reason{};  ///< for the record

  std::size_t bytes() const { return identity ? identity->size() : 0; }
};
struct RaiseReply {
  bool raised = false;  ///< false: another process was first, or the freeze before it lasts
  RedisEpoch epoch{};   ///< as it is now
};
void RaiseEpoch(db::Transaction& tx, db::Items<RaiseRequest, RaiseReply> items);

/// The seats of a licence that only a Redis may have promised still: what the store promised has passed.
/// Those that are not over it is asked about; what it says counts while they are as they were read here.
/// Those that are over became so by a change of the Redis: when the licence was looked at last, their
/// time to be looked at again was their horizon, which may be an hour later than that.
struct CandidatesRequest {
  base::Uuid license{};
  std::int64_t after = 0;  ///< the slot behind which the page begins
  std::size_t bytes() const { return sizeof(CandidatesRequest); }
};
struct CandidatesReply {
  struct Seat {
    std::int64_t slot = 0;
    Promise promise{};
    bool revoked = false;
  };
  std::vector<Seat> seats{};
  std::vector<Seat> over{};
  std::int64_t epoch = 0;
  std::int64_t frozen_ms = 0;  ///< until then nobody's testimony counts
  std::int64_t now_ms = 0;     ///< read before the seats
  std::int64_t next = 0;       ///< the slot behind which the next page begins; 0: there is none
  std::int64_t ttl_ms = 0;     ///< and grace, of the licence
  std::int64_t soon_ms = 0;    ///< the next time at which there is one more of them; 0: not known
};
void FindCandidates(db::Transaction& tx, db::Items<CandidatesRequest, CandidatesReply> items);

}  // namespace tenure::seats
