#include "app/store_setup.hpp"

#include <vector>

#include <fmt/format.h>

#include "app/acts_by_hand.hpp"
#include "audit_sql/queries.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "config/differences.hpp"
#include "db/maintenance.hpp"
#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/engine.hpp"
#include "db_sql/queries.hpp"
#include "inbox_sql/queries.hpp"
#include "leases_sql/queries.hpp"
#include "messages_sql/queries.hpp"
#include "sessions_sql/queries.hpp"
#include "tasks_sql/queries.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::app {

std::span<const db::Query* const> AllQueries() {
  static const std::vector<const db::Query*> all = [] {
    std::vector<const db::Query*> queries;
    for (const auto module :
         {db::sql::All(), leases::sql::All(), tasks::sql::All(), sessions::sql::All(),
          messages::sql::All(), inbox::sql::All(), usage::sql::All(), audit::sql::All()})
      queries.insert(queries.end(), module.begin(), module.end());
    return queries;
  }();
  return all;
}

std::unique_ptr<db::Engine> OpenEngine(const config::Settings& settings, const base::Clock& clock,
                                       telemetry::Registry& metrics) {
  const auto& store = settings.store;
  if (store.url.empty()) return db::sqlite::MakeEngine(settings.data, clock, metrics);
  db::postgres::ConnectionOptions options;
  options.url = store.url;
  options.pooled = store.pooled;
  options.connect_timeout_ms = store.connect_timeout_ms;
  options.lock_timeout_ms = store.lock_timeout_ms;
  options.statement_timeout_ms = store.statement_timeout_ms;
  options.queries = AllQueries();
  return db::postgres::MakeEngine(std::move(options), store.listen, metrics);
}

void PrepareStore(const config::Settings& settings, db::Engine& engine) {
  if (settings.store.migrate == config::Migrate::kCheck) {
    const auto pending = db::PendingMigrations(engine);
    if (!pending.empty())
      throw base::UserError(fmt::format(
          "The store lacks {} migration(s), the first is {}, and store.migrate is `check`.\n"
          "Run `tenure migrate` with the rights to change the schema, or set store.migrate to "
          "`auto`.",
          pending.size(), pending.front().name));
  } else {
    for (const db::Migration& migration : db::Migrate(engine, RecordMigrations))
      base::LogInfo("store.migrated", "applied a migration", {{"migration", migration.name}});
  }
  engine.CheckIdentity();
  db::SharedSettings shared;
  for (const auto& [name, value] : config::SharedValues(settings)) shared.emplace_back(name, value);
  db::AgreeOnSettings(engine, shared);
}

db::StoreOptions StoreOptionsOf(const config::Settings& settings) {
  db::StoreOptions options;
  options.write_lanes = settings.store.write_lanes;
  options.read_lanes = settings.store.read_lanes;
  options.lanes.queue_items = static_cast<std::size_t>(settings.lanes.queue_items);
  options.lanes.queue_bytes = settings.lanes.queue_bytes;
  options.lanes.batch_items = static_cast<std::size_t>(settings.lanes.batch_items);
  options.lanes.batch_bytes = settings.lanes.batch_bytes;
  options.lanes.max_wait_ms = settings.lanes.max_wait_ms;
  return options;
}

}  // namespace tenure::app
