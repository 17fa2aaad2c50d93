#pragma once

#include "db/engine.hpp"
#include "db/sqlite/database.hpp"

namespace tenure::db::sqlite {

/// A maintenance transaction on a connection of its own: BEGIN IMMEDIATE is the lock that keeps
/// every other writer out, whichever process it belongs to.
class SqliteMaintenance final : public Maintenance {
 public:
  explicit SqliteMaintenance(DatabasePtr database);

  void Execute(std::string_view script) override;
  /// The rows of all statements of the query.
  TextRows Run(const Query& query, const std::vector<std::string>& params = {}) override;
  void Commit() override;

 private:
  DatabasePtr database_;  // closing it rolls back
};

}  // namespace tenure::db::sqlite
