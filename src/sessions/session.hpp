#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/uuid.hpp"
#include "db/columns.hpp"

namespace tenure::sessions {

enum class Kind : std::uint8_t { kBasic = 1, kStandard = 2, kPremium = 3 };

enum class EndReason : std::uint8_t { kUpgraded = 1, kDeleted = 2, kExpired = 3 };
inline std::string_view ToText(EndReason reason) {
  switch (reason) {
    case EndReason::kUpgraded:
      return "upgraded";
    case EndReason::kDeleted:
      return "deleted";
    case EndReason::kExpired:
      break;
  }
  return "expired";
}

/// What a session is unique by, and what is locked: one user on one capacity.
struct Key {
  base::Uuid user;
  base::Uuid capacity;

  friend auto operator<=>(const Key&, const Key&) = default;
};

inline constexpr auto kKeyColumns = db::Members(&Key::user, &Key::capacity);

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
  /// Marked as ended; one that is overdue may not be marked yet.
  std::optional<EndReason> end_reason;

  /// Whatever the mark says: past its end it is not active (S2).
  bool IsActive(std::int64_t now_ms) const { return !end_reason && now_ms < end_ms; }
  /// Why it is not active, whether or not it has been marked.
  std::optional<EndReason> ReasonAt(std::int64_t now_ms) const {
    if (!end_reason && now_ms >= end_ms) return EndReason::kExpired;
    return end_reason;
  }
};

/// The columns that every query on sessions returns, and that a new one is written with.
inline constexpr auto kSessionColumns = db::Members(
    &Session::id, &Session::tenant, db::Inside(&Session::key, kKeyColumns), &Session::turn,
    &Session::kind, &Session::start_ms, &Session::end_ms, &Session::end_reason);

inline Session ReadSession(const db::Rows::Row& row) {
  return db::ReadAs<Session>(row, kSessionColumns);
}

}  // namespace tenure::sessions
