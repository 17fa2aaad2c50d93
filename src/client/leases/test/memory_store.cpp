#include "client/leases/test/memory_store.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tenure::client::test {

using leases::Grant;
using leases::LeaseState;
using leases::LossReason;
using Milliseconds = std::chrono::milliseconds;

class MemoryConnection final : public leases::Connection {
 public:
  explicit MemoryConnection(std::shared_ptr<MemoryStore> store) : store_(std::move(store)) {}

  leases::AcquireOutcome Acquire(const leases::AcquireRequest& request,
                                 leases::Milliseconds timeout) override;
  std::vector<leases::RenewOutcome> Renew(std::span<const leases::RenewRequest> requests,
                                          leases::Milliseconds timeout) override;
  leases::ReleaseOutcome Release(const leases::ReleaseRequest& request,
                                 leases::Milliseconds timeout) override;
  std::optional<leases::BreakOutcome> Break(const leases::BreakRequest& request,
                                            leases::Milliseconds timeout) override;
  std::optional<leases::LeaseView> Get(std::string_view name,
                                       leases::Milliseconds timeout) override;
  std::vector<leases::LeaseView> List(const leases::ListRequest& request,
                                      leases::Milliseconds timeout) override;
  leases::ClaimOutcome ClaimTask(const leases::TaskClaim& claim,
                                 leases::Milliseconds timeout) override;
  leases::FinishOutcome FinishTask(const leases::TaskFinish& finish,
                                   leases::Milliseconds timeout) override;
  void Cancel() noexcept override;

 private:
  friend struct Call;

  /// Counts it and runs the script around `effect`, which is called with the store's mutex held.
  template <class Effect>
  std::invoke_result_t<Effect, std::unique_lock<std::mutex>&> Carry(const Call& call,
                                                                    const Effect& effect);
  leases::AcquireOutcome AcquireLocked(const leases::AcquireRequest& request,
                                       std::unique_lock<std::mutex>& lock);
  leases::AcquireOutcome WaitForTurn(MemoryStore::Row& row, const leases::AcquireRequest& request,
                                     std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<MemoryStore> store_;
  bool cancelled_ = false;  // guarded by the store's mutex
};

namespace {

class MemoryProvider final : public leases::Provider {
 public:
  explicit MemoryProvider(std::shared_ptr<MemoryStore> store) : store_(std::move(store)) {}
  std::string_view name() const override { return "memory"; }
  leases::Guarantees guarantees() const override { return store_->guarantees; }
  std::unique_ptr<leases::Connection> Connect() override {
    return std::make_unique<MemoryConnection>(store_);
  }

 private:
  const std::shared_ptr<MemoryStore> store_;
};

void Demand(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

void Check(const leases::AcquireRequest& request) {
  Demand(leases::IsLeaseName(request.name), "name");
  Demand(!request.term.empty(), "term");
  Demand(request.ttl >= leases::kMinTtl && request.ttl <= leases::kMaxTtl, "ttl");
  Demand(request.wait.count() >= 0 && request.wait <= leases::kMaxWait, "wait");
  Demand(request.holder.size() <= leases::kMaxHolderBytes, "holder");
  Demand(request.metadata.size() <= leases::kMaxMetadataBytes, "metadata");
}

std::int64_t GridTimeBefore(std::int64_t now_ms, std::int64_t interval_ms) {
  return now_ms - now_ms % interval_ms;
}

std::string LockName(const std::string& task) { return "task/" + task; }

}  // namespace

void ThrowUnavailable(const std::string& lease, bool outcome_unknown) {
  throw leases::ProviderUnavailable("the store does not answer",
                                    {.lease = lease, .outcome_unknown = outcome_unknown});
}

void Call::Hang() const {
  std::unique_lock lock(connection.store_->mutex_);
  connection.store_->changed_.wait(lock, [this] { return connection.cancelled_; });
  lock.unlock();
  LoseReply();
}

void Call::Fail() const { ThrowUnavailable(names.empty() ? "" : names.front(), false); }
void Call::LoseReply() const { ThrowUnavailable(names.empty() ? "" : names.front(), true); }

std::unique_ptr<leases::Provider> MemoryStore::Open() {
  return std::make_unique<MemoryProvider>(shared_from_this());
}

void MemoryStore::StepClock(std::int64_t ms) {
  const std::lock_guard lock(mutex_);
  ahead_ms_ += ms;
  changed_.notify_all();
}

int MemoryStore::Count(Op op) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(op);
  return found == counts_.end() ? 0 : found->second;
}

std::vector<std::string> MemoryStore::acquired_terms() const {
  const std::lock_guard lock(mutex_);
  return acquired_terms_;
}

std::vector<std::size_t> MemoryStore::rounds() const {
  const std::lock_guard lock(mutex_);
  return rounds_;
}

void MemoryStore::AwaitCount(Op op, int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return counts_[op] >= count; });
}

