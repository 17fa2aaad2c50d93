#include "client/messages/prefetch_buffer.hpp"

#include <algorithm>
#include <utility>

namespace tenure::client {
namespace {

constexpr Milliseconds kMarkAgain{200};

}  // namespace

// --- the fetching thread

bool PrefetchBuffer::HasRoom() const {
  return hold_ != 0 && items_.size() <= options_.most / 2 && suspects_ == 0;
}

PrefetchBuffer::Room PrefetchBuffer::AwaitRoom() {
  base::Lock lock(mutex_);
  while (!stopping_ && !HasRoom()) clock_.WaitUntil(lock.native(), room_, kNever);
  if (stopping_) return {};
  return {options_.most - items_.size(), hold_};
}

void PrefetchBuffer::Add(ClaimedMessages claimed, std::int64_t hold,
                         std::optional<std::int64_t> until_ms) {
  if (claimed.messages.empty()) return;
  const base::Lock lock(mutex_);
  const auto batch = std::make_shared<Batch>();
  batch->claim = std::move(claimed.claim);
  // A hold that was lost while the claim was under way: nothing of it is surely held.
  const std::int64_t held_until_ms = until_ms.value_or(hold == hold_ ? hold_until_ms_ : 0);
  for (Delivery& delivery : claimed.messages) {
    const auto item = std::make_shared<WorkItem>();
    item->delivery = std::move(delivery);
    item->hold = hold;
    item->until_ms = held_until_ms;
    if (hurried_) item->stop.request_stop();
    items_.insert(item);
    if (item->delivery.crashes > 0) ++suspects_;
    batch->items.push_back(item);
  }
  if (stopping_ || held_until_ms == 0) {
    for (const WorkItemPtr& item : batch->items) {
      item->disposition = Disposition::kUntouched;
      done_.push_back(item);
    }
    finished_.notify_all();
    return;
  }
  batches_.push_back(batch);
  work_.notify_all();
  beat_.notify_all();
}

void PrefetchBuffer::Pause(Milliseconds time) {
  base::Lock lock(mutex_);
  const std::int64_t until_ms = clock_.NowMs() + time.count();
  while (!stopping_ && clock_.NowMs() < until_ms) clock_.WaitUntil(lock.native(), room_, until_ms);
}

// --- the handlers' threads

WorkItemPtr PrefetchBuffer::Next(const Mark& mark) {
  base::Lock lock(mutex_);
  while (!stopping_) {
    if (batches_.empty()) {
      clock_.WaitUntil(lock.native(), work_, kNever);
      continue;
    }
    const BatchPtr batch = batches_.front();
    const WorkItemPtr item = batch->items[batch->next];
    const bool must_wait = item->delivery.crashes > 0 && items_.size() > 1;
    if (must_wait || batch->marking) {
      clock_.WaitUntil(lock.native(), work_, kNever);
    } else if (batch->next == batch->marked) {
      MarkMore(lock, batch, mark);
    } else {
      if (++batch->next == batch->items.size()) batches_.pop_front();
      return item;
    }
  }
  return nullptr;
}

void PrefetchBuffer::MarkMore(base::Lock& lock, const BatchPtr& batch, const Mark& mark) {
  if (!options_.beats) {
    batch->marked = batch->items.size();
    return;
  }
  const bool quick = clock_.NowMs() - marked_at_ms_ < kQuickMs;
  group_ = std::max(options_.threads, quick ? std::min(2 * group_, kMaxGroup) : group_ / 2);
  const std::size_t count = std::min(batch->marked + group_, batch->items.size());
  batch->marking = true;
  lock.unlock();
  bool marked = true;
  try {
    mark(batch->claim, static_cast<std::int64_t>(count));
  } catch (const std::exception&) {
    marked = false;
  }
  lock.lock();
  if (!marked) {
    // The others go on waiting for this one.
    const std::int64_t again_ms = clock_.NowMs() + kMarkAgain.count();
    while (!stopping_ && clock_.NowMs() < again_ms)
      clock_.WaitUntil(lock.native(), work_, again_ms);
  }
  batch->marking = false;
  // The batch may have been lost meanwhile; then it is in the line no more.
  if (marked) batch->marked = count;
  marked_at_ms_ = clock_.NowMs();
  work_.notify_all();
}

void PrefetchBuffer::Finish(const WorkItemPtr& item) {
  const base::Lock lock(mutex_);
  const bool says_nothing = item->acknowledged && item->disposition == Disposition::kDone;
  if (says_nothing) return DropLocked(item);
  done_.push_back(item);
  finished_.notify_all();
}

// --- the reporting thread

std::vector<WorkItemPtr> PrefetchBuffer::AwaitFinished() {
  base::Lock lock(mutex_);
  while (done_.empty() && !closed_) clock_.WaitUntil(lock.native(), finished_, kNever);
  return std::exchange(done_, {});
}

bool PrefetchBuffer::PutBack(const std::vector<WorkItemPtr>& items, Milliseconds pause) {
  base::Lock lock(mutex_);
  const std::int64_t until_ms = clock_.NowMs() + pause.count();
  while (clock_.NowMs() < until_ms && clock_.NowMs() < close_ms_)
    clock_.WaitUntil(lock.native(), finished_, std::min(until_ms, close_ms_));
  if (clock_.NowMs() >= close_ms_) {
    for (const WorkItemPtr& item : items) DropLocked(item);
    return false;
  }
  done_.insert(done_.begin(), items.begin(), items.end());
  return true;
}

void PrefetchBuffer::Drop(const WorkItemPtr& item) {
  const base::Lock lock(mutex_);
  DropLocked(item);
}

void PrefetchBuffer::DropLocked(const WorkItemPtr& item) {
  if (items_.erase(item) == 0) return;
  if (item->delivery.crashes > 0) --suspects_;
  if (HasRoom()) room_.notify_all();
  if (items_.size() <= 1) work_.notify_all();  // a suspect may wait for that
  if (items_.empty()) empty_.notify_all();
}

// --- the heartbeat's thread

std::int64_t PrefetchBuffer::FirstEnd() const {
  std::int64_t first_ms = hold_ != 0 ? hold_until_ms_ : kNever;
  for (const WorkItemPtr& item : items_)
    if (!item->is_lost) first_ms = std::min(first_ms, item->until_ms.load());
  return first_ms;
}

bool PrefetchBuffer::AwaitBeat(std::int64_t beat_ms, std::int64_t join_ms) {
  base::Lock lock(mutex_);
  while (!beat_ended_) {
    std::int64_t until_ms = std::min(beat_ms, FirstEnd());
    if (hold_ == 0 && !stopping_) until_ms = std::min(until_ms, join_ms);
    if (clock_.NowMs() >= until_ms) return true;
    clock_.WaitUntil(lock.native(), beat_, until_ms);
  }
  return false;
}

bool PrefetchBuffer::NeedsHold() const {
  const base::Lock lock(mutex_);
  return hold_ == 0 && !stopping_;
}

void PrefetchBuffer::SetHold(std::int64_t hold, std::int64_t until_ms) {
  const base::Lock lock(mutex_);
  hold_ = hold;
  hold_until_ms_ = until_ms;
  room_.notify_all();
}

PrefetchBuffer::Holds PrefetchBuffer::Snapshot() const {
  const base::Lock lock(mutex_);
  Holds holds;
  holds.current = hold_;
  holds.first_end_ms = FirstEnd();
  for (const WorkItemPtr& item : items_)
    if (!item->is_lost)
      holds.messages.push_back({item->delivery.id, item->delivery.fence, item->hold});
  return holds;
}

/// Where messages are marked, those of one claim have one hold, and are lost together: marks, which
/// are places in a claim, stay right.
template <class Lost>
void PrefetchBuffer::LoseWhere(Lost lost, std::vector<WorkItemPtr>& running) {
  std::set<WorkItemPtr> dropped;
  for (const BatchPtr& batch : batches_) {
    const auto first = batch->items.begin() + static_cast<std::ptrdiff_t>(batch->next);
    const auto kept = std::stable_partition(first, batch->items.end(),
                                            [&](const WorkItemPtr& item) { return !lost(*item); });
    dropped.insert(kept, batch->items.end());
    batch->items.erase(kept, batch->items.end());
  }
  std::erase_if(batches_, [](const BatchPtr& batch) { return batch->next == batch->items.size(); });
  for (const WorkItemPtr& item : items_) {
    if (item->is_lost || !lost(*item)) continue;
    item->is_lost = true;
    ++lost_;
    running.push_back(item);
  }
  for (const WorkItemPtr& item : dropped) {
    item->disposition = Disposition::kUntouched;
    done_.push_back(item);
  }
  if (!dropped.empty()) finished_.notify_all();
}

void PrefetchBuffer::Renewed(const Holds& asked, const client::RenewedHolds& renewed,
                             std::int64_t until_ms) {
  const std::set<std::int64_t> lost_holds(renewed.lost_holds.begin(), renewed.lost_holds.end());
  const std::set<std::string> lost_ids(renewed.lost.begin(), renewed.lost.end());
  std::set<std::int64_t> holds{asked.current};
  std::set<std::pair<std::string, std::int64_t>> messages;
  for (const HeldMessage& each : asked.messages) {
    holds.insert(each.hold);
    messages.insert({each.id, each.fence});
  }
  const auto was_asked = [&](const WorkItem& item) {
    return options_.beats ? holds.contains(item.hold)
                          : messages.contains({item.delivery.id, item.delivery.fence});
  };
  std::vector<WorkItemPtr> running;
  {
    const base::Lock lock(mutex_);
    if (hold_ == asked.current && hold_ != 0) {
      if (lost_holds.contains(hold_))
        hold_ = 0;
      else
        hold_until_ms_ = until_ms;
    }
    LoseWhere(
        [&](const WorkItem& item) {
          return lost_holds.contains(item.hold) ||
                 (lost_ids.contains(item.delivery.id) && was_asked(item));
        },
        running);
    for (const WorkItemPtr& item : items_)
      if (!item->is_lost && was_asked(*item)) item->until_ms = until_ms;
  }
  for (const WorkItemPtr& item : running) item->stop.request_stop();
}

void PrefetchBuffer::LoseOverdue() {
  std::vector<WorkItemPtr> running;
  {
    const base::Lock lock(mutex_);
    const std::int64_t now_ms = clock_.NowMs();
    if (hold_ != 0 && hold_until_ms_ <= now_ms) hold_ = 0;
    LoseWhere([&](const WorkItem& item) { return item.until_ms <= now_ms; }, running);
  }
  for (const WorkItemPtr& item : running) item->stop.request_stop();
}

void PrefetchBuffer::Retire(std::int64_t hold) {
  const base::Lock lock(mutex_);
  if (hold_ != hold) return;
  hold_ = 0;
  beat_.notify_all();
}

// --- the owner

void PrefetchBuffer::Stop() {
  const base::Lock lock(mutex_);
  if (std::exchange(stopping_, true)) return;
  for (const BatchPtr& batch : batches_)
    for (std::size_t i = batch->next; i < batch->items.size(); ++i) {
      batch->items[i]->disposition = Disposition::kUntouched;
      done_.push_back(batch->items[i]);
    }
  batches_.clear();
  for (auto* each : {&room_, &work_, &finished_, &beat_, &empty_}) each->notify_all();
}

bool PrefetchBuffer::is_stopping() const {
  const base::Lock lock(mutex_);
  return stopping_;
}

void PrefetchBuffer::Hurry() {
  std::vector<WorkItemPtr> items;
  {
    const base::Lock lock(mutex_);
    hurried_ = true;
    items.assign(items_.begin(), items_.end());
  }
  for (const WorkItemPtr& item : items) item->stop.request_stop();
}

bool PrefetchBuffer::AwaitEmpty(std::int64_t until_ms) {
  base::Lock lock(mutex_);
  while (!items_.empty() && clock_.NowMs() < until_ms)
    clock_.WaitUntil(lock.native(), empty_, until_ms);
  return items_.empty();
}

void PrefetchBuffer::Close(std::int64_t until_ms) {
  const base::Lock lock(mutex_);
  closed_ = true;
  close_ms_ = until_ms;
  finished_.notify_all();
}

void PrefetchBuffer::EndBeat() {
  const base::Lock lock(mutex_);
  beat_ended_ = true;
  beat_.notify_all();
}

std::int64_t PrefetchBuffer::count() const {
  const base::Lock lock(mutex_);
  return static_cast<std::int64_t>(items_.size());
}

std::int64_t PrefetchBuffer::lost() const {
  const base::Lock lock(mutex_);
  return lost_;
}

}  // namespace tenure::client
