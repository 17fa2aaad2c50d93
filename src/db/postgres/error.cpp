#include "db/postgres/error.hpp"

#include <fmt/format.h>

namespace tenure::db::postgres {

using base::FaultKind;

ErrorClass Classify(std::string_view sqlstate) {
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

  if (sqlstate == "42501") return {FaultKind::kDenied, false};  // insufficient_privilege
  return {FaultKind::kStatement, false};
}

std::string DeniedText(std::string_view message, std::string_view role) {
  const auto is_about = [&](std::string_view what) {
    return message.find(what) != std::string_view::npos;
  };
  const std::string named = fmt::format("{}\nThe role {} lacks this right.", message, role);
  if (is_about("for database"))
    return fmt::format(
        "{} `tenure migrate`, run once by a role that may create schemas there, sets the store up.",
        named);
  if (is_about("for function"))
    return fmt::format("{} The owner of schema tenure gives it with `tenure migrate --grant {}`.",
                       named, role);
  return fmt::format(
      "{0} For transactions that call Tenure's functions, the owner of schema tenure gives it with "
      "`tenure migrate --grant {1}`. A server, a worker or a leader on the database itself needs "
      "`grant usage on schema tenure to {1}; grant select, insert, update, delete on all tables in "
      "schema tenure to {1}; grant usage on all sequences in schema tenure to {1}` "
      "(docs/operating.md); or let it ask a server by http.",
      named, role);
}

}  // namespace tenure::db::postgres