MemoryStore::Row& MemoryStore::Settled(const std::string& name) {
  Row& row = rows_[name];
  const bool over = row.grant.expires_at_ms <= NowMs();
  if (row.state == LeaseState::kHeld && over)
    End(row, LossReason::kExpired, row.grant.expires_at_ms, "");
  if (row.state == LeaseState::kBroken && over) row.state = LeaseState::kFree;
  return row;
}

void MemoryStore::End(Row& row, LossReason reason, std::int64_t at_ms, const std::string& detail) {
  row.ended[row.grant.term] = reason;
  row.history.insert(row.history.begin(), {.fence = row.fence,
                                           .term = row.grant.term,
                                           .holder = row.grant.holder,
                                           .granted_at_ms = row.grant.granted_at_ms,
                                           .ended_at_ms = at_ms,
                                           .reason = reason,
                                           .detail = detail});
  row.state = LeaseState::kFree;
  row.break_reason.clear();
  changed_.notify_all();
}

Grant MemoryStore::Renewed(Row& row, Milliseconds waited) {
  row.renewed_at_ms = NowMs();
  row.grant.now_ms = NowMs();
  row.grant.expires_at_ms = NowMs() + row.grant.ttl.count();
  row.grant.remaining = row.grant.ttl;
  row.grant.waited = waited;
  return row.grant;
}

Grant MemoryStore::Granted(Row& row, const leases::AcquireRequest& request, Milliseconds waited) {
  std::erase(row.queue, request.term);
  row.state = LeaseState::kHeld;
  row.grant = {.name = request.name,
               .fence = ++row.fence,
               .term = request.term,
               .holder = request.holder,
               .metadata = request.metadata,
               .ttl = request.ttl,
               .remaining = {},
               .waited = {},
               .granted_at_ms = NowMs(),
               .expires_at_ms = 0,
               .now_ms = 0};
  return Renewed(row, waited);
}

leases::HeldByAnother MemoryStore::Refusal(const Row& row) const {
  const bool taken = row.state != LeaseState::kFree;
  const std::int64_t left_ms = std::max<std::int64_t>(row.grant.expires_at_ms - NowMs(), 0);
  return {.reason = taken ? leases::HeldReason::kHeld : leases::HeldReason::kQueued,
          .holder = row.grant.holder,
          .fence = row.fence,
          .expires_at_ms = row.grant.expires_at_ms,
          .retry_after = Milliseconds(taken ? left_ms : 50)};
}

LossReason MemoryStore::WhyOver(const Row& row, const std::string& term, std::int64_t fence) const {
  const auto found = row.ended.find(term);
  if (found == row.ended.end()) return LossReason::kUnknown;
  const bool successor = fence != 0 && row.fence > fence;
  return found->second == LossReason::kExpired && successor ? LossReason::kTakenOver
                                                            : found->second;
}

