#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "jobs/calendar/schedule.hpp"
#include "jobs/calendar/zone.hpp"
#include "jobs/job.hpp"

namespace tenure::jobs {

/// What is wrong with the times of a definition, by its field.
struct Mistake {
  std::string field{};
  std::string message{};
  std::optional<std::size_t> position{};  ///< in the expression
};
/// For people, with its place.
std::string PlacedText(const Mistake& mistake);

/// The times that a definition names: its schedule between `starts_ms` and `ends_ms`.
class Times {
 public:
  /// The times of a job that was made at `created_ms`. None when the expression or its zone cannot
  /// be read (tzdata may lose a zone).
  static std::optional<Times> Of(const Definition& definition, std::int64_t created_ms,
                                 const calendar::Zones& zones);
  /// What Of would not read.
  static std::vector<Mistake> Check(const Definition& definition, const calendar::Zones& zones);

  std::optional<calendar::Occurrence> First(std::int64_t from_ms) const;
  std::vector<calendar::Occurrence> List(std::int64_t from_ms, std::int64_t to_ms,
                                         std::size_t most) const;
  std::vector<calendar::Occurrence> Last(std::int64_t from_ms, std::int64_t to_ms,
                                         std::size_t most) const;
  std::int64_t Count(std::int64_t from_ms, std::int64_t to_ms) const;

  const calendar::Zone& zone() const { return schedule_.zone(); }

 private:
  Times(calendar::Schedule schedule, std::int64_t begin_ms, std::int64_t end_ms)
      : schedule_(schedule), begin_ms_(begin_ms), end_ms_(end_ms) {}

  calendar::Schedule schedule_;
  std::int64_t begin_ms_;
  std::int64_t end_ms_;
};

/// The zones of this process. Newer tzdata is another object; who has the former one keeps it.
/// Threads: any.
class ZoneSource {
 public:
  explicit ZoneSource(std::string folder = calendar::Zones::SystemFolder())
      : folder_(std::move(folder)), zones_(std::make_shared<const calendar::Zones>(folder_)) {}

  std::shared_ptr<const calendar::Zones> Get() const {
    const base::Lock lock(mutex_);
    return zones_;
  }
  /// Reads tzdata again when its version is another one than before; returns whether it was.
  bool Renew();

 private:
  const std::string folder_;
  mutable base::Mutex mutex_;
  std::shared_ptr<const calendar::Zones> zones_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::jobs
