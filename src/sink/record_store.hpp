#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/uuid.hpp"
#include "db/query.hpp"
#include "db/sqlite/database.hpp"
#include "db/sqlite/file_lock.hpp"
#include "sink/record.hpp"

namespace tenure::sink {

/// What is summed up. The numbers stand in the file.
enum class What { kAll = 0, kSession = 1, kUser = 2, kTenant = 3, kCapacity = 4 };

struct Total {
  base::Uuid id{};  ///< of the session, user, …; nothing of kAll
  std::int64_t records = 0;
  std::int64_t usage = 0;  ///< micro-units
};

/// What became of the records of one request.
struct Applied {
  std::int64_t applied = 0;
  std::int64_t duplicate = 0;
  /// Records that are here already with other content. If there are any, nothing was applied.
  std::vector<std::string> conflicts{};
};

/// Who may use the folder: one process, which opens it for writing once.
class RecordStoreLock {
 public:
  /// Makes the folder where it is missing. Throws base::UserError when another process has it.
  explicit RecordStoreLock(const std::filesystem::path& directory);

 private:
  db::sqlite::FileLock lock_;
};

/// The receiver's books, in a SQLite file.
///
/// Invariants:
///  (1) Each (session, window) is in `records` at most once and never changes.
///  (2) Every total is the sum over `records`: both change in one transaction.
///  (3) `Apply` returns when its transaction is on disk (synchronous=FULL); killed at any moment
///      before, it did nothing. So a sender without an answer may send the same records again.
///  (4) A request is applied as a whole or, when one of its records contradicts the books, not at
///      all; the contradiction is written down, and it changes no total.
///
/// Threads: one, for each object. Any number may read beside the one that writes.
class RecordStore {
 public:
  /// REQUIRES: the process holds the folder's RecordStoreLock; a writer has been there before a
  /// reader.
  RecordStore(const std::filesystem::path& directory, db::Access access);

  /// REQUIRES: opened for writing; no key is in `records` twice.
  Applied Apply(std::span<const Record> records);

  /// By id, behind `after`.
  std::vector<Total> Totals(What what, const std::optional<base::Uuid>& after, std::int64_t limit);
  /// The largest.
  std::vector<Total> Top(What what, std::int64_t limit);
  /// How many sessions, users, … there are.
  std::int64_t Count(What what);
  /// Of everything.
  Total Sum();
  /// Of one session, by window, behind `after`.
  std::vector<Record> Records(const base::Uuid& session, std::int64_t after, std::int64_t limit);
  std::int64_t Conflicts();

 private:
  class Statement;
  struct Prepared {
    const db::Query* query;
    db::sqlite::StatementPtr statement;
  };

  Statement Run(const db::Query& query);
  std::optional<Record> Find(const Record& key);
  void Add(std::span<const Record* const> records);
  void NoteConflicts(std::span<const Record* const> records);
  static std::vector<Total> ReadTotals(Statement& list);

  const db::sqlite::DatabasePtr database_;
  std::vector<Prepared> prepared_;  // a handful; made when they are first needed
};

}  // namespace tenure::sink
