#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/mutex.hpp"
#include "base/uuid.hpp"
#include "seats/command.hpp"

namespace tenure::seats {

/// What this process denied since it told of it last, summed by licence: a denial writes nothing itself,
/// so that nobody can fill a log by asking. A process that dies loses what it has not told, a minute at
/// most.
///
/// Bounded: kMaxLicenses; those of further licences are only counted together. Threads: any.
class Denials {
 public:
  static constexpr std::size_t kMaxLicenses = 10'000;
  static constexpr std::size_t kMaxMachines =
      1'000;  ///< of a licence; more of them count as so many

  void Note(const base::Uuid& license, std::string_view machine, std::int64_t now_ms);

  struct Taken {
    std::vector<NoteDenialsCommand> sums{};
    std::int64_t others = 0;  ///< of licences beyond the bound
  };
  /// Everything, and forgets it.
  Taken Take();
  /// It could not be told.
  void PutBack(const NoteDenialsCommand& sum);

 private:
  struct Sum {
    std::int64_t count = 0;
    std::unordered_set<std::size_t> machines{};
    std::int64_t machines_before = 0;  // of what was put back; may be the same ones
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 0;
  };

  base::Mutex mutex_;
  std::map<base::Uuid, Sum> sums_ TENURE_GUARDED_BY(mutex_);
  std::int64_t others_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure::seats
