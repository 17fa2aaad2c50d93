#include "db/postgres/error.hpp"

namespace tenure::db::postgres {

using base::FaultKind;

Verdict Judge(std::string_view sqlstate) {
  // No code at all: libpq made the error itself, because the connection broke.
  if (sqlstate.empty()) return {FaultKind::kStoreUnavailable, true};

  if (sqlstate == "40001" || sqlstate == "40P01")  // serialization failure, deadlock
    return {FaultKind::kSerialization, false};
  if (sqlstate == "55P03" || sqlstate == "57014")  // lock_timeout, statement_timeout
    return {FaultKind::kContended, false};

  // The statement is not (or no longer) prepared as we believe: after a pooler changed the backend
  // under us, or after a migration changed a table. A new connection prepares everything again.
  if (sqlstate == "26000" || sqlstate == "0A000") return {FaultKind::kSerialization, true};

  // A standby, or a primary that was demoted: connect again, to whoever is the primary now.
  if (sqlstate == "25006") return {FaultKind::kStoreUnavailable, true};

  // We were paused in the middle of a transaction for so long that the server ended it, and the
  // session with it.
  if (sqlstate == "25P03") return {FaultKind::kStoreUnavailable, true};

  // 08 connection, 57P shutdown and crash of the server, 53 out of memory, disk or connections.
  if (sqlstate.starts_with("08") || sqlstate.starts_with("57P"))
    return {FaultKind::kStoreUnavailable, true};
  if (sqlstate.starts_with("53")) return {FaultKind::kStoreUnavailable, false};

  return {FaultKind::kStatement, false};
}

}  // namespace tenure::db::postgres
