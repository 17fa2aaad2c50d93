#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/caller.hpp"
#include "base/task.hpp"
#include "db/operation.hpp"
#include "seats/command.hpp"
#include "seats/heartbeat.hpp"

namespace tenure::seats {

/// Of a caller's own holdings; the outcomes are in the order of the sessions.
struct Heartbeats {
  std::vector<HeartbeatOutcome> outcomes{};
  std::int64_t now_ms = 0;
  std::optional<base::Uuid> license{};  ///< of one of them, where any is known
};

/// What came of asking who is dead of those that only a Redis keeps.
struct GivenOn {
  bool some = false;  ///< seats of the licence are free that were not
  std::int64_t next_ms =
      0;  ///< nobody else is before so many milliseconds have passed; 0: not known
};

/// A holding in its seat, of a licence that is named beside it.
struct HoldingPlace {
  std::int64_t slot = 0;
  std::int64_t fence = 0;
};
/// What is known there of a holding, by the store's clock.
struct KnownThere {
  std::int64_t until_ms = 0;  ///< how far it was promised; 0: it is not known there, or nobody says
  std::int64_t beat_ms = 0;   ///< its last heartbeat that was kept there; 0: none
};

/// A way for heartbeats beside the store's own: a Redis (redis/redis_path.hpp). Whatever it cannot
/// answer it asks the store, so a caller sees no difference but in speed.
///
/// Threads: any. Callbacks run on the caller's executor, without one on a thread of the path or the
/// store.
class BeatPath {
 public:
  virtual ~BeatPath() = default;

  virtual void Heartbeat(BeatRequest request, base::Caller caller,
                         base::UniqueFunction<db::Result<Heartbeats>> done) = 0;
  /// A licence is full: the seats of those that are dead are given on.
  virtual void GiveOn(const base::Uuid& license, base::UniqueFunction<GivenOn> done) = 0;

  /// What it knows of holdings, for people: in the order of what was asked.
  virtual void Ask(const base::Uuid& license, std::vector<HoldingPlace> places,
                   base::UniqueFunction<std::vector<KnownThere>> done) = 0;

  /// The former session of a machine is over, says its successor, who is this person. True: no record
  /// of it is left there.
  virtual void Forget(const std::string& tenant, const std::string& person,
                      const base::Uuid& session, base::UniqueFunction<bool> done) = 0;

  // After a commit. They return at once; what is not carried out is made good by the sweep.

  /// The same machine has it under a new session: the former one is to hear of it.
  virtual void Resumed(const std::string& tenant, const std::string& person,
                       const base::Uuid& session) = 0;
  /// Nobody is to renew it there any more.
  virtual void Ended(const base::Uuid& license, std::int64_t slot, std::int64_t fence) = 0;
  /// What the licence says is not what it was.
  virtual void Changed(const base::Uuid& license) = 0;
};

}  // namespace tenure::seats
