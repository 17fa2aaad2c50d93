#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::store {

using Rows = std::vector<std::vector<std::string>>;

/// The tables of a database, past all of Tenure's code and seen by nobody's transaction. One thread
/// at a time.
class Tables {
 public:
  virtual ~Tables() = default;

  /// Runs one statement. NULL is "".
  virtual Rows Ask(const std::string& sql) = 0;
  /// REQUIRES: one row, one number.
  std::int64_t Number(const std::string& sql) { return std::stoll(Ask(sql).at(0).at(0)); }
  void Empty(const std::vector<std::string_view>& tables);

  /// Whether it is PostgreSQL, which has tables that SQLite has no use for.
  virtual bool IsPostgres() const { return false; }
  /// How the engine calls a table.
  virtual std::string Table(std::string_view name) const { return std::string(name); }
  /// A column of bytes, as lower-case hex.
  virtual std::string Hex(std::string_view column) const = 0;
  /// A column of ids, as 32 lower-case hex digits.
  virtual std::string Id(std::string_view column) const { return Hex(column); }
};

std::unique_ptr<Tables> OpenSqliteTables(const std::filesystem::path& file);
std::unique_ptr<Tables> OpenPostgresTables(const std::string& url);

}  // namespace tenure::store
