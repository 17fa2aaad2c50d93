#include "sink/record_store.hpp"

#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "db/sqlite/private_files.hpp"
#include "sink_sql/queries.hpp"

namespace tenure::sink {
namespace {

namespace fs = std::filesystem;
using db::sqlite::ExecuteScript;
using db::sqlite::FileLock;
using db::sqlite::ThrowError;

FileLock LockOf(const fs::path& directory) {
  db::sqlite::UsePrivateFolder(directory);
  std::optional<FileLock> lock = FileLock::Try(directory / "usage-sink.lock");
  if (!lock)
    throw base::UserError(fmt::format(
        "The data in {} belongs to another usage-sink.\nStop that one, or choose another folder "
        "with --data.",
        directory.string()));
  return std::move(*lock);
}

std::string FileOf(const fs::path& directory) {
  const fs::path file = directory / "usage.db";
  db::sqlite::MakePrivateFile(file);
  return file.string();
}

/// Commits, or rolls back when it is left before that.
class Transaction {
 public:
  explicit Transaction(sqlite3& database) : database_(database) {
    ExecuteScript(database_, "BEGIN IMMEDIATE");
  }
  ~Transaction() {
    if (!done_) sqlite3_exec(&database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void Commit() {
    ExecuteScript(database_, "COMMIT");
    done_ = true;
  }

 private:
  sqlite3& database_;
  bool done_ = false;
};

}  // namespace

/// One run of a prepared statement: bind in order, step, read in order. Ready for the next run when
/// it goes.
class RecordStore::Statement {
 public:
  Statement(sqlite3& database, sqlite3_stmt& statement)
      : database_(database), statement_(statement) {}
  ~Statement() {
    sqlite3_reset(&statement_);
    sqlite3_clear_bindings(&statement_);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(std::int64_t value) {
    return Check(sqlite3_bind_int64(&statement_, ++bound_, value));
  }
  Statement& Bind(const base::Uuid& id) {
    return Check(sqlite3_bind_blob(&statement_, ++bound_, id.bytes.data(),
                                   static_cast<int>(id.bytes.size()), SQLITE_TRANSIENT));
  }
  Statement& BindNull() { return Check(sqlite3_bind_null(&statement_, ++bound_)); }

  /// Whether there is a row.
  bool Step() {
    read_ = 0;
    const int code = sqlite3_step(&statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) ThrowError(database_, "the ledger");
    return code == SQLITE_ROW;
  }

  std::int64_t Integer() { return sqlite3_column_int64(&statement_, read_++); }
  base::Uuid Id() {
    base::Uuid id;
    const void* const bytes = sqlite3_column_blob(&statement_, read_);
    if (sqlite3_column_bytes(&statement_, read_) == static_cast<int>(id.bytes.size()))
      std::memcpy(id.bytes.data(), bytes, id.bytes.size());
    ++read_;
    return id;
  }
  Record ReadRecord() {
    Record record;
    record.session = Id();
    record.window = Integer();
    record.user = Id();
    record.tenant = Id();
    record.capacity = Id();
    record.kind = Integer();
    record.start_ms = Integer();
    record.end_ms = Integer();
    record.usage = Integer();
    return record;
  }

 private:
  Statement& Check(int code) {
    if (code != SQLITE_OK) ThrowError(database_, "the ledger");
    return *this;
  }

  sqlite3& database_;
  sqlite3_stmt& statement_;
  int bound_ = 0;
  int read_ = 0;
};

RecordStoreLock::RecordStoreLock(const fs::path& directory) : lock_(LockOf(directory)) {}

RecordStore::RecordStore(const fs::path& directory, db::Access access)
    : database_(db::sqlite::OpenDatabase(FileOf(directory), access)) {
  if (access == db::Access::kWrite) ExecuteScript(*database_, sql::kSchema.sqlite);
}

RecordStore::Statement RecordStore::Run(const db::Query& query) {
  for (const Prepared& one : prepared_)
    if (one.query == &query) return {*database_, *one.statement};
  std::string_view text = query.sqlite;
  prepared_.push_back({&query, db::sqlite::Prepare(*database_, text)});
  return {*database_, *prepared_.back().statement};
}

Applied RecordStore::Apply(std::span<const Record> records) {
  Applied outcome;
  std::vector<const Record*> added;
  std::vector<const Record*> contradicting;
  Transaction transaction(*database_);
  for (const Record& record : records) {
    const std::optional<Record> known = Find(record);
    if (!known)
      added.push_back(&record);
    else if (*known == record)
      ++outcome.duplicate;
    else
      contradicting.push_back(&record);
  }
  if (contradicting.empty()) {
    Add(added);
    outcome.applied = static_cast<std::int64_t>(added.size());
  } else {
    NoteConflicts(contradicting);
    for (const Record* record : contradicting) outcome.conflicts.push_back(RecordId(*record));
  }
  transaction.Commit();
  return outcome;
}

std::optional<Record> RecordStore::Find(const Record& key) {
  Statement find = Run(sql::kFindRecord);
  if (!find.Bind(key.session).Bind(key.window).Step()) return std::nullopt;
  return find.ReadRecord();
}

/// Each sum is added to once, however many records of the request it has.
void RecordStore::Add(std::span<const Record* const> records) {
  std::map<std::pair<What, base::Uuid>, Total> sums;
  for (const Record* record : records) {
    const Record& r = *record;
    Statement insert = Run(sql::kInsertRecord);
    insert.Bind(r.session).Bind(r.window).Bind(r.user).Bind(r.tenant).Bind(r.capacity);
    insert.Bind(r.kind).Bind(r.start_ms).Bind(r.end_ms).Bind(r.usage).Step();
    const std::pair<What, base::Uuid> parts[] = {{What::kAll, {}},
                                                 {What::kSession, r.session},
                                                 {What::kUser, r.user},
                                                 {What::kTenant, r.tenant},
                                                 {What::kCapacity, r.capacity}};
    for (const auto& part : parts) {
      ++sums[part].records;
      sums[part].usage += r.usage;
    }
  }
  for (const auto& [part, sum] : sums) {
    Statement add = Run(sql::kAddToTotal);
    add.Bind(static_cast<std::int64_t>(part.first)).Bind(part.second);
    add.Bind(sum.records).Bind(sum.usage).Step();
  }
}

void RecordStore::NoteConflicts(std::span<const Record* const> records) {
  for (const Record* record : records)
    Run(sql::kNoteConflict).Bind(record->session).Bind(record->window).Step();
}

std::vector<Total> RecordStore::Totals(What what, const std::optional<base::Uuid>& after,
                                       std::int64_t limit) {
  Statement list = Run(sql::kListTotals);
  list.Bind(static_cast<std::int64_t>(what));
  after ? list.Bind(*after) : list.BindNull();
  list.Bind(limit);
  return ReadTotals(list);
}

std::vector<Total> RecordStore::Top(What what, std::int64_t limit) {
  Statement list = Run(sql::kTopTotals);
  list.Bind(static_cast<std::int64_t>(what)).Bind(limit);
  return ReadTotals(list);
}

std::vector<Total> RecordStore::ReadTotals(Statement& list) {
  std::vector<Total> totals;
  while (list.Step()) {
    Total total;
    total.id = list.Id();
    total.records = list.Integer();
    total.usage = list.Integer();
    totals.push_back(total);
  }
  return totals;
}

std::int64_t RecordStore::Count(What what) {
  Statement count = Run(sql::kCountTotals);
  count.Bind(static_cast<std::int64_t>(what)).Step();
  return count.Integer();
}

Total RecordStore::Sum() {
  const std::vector<Total> all = Totals(What::kAll, std::nullopt, 1);
  return all.empty() ? Total{} : all.front();
}

std::vector<Record> RecordStore::Records(const base::Uuid& session, std::int64_t after,
                                         std::int64_t limit) {
  Statement list = Run(sql::kListRecords);
  list.Bind(session).Bind(after).Bind(limit);
  std::vector<Record> records;
  while (list.Step()) records.push_back(list.ReadRecord());
  return records;
}

std::int64_t RecordStore::Conflicts() {
  Statement count = Run(sql::kCountConflicts);
  return count.Step() ? count.Integer() : 0;
}

}  // namespace tenure::sink
