#include "db/lane.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "base/log.hpp"

namespace tenure::db {
namespace {

using base::Fault;
using base::FaultKind;

constexpr std::int64_t kFirstBackoffMs = 50;
constexpr std::int64_t kLongestBackoffMs = 2'000;

/// How often an idle lane looks whether its connection still stands: what /readyz knows without
/// requests.
constexpr std::chrono::seconds kIdleLook{1};

/// Between half of `ms` and all of it, so that processes that failed together do not come back
/// together.
std::int64_t Jittered(std::int64_t ms) {
  std::uint8_t byte = 0;
  base::RandomBytes(&byte, 1);
  return ms / 2 + ms * byte / 512;
}

/// Whether a fault of a batch is one item's doing, so that the others can do without it.
bool IsOfOneItem(FaultKind kind) {
  return kind == FaultKind::kStatement || kind == FaultKind::kDenied ||
         kind == FaultKind::kContended;
}

/// What a handler throws besides faults comes of rows that it cannot make sense of: a bad row may
/// fail its operation, never the process.
template <class Work>
auto WithFaults(Work work) {
  try {
    return work();
  } catch (const Fault&) {
    throw;
  } catch (const std::exception& error) {
    throw Fault(FaultKind::kStatement, error.what());
  }
}

/// There are many lanes, so each has few buckets; times are in microseconds.
constexpr std::array<std::int64_t, 6> kSizeBounds{1, 4, 16, 64, 256, 1'024};
constexpr std::array<std::int64_t, 6> kLatencyBounds{500,    2'500,   10'000,
                                                     50'000, 250'000, 1'000'000};

void SleepMs(std::int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

Lane::Lane(std::string name, std::unique_ptr<Connection> connection, const LaneOptions& options,
           const base::Clock& clock, telemetry::Registry& metrics)
    : name_(std::move(name)), options_(options), clock_(clock), connection_(std::move(connection)) {
  const telemetry::Labels labels{{"lane", name_}};
  probe_.batch_size = &metrics.GetHistogram("tenure_lane_batch_items", "Operations per batch.",
                                            kSizeBounds, 1, labels);
  probe_.batch_duration =
      &metrics.GetHistogram("tenure_lane_batch_seconds", "Time of one batch, commit included.",
                            kLatencyBounds, telemetry::kMicrosPerSecond, labels);
  probe_.depth =
      &metrics.GetGauge("tenure_lane_queue_items", "Operations that wait for a lane.", labels);
  probe_.retried = &metrics.GetCounter("tenure_lane_batches_retried_total",
                                       "Batches that were run again.", labels);
  probe_.refused =
      &metrics.GetCounter("tenure_lane_refused_total",
                          "Operations refused because a lane was full, down or stopping.", labels);
  probe_.connections = &metrics.GetCounter("tenure_lane_connections_total",
                                           "Connections made to the store.", labels);
}

Lane::~Lane() { Stop(); }

void Lane::Submit(std::unique_ptr<Operation> operation) {
  base::Lock lock(mutex_);
  if (const auto refusal = Refusal(*operation)) {
    lock.unlock();
    probe_.refused->Add();
    operation->Complete(&*refusal);
    return;
  }
  base::Executor* const home = operation->home();
  Enqueue(std::move(operation));
  if (!idle_ || (home && IsPromisedBy(*home))) return;
  if (home) promised_by_.push_back(home);
  lock.unlock();
  if (home)
    home->Afterwards([this] { Wake(); });
  else
    Wake();
}

bool Lane::IsPromisedBy(const base::Executor& home) const {
  return std::find(promised_by_.begin(), promised_by_.end(), &home) != promised_by_.end();
}

/// Whoever finds the lane asleep calls this or promises to, so an operation waits in a lane that
/// sleeps at most until the end of its own executor's round, whatever others promised. (If a
/// promise were broken, the lane's next look at its connection would find the operation within a
/// second.)
void Lane::Wake() {
  base::Lock lock(mutex_);
  promised_by_.clear();
  const bool sleeps = std::exchange(idle_, false);
  lock.unlock();
  if (sleeps) arrived_.notify_one();
}

std::optional<Fault> Lane::Refusal(const Operation& operation) const {
  if (stopping_) return Fault(FaultKind::kStopping, "this process is shutting down");
  if (!up_) return WhyDown();
  const bool fits =
      waiting_items_ == 0 || (waiting_items_ < options_.queue_items &&
                              waiting_bytes_ + operation.bytes() <= options_.queue_bytes);
  if (!fits) return Fault(FaultKind::kOverloaded, "more requests wait than the server takes on");
  return std::nullopt;
}

void Lane::Enqueue(std::unique_ptr<Operation> operation) {
  operation->deadline_boot_ms = clock_.BootMs() + options_.max_wait_ms;
  ++waiting_items_;
  waiting_bytes_ += operation->bytes();
  QueueOf(operation->handler()).waiting.push_back(std::move(operation));
}

Lane::Queue& Lane::QueueOf(Handler& handler) {
  for (Queue& queue : queues_)
    if (queue.handler == &handler) return queue;
  return queues_.emplace_back(&handler);
}

void Lane::Open() {
  connection_->Open();
  probe_.connections->Add();
}

void Lane::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Lane::Stop() {
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    idle_ = false;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Lane::Loop() {
  std::int64_t backoff_ms = 0;
  while (true) {
    Batch batch;
    std::optional<Fault> down;
    {
      base::Lock lock(mutex_);
      if (!up_ && !stopping_)
        arrived_.wait_for(lock.native(), std::chrono::milliseconds(backoff_ms), [&] {
          mutex_.AssertHeld();
          return stopping_;
        });
      else if (!stopping_ && waiting_items_ == 0) {
        idle_ = true;
        arrived_.wait_for(lock.native(), kIdleLook, [&] {
          mutex_.AssertHeld();
          return !idle_ || stopping_;
        });
        idle_ = false;
      }
      batch = TakeBatch();
      if (stopping_ && batch.empty()) return;
      if (!up_) down = WhyDown();
    }
    if (down) {
      // Refused at once rather than kept waiting: whoever was queued when the store went away.
      Finish(std::move(batch), &*down);
      if (Connect())
        backoff_ms = 0;
      else
        backoff_ms = Jittered(std::clamp(backoff_ms * 2, kFirstBackoffMs, kLongestBackoffMs));
    } else if (!batch.empty()) {
      RunBatch(std::move(batch));
    } else {
      connection_->CheckPeer();
      if (!connection_->IsOpen()) Connect();
    }
  }
}

bool Lane::RunOnce() {
  if (!up_) Connect();
  Batch batch;
  {
    const base::Lock lock(mutex_);
    batch = TakeBatch();
  }
  if (batch.empty()) return false;
  RunBatch(std::move(batch));
  return true;
}

Lane::Batch Lane::TakeBatch() {
  Batch batch;
  for (std::size_t tried = 0; tried < queues_.size() && batch.empty(); ++tried) {
    next_queue_ = (next_queue_ + 1) % queues_.size();
    auto& waiting = queues_[next_queue_].waiting;
    std::size_t bytes = 0;
    while (!waiting.empty() && batch.size() < options_.batch_items &&
           (batch.empty() || bytes + waiting.front()->bytes() <= options_.batch_bytes)) {
      bytes += waiting.front()->bytes();
      batch.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
    waiting_items_ -= batch.size();
    waiting_bytes_ -= bytes;
  }
  probe_.depth->Set(static_cast<std::int64_t>(waiting_items_));
  return batch;
}

bool Lane::DropLate(Batch& batch) {
  const std::int64_t now_boot_ms = clock_.BootMs();
  const auto late = std::stable_partition(batch.begin(), batch.end(), [&](const auto& operation) {
    return operation->deadline_boot_ms >= now_boot_ms;
  });
  if (late == batch.end()) return true;
  Batch expired(std::make_move_iterator(late), std::make_move_iterator(batch.end()));
  batch.erase(late, batch.end());
  const Fault fault(FaultKind::kTimeout, "its turn did not come in time");
  Finish(std::move(expired), &fault);
  return !batch.empty();
}

void Lane::RunBatch(Batch batch) {
  if (!DropLate(batch)) return;
  const std::int64_t begun = base::MeasureMicros();
  probe_.batch_size->Observe(static_cast<std::int64_t>(batch.size()));
  try {
    RunReads(batch);
  } catch (const Fault& fault) {
    // One look may be too much for the store (a list that takes too long); that must not be the
    // others' fault.
    if (batch.size() > 1 && IsOfOneItem(fault.kind())) {
      for (auto& operation : batch) {
        operation->Reset();
        RunBatch(Single(std::move(operation)));
      }
      return;
    }
    Finish(std::move(batch), &fault);
    return;
  }
  if (!batch.empty()) {
    Access access = batch.front()->handler().access();
    if (options_.impatient && access == Access::kWrite) access = Access::kImpatientWrite;
    RunWrites(std::move(batch), access);
  }
  probe_.batch_duration->Observe(base::MeasureMicros() - begun);
}

/// Runs `Read` and answers what it decided; the rest stays in `batch`. A look proves nothing about
/// fences, so operations with fences are not shown to it.
void Lane::RunReads(Batch& batch) {
  Handler& handler = batch.front()->handler();
  std::vector<Operation*> looked_at = View(batch);
  std::erase_if(looked_at, [](const Operation* each) { return !each->fences().empty(); });
  if (!handler.reads() || looked_at.empty()) return;
  const auto look = [&] {
    if (!connection_->IsOpen()) ConnectOrThrow();
    Transaction tx(*connection_, Access::kRead);
    WithFaults([&] { handler.Read(tx, looked_at); });
    tx.Commit();
  };
  try {
    look();
  } catch (const Fault& fault) {
    // A connection that died while it was idle shows only now. Looking changes nothing: look once
    // more.
    if (connection_->IsOpen() && fault.kind() != FaultKind::kSerialization) throw;
    for (const auto& operation : batch) operation->Reset();
    look();
  }
  const auto open = std::stable_partition(
      batch.begin(), batch.end(), [](const auto& operation) { return operation->decided(); });
  Batch decided(std::make_move_iterator(batch.begin()), std::make_move_iterator(open));
  batch.erase(batch.begin(), open);
  if (decided.empty()) return;
  handler.Done(View(decided), nullptr);
  Finish(std::move(decided), nullptr);
}

void Lane::RunWrites(Batch batch, Access access) {
  bool reconnected = false;
  for (int attempt = 0;; ++attempt) {
    try {
      const Written written = Attempt(View(batch), access);
      FinishWrites(std::move(batch), written);
      return;
    } catch (const Fault& fault) {
      for (const auto& operation : batch) operation->Reset();
      const bool again =
          (fault.kind() == FaultKind::kSerialization && attempt < options_.retries) ||
          (fault.kind() == FaultKind::kStoreUnavailable && !connection_->IsOpen() &&
           !std::exchange(reconnected, true) && up_);
      if (again) {
        probe_.retried->Add();
        if (connection_->IsOpen()) SleepMs(Jittered(attempt));
        continue;
      }
      if (RunDivided(batch, fault.kind())) return;
      if (fault.kind() == FaultKind::kStatement || fault.kind() == FaultKind::kDenied)
        base::LogError("lane.statement", "the store refused a statement",
                       {{"lane", name_}, {"detail", fault.what()}});
      Finish(std::move(batch), &fault);
      return;
    }
  }
}

/// One run of `Write` in one transaction. The fence check comes first, see fence_check.hpp. (An operation of
/// this very batch may take over a lease that another one is guarded by: all of it is one
/// transaction, so the guarded one happened before.)
Lane::Written Lane::Attempt(std::span<Operation* const> operations, Access access) {
  if (!connection_->IsOpen()) ConnectOrThrow();
  Transaction tx(*connection_, access);
  Sifted sifted = SiftByFences(tx, fence_check_, operations);
  Written written{std::move(sifted.stale), nullptr};
  if (sifted.live.empty()) return written;  // nothing to commit
  written.result =
      WithFaults([&] { return sifted.live.front()->handler().Write(tx, sifted.live); });
  TENURE_CHECK(sifted.live.front()->decided(), "a handler left its first operation undecided");
  const std::vector<Act> acts = recorder_ ? ActsOf(sifted.live) : std::vector<Act>();
  if (!acts.empty()) recorder_->Record(tx, acts);
  tx.Commit();
  committed_boot_ms_ = clock_.BootMs();
  if (!acts.empty()) recorder_->Recorded(acts);
  return written;
}

void Lane::FinishWrites(Batch batch, const Written& written) {
  Batch carried_out, refused, left;
  for (auto& operation : batch) {
    // `stale` is in the order of the batch.
    const bool is_stale = refused.size() < written.stale.size() &&
                          written.stale[refused.size()].operation == operation.get();
    Batch& part = is_stale ? refused : operation->decided() ? carried_out : left;
    part.push_back(std::move(operation));
  }
  PutBack(std::move(left));
  if (!carried_out.empty())
    carried_out.front()->handler().Done(View(carried_out), written.result.get());
  Finish(std::move(carried_out), nullptr);
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const base::Fence& fence = written.stale[i].fence;
    const Fault fault(
        FaultKind::kFenceStale,
        fmt::format("fence {} of lease {} is not of a live grant", fence.fence, fence.name));
    Finish(Single(std::move(refused[i])), &fault);
  }
}

/// They come first again, in their order.
void Lane::PutBack(Batch left) {
  if (left.empty()) return;
  const base::Lock lock(mutex_);
  auto& waiting = QueueOf(left.front()->handler()).waiting;
  waiting_items_ += left.size();
  for (auto operation = left.rbegin(); operation != left.rend(); ++operation) {
    waiting_bytes_ += (*operation)->bytes();
    waiting.push_front(std::move(*operation));
  }
}

bool Lane::RunDivided(Batch& batch, FaultKind fault) {
  if (!IsOfOneItem(fault)) return false;
  if (!DropLate(batch)) return true;
  if (batch.size() == 1) return false;
  // By keys: the operations of one key stay together and in order. A key that somebody holds is
  // held for all who ask for it; a refused value is one operation's own, so a single key is divided
  // too.
  std::stable_sort(batch.begin(), batch.end(),
                   [](const auto& a, const auto& b) { return a->key_hash() < b->key_hash(); });
  auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
  const bool one_key = batch.front()->key_hash() == batch.back()->key_hash();
  if (one_key && fault == FaultKind::kContended) return false;
  if (!one_key) {
    const auto key = (*middle)->key_hash();
    const auto same = [&](const auto& operation) { return operation->key_hash() == key; };
    const auto first = std::find_if(batch.begin(), batch.end(), same);
    middle = first != batch.begin() ? first : std::find_if_not(first, batch.end(), same);
  }
  Batch rest(std::make_move_iterator(middle), std::make_move_iterator(batch.end()));
  batch.erase(middle, batch.end());
  for (Batch* part : {&batch, &rest})
    if (DropLate(*part)) RunWrites(std::move(*part), Access::kImpatientWrite);
  return true;
}

bool Lane::Connect() {
  // Down until shown otherwise: those who come while we wait for the connection are told at once.
  const bool was_up = up_.exchange(false);
  try {
    connection_->Open();
    NoteDenial("");
    up_ = true;
    probe_.connections->Add();
    if (!was_up) base::LogInfo("lane.up", "the store is back", {{"lane", name_}});
    return true;
  } catch (const std::exception& fault) {
    // Whatever it is: a store that is being restored may hold anything.
    const auto* known = dynamic_cast<const Fault*>(&fault);
    NoteDenial(known && known->kind() == FaultKind::kDenied ? fault.what() : "");
    if (was_up)
      base::LogWarn("lane.down", "the store cannot be reached; requests get 503 until it is back",
                    {{"lane", name_}, {"detail", fault.what()}});
    return false;
  }
}

void Lane::NoteDenial(const char* text) {
  const base::Lock lock(mutex_);
  denied_ = text;
}

void Lane::ConnectOrThrow() {
  if (Connect()) return;
  const base::Lock lock(mutex_);
  throw WhyDown();
}

/// Who lacks a right should be told, and not ask again and again.
Fault Lane::WhyDown() const {
  if (!denied_.empty()) return {FaultKind::kDenied, denied_};
  return {FaultKind::kStoreUnavailable, "the store cannot be reached"};
}

Lane::Batch Lane::Single(std::unique_ptr<Operation> operation) {
  Batch batch;
  batch.push_back(std::move(operation));
  return batch;
}

/// Completes each operation where it came from: one post for all of the same home.
void Lane::Finish(Batch batch, const Fault* fault) {
  std::vector<std::pair<base::Executor*, Batch>> homes;
  for (auto& operation : batch) {
    auto home = std::find_if(homes.begin(), homes.end(),
                             [&](const auto& entry) { return entry.first == operation->home(); });
    if (home == homes.end()) home = homes.emplace(home, operation->home(), Batch());
    home->second.push_back(std::move(operation));
  }
  std::optional<Fault> copy;
  if (fault) copy = *fault;
  for (auto& [home, operations] : homes) {
    base::Task complete = [operations = std::move(operations), copy]() mutable {
      for (auto& operation : operations) {
        operation->Complete(copy ? &*copy : nullptr);
        operation.reset();
      }
    };
    if (home)
      home->Post(std::move(complete));
    else
      complete();
  }
}

std::vector<Operation*> Lane::View(const Batch& batch) const {
  std::vector<Operation*> view;
  view.reserve(batch.size());
  for (const auto& operation : batch) view.push_back(operation.get());
  return view;
}

}  // namespace tenure::db
