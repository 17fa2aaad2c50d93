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

/// Who else has the file open.
enum class Sharing {
  kAlone,   ///< one process with one connection that writes; the file is made where it is missing
  kShared,  ///< any number of processes of this machine; the file is there
};

/// What a connection waits for a lock of another one.
inline constexpr int kBusyMs = 2'000;

/// Opens the file with the settings that every connection has: WAL, synchronous=FULL (an answer
/// means it is on disk), no secure_delete (Debian switches it on). Throws kStoreUnavailable.
///
/// A shared file is opened through the system's own VFS: that of wal_vfs.hpp is for one writer.
DatabasePtr OpenDatabase(const std::string& path, Access access, Sharing sharing = Sharing::kAlone);

/// Makes a shared file and puts it into WAL mode, where it stays. REQUIRES: alone at it for the
/// moment, since SQLite does not wait for others when it changes the mode.
void MakeSharedFile(const std::string& path);

/// Whether another file has taken the place of this one, or none is there any more.
bool HasMoved(sqlite3& database);

/// Prepares the first statement of `text` and moves `text` behind it; null when only comments are
/// left.
StatementPtr Prepare(sqlite3& database, std::string_view& text);

/// Runs any number of statements without parameters.
void ExecuteScript(sqlite3& database, std::string_view script);

/// The fault for the database's last error. A refused value is kStatement, a lock kContended, and
/// everything that says the file or the disk is not well kStoreUnavailable.
[[noreturn]] void ThrowError(sqlite3& database, std::string_view what);

}  // namespace tenure::db::sqlite
