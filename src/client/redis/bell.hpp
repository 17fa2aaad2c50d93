#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.hpp"
#include "client/redis/link.hpp"

namespace tenure::client {

/// Tells who waits for a name that it may be free now: one connection of the provider listens to the
/// channel on which releases are published. It decides nothing: it makes somebody ask again. So
/// what it misses costs time and nothing else.
///
///  (1) A waiter is on the list before it asks for the first time, and asks only when the bell
///      listens or is known not to: a release after its question rings.
///  (2) Whenever the connection comes or goes, everybody is rung: what was published in between
///      was not heard.
///
/// Its thread begins with the first waiter and ends with the bell. Threads: any.
class RedisBell {
 public:
  using Connect = std::function<std::unique_ptr<RedisLink>(int cancel_fd, std::int64_t until_ms)>;
  /// `connect` may throw.
  RedisBell(Connect connect, std::string channel);
  ~RedisBell();
  RedisBell(const RedisBell&) = delete;
  RedisBell& operator=(const RedisBell&) = delete;

  /// A place on the list, while it lives.
  class Waiter {
   public:
    Waiter(RedisBell& bell, std::string_view name);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    /// Until it is rung, `until_ms`, or `cancelled` and then `Nudge`.
    void Sleep(std::int64_t until_ms, const std::atomic<bool>& cancelled);

   private:
    friend class RedisBell;
    RedisBell& bell_;
    const std::string name_;
    bool rung_ = false;  // guarded by the bell's mutex
  };

  /// Returns when it listens, when it is known that it cannot, or at `until_ms`.
  void AwaitReady(std::int64_t until_ms, const std::atomic<bool>& cancelled);
  bool listens() const;
  /// Wakes those who sleep, so that they look at `cancelled`.
  void Nudge();

 private:
  enum class State { kTrying, kListens, kDeaf };

  void Run();
  void Listen();
  void Ring(std::string_view name);
  void Enter(State state);
  bool stopping() const;

  const Connect connect_;
  const std::string channel_;
  leases::Descriptor cancel_;  // readable: the thread is to end

  mutable base::Mutex mutex_;
  std::condition_variable changed_;
  std::set<Waiter*> waiters_ TENURE_GUARDED_BY(mutex_);
  State state_ TENURE_GUARDED_BY(mutex_) = State::kTrying;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::client
