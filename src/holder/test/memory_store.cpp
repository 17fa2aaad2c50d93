#include "holder/test/memory_store.hpp"

#include <algorithm>

#include "holder/test/memory_session.hpp"

namespace tenure::holder::test {

using leases::Grant;
using leases::LeaseState;
using leases::LossReason;
using leases::Milliseconds;

namespace {

class MemoryProvider final : public leases::Provider {
 public:
  explicit MemoryProvider(std::shared_ptr<MemoryStore> store) : store_(std::move(store)) {}
  std::string_view name() const override { return "memory"; }
  leases::Guarantees guarantees() const override { return store_->guarantees; }
  std::unique_ptr<leases::Session> Connect() override {
    return std::make_unique<MemorySession>(store_);
  }

 private:
  const std::shared_ptr<MemoryStore> store_;
};

}  // namespace

void ThrowUnavailable(const std::string& lease, bool outcome_unknown) {
  throw leases::ProviderUnavailable("the store does not answer",
                                    {.lease = lease, .outcome_unknown = outcome_unknown});
}

void Call::Hang() const {
  std::unique_lock lock(session.store_->mutex_);
  session.store_->changed_.wait(lock, [this] { return session.cancelled_; });
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

}  // namespace tenure::holder::test
