#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/json.hpp"
#include "support/postgres_cluster.hpp"
#include "support/server_process.hpp"

namespace tenure::api {

/// A session as the store has it.
struct SessionRow {
  std::string id;
  std::string tenant;
  std::string user;
  std::string capacity;
  std::int64_t turn = 0;
  std::int64_t kind = 0;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::int64_t end_reason = 0;  ///< 0 open, 1 upgraded, 2 deleted, 3 expired

  bool IsOpen() const { return end_reason == 0; }
};

/// What contradicts S1 and the rules of PUT in the whole history of a store, in sentences:
///  - a key has at most one open session, and it is its latest;
///  - turns count 1, 2, 3 …, the intervals of a key do not overlap;
///  - where a session was upgraded, its successor starts at its end and has a higher kind.
std::vector<std::string> Contradictions(std::vector<SessionRow> rows);

using support::SqlSession;

enum class Engine { kSqlite, kPostgres };

inline std::ostream& operator<<(std::ostream& out, Engine engine) {
  return out << (engine == Engine::kSqlite ? "Sqlite" : "Postgres");
}

/// An empty store of its own: a folder, or a database of a cluster (the shared one unless given).
class StoreUnderTest {
 public:
  explicit StoreUnderTest(Engine engine, support::PostgresCluster* cluster = nullptr);

  /// For `tenure serve` on this store.
  support::ServerOptions Options(std::vector<std::string> flags = {}) const;
  /// The same for other commands: --data or --store.
  std::vector<std::string> Flags() const;
  std::unique_ptr<support::ServerProcess> Serve(std::vector<std::string> flags = {}) const {
    return std::make_unique<support::ServerProcess>(Options(std::move(flags)));
  }

  /// All sessions, read by SQL past the server.
  std::vector<SessionRow> Rows() const;
  /// The first value of the last result as text. The tables have no schema on SQLite.
  std::string Execute(const std::string& sql) const;

  Engine engine() const { return engine_; }
  const std::filesystem::path& data_dir() const { return folder_->path(); }
  std::string url() const { return cluster_->Url(database_); }

 private:
  const Engine engine_;
  std::optional<support::TempDir> folder_;
  support::PostgresCluster* cluster_ = nullptr;
  std::string database_;
};

/// The first value of the result as text, of an SQLite file.
std::string ExecuteSqlite(const std::filesystem::path& file, const std::string& sql);
/// The digits of a UUID, as SQLite writes a blob.
std::string HexOf(std::string uuid);

/// All sessions of a PostgreSQL database.
std::vector<SessionRow> RowsOf(SqlSession& database);

/// A server on each engine for tests that neither stop it nor care what else is in its store.
const support::ServerProcess& SharedServer(Engine engine);
const StoreUnderTest& SharedStore(Engine engine);

/// For tests that run on both.
inline auto EachEngine() { return testing::Values(Engine::kSqlite, Engine::kPostgres); }

/// "…/Sqlite", "…/Postgres" in the names of parameterised tests.
inline std::string EngineName(const testing::TestParamInfo<Engine>& info) {
  return testing::PrintToString(info.param);
}

}  // namespace tenure::api
