#pragma once

#include <cstdint>

#include "db/transaction.hpp"

namespace tenure::sessions {

/// What usage has fixed about sessions: one row of the store (session_bounds). Usage decides when
/// it moves (usage/seal.hpp); it lies here because every start and end of a session obeys it, and
/// sessions may not use usage.
///
/// 1. No start or end of a session that is committed from now on lies before `sealed_ms`. Whoever
///    starts or ends one takes the seal shared, then reads `sealed_ms`, then the clock, and its
///    instant is the greater of both. Whoever raises `sealed_ms` holds the seal alone: those who
///    read the older value have committed, and all others will read the new one. (SQLite has one
///    writer at a time: its transaction is the seal.)
/// 2. Sessions that ended before `settled_ms` have no usage that is still to be acknowledged; only
///    they may be removed.
/// 3. Sessions that ended before `removed_ms` may be gone; none that ended later is.
struct UsageSeal {
  std::int64_t sealed_ms = 0;
  std::int64_t settled_ms = 0;
  std::int64_t removed_ms = 0;
};

/// Waits for all who start or end sessions, and keeps them away until COMMIT. Throws kContended
/// when that takes long. REQUIRES: the first lock of the transaction.
void LockSeal(db::Transaction& tx);
/// REQUIRES: `sealed_ms` is not below the present one; LockSeal was called.
void RaiseSeal(db::Transaction& tx, std::int64_t sealed_ms);

UsageSeal ReadUsageSeal(db::Transaction& tx);
/// The same, with `settled_ms` and `removed_ms` kept as they are until COMMIT.
UsageSeal LockUsageSeal(db::Transaction& tx);
/// REQUIRES: LockUsageSeal was called.
void SetSettled(db::Transaction& tx, std::int64_t settled_ms);
void RaiseRemoved(db::Transaction& tx, std::int64_t removed_ms);

}  // namespace tenure::sessions
