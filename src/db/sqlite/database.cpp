#include "db/sqlite/database.hpp"

#include <fmt/format.h>

#include "db/sqlite/private_files.hpp"
#include "db/sqlite/wal_vfs.hpp"

namespace tenure::db::sqlite {

using base::Fault;
using base::FaultKind;

void ThrowError(sqlite3& database, std::string_view what) {
  const std::string message = fmt::format("{}: {}", what, sqlite3_errmsg(&database));
  switch (sqlite3_errcode(&database) & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Fault(FaultKind::kContended, message);
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
      throw Fault(FaultKind::kStatement, message);
    default:
      throw Fault(FaultKind::kStoreUnavailable, message);
  }
}

namespace {

DatabasePtr OpenFile(const std::string& path, int flags, const char* vfs) {
  // Statistics of memory that nobody reads cost a lock at each of SQLite's many allocations.
  static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(configured);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &raw,
      flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
  DatabasePtr database(raw);
  if (code != SQLITE_OK)
    throw Fault(FaultKind::kStoreUnavailable,
                fmt::format("cannot open {}: {}", path, sqlite3_errstr(code)));
  sqlite3_busy_timeout(raw, kBusyMs);
  return database;
}

}  // namespace

DatabasePtr OpenDatabase(const std::string& path, Access access, Sharing sharing) {
  const bool alone = sharing == Sharing::kAlone;
  const bool create = alone && access == Access::kWrite;
  DatabasePtr database =
      OpenFile(path, create ? SQLITE_OPEN_CREATE : 0, alone ? WalVfsName() : nullptr);
  if (alone) ExecuteScript(*database, "PRAGMA journal_mode=WAL");
  ExecuteScript(*database,
                "PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF; PRAGMA temp_store=MEMORY;"
                "PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=8192;");
  if (access == Access::kRead) ExecuteScript(*database, "PRAGMA query_only=ON");
  return database;
}

void MakeSharedFile(const std::string& path) {
  MakePrivateFile(path);
  const DatabasePtr database = OpenFile(path, SQLITE_OPEN_CREATE, nullptr);
  ExecuteScript(*database, "PRAGMA journal_mode=WAL");
}

bool HasMoved(sqlite3& database) {
  int moved = 0;
  sqlite3_file_control(&database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

StatementPtr Prepare(sqlite3& database, std::string_view& text) {
  while (!text.empty()) {
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    if (sqlite3_prepare_v3(&database, text.data(), static_cast<int>(text.size()),
                           SQLITE_PREPARE_PERSISTENT, &raw, &tail) != SQLITE_OK)
      ThrowError(database, "cannot prepare a statement");
    text.remove_prefix(static_cast<std::size_t>(tail - text.data()));
    if (raw) return StatementPtr(raw);
  }
  return nullptr;
}

void ExecuteScript(sqlite3& database, std::string_view script) {
  if (sqlite3_exec(&database, std::string(script).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    ThrowError(database, "cannot run a script");
}

}  // namespace tenure::db::sqlite
