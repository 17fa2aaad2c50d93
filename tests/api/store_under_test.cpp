#include "api/store_under_test.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "api/api.hpp"
#include "api/sample_requests.hpp"
#include "api/sqlite_file.hpp"

namespace tenure::api {
namespace {

constexpr const char* kPostgresRows =
    "select coalesce(json_agg(json_build_object('id', id, 'tenant', tenant, 'user', user_id,"
    " 'capacity', capacity_id, 'turn', turn, 'kind', kind, 'start_ms', start_ms, 'end_ms', end_ms,"
    " 'end_reason', coalesce(end_reason, 0))), '[]') from tenure.sessions";
constexpr const char* kSqliteRows =
    "select json_group_array(json_object('id', lower(hex(id)), 'tenant', lower(hex(tenant)),"
    " 'user', lower(hex(user_id)), 'capacity', lower(hex(capacity_id)), 'turn', turn,"
    " 'kind', kind, 'start_ms', start_ms, 'end_ms', end_ms,"
    " 'end_reason', coalesce(end_reason, 0))) from sessions";

/// An id as the API spells it, whether or not the store keeps it as 32 digits.
std::string Dashed(std::string id) {
  if (id.size() == 32)
    for (const std::size_t at : {8U, 13U, 18U, 23U}) id.insert(at, "-");
  return id;
}

std::vector<SessionRow> ParseRows(const std::string& text) {
  std::vector<SessionRow> rows;
  for (const support::Json& row : support::Json::Parse(text).Elements())
    rows.push_back({Dashed(row["id"].Text()), Dashed(row["tenant"].Text()),
                    Dashed(row["user"].Text()), Dashed(row["capacity"].Text()), row["turn"].Int(),
                    row["kind"].Int(), row["start_ms"].Int(), row["end_ms"].Int(),
                    row["end_reason"].Int()});
  return rows;
}

/// Windows of usage are short: tests look at them.
struct Shared {
  explicit Shared(Engine engine)
      : store(engine), server(store.Options(PushSettings::Flags({"--set", "usage.interval=1s"}))) {}
  StoreUnderTest store;
  support::ServerProcess server;
};

const Shared& SharedOf(Engine engine) {
  static const Shared sqlite(Engine::kSqlite);
  if (engine == Engine::kSqlite) return sqlite;
  static const Shared postgres(Engine::kPostgres);
  return postgres;
}

std::string Describe(const SessionRow& row) {
  return "session " + row.id + " (turn " + std::to_string(row.turn) + ", kind " +
         std::to_string(row.kind) + ", " + TimeText(row.start_ms) + " to " + TimeText(row.end_ms) +
         ", end reason " + std::to_string(row.end_reason) + ")";
}

void CheckPair(const SessionRow& before, const SessionRow& after,
               std::vector<std::string>& contradictions) {
  const auto say = [&](const std::string& what) {
    contradictions.push_back(Describe(before) + " and " + Describe(after) + ": " + what);
  };
  if (before.IsOpen()) say("the earlier one is open");
  if (after.turn != before.turn + 1) say("a turn is missing or doubled");
  if (before.end_ms > after.start_ms) say("they overlap");
  if (before.end_reason != 1) return;
  if (before.end_ms != after.start_ms) say("an upgrade left a gap");
  if (before.kind >= after.kind) say("an upgrade did not raise the kind");
}

}  // namespace

std::string ExecuteSqlite(const std::filesystem::path& file, const std::string& sql) {
  return SqliteFile(file).Execute(sql);
}

std::string HexOf(std::string uuid) {
  std::erase(uuid, '-');
  return uuid;
}

std::vector<std::string> Contradictions(std::vector<SessionRow> rows) {
  std::map<std::pair<std::string, std::string>, std::vector<SessionRow>> keys;
  for (SessionRow& row : rows) keys[{row.user, row.capacity}].push_back(std::move(row));
  std::vector<std::string> contradictions;
  for (auto& [key, sessions] : keys) {
    std::ranges::sort(sessions, {}, &SessionRow::turn);
    if (sessions.front().turn != 1)
      contradictions.push_back(Describe(sessions.front()) + " is the first of its key");
    if (sessions.back().end_reason == 1)
      contradictions.push_back(Describe(sessions.back()) + " was upgraded to nothing");
    for (std::size_t i = 1; i < sessions.size(); ++i)
      CheckPair(sessions[i - 1], sessions[i], contradictions);
  }
  return contradictions;
}

StoreUnderTest::StoreUnderTest(Engine engine, support::PostgresCluster* cluster) : engine_(engine) {
  if (engine == Engine::kSqlite) {
    folder_.emplace();
    return;
  }
  cluster_ = cluster != nullptr ? cluster : &support::SharedPostgres();
  database_ = cluster_->CreateDatabase();
}

support::ServerOptions StoreUnderTest::Options(std::vector<std::string> flags) const {
  support::ServerOptions options;
  options.flags = std::move(flags);
  if (engine_ == Engine::kSqlite)
    options.data_dir = folder_->path();
  else
    options.store_url = url();
  return options;
}

std::vector<std::string> StoreUnderTest::Flags() const {
  if (engine_ == Engine::kSqlite) return {"--data", folder_->path()};
  return {"--store", url()};
}

std::vector<SessionRow> StoreUnderTest::Rows() const {
  return ParseRows(Execute(engine_ == Engine::kSqlite ? kSqliteRows : kPostgresRows));
}

std::vector<SessionRow> RowsOf(SqlSession& database) {
  return ParseRows(database.Execute(kPostgresRows));
}

std::string StoreUnderTest::Execute(const std::string& sql) const {
  if (engine_ == Engine::kSqlite) return ExecuteSqlite(folder_->path() / "tenure.db", sql);
  return cluster_->Execute(database_, sql);
}

const support::ServerProcess& SharedServer(Engine engine) { return SharedOf(engine).server; }
const StoreUnderTest& SharedStore(Engine engine) { return SharedOf(engine).store; }

}  // namespace tenure::api
