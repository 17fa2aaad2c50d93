#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "seats/log_entry.hpp"

namespace tenure::seats {

/// What a reader of the log needs to know of an entry's detail to replay it.
struct LogDetail {
  /// The clock's time, where it was behind that of the entry before.
  std::optional<std::int64_t> clock_ms{};
  std::optional<std::int64_t> seats{};  ///< of CREATED, CHANGED, CHECKPOINT: the limit from here on
  bool force = false;                   ///< of REVOKED: the seat was given on at once
  std::optional<base::Uuid> former{};   ///< of RESUMED: the session that it continues
  std::optional<LogHash> before{};      ///< of CHECKPOINT: the hash before it
  std::optional<std::int64_t> highest{};  ///< of CHECKPOINT: held at once so far
  std::int64_t highest_at_ms = 0;

  /// Of CHECKPOINT: what is held.
  struct Held {
    base::Uuid session{};
    std::int64_t slot = 0;
    std::int64_t fence = 0;
  };
  std::vector<Held> held{};
};

/// Empty when it cannot be read, or lacks what its kind must have.
std::optional<LogDetail> ReadLogDetail(LogKind kind, std::string_view detail);

}  // namespace tenure::seats
