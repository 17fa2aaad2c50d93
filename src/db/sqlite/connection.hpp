#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/connection.hpp"
#include "db/sqlite/database.hpp"
#include "db/sqlite/store_clock.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db::sqlite {

/// A lane's connection to the embedded store. Statements run when they are queued, once per item,
/// inside one BEGIN IMMEDIATE (or one read transaction); their rows wait until they are taken.
/// There is one writing connection in one process, so nothing ever waits for a lock, and two
/// transactions never interleave.
class SqliteConnection final : public Connection {
 public:
  /// `after_commit` hears of every commit (the engine notes the clock's mark in its side file).
  using CommitListener = std::function<void(const StoreClock::Mark&)>;

  SqliteConnection(std::string path, Access access, StoreClock& clock, telemetry::Registry& metrics,
                   CommitListener after_commit);

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
  void WriteMark(const StoreClock::Mark& mark);

  const std::string path_;
  const Access access_;
  StoreClock& clock_;
  telemetry::Registry& metrics_;
  const CommitListener after_commit_;

  DatabasePtr database_;
  std::unordered_map<const Query*, Prepared> prepared_;
  std::vector<std::optional<Rows>> results_;  // of this transaction
  std::optional<Access> transaction_;         // the one under way
};

}  // namespace tenure::db::sqlite
