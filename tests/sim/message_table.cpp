#include "sim/message_table.hpp"

#include <cstring>

#include <sqlite3.h>

#include "base/error.hpp"

namespace tenure::sim {
namespace {

base::Uuid ReadId(sqlite3_stmt* row, int column) {
  base::Uuid id;
  const void* bytes = sqlite3_column_blob(row, column);
  TENURE_CHECK(sqlite3_column_bytes(row, column) == 16, "an id has 16 bytes");
  std::memcpy(id.bytes.data(), bytes, id.bytes.size());
  return id;
}

std::string ReadText(sqlite3_stmt* row, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
  return bytes ? std::string(bytes, size) : std::string();
}

constexpr auto kLive =
    "select m.id, cast(cast(m.payload as text) as integer), t.name, m.pos, m.due_ms, m.fence, "
    "m.lease_until_ms, m.worker, m.attempts, m.crashes from messages m join topics t "
    "on t.topic_id = m.topic_id";
constexpr auto kDead =
    "select d.id, cast(cast(d.payload as text) as integer), t.name, 0, 0, d.fence, 0, 0, "
    "d.attempts, d.crashes from dead_letters d join topics t on t.topic_id = d.topic_id "
    "where d.redriven_ms = 0";
constexpr auto kFinished =
    "select f.id, 0, t.name, 0, 0, f.fence, 0, 0, f.attempts, f.crashes from finished_messages f "
    "join topics t on t.topic_id = f.topic_id";
constexpr auto kClaims = "select started, messages from message_claims";
constexpr auto kWorkers = "select worker, expires_ms from message_workers";
constexpr auto kPaused = "select name from topics where paused_ms > 0";
constexpr auto kClock = "select now_ms from clock_mark";

}  // namespace

struct MessageTable::Statement {
  Statement(sqlite3* database, const char* sql) {
    TENURE_CHECK(sqlite3_prepare_v2(database, sql, -1, &handle, nullptr) == SQLITE_OK,
                 sqlite3_errmsg(database));
  }
  ~Statement() { sqlite3_finalize(handle); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class Row>
  void ForEach(Row row) {
    while (sqlite3_step(handle) == SQLITE_ROW) row(handle);
    sqlite3_reset(handle);
  }

  sqlite3_stmt* handle = nullptr;
};

MessageTable::MessageTable(const std::filesystem::path& file) {
  TENURE_CHECK(sqlite3_open(file.c_str(), &database_) == SQLITE_OK, "the file cannot be opened");
}

MessageTable::~MessageTable() {
  statements_.clear();
  sqlite3_close(database_);
}

MessageTable::Statement& MessageTable::Prepared(const char* sql) {
  auto& statement = statements_[sql];
  if (!statement) statement = std::make_unique<Statement>(database_, sql);
  return *statement;
}

Picture MessageTable::Read() {
  Execute("begin");
  Picture picture;
  const auto read = [&](const char* sql, Place place) {
    Prepared(sql).ForEach([&](sqlite3_stmt* row) {
      const auto number = [row](int column) { return sqlite3_column_int64(row, column); };
      MessageRow message{place,     number(1), ReadText(row, 2), number(3), number(4),
                         number(5), number(6), number(7),        number(8), number(9)};
      if (place == Place::kReady && message.pos == 0) message.place = Place::kWaiting;
      if (place == Place::kReady && message.lease_until_ms > 0) message.place = Place::kClaimed;
      const base::Uuid id = ReadId(row, 0);
      if (!picture.messages.emplace(id, std::move(message)).second) picture.twice = id.ToString();
    });
  };
  read(kLive, Place::kReady);
  read(kDead, Place::kDead);
  read(kFinished, Place::kFinished);
  Prepared(kClaims).ForEach([&](sqlite3_stmt* row) {
    picture.claims.push_back(
        {sqlite3_column_int64(row, 0), messages::DecodeHanded(ReadText(row, 1))});
  });
  Prepared(kWorkers).ForEach([&](sqlite3_stmt* row) {
    picture.workers[sqlite3_column_int64(row, 0)] = sqlite3_column_int64(row, 1);
  });
  Prepared(kPaused).ForEach([&](sqlite3_stmt* row) { picture.paused.insert(ReadText(row, 0)); });
  Prepared(kClock).ForEach(
      [&](sqlite3_stmt* row) { picture.now_ms = sqlite3_column_int64(row, 0); });
  Execute("commit");
  return picture;
}

void MessageTable::Execute(const std::string& sql) {
  char* error = nullptr;
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &error) == SQLITE_OK) return;
  const std::string text = error ? error : "";
  sqlite3_free(error);
  base::Panic(text, __FILE__, __LINE__);
}

void MessageTable::Clear() {
  Execute(
      "begin immediate; delete from messages; delete from dead_letters; delete from "
      "finished_messages; delete from message_claims; delete from message_workers; delete from "
      "message_keys; delete from message_owners; delete from topics; commit");
}

}  // namespace tenure::sim
