#include "db/sqlite/wal_vfs.hpp"

#include <memory>
#include <new>
#include <string>

#include <sqlite3.h>

#include "base/error.hpp"

namespace tenure::db::sqlite {
namespace {

constexpr char kName[] = "tenure";
/// What is written at once. SQLite's own file object takes less than 128 KiB in one call.
constexpr std::size_t kMostGatheredBytes = 128 * 1024 - 1;

/// A log file: SQLite's own file object, and what is to be appended to it.
struct WalFile {
  sqlite3_file base;  // first: SQLite sees this
  sqlite3_file* real;
  std::string gathered;
  sqlite3_int64 place;  // where `gathered` belongs

  int Flush() {
    if (gathered.empty()) return SQLITE_OK;
    const int code =
        real->pMethods->xWrite(real, gathered.data(), static_cast<int>(gathered.size()), place);
    // Also when it failed: SQLite is told and takes the transaction back. A commit that was written
    // later after all would come to life when the log is read again.
    gathered.clear();
    return code;
  }
};

WalFile& Of(sqlite3_file* file) { return *reinterpret_cast<WalFile*>(file); }

/// The methods that first write what is gathered and then are the real file's.
template <auto Method, class... Args>
int AfterFlush(sqlite3_file* file, Args... args) {
  WalFile& wal = Of(file);
  const int code = wal.Flush();
  return code != SQLITE_OK ? code : (wal.real->pMethods->*Method)(wal.real, args...);
}

/// The methods that have nothing to do with the content.
template <auto Method, class... Args>
int Pass(sqlite3_file* file, Args... args) {
  WalFile& wal = Of(file);
  return (wal.real->pMethods->*Method)(wal.real, args...);
}

int Close(sqlite3_file* file) {
  WalFile& wal = Of(file);
  const int flushed = wal.Flush();
  const int closed = wal.real->pMethods->xClose(wal.real);
  wal.~WalFile();
  return flushed != SQLITE_OK ? flushed : closed;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 place) {
  WalFile& wal = Of(file);
  const auto end = wal.place + static_cast<sqlite3_int64>(wal.gathered.size());
  const std::size_t more = static_cast<std::size_t>(size);
  if (place != end || wal.gathered.size() + more > kMostGatheredBytes) {
    if (const int code = wal.Flush(); code != SQLITE_OK) return code;
    wal.place = place;
  }
  wal.gathered.append(static_cast<const char*>(bytes), more);
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods{
    .iVersion = 1,
    .xClose = Close,
    .xRead = AfterFlush<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = Write,
    .xTruncate = AfterFlush<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = AfterFlush<&sqlite3_io_methods::xSync, int>,
    .xFileSize = AfterFlush<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = Pass<&sqlite3_io_methods::xLock, int>,
    .xUnlock = Pass<&sqlite3_io_methods::xUnlock, int>,
    .xCheckReservedLock = Pass<&sqlite3_io_methods::xCheckReservedLock, int*>,
    .xFileControl = Pass<&sqlite3_io_methods::xFileControl, int, void*>,
    .xSectorSize = Pass<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = Pass<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs& System() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return *vfs;
}

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  if (!(flags & SQLITE_OPEN_WAL)) return System().xOpen(&System(), name, file, flags, out_flags);
  // The real file object stands behind ours in the memory that SQLite gave.
  auto* const real =
      reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(WalFile));
  file->pMethods = nullptr;
  const int code = System().xOpen(&System(), name, real, flags, out_flags);
  if (code != SQLITE_OK) return code;
  new (file) WalFile{{&kMethods}, real, {}, 0};
  return SQLITE_OK;
}

bool Register() {
  static sqlite3_vfs vfs = System();
  vfs.pNext = nullptr;
  vfs.zName = kName;
  vfs.szOsFile = static_cast<int>(sizeof(WalFile)) + System().szOsFile;
  vfs.xOpen = Open;
  TENURE_CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK, "SQLite does not take a VFS");
  return true;
}

}  // namespace

const char* WalVfsName() {
  static const bool registered = Register();
  static_cast<void>(registered);
  return kName;
}

}  // namespace tenure::db::sqlite
