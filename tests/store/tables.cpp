#include "store/tables.hpp"

#include <unordered_map>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <sqlite3.h>

#include "base/error.hpp"

namespace tenure::store {
namespace {

class SqliteTables final : public Tables {
 public:
  explicit SqliteTables(const std::filesystem::path& file) {
    TENURE_CHECK(sqlite3_open(file.c_str(), &database_) == SQLITE_OK, "the file cannot be opened");
  }
  ~SqliteTables() override {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(database_);
  }

  Rows Ask(const std::string& sql) override {
    sqlite3_stmt*& statement = statements_[sql];
    if (!statement)
      TENURE_CHECK(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK,
                   sqlite3_errmsg(database_));
    Rows rows;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      auto& row = rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        row.emplace_back(text ? text : "");
      }
    }
    TENURE_CHECK(sqlite3_reset(statement) == SQLITE_OK, sqlite3_errmsg(database_));
    return rows;
  }
  std::string Hex(std::string_view column) const override {
    return fmt::format("lower(hex({}))", column);
  }

 private:
  sqlite3* database_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

class PostgresTables final : public Tables {
 public:
  explicit PostgresTables(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    TENURE_CHECK(PQstatus(connection_.get()) == CONNECTION_OK, PQerrorMessage(connection_.get()));
  }

  bool IsPostgres() const override { return true; }
  Rows Ask(const std::string& sql) override {
    const auto result = Answer(sql);
    const auto status = PQresultStatus(result.get());
    TENURE_CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK,
                 PQerrorMessage(connection_.get()));
    Rows rows;
    for (int i = 0; i < PQntuples(result.get()); ++i) {
      auto& row = rows.emplace_back();
      for (int column = 0; column < PQnfields(result.get()); ++column)
        row.emplace_back(PQgetvalue(result.get(), i, column));
    }
    return rows;
  }
  std::string Table(std::string_view name) const override { return fmt::format("tenure.{}", name); }
  std::string Hex(std::string_view column) const override {
    return fmt::format("encode({}, 'hex')", column);
  }
  std::string Id(std::string_view column) const override {
    return fmt::format("replace({}::text, '-', '')", column);
  }

 private:
  struct Closer {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, Closer>;

  /// What is asked again is prepared: a judge asks the same after each commit.
  Result Answer(const std::string& sql) {
    if (asked_.size() == kRemembered) {
      PQclear(PQexec(connection_.get(), "deallocate all"));
      asked_.clear();
    }
    const auto [found, is_new] = asked_.try_emplace(sql);
    std::string& name = found->second;
    if (is_new) return Result(PQexec(connection_.get(), sql.c_str()));
    if (name.empty()) {
      const std::string next = fmt::format("q{}", ++prepared_);
      Result prepared(PQprepare(connection_.get(), next.c_str(), sql.c_str(), 0, nullptr));
      if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) return prepared;
      name = next;
    }
    return Result(PQexecPrepared(connection_.get(), name.c_str(), 0, nullptr, nullptr, nullptr, 0));
  }

  static constexpr std::size_t kRemembered = 100;
  std::unique_ptr<PGconn, Closer> connection_;
  std::unordered_map<std::string, std::string> asked_;  // and how it is called, once prepared
  int prepared_ = 0;
};

}  // namespace

void Tables::Empty(const std::vector<std::string_view>& tables) {
  Ask("begin");
  for (const auto table : tables) Ask("delete from " + Table(table));
  Ask("commit");
}

std::unique_ptr<Tables> OpenSqliteTables(const std::filesystem::path& file) {
  return std::make_unique<SqliteTables>(file);
}
std::unique_ptr<Tables> OpenPostgresTables(const std::string& url) {
  return std::make_unique<PostgresTables>(url);
}

}  // namespace tenure::store
