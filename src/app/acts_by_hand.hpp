#pragma once

#include <cstdint>
#include <vector>

#include "db/maintenance.hpp"
#include "db/migrations.hpp"

namespace tenure::app {

// What commands do to the store itself, put on record in the transaction that does it
// (audit/by_hand.hpp).

/// "store.migrate": also when a server does it at its start.
void RecordMigrations(db::Maintenance& maintenance, const std::vector<db::Migration>& applied);

/// "config.apply".
void RecordSettings(db::Maintenance& maintenance, const db::SettingChanges& changes);

/// "store.new_incarnation".
void RecordIncarnation(db::Maintenance& maintenance, std::int64_t incarnation);

}  // namespace tenure::app