leases::LeaseView MemoryStore::View(const std::string& name, Row& row, bool with_history) const {
  leases::LeaseView view{.name = name,
                         .state = row.state,
                         .fence = row.fence,
                         .term = {},
                         .holder = {},
                         .metadata = {},
                         .ttl = {},
                         .granted_at_ms = 0,
                         .renewed_at_ms = 0,
                         .expires_at_ms = 0,
                         .break_reason = row.break_reason,
                         .waiters = static_cast<std::int64_t>(row.queue.size()),
                         .now_ms = NowMs(),
                         .history = {}};
  if (row.state != LeaseState::kFree) {
    view.term = row.grant.term;
    view.holder = row.grant.holder;
    view.metadata = row.grant.metadata;
    view.ttl = row.grant.ttl;
    view.granted_at_ms = row.grant.granted_at_ms;
    view.renewed_at_ms = row.renewed_at_ms;
    view.expires_at_ms = row.grant.expires_at_ms;
  }
  if (with_history) view.history = row.history;
  return view;
}

// ---- a connection

template <class Effect>
std::invoke_result_t<Effect, std::unique_lock<std::mutex>&> MemoryConnection::Carry(
    const Call& call, const Effect& effect) {
  {
    const std::lock_guard lock(store_->mutex_);
    ++store_->counts_[call.op];
    if (call.op == Op::kAcquire) store_->acquired_terms_.push_back(call.term);
    if (call.op == Op::kRenew) store_->rounds_.push_back(call.names.size());
    store_->changed_.notify_all();
    if (cancelled_) call.Fail();
  }
  if (store_->before) store_->before(call);
  std::unique_lock lock(store_->mutex_);
  auto answer = effect(lock);
  lock.unlock();
  if (store_->after) store_->after(call);
  return answer;
}

leases::AcquireOutcome MemoryConnection::Acquire(const leases::AcquireRequest& request,
                                                 Milliseconds timeout) {
  Check(request);
  return Carry({Op::kAcquire, {request.name}, request.term, timeout, *this},
               [&](auto& lock) { return AcquireLocked(request, lock); });
}

leases::AcquireOutcome MemoryConnection::AcquireLocked(const leases::AcquireRequest& request,
                                                       std::unique_lock<std::mutex>& lock) {
  MemoryStore::Row& row = store_->Settled(request.name);
  if (row.state == LeaseState::kHeld && row.grant.term == request.term)
    return store_->Renewed(row, Milliseconds(0));
  if (const auto found = row.ended.find(request.term); found != row.ended.end())
    return leases::TermEnded{found->second};
  const bool turn = row.queue.empty() || row.queue.front() == request.term;
  if (row.state == LeaseState::kFree && turn) return store_->Granted(row, request, Milliseconds(0));
  if (request.wait.count() == 0) return store_->Refusal(row);
  return WaitForTurn(row, request, lock);
}

leases::AcquireOutcome MemoryConnection::WaitForTurn(MemoryStore::Row& row,
                                                     const leases::AcquireRequest& request,
                                                     std::unique_lock<std::mutex>& lock) {
  const std::int64_t began_ms = store_->NowMs();
  const std::int64_t until_ms = began_ms + request.wait.count();
  row.queue.push_back(request.term);
  store_->changed_.notify_all();
  while (true) {
    store_->Settled(request.name);
    const std::int64_t now_ms = store_->NowMs();
    if (cancelled_) {
      std::erase(row.queue, request.term);
      ThrowUnavailable(request.name, true);
    }
    if (row.state == LeaseState::kFree && row.queue.front() == request.term)
      return store_->Granted(row, request, Milliseconds(now_ms - began_ms));
    if (now_ms >= until_ms) {
      std::erase(row.queue, request.term);
      return store_->Refusal(row);
    }
    std::int64_t next_ms = until_ms;
    if (row.state != LeaseState::kFree) next_ms = std::min(next_ms, row.grant.expires_at_ms);
    store_->clock_.WaitUntil(lock, store_->changed_, store_->clock_.NowMs() + (next_ms - now_ms));
  }
}

