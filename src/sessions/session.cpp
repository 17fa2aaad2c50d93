#include "sessions/session.hpp"

namespace tenure::sessions {

std::string_view ToText(EndReason reason) {
  switch (reason) {
    case EndReason::kUpgraded:
      return "upgraded";
    case EndReason::kDeleted:
      return "deleted";
    case EndReason::kExpired:
      return "expired";
  }
  return "expired";
}

Session ReadSession(const db::Rows::Row& row) {
  Session session;
  session.id = row.Uuid(0);
  session.tenant = row.Uuid(1);
  session.key = {row.Uuid(2), row.Uuid(3)};
  session.turn = row.Int(4);
  session.kind = static_cast<Kind>(row.Int(5));
  session.start_ms = row.Int(6);
  session.end_ms = row.Int(7);
  if (!row.IsNull(8)) session.end_reason = static_cast<EndReason>(row.Int(8));
  return session;
}

}  // namespace tenure::sessions
