#include "stepped/frame.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "db/postgres/engine.hpp"

namespace tenure::stepped {

base::ManualClock& Process::clock() const { return frame_.store_.clock(); }
telemetry::Registry& Process::metrics() const { return frame_.store_.metrics(); }

void Process::Before(std::string_view step) {
  if (stepping_) frame_.world_.process(index_).Before(step);
  if (step == "begin") queries.clear();
  queries.emplace(step);
  frame_.NoteStrangers(*this, step);
  frame_.OnStep(*this, step);
  if (stepping_ && frame_.options_.early_clock && step == frame_.options_.lock_step) {
    early_ms_ = clock().WallMs();
    early_left_ = frame_.options_.clocks;
  }
}

void Process::After(std::string_view step) {
  if (step == frame_.options_.lock_step) locked_at_ms = clock().WallMs();
  if (step == frame_.options_.look_step) seen = frame_.commits_;
  if (step == "clock" && --early_left_ <= 0) early_ms_ = 0;
  if (step == "commit") {
    const std::lock_guard lock(frame_.judging_);
    seen = ++frame_.commits_;
    frame_.OnCommit(*this);
  }
  if (stepping_) frame_.world_.process(index_).After(step);
}

void Process::Drive() {
  for (bool any = true; any;) {
    any = false;
    for (db::Lane* lane : store_->AllLanes()) {
      lane_ = lane;
      any |= lane->RunOnce();
    }
    any |= server_ && server_->RunSome();
  }
}

Frame::Frame(Options options)
    : options_(std::move(options)),
      store_(store::EngineKind::kPostgres, options_.queries),
      tables_(store::OpenPostgresTables(store_.url())),
      world_(store_.url(), kProcesses, *this, options_.odds) {
  if (options_.ahead_of_postgres)
    clock().Advance(base::SystemClock().WallMs() + kNeverMs - clock().WallMs());
  for (std::size_t i = 0; i < kProcesses; ++i) processes_[i] = std::make_unique<Process>(*this, i);
}

Frame::~Frame() = default;

std::string Frame::Run(std::uint64_t seed) {
  random_.seed(seed * 7919 + 17);
  violations_.clear();
  begun_ms_ = clock().WallMs();
  tenant_ = fmt::format("r{}", ++runs_);
  tables_->Empty(options_.tables);
  for (std::size_t i = 0; i < kProcesses; ++i) {
    Process& process = *processes_[i];
    process.batches_left_ = options_.batches;
    if (process.store_)
      Forget(process);  // what it remembers of earlier runs must play no part
    else
      Restart(i);
  }
  Begin();
  if (world_.Run(seed)) Violation("two transactions waited for each other");
  Judge();
  if (violations_.empty()) return {};
  return fmt::format("seed {}:\n{}{}", seed, trace(), violations_);
}

std::function<void()> Frame::NextWork(std::size_t index) {
  Process& process = *processes_[index];
  if (process.batches_left_-- == 0) return nullptr;
  process.locked_at_ms = 0;
  Submit(process);
  return [&process] { process.Drive(); };
}

std::unique_ptr<KeptConnections> Frame::Connect(Process& process) {
  auto options = store_.PostgresOptions();
  options.lock_timeout_ms = 0;  // real time must decide nothing here
  options.statement_timeout_ms = 0;
  options.test_clock = &process;
  process.queries_of_store_.assign(options.queries.begin(), options.queries.end());
  for (const db::Query*& query : process.queries_of_store_)
    if (const auto planted = planted_.find(query->name); planted != planted_.end())
      query = &planted->second;
  options.queries = process.queries_of_store_;
  return std::make_unique<KeptConnections>(
      db::postgres::MakeEngine(std::move(options), "", store_.metrics()));
}

/// A new process in place of the old one.
void Frame::Restart(std::size_t index) {
  Process& process = *processes_[index];
  process.server_.reset();
  process.wake_.reset();
  process.store_.reset();
  process.early_ms_ = 0;
  if (!process.connections_) process.connections_ = Connect(process);
  db::StoreOptions lanes;
  lanes.write_lanes = 1;
  lanes.lanes.max_wait_ms = kNeverMs;
  process.store_ =
      std::make_unique<db::Store>(process.connections_->Lend(), lanes, clock(), store_.metrics());
  OnOpen(*process.store_);
  process.store_->Open();
  process.lane_ = &process.store_->WriteLane(0);
  for (db::Lane* lane : process.store_->AllLanes()) lane->connection().SetHook(&process);
  Forget(process);
}

/// Nothing that it had in memory is left; its connections are.
void Frame::Forget(Process& process) {
  process.server_.reset();
  process.wake_ = std::make_unique<wake::Registry>(clock());
  process.server_ = Boot(process);
}

int Frame::BackendPid(std::size_t index) {
  return BackendPidOf(processes_[index]->lane_.load()->connection());
}

void Frame::Blocked(std::size_t index) {
  Process& waits = *processes_[index];
  if (IsStranger(waits) || waits.lane_ == &waits.store_->KeyLane()) return;
  for (std::size_t i = 0; i < kProcesses; ++i)
    if (IsStranger(*processes_[i]) &&
        tables_->Number(fmt::format("select ({} = any (pg_blocking_pids({})))::int", BackendPid(i),
                                    BackendPid(index))) == 1)
      Violation(fmt::format("{} waits for a user's transaction, that of {}", index, i));
}

void Frame::NoteStrangers(const Process& beside, std::string_view step) {
  if (!beside.stepping_ || IsStranger(beside)) return;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    const Stepper& other = world_.process(i);
    const bool is_open = other.state() == Stepper::State::kAtStep && other.step() != "begin" &&
                         other.step() != "committed";
    if (is_open && IsStranger(*processes_[i])) beside_strangers_.emplace(step);
  }
}

void Frame::Plant(const db::Query& text) { planted_.insert_or_assign(text.name, text); }

void Frame::Plant(const db::Query& query, std::string_view part, std::string_view by) {
  auto& text = planted_texts_.emplace(query.name, query.postgres).first->second;
  const auto at = text.find(part);
  TENURE_CHECK(at != std::string::npos, "the query is another one by now");
  text.replace(at, part.size(), by);
  Plant(db::Query{query.name, text, ""});
}

base::Uuid Frame::NewId() {
  base::Uuid id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
  return id;
}

void Frame::Alone(const std::function<void(Process&)>& submit) {
  Process& first = *processes_[0];
  first.stepping_ = false;
  submit(first);
  first.Drive();
  first.stepping_ = true;
}

std::vector<const db::Query*> QueriesOf(
    std::initializer_list<std::span<const db::Query* const>> modules,
    std::initializer_list<const db::Query*> users) {
  std::vector<const db::Query*> all;
  for (const auto module : modules) all.insert(all.end(), module.begin(), module.end());
  all.insert(all.end(), users.begin(), users.end());
  return all;
}

}  // namespace tenure::stepped