std::vector<leases::RenewOutcome> MemoryConnection::Renew(
    std::span<const leases::RenewRequest> requests, Milliseconds timeout) {
  std::vector<std::string> names;
  for (const auto& request : requests) names.push_back(request.name);
  const std::string term = requests.empty() ? "" : requests.front().term;
  return Carry({Op::kRenew, names, term, timeout, *this}, [&](auto&) {
    std::vector<leases::RenewOutcome> outcomes;
    for (const auto& request : requests) {
      MemoryStore::Row& row = store_->Settled(request.name);
      const bool live = row.state == LeaseState::kHeld && row.grant.term == request.term &&
                        row.fence == request.fence;
      if (live && request.ttl) row.grant.ttl = *request.ttl;
      if (live)
        outcomes.emplace_back(store_->Renewed(row, Milliseconds(0)));
      else
        outcomes.emplace_back(leases::Loss{store_->WhyOver(row, request.term, request.fence)});
    }
    return outcomes;
  });
}

leases::ReleaseOutcome MemoryConnection::Release(const leases::ReleaseRequest& request,
                                                 Milliseconds timeout) {
  return Carry({Op::kRelease, {request.name}, request.term, timeout, *this},
               [&](auto&) -> leases::ReleaseOutcome {
                 MemoryStore::Row& row = store_->Settled(request.name);
                 const bool live = row.state == LeaseState::kHeld &&
                                   row.grant.term == request.term &&
                                   (!request.fence || *request.fence == row.fence);
                 if (!live)
                   return {false, store_->WhyOver(row, request.term, request.fence.value_or(0))};
                 store_->End(row, LossReason::kReleased, store_->NowMs(), "");
                 return {true, LossReason::kReleased};
               });
}

std::optional<leases::BreakOutcome> MemoryConnection::Break(const leases::BreakRequest& request,
                                                            Milliseconds timeout) {
  return Carry(
      {Op::kBreak, {request.name}, {}, timeout, *this},
      [&](auto&) -> std::optional<leases::BreakOutcome> {
        if (!store_->rows_.contains(request.name)) return std::nullopt;
        MemoryStore::Row& row = store_->Settled(request.name);
        leases::BreakOutcome outcome{
            .broken = false, .holder = {}, .fence = row.fence, .free_at_ms = store_->NowMs()};
        if (row.state != LeaseState::kHeld || request.fence.value_or(row.fence) != row.fence)
          return outcome;
        outcome.broken = true;
        outcome.holder = row.grant.holder;
        if (!request.force)
          outcome.free_at_ms =
              std::max(row.grant.expires_at_ms, store_->NowMs() + request.drain.count());
        store_->End(row, LossReason::kBroken, store_->NowMs(), request.reason);
        row.grant.expires_at_ms = outcome.free_at_ms;
        if (!request.force) {
          row.state = LeaseState::kBroken;
          row.break_reason = request.reason;
        }
        return outcome;
      });
}

std::optional<leases::LeaseView> MemoryConnection::Get(std::string_view name,
                                                       Milliseconds timeout) {
  const std::string key(name);
  return Carry({Op::kGet, {key}, {}, timeout, *this},
               [&](auto&) -> std::optional<leases::LeaseView> {
                 if (!store_->rows_.contains(key)) return std::nullopt;
                 return store_->View(key, store_->Settled(key), true);
               });
}

std::vector<leases::LeaseView> MemoryConnection::List(const leases::ListRequest& request,
                                                      Milliseconds timeout) {
  return Carry({Op::kList, {request.prefix}, {}, timeout, *this}, [&](auto&) {
    std::vector<leases::LeaseView> found;
    for (auto& [name, row] : store_->rows_) {
      if (found.size() == request.limit) break;
      if (!name.starts_with(request.prefix) || name <= request.after) continue;
      auto view = store_->View(name, store_->Settled(name), false);
      if (!request.holder.empty() && view.holder != request.holder) continue;
      if (request.state && view.state != *request.state) continue;
      found.push_back(std::move(view));
    }
    return found;
  });
}

