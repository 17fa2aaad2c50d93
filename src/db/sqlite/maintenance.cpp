#include "db/sqlite/maintenance.hpp"

#include <utility>

#include "db_sql/queries.hpp"

namespace tenure::db::sqlite {
namespace {

void RunStatement(sqlite3_stmt& statement, const std::vector<std::string>& params,
                  Maintenance::TextRows& rows) {
  for (std::size_t i = 0; i < params.size(); ++i)
    sqlite3_bind_text64(&statement, static_cast<int>(i + 1), params[i].data(), params[i].size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
  while (sqlite3_step(&statement) == SQLITE_ROW) {
    auto& cells = rows.emplace_back();
    for (int column = 0; column < sqlite3_column_count(&statement); ++column) {
      const auto* cell = sqlite3_column_text(&statement, column);
      cells.emplace_back(cell ? reinterpret_cast<const char*>(cell) : "");
    }
  }
}

}  // namespace

SqliteMaintenance::SqliteMaintenance(DatabasePtr database, FileClock& clock)
    : database_(std::move(database)), clock_(clock) {
  Execute(sql::kBegin.sqlite);
}

void SqliteMaintenance::Execute(std::string_view script) { ExecuteScript(*database_, script); }

Maintenance::TextRows SqliteMaintenance::Run(const Query& query,
                                             const std::vector<std::string>& params) {
  TextRows rows;
  std::string_view text = query.sqlite;
  while (const StatementPtr statement = Prepare(*database_, text)) {
    RunStatement(*statement, params, rows);
    if (sqlite3_reset(statement.get()) != SQLITE_OK) ThrowError(*database_, query.name);
  }
  return rows;
}

void SqliteMaintenance::Commit() { Execute(sql::kCommit.sqlite); }

}  // namespace tenure::db::sqlite
