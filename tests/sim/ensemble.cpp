#include "sim/ensemble.hpp"

#include <string>

#include "db/migrations.hpp"
#include "db/sqlite/shared_engine.hpp"

namespace tenure::sim {

Ensemble::Ensemble(base::ManualClock& clock) : clock_(clock) {
  const auto engine = db::sqlite::MakeSharedEngine(dir_ / "tenure.db", clock_, metrics_);
  db::Migrate(*engine);
  engine->CheckIdentity();
  table_ = std::make_unique<MessageTable>(dir_ / "tenure.db");
  for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
}

Ensemble::~Ensemble() { hook = nullptr; }

void Ensemble::Restart(std::size_t index) {
  Process& process = processes_[index];
  process.messages.reset();
  process.wake.reset();
  process.store.reset();
  process.store = std::make_unique<db::Store>(
      db::sqlite::MakeSharedEngine(dir_ / "tenure.db", clock_, metrics_), db::StoreOptions{},
      clock_, metrics_);
  process.store->engine().CheckIdentity();
  process.store->Open();
  for (db::Lane* lane : process.store->AllLanes()) lane->connection().SetHook(&steps_);
  process.wake = std::make_unique<wake::Registry>(clock_);
  process.messages = std::make_unique<messages::Messages>(
      *process.store, *process.wake, "p" + std::to_string(index), clock_, metrics_);
}

void Ensemble::Drive(std::size_t index) {
  Process& process = processes_[index];
  do {
    for (bool any = true; any;) {
      any = false;
      for (db::Lane* lane : process.store->AllLanes()) any |= lane->RunOnce();
    }
  } while (process.wake->RunDue() > 0);
}

}  // namespace tenure::sim
