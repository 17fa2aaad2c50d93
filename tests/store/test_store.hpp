#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "db/postgres/connection.hpp"
#include "db/store.hpp"
#include "store/every_query_runs.hpp"
#include "support/postgres_cluster.hpp"
#include "support/temp_dir.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::store {

enum class EngineKind {
  kSqlite,
  kSharedSqlite,  ///< a file that many processes of a machine share
  kPostgres,
  kPooledPostgres,  ///< as behind a transaction pooler: unnamed statements, settings per
                    ///< transaction
};

/// For INSTANTIATE_TEST_SUITE_P: the engines' names instead of numbers.
std::string EngineName(const testing::TestParamInfo<EngineKind>& info);

/// A fresh database of one engine with a clock that the test owns, and any number of processes on
/// it (one for kSqlite). A process is a db::Store of its own, as a server has it; its lanes are
/// driven by hand unless started.
class TestStore {
 public:
  TestStore(EngineKind kind, std::span<const db::Query* const> queries);
  ~TestStore();

  /// A further process on the same database. `options` as a server would have.
  std::unique_ptr<db::Store> NewProcess(const db::StoreOptions& options = {});
  std::unique_ptr<db::Engine> NewEngine();
  /// How a process connects, PostgreSQL only: for a test that wants it otherwise.
  db::postgres::ConnectionOptions PostgresOptions();

  EngineKind kind() const { return kind_; }
  bool is_sqlite() const { return dir_.has_value(); }
  /// SQLite's file.
  std::filesystem::path file() const { return dir_->path() / "tenure.db"; }
  base::ManualClock& clock() { return clock_; }
  telemetry::Registry& metrics() { return metrics_; }
  /// A number from the database itself, past all of Tenure's code.
  std::int64_t Number(const std::string& sqlite, const std::string& postgres);
  /// How often a query was executed.
  std::uint64_t Executions(const std::string& query);

  const std::string& url() const { return url_; }

 private:
  const EngineKind kind_;
  const std::vector<const db::Query*> queries_;
  base::ManualClock clock_{1'766'311'200'000};  // 2025-12-21T10:00:00Z
  telemetry::Registry metrics_;
  std::optional<support::TempDir> dir_;  // SQLite
  std::string database_;                 // PostgreSQL
  std::string url_;
};

/// Runs everything that waits in the lanes of a process that was not started.
void Drive(db::Store& process);

}  // namespace tenure::store
