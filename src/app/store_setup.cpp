#include "app/store_setup.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/capabilities.hpp"
#include "audit/store_command.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "db/maintenance.hpp"
#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/engine.hpp"
#include "db/store.hpp"
#include "db_sql/queries.hpp"
#include "overview_sql/queries.hpp"
#include "server/capability.hpp"
#include "telemetry/trace.hpp"
#include "wake/registry.hpp"

namespace tenure::app {
namespace {

/// The store for one command; nothing is measured.
struct CommandStore {
  explicit CommandStore(const config::Settings& settings)
      : engine(OpenEngine(settings, base::SystemClock(), metrics)) {}

  telemetry::Registry metrics;
  std::unique_ptr<db::Engine> engine;
};

// What is done to the store itself is put on record in the transaction that does it.

/// Also when a server does it at its start.
void RecordMigrations(db::Maintenance& maintenance, const std::vector<db::Migration>& applied) {
  db::AuditEvent event;
  base::JsonWriter json(event.detail);
  json.BeginObject().Field("program", TENURE_VERSION).Key("migrations").BeginArray();
  for (const db::Migration& migration : applied) json.Value(std::string_view(migration.name));
  json.EndArray().EndObject();
  audit::RecordStoreCommand(maintenance, "store.migrate", event);
}

void RecordGrants(db::Maintenance& maintenance, const db::Grants& grants) {
  db::AuditEvent event;
  base::JsonWriter json(event.detail);
  json.BeginObject().Key("statements").BeginArray();
  for (const std::string& statement : grants.statements) json.Value(std::string_view(statement));
  json.EndArray().EndObject();
  audit::RecordStoreCommand(maintenance, "store.grant", event);
}

/// The role that users' transactions have unless they say another one. A migration makes it where
/// it may.
const std::string kAppRole = "tenure_app";

constexpr std::string_view kNoAppRole =
    "Nobody but the owner may call tenure.enqueue and the other functions for users' transactions: "
    "there is no role tenure_app. Make it and run `tenure migrate` again, or name a role of yours: "
    "`tenure migrate --grant ROLE`.";

struct AppRights {
  std::vector<std::string> given{};  ///< the statements
  std::string warning{};             ///< empty: all is well
};

/// Gives tenure_app what it lacks. That it does not exist, or that only the schema's owner could
/// give it, is a warning: perhaps nobody needs it.
AppRights GrantToApp(db::Engine& engine) {
  try {
    db::Grants grants = db::GrantRights(engine, kAppRole, RecordGrants);
    const bool nobody = !grants.role_exists && !grants.others_have_them;
    return {std::move(grants.statements), nobody ? std::string(kNoAppRole) : ""};
  } catch (const base::Fault& fault) {
    if (fault.kind() != base::FaultKind::kDenied) throw;
    return {{},
            fmt::format("The role {} lacks rights that only the owner of schema tenure can "
                        "give: run `tenure migrate` as the owner. ({})",
                        kAppRole, fault.what())};
  }
}

void GrantAtStart(db::Engine& engine) {
  const AppRights rights = GrantToApp(engine);
  for (const std::string& statement : rights.given)
    base::LogInfo("store.granted", "a role was given a right", {{"statement", statement}});
  if (!rights.warning.empty()) base::LogWarn("store.rights_missing", rights.warning);
}

/// By command: tenure_app, and the role that was named, if any.
void GrantByCommand(db::Engine& engine, const std::string& role) {
  const AppRights rights = GrantToApp(engine);
  for (const std::string& statement : rights.given) fmt::print("Done: {}\n", statement);
  if (role.empty()) {
    if (!rights.warning.empty()) fmt::print(stderr, "{}\n", rights.warning);
    return;
  }
  const db::Grants grants = db::GrantRights(engine, role, RecordGrants);
  if (!grants.role_exists)
    throw base::UserError(
        fmt::format("There is no role {0} in this database. Make it first: create role {0}", role));
  for (const std::string& statement : grants.statements) fmt::print("Done: {}\n", statement);
  fmt::print("The role {} has all rights that transactions of users need.\n", role);
}

void RecordSettings(db::Maintenance& maintenance, const db::SettingChanges& changes) {
  db::AuditEvent event;
  base::JsonWriter json(event.detail);
  json.BeginObject();
  for (const db::SettingChange& change : changes) {
    json.Key(change.name).BeginObject().Key("old");
    if (change.from)
      json.Value(std::string_view(*change.from));
    else
      json.Null();
    json.Field("new", std::string_view(change.to)).EndObject();
  }
  json.EndObject();
  audit::RecordStoreCommand(maintenance, "config.apply", event);
}

db::NoteIncarnation RecordAs(const std::string& act) {
  return [act](db::Maintenance& maintenance, std::int64_t incarnation) {
    db::AuditEvent event;
    base::JsonWriter(event.detail).BeginObject().Field("incarnation", incarnation).EndObject();
    audit::RecordStoreCommand(maintenance, act, event);
  };
}

}  // namespace

std::span<const db::Query* const> AllQueries() {
  static const std::vector<const db::Query*> all = [] {
    const auto own = db::sql::All();
    std::vector<const db::Query*> queries(own.begin(), own.end());
    for (const db::Query* query : overview::sql::All()) queries.push_back(query);
    // Two capabilities may need the same: each is prepared once.
    for (const server::Capability& each : AllCapabilities())
      for (const db::Query* query : each.queries)
        if (std::ranges::find(queries, query) == queries.end()) queries.push_back(query);
    return queries;
  }();
  return all;
}

void RequireMigrated(db::Engine& engine) {
  const auto pending = db::PendingMigrations(engine);
  if (!pending.empty())
    throw base::UserError(
        fmt::format("The store in {} is not up to date ({} migration(s) missing).\n"
                    "Run `tenure migrate` first, or start a server on it.",
                    engine.place(), pending.size()));
}

db::FreezePolicy FreezePolicyOf(const config::Settings& settings) {
  return {settings.store.freeze_ms, settings.store.failover == config::Failover::kSynchronous};
}

std::unique_ptr<db::Engine> OpenEngine(const config::Settings& settings, const base::Clock& clock,
                                       telemetry::Registry& metrics) {
  const auto& store = settings.store;
  const db::FreezePolicy policy = FreezePolicyOf(settings);
  if (store.url.empty()) return db::sqlite::MakeEngine(settings.data, clock, metrics, policy);
  db::postgres::ConnectionOptions options;
  options.url = store.url;
  options.pooled = store.pooled;
  options.connect_timeout_ms = store.connect_timeout_ms;
  options.lock_timeout_ms = store.lock_timeout_ms;
  options.statement_timeout_ms = store.statement_timeout_ms;
  options.queries = AllQueries();
  return db::postgres::MakeEngine(std::move(options), store.listen, metrics, policy);
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
    if (!settings.store.url.empty()) GrantAtStart(engine);
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

int RunMigrate(const config::Settings& settings, MigrateMode mode, const std::string& grant) {
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
  if (mode == MigrateMode::kApply && !settings.store.url.empty())
    GrantByCommand(*store.engine, grant);
  return 0;
}

namespace {

/// Those that bring something of a file into the store, with what they need; and who keeps the
/// record.
server::CapabilityList AppliersOf(const server::CapabilityList& all) {
  std::set<std::string_view> wanted{"audit"};
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    if (!each->applies && !wanted.contains(each->name)) continue;
    wanted.insert(each->name);
    wanted.insert(each->needs.begin(), each->needs.end());
  }
  server::CapabilityList list;
  for (const server::Capability& each : all)
    if (wanted.contains(each.name)) list.push_back(each);
  return list;
}

/// What the file lists, brought into the store by the capabilities whose it is.
void ApplyLists(const config::Settings& settings, CommandStore& command) {
  command.engine->CheckIdentity();
  const std::string process = base::NewProcessName();
  const std::string installation = db::ReadIdentity(*command.engine).installation;
  telemetry::Tracer tracer(0, base::SystemClock(), command.metrics);
  db::Store store(std::move(command.engine), StoreOptionsOf(settings), base::SystemClock(),
                  command.metrics);
  wake::Registry wake(base::SystemClock());
  const server::Capabilities capabilities(
      AppliersOf(AllCapabilities()),
      {settings, process, installation, store, wake, base::SystemClock(), command.metrics, tracer});
  store.Open();
  store.Start();
  // Nothing is called any more when the capabilities go.
  const struct Stop {
    db::Store& store;
    ~Stop() { store.Stop(); }
  } stop{store};
  std::vector<std::string> done;
  for (const server::Running& each : capabilities.running()) {
    if (!each.apply) continue;
    const auto sentences = each.apply();
    done.insert(done.end(), sentences.begin(), sentences.end());
  }
  for (const std::string& sentence : done) fmt::print("{}\n", sentence);
  if (done.empty()) fmt::print("The jobs are those of the file already.\n");
}

}  // namespace

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
  if (settings.file_jobs || !settings.queues.files.empty()) ApplyLists(settings, store);
  return 0;
}

int RunNewIncarnation(const config::Settings& settings) {
  CommandStore store(settings);
  RequireMigrated(*store.engine);
  fmt::print("The store's incarnation is now {}.\n",
             db::NewIncarnation(*store.engine, FreezePolicyOf(settings),
                                RecordAs("store.new_incarnation")));
  return 0;
}

int RunThaw(const config::Settings& settings) {
  CommandStore store(settings);
  RequireMigrated(*store.engine);
  const bool thawed = db::Thaw(*store.engine, RecordAs("store.thaw"));
  fmt::print("{}\n", thawed ? "Names are granted again at once." : "Nothing was frozen.");
  return 0;
}

}  // namespace tenure::app
