#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "db/engine.hpp"

namespace tenure::db {

/// One step of the schema, from src/db/migrations/{postgres,sqlite}/NNNN_name.sql. Forward only,
/// additive within a major version; the statements of a file that was released are never changed
/// again (its checksum is compared). A file whose comments had to change names the checksum that it
/// had before, so that the stores of earlier builds go on.
struct Migration {
  int version;
  std::string name;
  std::string_view text;
  std::string checksum;
  std::string oldest_program;    ///< the oldest version of Tenure that can live with it
  std::string earlier_checksum;  ///< before its comments changed; empty: they never did
};

/// All migrations of this program, by version.
std::vector<Migration> MigrationsOf(const Engine& engine);

/// Those that the store does not have yet. Throws base::UserError when the store was made by a
/// newer program that this one cannot live with, or when a migration differs from the one that was
/// applied.
std::vector<Migration> PendingMigrations(Engine& engine);

/// Applies what is pending in one transaction, under the ensemble's maintenance lock, so any number
/// of processes may start at once. Returns what it applied. When it applied something, `note` adds
/// to the transaction (null: nothing).
std::vector<Migration> Migrate(
    Engine& engine,
    const std::function<void(Maintenance&, const std::vector<Migration>&)>& note = nullptr);

}  // namespace tenure::db
