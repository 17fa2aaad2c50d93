#include "store/every_query_runs.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <libpq-fe.h>
#include <sqlite3.h>

namespace tenure::store {
namespace {

/// What an engine was given to execute, in its own words.
class Executed {
 public:
  void Listen() {
    const std::lock_guard lock(mutex_);
    listens_ = true;
  }
  void Prepared(std::string_view name, std::string_view text) {
    const std::lock_guard lock(mutex_);
    prepared_.insert_or_assign(std::string(name), std::string(text));
  }
  void RanPrepared(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = prepared_.find(name); listens_ && found != prepared_.end())
      Add(found->second);
  }
  void Ran(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (listens_) Add(text);
  }
  /// Whether a statement with which the text begins was executed.
  bool HasBeginOf(std::string_view text) {
    const std::lock_guard lock(mutex_);
    return std::any_of(texts_.begin(), texts_.end(),
                       [&](const std::string& each) { return text.starts_with(each); });
  }

 private:
  void Add(std::string_view text) {
    if (!text.empty() && !texts_.contains(text)) texts_.emplace(text);
  }

  std::mutex mutex_;
  bool listens_ = false;
  std::map<std::string, std::string, std::less<>> prepared_;
  std::set<std::string, std::less<>> texts_;
};

Executed& OnPostgres() {
  static Executed executed;
  return executed;
}
Executed& OnSqlite() {
  static Executed executed;
  return executed;
}

int NoteStatement(unsigned /*event*/, void* /*context*/, void* statement, void* /*text*/) {
  OnSqlite().Ran(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
  return 0;
}
int TraceNewDatabase(sqlite3* database, char** /*error*/, const sqlite3_api_routines* /*api*/) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, &NoteStatement, nullptr);
}

template <class Function>
Function* LibpqsOwn(Function* /*ours*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void EveryQueryRuns::SetUp() {
  OnPostgres().Listen();
  OnSqlite().Listen();
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(&TraceNewDatabase));
}

void EveryQueryRuns::TearDown() {
  if (testing::GTEST_FLAG(filter) != "*") return;
  for (const db::Query* query : queries_) {
    EXPECT_TRUE(query->postgres.empty() || OnPostgres().HasBeginOf(query->postgres))
        << query->name << " was never executed on PostgreSQL";
    EXPECT_TRUE(query->sqlite.empty() || OnSqlite().HasBeginOf(query->sqlite))
        << query->name << " was never executed on SQLite";
  }
}

}  // namespace tenure::store

// These stand before libpq's own: the program's calls come here first.
using tenure::store::LibpqsOwn;
using tenure::store::OnPostgres;
extern "C" {

int PQsendPrepare(PGconn* connection, const char* name, const char* text, int count,
                  const Oid* types) {
  static auto* const own = LibpqsOwn(&PQsendPrepare, "PQsendPrepare");
  OnPostgres().Prepared(name, text);
  return own(connection, name, text, count, types);
}

int PQsendQueryPrepared(PGconn* connection, const char* name, int count, const char* const* values,
                        const int* lengths, const int* formats, int result_format) {
  static auto* const own = LibpqsOwn(&PQsendQueryPrepared, "PQsendQueryPrepared");
  OnPostgres().RanPrepared(name);
  return own(connection, name, count, values, lengths, formats, result_format);
}

int PQsendQueryParams(PGconn* connection, const char* text, int count, const Oid* types,
                      const char* const* values, const int* lengths, const int* formats,
                      int result_format) {
  static auto* const own = LibpqsOwn(&PQsendQueryParams, "PQsendQueryParams");
  OnPostgres().Ran(text);
  return own(connection, text, count, types, values, lengths, formats, result_format);
}

PGresult* PQexecParams(PGconn* connection, const char* text, int count, const Oid* types,
                       const char* const* values, const int* lengths, const int* formats,
                       int result_format) {
  static auto* const own = LibpqsOwn(&PQexecParams, "PQexecParams");
  OnPostgres().Ran(text);
  return own(connection, text, count, types, values, lengths, formats, result_format);
}

PGresult* PQexec(PGconn* connection, const char* text) {
  static auto* const own = LibpqsOwn(&PQexec, "PQexec");
  OnPostgres().Ran(text);
  return own(connection, text);
}

}  // extern "C"
