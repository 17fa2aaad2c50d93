#include "couriers/in_hand.hpp"

#include <algorithm>
#include <utility>

namespace tenure::couriers {
namespace {

constexpr Milliseconds kMarkAgain{200};

}  // namespace

// --- the fetching thread

bool InHand::HasRoom() const {
  return hold_ != 0 && jobs_.size() <= options_.most / 2 && suspects_ == 0;
}

InHand::Room InHand::AwaitRoom() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && !HasRoom()) clock_.WaitUntil(lock, room_, kNever);
  if (stopping_) return {};
  return {options_.most - jobs_.size(), hold_};
}

void InHand::Add(Claimed claimed, std::int64_t hold, std::optional<std::int64_t> until_ms) {
  if (claimed.messages.empty()) return;
  const std::lock_guard lock(mutex_);
  const auto batch = std::make_shared<Batch>();
  batch->claim = std::move(claimed.claim);
  // A hold that was lost while the claim was under way: nothing of it is surely held.
  const std::int64_t held_until_ms = until_ms.value_or(hold == hold_ ? hold_until_ms_ : 0);
  for (Delivery& delivery : claimed.messages) {
    const auto job = std::make_shared<Job>();
    job->delivery = std::move(delivery);
    job->hold = hold;
    job->until_ms = held_until_ms;
    if (hurried_) job->stop.request_stop();
    jobs_.insert(job);
    if (job->delivery.crashes > 0) ++suspects_;
    batch->jobs.push_back(job);
  }
  if (stopping_ || held_until_ms == 0) {
    for (const JobPtr& job : batch->jobs) {
      job->verdict = Verdict::kUntouched;
      done_.push_back(job);
    }
    finished_.notify_all();
    return;
  }
  batches_.push_back(batch);
  work_.notify_all();
  beat_.notify_all();
}

void InHand::Pause(Milliseconds time) {
  std::unique_lock lock(mutex_);
  const std::int64_t until_ms = clock_.NowMs() + time.count();
  while (!stopping_ && clock_.NowMs() < until_ms) clock_.WaitUntil(lock, room_, until_ms);
}

// --- the handlers' threads

JobPtr InHand::Next(const Mark& mark) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (batches_.empty()) {
      clock_.WaitUntil(lock, work_, kNever);
      continue;
    }
    const BatchPtr batch = batches_.front();
    const JobPtr job = batch->jobs[batch->next];
    const bool must_wait = job->delivery.crashes > 0 && jobs_.size() > 1;
    if (must_wait || batch->marking) {
      clock_.WaitUntil(lock, work_, kNever);
    } else if (batch->next == batch->marked) {
      MarkMore(lock, batch, mark);
    } else {
      if (++batch->next == batch->jobs.size()) batches_.pop_front();
      return job;
    }
  }
  return nullptr;
}

void InHand::MarkMore(std::unique_lock<std::mutex>& lock, const BatchPtr& batch, const Mark& mark) {
  if (!options_.beats) {
    batch->marked = batch->jobs.size();
    return;
  }
  const bool quick = clock_.NowMs() - marked_at_ms_ < kQuickMs;
  group_ = std::max(options_.threads, quick ? std::min(2 * group_, kMaxGroup) : group_ / 2);
  const std::size_t count = std::min(batch->marked + group_, batch->jobs.size());
  batch->marking = true;
  lock.unlock();
  bool marked = true;
  try {
    mark(batch->claim, static_cast<std::int64_t>(count));
  } catch (const Error&) {
    marked = false;
  }
  lock.lock();
  if (!marked) {
    // The others go on waiting for this one.
    const std::int64_t again_ms = clock_.NowMs() + kMarkAgain.count();
    while (!stopping_ && clock_.NowMs() < again_ms) clock_.WaitUntil(lock, work_, again_ms);
  }
  batch->marking = false;
  // The batch may have been lost meanwhile; then it is in the line no more.
  if (marked) batch->marked = count;
  marked_at_ms_ = clock_.NowMs();
  work_.notify_all();
}

