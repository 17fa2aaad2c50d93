#include "sim/frame.hpp"

#include "base/error.hpp"
#include "db/migrations.hpp"
#include "db/sqlite/engine.hpp"
#include "db/sqlite/shared_engine.hpp"

namespace tenure::sim {

namespace {

/// All files but the index of the write-ahead log, which SQLite makes anew: new files, as a person's copy has them.
void CopyFolder(const std::filesystem::path& from, const std::filesystem::path& to,
                Ensemble::What what) {
  const auto is_meant = [what](const std::filesystem::path& file) {
    return what == Ensemble::What::kFolder || file.filename() != "tenure.side";
  };
  for (const auto& old : std::filesystem::directory_iterator(to))
    if (is_meant(old.path())) std::filesystem::remove(old);
  for (const auto& file : std::filesystem::directory_iterator(from))
    if (is_meant(file.path()) && !file.path().string().ends_with("-shm"))
      std::filesystem::copy_file(file.path(), to / file.path().filename());
}

}  // namespace

Ensemble::Ensemble(std::size_t processes, const db::FreezePolicy& policy) : policy_(policy) {
  {
    // A server's engine has the file to itself while it lives.
    const auto engine = NewEngine(processes);
    db::Migrate(*engine);
    engine->CheckIdentity();
  }
  if (processes > 1) tables_ = store::OpenSqliteTables(dir_ / "tenure.db");
  for (std::size_t i = 0; i < processes; ++i)
    processes_.push_back(Process{.index = i, .clock = clock_, .metrics = metrics_});
}

Ensemble::~Ensemble() { hook = nullptr; }

std::unique_ptr<db::Engine> Ensemble::NewEngine(std::size_t processes) {
  if (processes == 1) return db::sqlite::MakeEngine(dir_.path(), store_clock_, metrics_, policy_);
  return db::sqlite::MakeSharedEngine(dir_ / "tenure.db", store_clock_, metrics_);
}

void Ensemble::Kill(Process& process) {
  process.server.reset();
  process.wake.reset();
  process.store.reset();
}

void Ensemble::SaveCopy() {
  copy_ = std::make_unique<support::TempDir>(support::Storage::kMemory);
  CopyFolder(dir_.path(), copy_->path(), What::kFolder);
}

void Ensemble::PutBack(Maker& maker, What what) {
  Kill(processes_.front());
  CopyFolder(copy_->path(), dir_.path(), what);
  Restart(0, maker);
}

void Ensemble::Restart(std::size_t index, Maker& maker) {
  Process& process = processes_[index];
  Kill(process);
  process.store = std::make_unique<db::Store>(NewEngine(processes_.size()), db::StoreOptions{},
                                              clock_, metrics_);
  process.store->engine().CheckIdentity();
  maker.OnOpen(*process.store);
  process.store->Open();
  for (db::Lane* lane : process.store->AllLanes()) lane->connection().SetHook(&steps_);
  process.wake = std::make_unique<wake::Registry>(clock_);
  process.server = maker.Boot(process);
}

void Ensemble::Drive(std::size_t index) {
  Process& process = processes_[index];
  int left = 100'000;
  do {
    for (bool any = true; any;) {
      any = false;
      for (db::Lane* lane : process.store->AllLanes()) any |= lane->RunOnce();
      any |= process.server->RunSome();
      if (--left == 0) throw NeverRests();
    }
  } while (process.wake->RunDue() > 0);
}

void Ensemble::RunTimers(std::size_t process) {
  if (processes_[process].wake) processes_[process].wake->RunDue();
}

SeedRun::SeedRun(Ensemble& ensemble, std::uint64_t seed, int steps)
    : ensemble_(ensemble),
      steps_(steps),
      random_(seed * 0x9E3779B97F4A7C15ULL + 1),
      ids_(seed * 0xBF58476D1CE4E5B9ULL + 1),
      generations_(ensemble.size()),
      unanswered_(ensemble.size()) {
  ensemble_.hook = nullptr;
}

SeedRun::~SeedRun() { ensemble_.hook = nullptr; }

void SeedRun::Begin(const Weather& weather) {
  weather_ = weather;
  begun_ms_ = Now();
  ensemble_.hook = this;
}

std::string SeedRun::Play() {
  for (int step = 0; step < steps_ && !has_violations(); ++step) Step();
  calm_ = true;
  Trace("the faults stop");
  Settle();
  if (has_violations()) return violations_;
  // Everybody's time to wait is over by then.
  Pass(60'000);
  DriveAll();
  for (std::size_t i = 0; i < unanswered_.size(); ++i)
    if (unanswered_[i] != 0)
      Violation(fmt::format("a deadlock: process {} owes {} answers", i, unanswered_[i]));
  return violations_;
}

void SeedRun::Drive(std::size_t process) {
  steps_to_crash_.reset();
  slowed_ = false;
  if (!calm_ && Chance(weather_.crash)) steps_to_crash_ = Random(40);
  try {
    ensemble_.Drive(process);
  } catch (const ProcessCrash&) {
    Trace(fmt::format("process {} crashes", process));
    OnCrash(process);
    Restart(process);
  } catch (const NeverRests&) {
    Violation(fmt::format("a deadlock: process {} does not come to rest", process));
  }
}

void SeedRun::DriveAll() {
  for (std::size_t i = 0; i < ensemble_.size(); ++i) Drive(i);
}

void SeedRun::Restart(std::size_t process) {
  ensemble_.hook = nullptr;
  ++generations_[process];
  unanswered_[process] = 0;
  ensemble_.Restart(process, *this);
  ensemble_.hook = this;
}

void SeedRun::PutBack(std::size_t process, Ensemble::What what) {
  ensemble_.hook = nullptr;
  ++generations_[process];
  unanswered_[process] = 0;
  ensemble_.PutBack(*this, what);
  ensemble_.hook = this;
}

void SeedRun::HearNothing() {
  ensemble_.hook = nullptr;
  for (int& generation : generations_) ++generation;
}

void SeedRun::Before(std::string_view step) {
  if (step == "begin") queries_.clear();
  queries_.emplace(step);
  OnBefore(step);
  if (calm_) return;
  CrashHere("before", step);
  if (step != "commit") return;
  if (!(weather_.slow_once && slowed_) && Chance(weather_.slow)) {
    slowed_ = true;
    Trace("the commit is slow");
    Pass(RandomMs(weather_.slowest_commit_ms));
  }
  if (MayBeLost() && Chance(weather_.unavailable)) {
    Trace("the store is lost before COMMIT");
    throw base::Fault(base::FaultKind::kStoreUnavailable, "simulated");
  }
}

void SeedRun::After(std::string_view step) {
  OnAfter(step);
  if (step == "commit") OnCommitted();
  if (calm_) return;
  CrashHere("behind", step);
  if (step != "commit" || !Chance(weather_.lost_reply)) return;
  Trace("the reply is lost");
  throw base::Fault(base::FaultKind::kOutcomeUnknown, "simulated");
}

void SeedRun::CrashHere(std::string_view where, std::string_view step) {
  if (!steps_to_crash_ || (*steps_to_crash_)-- != 0) return;
  Trace(fmt::format("{} {}", where, step));
  throw ProcessCrash();
}

base::Uuid SeedRun::NewId() {
  base::Uuid id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
  return id;
}

void SeedRun::Trace(const std::string& what) {
  trace_ += fmt::format("{:6} {}\n", Now() - begun_ms_, what);
}

void SeedRun::Violation(const std::string& what) {
  Trace("VIOLATION " + what);
  violations_ += fmt::format("  {:6} {}\n", Now() - begun_ms_, what);
}

}  // namespace tenure::sim
