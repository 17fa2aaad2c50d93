#pragma once

#include <string>

#include "db/engine.hpp"
#include "db/operation.hpp"

namespace tenure::audit {

/// Puts an act on record that a command does to the store itself, in its own transaction: the
/// person is the operating system's user, the address the machine. Throws base::Fault.
/// REQUIRES: the store has the audit's migration, in this transaction at the latest.
void RecordStoreCommand(db::Maintenance& maintenance, const std::string& act,
                        const db::AuditEvent& event);

/// The name of the user whose rights this process has; its number when it has no name.
std::string SystemUser();

}  // namespace tenure::audit
