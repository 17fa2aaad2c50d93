#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"

namespace tenure::seats {

/// What an entry of a licence's log tells of.
enum class LogKind {
  kSeatAcquired,
  kSeatReleased,
  kSeatExpired,
  kSeatDenied,
  kSeatRevived,
  kSeatResumed,
  kSeatRevoked,
  kLicenseCreated,
  kLicenseChanged,
  kLicenseRevoked,
  kLicenseKeyRotated,
  kStoreRestored,
  kLogCheckpoint,
};

/// As the log has it: "LICENSE_SEAT_ACQUIRED".
std::string_view ToText(LogKind kind);
std::optional<LogKind> ParseLogKind(std::string_view text);

/// SHA-256. The hash before a log's first entry is all zeros.
using LogHash = std::array<std::uint8_t, 32>;

/// Lower-case hexadecimal, as answers and exports show it.
std::string HexOf(const LogHash& hash);
std::optional<LogHash> ParseLogHash(std::string_view hex);

/// One entry of a licence's log, as it is stored. Whoever has the entries of a licence can compute
/// every hash anew: what is hashed is the hash before it and `CanonicalText`.
struct LogEntry {
  base::Uuid license{};
  std::int64_t seq = 0;  ///< 1, 2, 3 … without a gap
  std::int64_t at_ms = 0;
  std::string kind{};  ///< text, so that an entry of a later version can be read and hashed, too
  std::optional<base::Uuid> session{};
  std::optional<std::int64_t> slot{};
  std::optional<std::int64_t> fence{};
  std::string detail{"{}"};  ///< a JSON object, byte by byte as it was written
  LogHash hash{};

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

/// `[license_id, seq, at_ms, kind, session_id, slot, fence, detail]` as JSON without blanks; null
/// where there is none.
std::string CanonicalText(const LogEntry& entry);

/// What `entry.hash` must be when `previous` is the hash of the entry before it.
LogHash HashOf(const LogHash& previous, const LogEntry& entry);

/// SHA-256 of any bytes.
LogHash Sha256(std::string_view bytes);

}  // namespace tenure::seats
