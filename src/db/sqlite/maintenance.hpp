#pragma once

#include "db/engine.hpp"
#include "db/sqlite/database.hpp"
#include "db/sqlite/file_clock.hpp"

namespace tenure::db::sqlite {

/// A maintenance transaction on a connection of its own: BEGIN IMMEDIATE is the lock that keeps
/// every other writer out, whichever process it belongs to.
class SqliteMaintenance final : public Maintenance {
 public:
  SqliteMaintenance(DatabasePtr database, FileClock& clock);

  void Execute(std::string_view script) override;
  /// The rows of all statements of the query.
  TextRows Run(const Query& query, const std::vector<std::string>& params = {}) override;
  std::int64_t NowMs() override { return clock_.NowMs(); }
  void Commit() override;

 private:
  DatabasePtr database_;  // closing it rolls back
  FileClock& clock_;
};

}  // namespace tenure::db::sqlite
