#include "db/sqlite/connection.hpp"

#include <array>
#include <utility>

#include "base/clock.hpp"
#include "db/query_latency.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::sqlite {
namespace {

using base::Fault;
using base::FaultKind;

/// What an impatient transaction waits for its turn.
constexpr int kMomentMs = 100;

/// Binds the item's element of a column, or the single value.
struct Binder {
  sqlite3_stmt* statement;
  int position;
  std::size_t item;

  int Bind(std::int64_t value) const { return sqlite3_bind_int64(statement, position, value); }
  int Bind(RowPlace place) const { return Bind(place.value); }
  int Bind(const base::Uuid& id) const {
    return sqlite3_bind_blob(statement, position, id.bytes.data(),
                             static_cast<int>(id.bytes.size()), SQLITE_STATIC);
  }
  int Bind(std::string_view text) const {
    return sqlite3_bind_text64(statement, position, text.data() ? text.data() : "", text.size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  }
  int Bind(BytesView bytes) const {
    return sqlite3_bind_blob64(statement, position, bytes.data.data() ? bytes.data.data() : "",
                               bytes.data.size(), SQLITE_STATIC);
  }

  template <class Element>
  int operator()(std::span<const Element> column) const {
    return Bind(column[item]);
  }
  template <class Value>
  int operator()(const std::optional<Value>& value) const {
    return value ? Bind(*value) : sqlite3_bind_null(statement, position);
  }
  template <class Value>
  int operator()(const Value& value) const {
    return Bind(value);
  }
};

void ReadCell(sqlite3_stmt& statement, int column, Rows& rows) {
  switch (sqlite3_column_type(&statement, column)) {
    case SQLITE_NULL:
      rows.AddNull();
      return;
    case SQLITE_INTEGER:
      rows.AddInt(sqlite3_column_int64(&statement, column));
      return;
    default: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(&statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(&statement, column));
      rows.AddBytes(bytes ? std::string_view(bytes, size) : std::string_view());
    }
  }
}

}  // namespace

SqliteConnection::SqliteConnection(SqliteConnectionOptions options, Access access, FileClock& clock,
                                   telemetry::Registry& metrics)
    : options_(std::move(options)), access_(access), clock_(clock), metrics_(metrics) {}

void SqliteConnection::Open() {
  Close();
  options_.before_open();
  database_ = OpenDatabase(options_.path, access_, options_.sharing);
}

void SqliteConnection::Close() noexcept {
  prepared_.clear();
  results_.clear();
  transaction_.reset();
  database_.reset();
}

void SqliteConnection::Begin(Access access) {
  TENURE_CHECK(IsOpen() && !transaction_, "Begin inside of a transaction");
  TENURE_CHECK(access == Access::kRead || access_ == Access::kWrite, "a reader cannot write");
  const bool writes = access != Access::kRead;
  results_.clear();
  if (hook_) hook_->Before("begin");
  SetPatience(access == Access::kImpatientWrite ? kMomentMs : kBusyMs);
  RunPlain(writes ? sql::kBegin : sql::kBeginRead);
  CheckFile();
  changes_before_ = sqlite3_total_changes64(database_.get());
  transaction_ = writes ? Access::kWrite : Access::kRead;
  if (hook_) hook_->After("begin");
}

/// For other processes; in a store of our own nobody holds us up.
void SqliteConnection::SetPatience(int busy_ms) {
  if (options_.sharing == Sharing::kShared) sqlite3_busy_timeout(database_.get(), busy_ms);
}

std::size_t SqliteConnection::Send(const Query& query, std::span<const Param> params) {
  results_.emplace_back(Rows());
  const std::size_t items = ItemCount(params);
  if (query.sqlite.empty() || items == 0) return results_.size() - 1;
  if (hook_) hook_->Before(query.name);
  Prepared& prepared = PreparedFor(query);
  const std::int64_t begun = base::MeasureMicros();
  for (std::size_t item = 0; item < items; ++item)
    for (const auto& statement : prepared.statements)
      RunOne(query, *statement, params, item, *results_.back());
  prepared.latency->Observe(base::MeasureMicros() - begun);
  if (hook_) hook_->After(query.name);
  return results_.size() - 1;
}

std::size_t SqliteConnection::SendClock() {
  if (hook_) hook_->Before("clock");
  Rows& rows = *results_.emplace_back(Rows());
  rows.BeginRow(0, 1);
  rows.AddInt(clock_.NowMs());
  if (hook_) hook_->After("clock");
  return results_.size() - 1;
}

Rows SqliteConnection::Receive(std::size_t statement) {
  TENURE_CHECK(statement < results_.size() && results_[statement], "a result was taken twice");
  return *std::exchange(results_[statement], std::nullopt);
}