void InHand::Finish(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  const bool says_nothing = job->acknowledged && job->verdict == Verdict::kDone;
  if (says_nothing) return DropLocked(job);
  done_.push_back(job);
  finished_.notify_all();
}

// --- the reporting thread

std::vector<JobPtr> InHand::AwaitFinished() {
  std::unique_lock lock(mutex_);
  while (done_.empty() && !closed_) clock_.WaitUntil(lock, finished_, kNever);
  return std::exchange(done_, {});
}

bool InHand::PutBack(const std::vector<JobPtr>& jobs, Milliseconds pause) {
  std::unique_lock lock(mutex_);
  const std::int64_t until_ms = clock_.NowMs() + pause.count();
  while (clock_.NowMs() < until_ms && clock_.NowMs() < close_ms_)
    clock_.WaitUntil(lock, finished_, std::min(until_ms, close_ms_));
  if (clock_.NowMs() >= close_ms_) {
    for (const JobPtr& job : jobs) DropLocked(job);
    return false;
  }
  done_.insert(done_.begin(), jobs.begin(), jobs.end());
  return true;
}

void InHand::Drop(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  DropLocked(job);
}

void InHand::DropLocked(const JobPtr& job) {
  if (jobs_.erase(job) == 0) return;
  if (job->delivery.crashes > 0) --suspects_;
  if (HasRoom()) room_.notify_all();
  if (jobs_.size() <= 1) work_.notify_all();  // a suspect may wait for that
  if (jobs_.empty()) empty_.notify_all();
}

// --- the heartbeat's thread

std::int64_t InHand::FirstEnd() const {
  std::int64_t first_ms = hold_ != 0 ? hold_until_ms_ : kNever;
  for (const JobPtr& job : jobs_)
    if (!job->is_lost) first_ms = std::min(first_ms, job->until_ms.load());
  return first_ms;
}

bool InHand::AwaitBeat(std::int64_t beat_ms, std::int64_t join_ms) {
  std::unique_lock lock(mutex_);
  while (!beat_ended_) {
    std::int64_t until_ms = std::min(beat_ms, FirstEnd());
    if (hold_ == 0 && !stopping_) until_ms = std::min(until_ms, join_ms);
    if (clock_.NowMs() >= until_ms) return true;
    clock_.WaitUntil(lock, beat_, until_ms);
  }
  return false;
}

bool InHand::NeedsHold() const {
  const std::lock_guard lock(mutex_);
  return hold_ == 0 && !stopping_;
}

void InHand::SetHold(std::int64_t hold, std::int64_t until_ms) {
  const std::lock_guard lock(mutex_);
  hold_ = hold;
  hold_until_ms_ = until_ms;
  room_.notify_all();
}

InHand::Holds InHand::Snapshot() const {
  const std::lock_guard lock(mutex_);
  Holds holds;
  holds.current = hold_;
  holds.first_end_ms = FirstEnd();
  for (const JobPtr& job : jobs_)
    if (!job->is_lost) holds.messages.push_back({job->delivery.id, job->delivery.fence, job->hold});
  return holds;
}

/// Where messages are marked, those of one claim have one hold, and are lost together: marks, which
/// are places in a claim, stay right.
template <class Lost>
void InHand::LoseWhere(Lost lost, std::vector<JobPtr>& running) {
  std::set<JobPtr> dropped;
  for (const BatchPtr& batch : batches_) {
    const auto first = batch->jobs.begin() + static_cast<std::ptrdiff_t>(batch->next);
    const auto kept = std::stable_partition(first, batch->jobs.end(),
                                            [&](const JobPtr& job) { return !lost(*job); });
    dropped.insert(kept, batch->jobs.end());
    batch->jobs.erase(kept, batch->jobs.end());
  }
  std::erase_if(batches_, [](const BatchPtr& batch) { return batch->next == batch->jobs.size(); });
  for (const JobPtr& job : jobs_) {
    if (job->is_lost || !lost(*job)) continue;
    job->is_lost = true;
    ++lost_;
    running.push_back(job);
  }
  for (const JobPtr& job : dropped) {
    job->verdict = Verdict::kUntouched;
    done_.push_back(job);
  }
  if (!dropped.empty()) finished_.notify_all();
}

