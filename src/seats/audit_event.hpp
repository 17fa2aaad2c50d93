#pragma once

#include <optional>

#include "db/operation.hpp"
#include "seats/settle.hpp"

namespace tenure::seats {

/// What an operator's command did, for the record; nothing when it changed nothing. Never a key.
std::optional<db::AuditEvent> AuditEventOf(const Command& command, const Outcome& outcome);
db::AuditEvent AuditEventOf(const LicenseRow& created);

}  // namespace tenure::seats
