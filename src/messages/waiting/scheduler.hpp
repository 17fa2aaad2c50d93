#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "db/operation.hpp"
#include "messages/waiting/timers.hpp"
#include "wake/poller.hpp"

namespace tenure::messages {

class Messages;

/// Promotes, sorts and reaps in time, each by a poller (wake/poller.hpp). It promotes at the very moment
/// when the next timer is due, when a nearer one is set (here, or elsewhere by NOTIFY), and
/// otherwise every `poll_max_ms`; and so it sorts what users' transactions have put aside (sort.hpp),
/// of which the same notification tells. It reaps once a second.
///
/// The reaper takes back no lease-bound claim for one lease time after it began and after each time
/// that the store was away: their holders could not prolong them meanwhile. What dead workers held
/// it takes back after the time of a heartbeat: they send one as soon as the store is there.
///
/// Threads: Start and Stop are the owner's; the rest runs on the registry's and the lanes' threads.
class Scheduler {
 public:
  /// `others_commit`: there are processes, and users' transactions, that must be told that we wait
  /// for timers.
  Scheduler(Messages& messages, bool others_commit, wake::Registry& wake, const base::Clock& clock,
            std::int64_t poll_max_ms);

  void Start();
  void Stop();
  bool is_running() const { return is_running_; }

 private:
  using Done = base::UniqueFunction<wake::Poller::Next>;
  struct Promoter final : wake::Poller::Work {
    explicit Promoter(Scheduler& all) : scheduler(all) {}
    void Poll(wake::Poller::Cause, Done done) override { scheduler.Promote(std::move(done)); }
    Scheduler& scheduler;
  };
  struct Reaper final : wake::Poller::Work {
    explicit Reaper(Scheduler& all) : scheduler(all) {}
    void Poll(wake::Poller::Cause, Done done) override { scheduler.Reap(std::move(done)); }
    Scheduler& scheduler;
  };

  struct Sorter final : wake::Poller::Work {
    explicit Sorter(Scheduler& all) : scheduler(all) {}
    void Poll(wake::Poller::Cause, Done done) override { scheduler.Sort(std::move(done)); }
    Scheduler& scheduler;
  };

  void Promote(Done done);
  void Sort(Done done);
  void SortKeyed(const std::vector<std::int64_t>& keyed);
  wake::Poller::Next AfterPromotion(const PromoteReply& reply) const;
  void Reap(Done done);
  void RefreshFlag();
  void StoreWasAway() { patient_since_boot_ms_ = clock_.BootMs(); }

  Messages& messages_;
  const bool others_commit_;
  wake::Registry& wake_;
  const base::Clock& clock_;
  const std::int64_t poll_max_ms_;

  std::atomic<bool> is_running_{false};
  std::atomic<std::int64_t> patient_since_boot_ms_{0};  // since when the store has been there
  std::atomic<std::int64_t> flag_until_boot_ms_{0};
  std::atomic<std::int64_t> sorted_after_{0};    // where the next look for keyed ones begins
  std::atomic<std::size_t> keyed_under_way_{0};  // that are being sorted one by one
  Promoter promoter_{*this};
  Reaper reaper_{*this};
  Sorter sorter_{*this};
  std::optional<wake::Poller> promoting_;
  std::optional<wake::Poller> reaping_;
  std::optional<wake::Poller> sorting_;
};

}  // namespace tenure::messages
