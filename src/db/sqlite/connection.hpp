#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/connection.hpp"
#include "db/sqlite/database.hpp"
#include "db/sqlite/file_clock.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db::sqlite {

/// What a connection needs from its engine.
struct SqliteConnectionOptions {
  std::string path = {};
  Sharing sharing = Sharing::kAlone;
  /// Before the file is opened; may throw base::Fault.
  std::function<void()> before_open = [] {};
  /// After each commit that stored a mark (the engine notes it in its side file).
  std::function<void(const FileClock::Mark&)> after_commit = [](const FileClock::Mark&) {};
};

/// A lane's connection to a store in a file. Statements run when they are queued, once per item,
/// inside one BEGIN IMMEDIATE (or one read transaction); their rows wait until they are taken. So
/// two writing transactions never interleave. In the server's store there is one writing connection
/// and nothing ever waits for a lock; in a shared file BEGIN waits for the others, for two seconds
/// at most (a moment, with kImpatientWrite; then kContended), and everything after it has the file
/// for itself.
class SqliteConnection final : public Connection {
 public:
  SqliteConnection(SqliteConnectionOptions options, Access access, FileClock& clock,
                   telemetry::Registry& metrics);

  void Open() override;
  bool IsOpen() const override { return database_ != nullptr; }
  void Close() noexcept override;
  void Begin(Access access) override;
  std::size_t Send(const Query& query, std::span<const Param> params) override;
  std::size_t SendClock() override;
  Rows Receive(std::size_t statement) override;
  std::int64_t ReceiveClock(std::size_t statement) override;
  void Commit() override;
  void Rollback() noexcept override;

 private:
  struct Prepared {
    std::vector<StatementPtr> statements;
    telemetry::Histogram* latency = nullptr;
  };

  Prepared& PreparedFor(const Query& query);
  void RunOne(const Query& query, sqlite3_stmt& statement, std::span<const Param> params,
              std::size_t item, Rows& rows);
  void RunPlain(const Query& query, std::span<const Param> params = {});
  void SetPatience(int busy_ms);
  void CheckFile();
  bool IsDiskFull() const;
  void WriteMark(const FileClock::Mark& mark);

  const SqliteConnectionOptions options_;
  const Access access_;
  FileClock& clock_;
  telemetry::Registry& metrics_;

  DatabasePtr database_;
  std::unordered_map<const Query*, Prepared> prepared_;
  std::vector<std::optional<Rows>> results_;  // of this transaction
  std::optional<Access> transaction_;         // the one under way
  sqlite3_int64 changes_before_ = 0;          // of this connection, when it began
};

}  // namespace tenure::db::sqlite
