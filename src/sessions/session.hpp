#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/uuid.hpp"
#include "db/rows.hpp"

namespace tenure::sessions {

enum class Kind : std::uint8_t { kBasic = 1, kStandard = 2, kPremium = 3 };

enum class EndReason : std::uint8_t { kUpgraded = 1, kDeleted = 2, kExpired = 3 };
std::string_view ToText(EndReason reason);

/// What a session is unique by, and what is locked: one user on one capacity.
struct Key {
  base::Uuid user;
  base::Uuid capacity;

  friend auto operator<=>(const Key&, const Key&) = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    const std::hash<base::Uuid> hash;
    return hash(key.user) * 31 + hash(key.capacity);
  }
};

/// A session is the half-open interval [start, end) of the store's time, in milliseconds.
struct Session {
  base::Uuid id;
  base::Uuid tenant;
  Key key;
  std::int64_t turn = 0;  ///< 1, 2, 3 … per key
  Kind kind = Kind::kBasic;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;  ///< planned; once ended, actual
  std::optional<EndReason>
      end_reason;  ///< marked as ended; one that is overdue may not be marked yet

  /// Whatever the mark says: past its end it is not active (S2).
  bool IsActive(std::int64_t now_ms) const { return !end_reason && now_ms < end_ms; }
  /// Why it is not active, whether or not it has been marked.
  std::optional<EndReason> ReasonAt(std::int64_t now_ms) const {
    if (!end_reason && now_ms >= end_ms) return EndReason::kExpired;
    return end_reason;
  }
};

/// Reads the columns that every query on sessions returns, in this order: id, tenant, user_id,
/// capacity_id, turn, kind, start_ms, end_ms, end_reason.
Session ReadSession(const db::Rows::Row& row);

}  // namespace tenure::sessions
