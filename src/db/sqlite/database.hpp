#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/error.hpp"
#include "db/connection.hpp"

namespace tenure::db::sqlite {

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using DatabasePtr = std::unique_ptr<sqlite3, Closer>;
using StatementPtr = std::unique_ptr<sqlite3_stmt, Closer>;

/// Opens the file with the settings that every connection has: WAL, synchronous=FULL (an answer
/// means it is on disk), no secure_delete (Debian switches it on). Throws kStoreUnavailable.
DatabasePtr OpenDatabase(const std::string& path, Access access);

/// Prepares the first statement of `text` and moves `text` behind it; null when only comments are
/// left.
StatementPtr Prepare(sqlite3& database, std::string_view& text);

/// Runs any number of statements without parameters.
void ExecuteScript(sqlite3& database, std::string_view script);

/// The fault for the database's last error. A refused value is kStatement, a lock kContended, and
/// everything that says the file or the disk is not well kStoreUnavailable.
[[noreturn]] void ThrowError(sqlite3& database, std::string_view what);

}  // namespace tenure::db::sqlite
