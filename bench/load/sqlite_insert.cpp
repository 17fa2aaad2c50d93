// The least that a durable create can cost on SQLite: one row per transaction, in a loop, with the
// document's table and indexes. Prints the latency of one as JSON.
//
//   sqlite_insert --file PATH --seconds S

#include <time.h>

#include <array>
#include <random>

#include <sqlite3.h>

#include "latencies.hpp"
#include "options.hpp"

namespace bench {
namespace {

constexpr const char* kSetUp = R"(
pragma journal_mode=wal; pragma synchronous=full; pragma secure_delete=off;
create table lumel_session (
  session_id        blob primary key,
  user_object_id    blob not null,
  tenant_object_id  blob not null,
  capacity_id       blob not null,
  session_start_utc integer not null,
  session_end_utc   integer not null,
  session_kind      integer not null check (session_kind in (1, 2, 3)),
  is_active         integer not null default 1,
  check (session_end_utc > session_start_utc)
) strict, without rowid;
create unique index by_key on lumel_session (user_object_id, capacity_id) where is_active;
create index by_end on lumel_session (session_end_utc, is_active) where is_active;
)";
constexpr const char* kInsert =
    "insert into lumel_session (session_id, user_object_id, tenant_object_id, capacity_id, "
    "session_start_utc, session_end_utc, session_kind) values (?1, ?2, ?3, ?4, ?5, ?6, 1)";

std::int64_t NowMicros() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1'000;
}

void Check(int code, sqlite3* database) {
  if (code != SQLITE_OK && code != SQLITE_DONE) Die(sqlite3_errmsg(database));
}

int Run(const Options& options) {
  sqlite3* database = nullptr;
  Check(sqlite3_open(options.Text("file").c_str(), &database), database);
  Check(sqlite3_exec(database, kSetUp, nullptr, nullptr, nullptr), database);
  sqlite3_stmt* insert = nullptr;
  Check(sqlite3_prepare_v2(database, kInsert, -1, &insert, nullptr), database);

  std::mt19937_64 random{std::random_device()()};
  std::array<std::array<std::uint64_t, 2>, 4> ids{};
  Latencies latencies;
  const std::int64_t end =
      NowMicros() + static_cast<std::int64_t>(options.Number("seconds")) * 1'000'000;
  std::int64_t before = NowMicros();
  while (before < end) {
    ids[0] = {random(), random()};
    ids[1] = {random(), random()};
    ids[2] = ids[3] = {1, random() % 16};
    for (int i = 0; i < 4; ++i)
      sqlite3_bind_blob(insert, i + 1, ids[static_cast<std::size_t>(i)].data(), 16, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 5, before);
    sqlite3_bind_int64(insert, 6, before + 2'592'000'000);
    Check(sqlite3_step(insert), database);
    Check(sqlite3_reset(insert), database);
    const std::int64_t after = NowMicros();
    latencies.Add(after - before);
    before = after;
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  fmt::print("{{{}}}\n", latencies.Json("latency"));
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) { return bench::Run(bench::Options(count - 1, words + 1)); }