std::int64_t SqliteConnection::ReceiveClock(std::size_t statement) {
  return Receive(statement)[0].Int(0);
}

void SqliteConnection::Commit() {
  TENURE_CHECK(transaction_.has_value(), "Commit outside of a transaction");
  if (hook_) hook_->Before("commit");
  const bool wrote = *transaction_ == Access::kWrite;
  const bool marks = wrote && (clock_.marks_every_commit() ||
                               sqlite3_total_changes64(database_.get()) != changes_before_);
  const FileClock::Mark mark = marks ? clock_.TakeMark() : FileClock::Mark();
  if (marks) WriteMark(mark);
  try {
    RunPlain(sql::kCommit);
  } catch (const Fault& fault) {
    if (!wrote) throw;
    // The log could not be made longer, so it ends before the commit or inside of it: there is no
    // such commit, now or when the log is read again.
    if (IsDiskFull()) {
      Rollback();
      throw;
    }
    // The disk failed somewhere in COMMIT: whether the commit is in the log shows only when it is
    // read again.
    Close();
    throw Fault(FaultKind::kOutcomeUnknown, fault.what());
  }
  transaction_.reset();
  if (marks) options_.after_commit(mark);
  if (hook_) hook_->After("commit");
}

void SqliteConnection::Rollback() noexcept {
  if (!database_ || !transaction_) return;
  transaction_.reset();
  try {
    // After some errors SQLite has rolled back by itself.
    if (sqlite3_get_autocommit(database_.get()) == 0) RunPlain(sql::kRollback);
  } catch (...) {
    Close();
  }
}

SqliteConnection::Prepared& SqliteConnection::PreparedFor(const Query& query) {
  Prepared& prepared = prepared_[&query];
  if (!prepared.statements.empty()) return prepared;
  std::string_view text = query.sqlite;
  while (StatementPtr statement = Prepare(*database_, text))
    prepared.statements.push_back(std::move(statement));
  TENURE_CHECK(!prepared.statements.empty(), "a query without a statement");
  prepared.latency = &QueryLatency(metrics_, query);
  return prepared;
}

void SqliteConnection::RunPlain(const Query& query, std::span<const Param> params) {
  Rows none;
  RunOne(query, *PreparedFor(query).statements.front(), params, 0, none);
}

void SqliteConnection::RunOne(const Query& query, sqlite3_stmt& statement,
                              std::span<const Param> params, std::size_t item, Rows& rows) {
  // A statement of a query need not use all of the query's parameters.
  const int wanted = sqlite3_bind_parameter_count(&statement);
  for (int position = 1; position <= wanted; ++position)
    if (std::visit(Binder{&statement, position, item},
                   params[static_cast<std::size_t>(position - 1)]) != SQLITE_OK)
      ThrowError(*database_, query.name);
  const auto columns = static_cast<std::size_t>(sqlite3_column_count(&statement));
  int code = 0;
  while ((code = sqlite3_step(&statement)) == SQLITE_ROW) {
    rows.BeginRow(item, columns);
    for (int column = 0; column < static_cast<int>(columns); ++column)
      ReadCell(statement, column, rows);
  }
  if (code != SQLITE_DONE) {
    try {
      ThrowError(*database_, query.name);
    } catch (const Fault& fault) {
      sqlite3_reset(&statement);
      if (fault.kind() == FaultKind::kStoreUnavailable && !IsDiskFull()) Close();
      throw;
    }
  }
  sqlite3_reset(&statement);
}

/// Why the last call failed. What is there can still be read, and rolling back needs no room.
bool SqliteConnection::IsDiskFull() const {
  return database_ && (sqlite3_errcode(database_.get()) & 0xFF) == SQLITE_FULL;
}

void SqliteConnection::WriteMark(const FileClock::Mark& mark) {
  const std::array<Param, 3> params{mark.now_ms, mark.boot_ms, std::string_view(mark.boot_id)};
  const Query& query = clock_.mark_query();
  Rows written;
  RunOne(query, *PreparedFor(query).statements.front(), params, 0, written);
  if (!written.empty()) return;
  Close();
  throw Fault(FaultKind::kStoreUnavailable,
              options_.path + " is in use on another machine, or was when this one started");
}

/// A file that was replaced while we had it open is nobody's store any more: what is written there
/// is lost, and others grant from the new one. Open finds that one, and checks its identity.
void SqliteConnection::CheckFile() {
  if (options_.sharing == Sharing::kAlone || !HasMoved(*database_)) return;
  Close();
  throw Fault(FaultKind::kStoreUnavailable, options_.path + " was replaced by another file");
}

}  // namespace tenure::db::sqlite
