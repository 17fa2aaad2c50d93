#pragma once

#include <cctz/time_zone.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"

namespace tenure::jobs::calendar {

/// A stretch of time in which a zone's clocks go on without a change: [begin, end), in seconds since
/// 1970 UTC. Wall time is that plus `offset`.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t offset = 0;
  std::int64_t offset_before = 0;  ///< of what lies before `begin`; a smaller one left a gap
};

/// A time zone: a value that is cheap to copy.
class Zone {
 public:
  static Zone Utc() { return Zone(cctz::utc_time_zone()); }

  Stretch StretchOf(std::int64_t utc_s) const;

  /// How often the wall clock shows a time, and when. Not at all: both are the end of the gap.
  struct Moments {
    enum class Kind { kOnce, kNever, kTwice } kind;
    std::int64_t first;
    std::int64_t second;
  };
  Moments At(std::int64_t wall_s) const;

  /// "2026-03-29T03:00:00", with milliseconds when there are any.
  std::string LocalTime(std::int64_t utc_ms) const;
  /// "+02:00".
  std::string Offset(std::int64_t utc_ms) const;

 private:
  friend class Zones;
  explicit Zone(cctz::time_zone zone) : zone_(zone) {}

  cctz::time_zone zone_;
};

/// The zones of a folder with tzdata, as it is now: a newer tzdata, which has another version, needs
/// another `Zones`. Safe to use from several threads.
class Zones {
 public:
  /// The folder in TZDIR, or the system's.
  static std::string SystemFolder();

  explicit Zones(std::string folder = SystemFolder());

  /// By its IANA name in its own spelling. `UTC` is known also where there is no tzdata.
  std::optional<Zone> Find(std::string_view name) const;

  /// The names that look most like this one, the best first.
  std::vector<std::string> Nearest(std::string_view name, std::size_t most = 3) const;

  /// "2026f"; "unknown" where the folder does not say.
  const std::string& version() const { return version_; }
  /// What `version` would be of a `Zones` that is made now.
  std::string VersionNow() const;

 private:
  std::string folder_;
  std::string path_;  ///< the folder, spelled in another way for each version
  std::string version_;
  std::vector<std::string> names_;  ///< in order

  mutable base::Mutex mutex_;
  mutable std::map<std::string, Zone, std::less<>> known_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::jobs::calendar
