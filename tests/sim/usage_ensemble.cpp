#include "sim/usage_ensemble.hpp"

#include <sqlite3.h>

#include "base/error.hpp"
#include "db/migrations.hpp"
#include "db/sqlite/shared_engine.hpp"

namespace tenure::sim {

UsageEnsemble::UsageEnsemble(base::ManualClock& clock) : clock_(clock) {
  const auto engine = db::sqlite::MakeSharedEngine(dir_ / "tenure.db", clock_, metrics_);
  db::Migrate(*engine);
  engine->CheckIdentity();
  TENURE_CHECK(sqlite3_open((dir_ / "tenure.db").c_str(), &database_) == SQLITE_OK,
               "the file cannot be opened");
}

UsageEnsemble::~UsageEnsemble() {
  hook = nullptr;
  for (Process& process : processes_) Kill(process);
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(database_);
}

/// The claim for which its sender waits is told that the process stops; all else hears nothing.
void UsageEnsemble::Kill(Process& process) {
  if (process.sender) process.sender->Stop();
  process.messages.reset();
  process.wake.reset();
  process.store.reset();
  process.sender.reset();
  process.usage.reset();
  process.sessions.reset();
}

void UsageEnsemble::Restart(std::size_t index, const Settings& settings) {
  Process& process = processes_[index];
  Kill(process);
  process.store = std::make_unique<db::Store>(
      db::sqlite::MakeSharedEngine(dir_ / "tenure.db", clock_, metrics_), db::StoreOptions{},
      clock_, metrics_);
  process.store->engine().CheckIdentity();
  process.store->Open();
  for (db::Lane* lane : process.store->AllLanes()) lane->connection().SetHook(&steps_);
  process.wake = std::make_unique<wake::Registry>(clock_);
  process.sessions =
      std::make_unique<sessions::Sessions>(*process.store, settings.sessions, metrics_);
  process.messages = std::make_unique<messages::Messages>(
      *process.store, *process.wake, "p" + std::to_string(index), clock_, metrics_);
  process.usage =
      std::make_unique<usage::Usage>(*process.store, *process.sessions, *process.messages,
                                     *process.wake, settings.usage, metrics_);
  if (!settings.usage.send) return;
  process.sender =
      std::make_unique<usage::Sender>(*process.usage, *process.messages, *process.wake, "sim",
                                      [this, index](usage::Post sent, Answer answer) {
                                        post(index, std::move(sent), std::move(answer));
                                      });
  process.sender->Start();
}

void UsageEnsemble::Drive(std::size_t index) {
  Process& process = processes_[index];
  do {
    for (bool any = true; any;) {
      any = false;
      for (db::Lane* lane : process.store->AllLanes()) any |= lane->RunOnce();
    }
  } while (process.wake->RunDue() > 0);
}

UsageBook::Rows UsageEnsemble::Ask(const std::string& sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (!statement)
    TENURE_CHECK(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK,
                 sqlite3_errmsg(database_));
  UsageBook::Rows rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    auto& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      row.emplace_back(text ? text : "");
    }
  }
  TENURE_CHECK(sqlite3_reset(statement) == SQLITE_OK, sqlite3_errmsg(database_));
  return rows;
}

void UsageEnsemble::Clear() {
  Ask("begin immediate");
  for (const char* table :
       {"sessions", "usage_windows", "usage_chunks", "usage_factors", "messages", "dead_letters",
        "finished_messages", "message_claims", "message_workers", "message_owners", "topics"})
    Ask(std::string("delete from ") + table);
  Ask("update session_bounds set sealed_ms = 0, settled_ms = 0, removed_ms = 0");
  Ask("commit");
}

}  // namespace tenure::sim
