#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "audit/probe.hpp"
#include "base/caller.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/task.hpp"
#include "db/operation.hpp"

namespace tenure::audit {

/// Refusals that belong into the audit, although nothing was changed: somebody reached for what is
/// another tenant's. Whoever is refused can come back ten thousand times a second, so they are
/// summed up: the first one of an asker is put on record before it is answered; those of the minute
/// that follows are counted, and become one more entry when it is over.
///
/// 1. Each refusal is in one entry, alone or in a sum, unless this process dies within the minute:
///    then the sums that it had not written are lost. (Nothing was changed, so nothing that was
///    done is missing.) What could not be written is added to the next sum.
/// 2. At most `askers` are told apart at a time; all others share one sum without names. So a
///    process writes at most 2 x (askers + 1) entries in a minute, and keeps no more in memory,
///    whatever anybody does.
///
/// Changes that anybody may make as often as he likes (the settings of a topic) are summed the same
/// way: the first one is put on record in its own transaction (`Begin` says that it is the first),
/// those of the minute that follows are counted (`Count`).
///
/// Life: construct, Note and Flush (from time to time), Stop. Threads: any.
class Refusals {
 public:
  struct Limits {
    std::size_t askers = 100;
    std::int64_t window_ms = 60'000;
  };
  /// Puts an entry on record; says whether it is.
  using Write =
      std::function<void(base::Actor actor, db::AuditEvent event, base::UniqueFunction<bool> done)>;

  Refusals(Write write, const base::Clock& clock, Probe& probe, const Limits& limits);
  Refusals(Write write, const base::Clock& clock, Probe& probe)
      : Refusals(std::move(write), clock, probe, Limits()) {}

  /// `done` runs when the refusal is on record (or could not be put there), on a lane's thread; or
  /// at once, where it is only counted.
  void Note(base::Actor actor, db::AuditEvent event, base::Task done);

  /// Whether a change of this asker is the first of a minute: then whoever makes it puts it on
  /// record, and otherwise counts it when it is made.
  bool Begin(base::Actor actor);
  /// It was not made: the next one is the first.
  void Withdraw(base::Actor actor);
  void Count(base::Actor actor, db::AuditEvent event);

  /// Writes the sums of the minutes that are over.
  void Flush();
  /// Writes all sums.
  void Stop();

 private:
  /// Who asks for what: act, tenant, person, address.
  using Asker = std::tuple<std::string, std::string, std::string, std::string>;
  struct Tally {
    base::Actor actor{};  // of the last refusal, as the event
    db::AuditEvent event{};
    std::int64_t until_boot_ms = 0;
    std::int64_t untold = 0;  // refusals that are in no entry yet
  };

  static Asker AskerOf(const base::Actor& actor);
  /// Takes the names off when there are too many.
  void Limit(base::Actor& actor) const TENURE_REQUIRES(mutex_);
  /// Those whose minute is over at that time, and that have something to tell.
  std::vector<Tally> TakeEnded(std::int64_t boot_ms);
  void WriteSum(Tally sum);
  /// An entry could not be written: the next sum tells of it.
  void AddBack(base::Actor actor, db::AuditEvent event, std::int64_t count);

  const Write write_;
  const base::Clock& clock_;
  Probe& probe_;
  const Limits limits_;

  base::Mutex mutex_;
  /// At most limits_.askers, and one for each act.
  std::map<Asker, Tally> tallies_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::audit