leases::ClaimOutcome MemoryConnection::ClaimTask(const leases::TaskClaim& claim,
                                                 Milliseconds timeout) {
  return Carry({Op::kClaim, {claim.name}, claim.term, timeout, *this},
               [&](auto&) -> leases::ClaimOutcome {
                 const std::int64_t now_ms = store_->NowMs();
                 const std::int64_t interval_ms = claim.interval.count();
                 MemoryStore::Row& row = store_->Settled(LockName(claim.name));
                 const auto [found, fresh] = store_->tasks_.try_emplace(claim.name);
                 MemoryStore::Task& task = found->second;
                 task.interval_ms = interval_ms;
                 if (fresh) task.next_ms = GridTimeBefore(now_ms, interval_ms);
                 const bool ours = row.state == LeaseState::kHeld && row.grant.term == claim.term;
                 if (row.state != LeaseState::kFree && !ours)
                   return leases::TaskNotDue{Milliseconds(row.grant.expires_at_ms - now_ms)};
                 const std::int64_t due_ms = std::max(task.next_ms, task.retry_ms);
                 if (!ours && task.running_ms == 0 && now_ms < due_ms)
                   return leases::TaskNotDue{Milliseconds(due_ms - now_ms)};
                 if (!ours && row.ended.contains(claim.term))
                   return leases::TaskNotDue{Milliseconds(1)};
                 leases::TaskRun run;
                 run.reclaimed = !ours && task.running_ms != 0;
                 if (task.running_ms == 0)
                   task.running_ms = std::max(task.next_ms, GridTimeBefore(now_ms, interval_ms));
                 run.nominal_ms = task.running_ms;
                 if (task.last_nominal_ms != 0)
                   run.skipped = (run.nominal_ms - task.last_nominal_ms) / interval_ms - 1;
                 run.lock = ours ? store_->Renewed(row, Milliseconds(0))
                                 : store_->Granted(row,
                                                   {.name = LockName(claim.name),
                                                    .term = claim.term,
                                                    .ttl = claim.lock_timeout,
                                                    .holder = claim.holder},
                                                   Milliseconds(0));
                 return run;
               });
}

leases::FinishOutcome MemoryConnection::FinishTask(const leases::TaskFinish& finish,
                                                   Milliseconds timeout) {
  return Carry({Op::kFinish, {finish.name}, finish.term, timeout, *this},
               [&](auto&) -> leases::FinishOutcome {
                 MemoryStore::Row& row = store_->Settled(LockName(finish.name));
                 MemoryStore::Task& task = store_->tasks_[finish.name];
                 const bool live = row.state == LeaseState::kHeld &&
                                   row.grant.term == finish.term && row.fence == finish.fence;
                 if (!live)
                   return {false, store_->WhyOver(row, finish.term, finish.fence), task.next_ms};
                 const std::int64_t now_ms = store_->NowMs();
                 store_->End(row, LossReason::kReleased, now_ms, "");
                 const std::int64_t nominal_ms = std::exchange(task.running_ms, 0);
                 if (finish.error) {
                   task.next_ms = nominal_ms;
                   task.retry_ms = now_ms + 20;
                   return {true, LossReason::kReleased, task.retry_ms};
                 }
                 task.last_nominal_ms = nominal_ms;
                 task.next_ms = GridTimeBefore(now_ms, task.interval_ms) + task.interval_ms;
                 task.retry_ms = 0;
                 return {true, LossReason::kReleased, task.next_ms};
               });
}

void MemoryConnection::Cancel() noexcept {
  const std::lock_guard lock(store_->mutex_);
  cancelled_ = true;
  store_->changed_.notify_all();
}

}  // namespace tenure::client::test
