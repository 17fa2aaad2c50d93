#include "app/store_commands.hpp"

#include <fmt/format.h>

#include "app/acts_by_hand.hpp"
#include "app/store_setup.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "config/differences.hpp"
#include "db/maintenance.hpp"
#include "db/migrations.hpp"

namespace tenure::app {
namespace {

/// The store for one command; nothing is measured.
struct CommandStore {
  explicit CommandStore(const config::Settings& settings)
      : engine(OpenEngine(settings, base::SystemClock(), metrics)) {}

  telemetry::Registry metrics;
  std::unique_ptr<db::Engine> engine;
};

/// A command on a store that was never set up would fail on a missing table; this says it in words.
void RequireMigrated(db::Engine& engine) {
  const auto pending = db::PendingMigrations(engine);
  if (!pending.empty())
    throw base::UserError(
        fmt::format("The store in {} is not up to date ({} migration(s) missing).\n"
                    "Run `tenure migrate` first, or start a server on it.",
                    engine.place(), pending.size()));
}

}  // namespace

int RunMigrate(const config::Settings& settings, MigrateMode mode) {
  CommandStore store(settings);
  const auto migrations = mode == MigrateMode::kApply ? db::Migrate(*store.engine, RecordMigrations)
                                                      : db::PendingMigrations(*store.engine);
  if (mode == MigrateMode::kPrint) {
    for (const auto& migration : migrations)
      fmt::print("-- {}\n{}\n", migration.name, migration.text);
    return 0;
  }
  const std::string_view verb = mode == MigrateMode::kApply ? "Applied" : "Would apply";
  for (const auto& migration : migrations)
    fmt::print("{} {} (needs Tenure {} or newer)\n", verb, migration.name,
               migration.oldest_program);
  if (migrations.empty()) fmt::print("The schema is up to date.\n");
  return 0;
}

int RunConfigApply(const config::Settings& settings) {
  CommandStore store(settings);
  RequireMigrated(*store.engine);
  db::SharedSettings shared;
  for (const auto& [name, value] : config::SharedValues(settings)) shared.emplace_back(name, value);
  const auto changes = db::ApplySettings(*store.engine, shared, RecordSettings);
  for (const auto& change : changes)
    fmt::print("Changed {} for every process on this store.\n", change.name);
  if (changes.empty())
    fmt::print("Nothing to change: the store has these values already.\n");
  else
    fmt::print("Processes that run now keep the old value until they are restarted.\n");
  return 0;
}

int RunNewIncarnation(const config::Settings& settings) {
  CommandStore store(settings);
  RequireMigrated(*store.engine);
  fmt::print("The store's incarnation is now {}.\n",
             db::NewIncarnation(*store.engine, RecordIncarnation));
  return 0;
}

}  // namespace tenure::app
