#include "store/test_store.hpp"

#include <fmt/format.h>

#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/engine.hpp"
#include "db/sqlite/shared_engine.hpp"
#include "db_sql/queries.hpp"
#include "store/tables.hpp"

namespace tenure::store {
namespace {

std::vector<const db::Query*> WithOwn(std::span<const db::Query* const> queries) {
  std::vector<const db::Query*> all(queries.begin(), queries.end());
  const auto own = db::sql::All();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

/// How often a query was executed, as the metrics' text says.
std::uint64_t CountIn(const std::string& text, std::string_view query) {
  const std::string wanted =
      fmt::format("tenure_store_query_seconds_count{{query=\"{}\"}} ", query);
  const auto at = text.find(wanted);
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + wanted.size(), 24));
}

/// A database of this program that has the tables, and that no server has looked at: a copy of it is a fresh store,
/// and costs less than the migrations: a fifth of all that leases_test does.
const std::string& MigratedDatabase() {
  static const std::string name = [] {
    std::string made = support::SharedPostgres().CreateDatabase();
    db::postgres::ConnectionOptions options;
    options.url = support::SharedPostgres().Url(made);
    telemetry::Registry metrics;
    db::Migrate(*db::postgres::MakeEngine(std::move(options), "", metrics));
    return made;
  }();
  return name;
}

}  // namespace

std::string EngineName(const testing::TestParamInfo<EngineKind>& info) {
  switch (info.param) {
    case EngineKind::kSqlite:
      return "Sqlite";
    case EngineKind::kSharedSqlite:
      return "SharedSqlite";
    case EngineKind::kPostgres:
      return "Postgres";
    case EngineKind::kPooledPostgres:
      return "PooledPostgres";
  }
  return "Unknown";
}

TestStore::TestStore(EngineKind kind, std::span<const db::Query* const> queries)
    : kind_(kind), queries_(WithOwn(queries)) {
  if (kind_ == EngineKind::kSqlite || kind_ == EngineKind::kSharedSqlite) {
    dir_.emplace();
  } else {
    database_ = support::SharedPostgres().CreateDatabase(MigratedDatabase());
    url_ = support::SharedPostgres().Url(database_);
  }
  const auto engine = NewEngine();
  if (is_sqlite()) db::Migrate(*engine);
  engine->CheckIdentity();
}

TestStore::~TestStore() {
  if (!database_.empty()) support::SharedPostgres().DropDatabase(database_);
}

std::unique_ptr<db::Engine> TestStore::NewEngine() {
  if (kind_ == EngineKind::kSqlite) return db::sqlite::MakeEngine(dir_->path(), clock_, metrics_);
  if (kind_ == EngineKind::kSharedSqlite)
    return db::sqlite::MakeSharedEngine(file(), clock_, metrics_);
  return db::postgres::MakeEngine(PostgresOptions(), "", metrics_);
}

db::postgres::ConnectionOptions TestStore::PostgresOptions() {
  db::postgres::ConnectionOptions options;
  options.url = url_;
  options.queries = queries_;
  options.test_clock = &clock_;
  options.pooled = kind_ == EngineKind::kPooledPostgres;
  return options;
}

std::unique_ptr<db::Store> TestStore::NewProcess(const db::StoreOptions& options) {
  auto process = std::make_unique<db::Store>(NewEngine(), options, clock_, metrics_);
  process->engine().CheckIdentity();
  process->Open();
  return process;
}

std::int64_t TestStore::Number(const std::string& sqlite, const std::string& postgres) {
  return is_sqlite() ? OpenSqliteTables(file())->Number(sqlite)
                     : OpenPostgresTables(url_)->Number(postgres);
}

std::uint64_t TestStore::Executions(const std::string& query) {
  return CountIn(metrics_.Text(), query);
}

void Drive(db::Store& process) {
  for (bool any = true; any;) {
    any = false;
    for (db::Lane* lane : process.AllLanes()) any |= lane->RunOnce();
  }
}

}  // namespace tenure::store
