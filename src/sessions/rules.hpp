#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sessions/session.hpp"

namespace tenure::sessions {

struct PutRequest {
  base::Uuid tenant;
  Key key;
  Kind kind = Kind::kBasic;
};

enum class PutStatus {
  kCreated,
  kExisting,
  kUpgraded,
  kForeign,  ///< another tenant has the active session of this key
};

struct PutReply {
  PutStatus status = PutStatus::kExisting;
  Session session;                     ///< not for kForeign: it is not the caller's to see
  std::optional<base::Uuid> previous;  ///< for kUpgraded
  std::int64_t now_ms = 0;             ///< the store's time of the decision
  bool contended = false;              ///< a look had not seen the session: another was faster
};

/// What is known of one key inside a transaction that holds its lock, and what the transaction
/// changes: the pure part of sessions, without I/O. Requests of one key are decided one after
/// another on it, and only the net change is applied.
///
/// Why S1 holds: the key's lock is held from before the clock was read until COMMIT, so nobody else
/// changes the key meanwhile. A new session begins when no other is active, or ends the active one
/// at the very instant at which it begins itself. `instant()` never lies before the start or end of
/// an earlier session of the key, so intervals of one key do not overlap even when the store's
/// clock was set back in between.
class Ledger {
 public:
  /// REQUIRES: `latest` is the session of the key with the highest turn, read under the key's lock.
  Ledger(const std::optional<Session>& latest, std::int64_t now_ms);

  PutReply Put(const PutRequest& request, std::int64_t duration_ms);
  /// Ends the session now if it is the active one; otherwise changes nothing.
  void End(const base::Uuid& id);

  /// The loaded session with its end, if it was ended (or found overdue and marked).
  const std::optional<Session>& ended() const { return ended_; }
  /// New sessions in order of turn; all but the last have ended in the same instant.
  const std::vector<Session>& started() const { return started_; }

  /// The one instant of this transaction for this key.
  std::int64_t instant() const { return instant_ms_; }

 private:
  /// The latest session, loaded or new.
  Session* Latest();
  void MarkOverdue();
  void EndLatest(EndReason reason, std::int64_t end_ms);
  const Session& Start(const PutRequest& request, std::int64_t duration_ms);

  std::optional<Session> loaded_;
  std::int64_t instant_ms_;
  std::optional<Session> ended_;
  std::vector<Session> started_;
};

/// What a look without locks can already answer: an active session that needs no change. Empty: the
/// request has to go through the lock. Safe, because the session was active at `now_ms`, an instant
/// within the request's own time.
std::optional<PutReply> AnswerWithoutChange(const PutRequest& request,
                                            const std::optional<Session>& latest,
                                            std::int64_t now_ms);

}  // namespace tenure::sessions
