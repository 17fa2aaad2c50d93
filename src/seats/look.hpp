#pragma once

#include <optional>
#include <string>

#include "db/method.hpp"
#include "seats/command.hpp"

namespace tenure::seats {

/// Who asks for a seat of what, before anything is locked.
struct KeyLook {
  std::string tenant{};
  std::string key_hash{};
  std::string machine{};
  bool waits = false;  ///< it wants a place in the line: a full licence is no answer

  std::size_t bytes() const { return db::BytesOf(tenant, key_hash, machine); }
};
struct KeyLookReply {
  std::optional<base::Uuid> license{};      ///< nothing: no licence has this key
  std::optional<AcquireOutcome> outcome{};  ///< what can be said without a lock
};
/// What needs no change is answered from a look: unknown, not to be used, full. A denial writes and
/// locks nothing, however often it is asked for. Full means: no seat is open, no deadline can have
/// passed (look_ms lies ahead of a clock that is read afterwards), and the machine has nothing to go
/// back to.
void LookAtKeys(db::Transaction& tx, db::Items<KeyLook, KeyLookReply> items);

struct SessionRef {
  base::Uuid session{};
};
struct SessionPlace {
  std::optional<base::Uuid> license{};
};
/// Which licence a session belongs to: what is settled is settled by licence.
void LocateSessions(db::Transaction& tx, db::Items<SessionRef, SessionPlace> items);

struct TicketRef {
  base::Uuid ticket{};
};
struct TicketPlace {
  std::optional<base::Uuid> license{};
  std::string machine{};
};
void LocateTickets(db::Transaction& tx, db::Items<TicketRef, TicketPlace> items);

}  // namespace tenure::seats