void InHand::Renewed(const Holds& asked, const couriers::Renewed& renewed, std::int64_t until_ms) {
  const std::set<std::int64_t> lost_holds(renewed.lost_holds.begin(), renewed.lost_holds.end());
  const std::set<std::string> lost_ids(renewed.lost.begin(), renewed.lost.end());
  std::set<std::int64_t> holds{asked.current};
  std::set<std::pair<std::string, std::int64_t>> messages;
  for (const HeldMessage& each : asked.messages) {
    holds.insert(each.hold);
    messages.insert({each.id, each.fence});
  }
  const auto was_asked = [&](const Job& job) {
    return options_.beats ? holds.contains(job.hold)
                          : messages.contains({job.delivery.id, job.delivery.fence});
  };
  std::vector<JobPtr> running;
  {
    const std::lock_guard lock(mutex_);
    if (hold_ == asked.current && hold_ != 0) {
      if (lost_holds.contains(hold_))
        hold_ = 0;
      else
        hold_until_ms_ = until_ms;
    }
    LoseWhere(
        [&](const Job& job) {
          return lost_holds.contains(job.hold) ||
                 (lost_ids.contains(job.delivery.id) && was_asked(job));
        },
        running);
    for (const JobPtr& job : jobs_)
      if (!job->is_lost && was_asked(*job)) job->until_ms = until_ms;
  }
  for (const JobPtr& job : running) job->stop.request_stop();
}

void InHand::LoseOverdue() {
  std::vector<JobPtr> running;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ms = clock_.NowMs();
    if (hold_ != 0 && hold_until_ms_ <= now_ms) hold_ = 0;
    LoseWhere([&](const Job& job) { return job.until_ms <= now_ms; }, running);
  }
  for (const JobPtr& job : running) job->stop.request_stop();
}

void InHand::Retire(std::int64_t hold) {
  const std::lock_guard lock(mutex_);
  if (hold_ != hold) return;
  hold_ = 0;
  beat_.notify_all();
}

// --- the owner

void InHand::Stop() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(stopping_, true)) return;
  for (const BatchPtr& batch : batches_)
    for (std::size_t i = batch->next; i < batch->jobs.size(); ++i) {
      batch->jobs[i]->verdict = Verdict::kUntouched;
      done_.push_back(batch->jobs[i]);
    }
  batches_.clear();
  for (auto* each : {&room_, &work_, &finished_, &beat_, &empty_}) each->notify_all();
}

bool InHand::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void InHand::Hurry() {
  std::vector<JobPtr> jobs;
  {
    const std::lock_guard lock(mutex_);
    hurried_ = true;
    jobs.assign(jobs_.begin(), jobs_.end());
  }
  for (const JobPtr& job : jobs) job->stop.request_stop();
}

bool InHand::AwaitEmpty(std::int64_t until_ms) {
  std::unique_lock lock(mutex_);
  while (!jobs_.empty() && clock_.NowMs() < until_ms) clock_.WaitUntil(lock, empty_, until_ms);
  return jobs_.empty();
}

void InHand::Close(std::int64_t until_ms) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  close_ms_ = until_ms;
  finished_.notify_all();
}

void InHand::EndBeat() {
  const std::lock_guard lock(mutex_);
  beat_ended_ = true;
  beat_.notify_all();
}

std::int64_t InHand::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(jobs_.size());
}

std::int64_t InHand::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace tenure::couriers
