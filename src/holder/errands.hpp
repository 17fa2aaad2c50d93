#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "holder/line.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::holder {

/// Releases that nobody waits for: of leases that were destroyed, and of terms whose acquisition
/// was given up while its outcome was unknown. They have a thread and a line of their own, so that
/// neither a destructor nor a renewal ever waits for one; the thread begins with the first of them.
///
/// A release that fails is tried again until the lease would have ended by itself. It may come too
/// late or twice: a release by term changes nothing but that term's grant (L4).
///
/// Life: `Stop` tries each that waits once more, until one fails. Without threads the owner calls
/// `RunDue`.
/// Threads: any.
class Errands {
 public:
  Errands(Lines& lines, const Clock& clock, Milliseconds call_timeout, bool threads)
      : line_(lines.Dedicate()), clock_(clock), call_timeout_(call_timeout), threads_(threads) {}
  ~Errands() { Stop(); }

  /// `give_up_ms`: when it needs no release any more.
  void Release(leases::ReleaseRequest request, std::int64_t give_up_ms);
  /// By hand only. Returns when there is something to do next.
  std::int64_t RunDue();
  void Stop();

 private:
  struct Errand {
    leases::ReleaseRequest request;
    std::int64_t give_up_ms = 0;
    std::int64_t next_ms = 0;
    std::int64_t pause_ms = 0;
  };
  void Loop();
  /// REQUIRES: mutex_ is held, also at the end.
  std::int64_t RunDue(std::unique_lock<std::mutex>& lock);
  void RunLast(std::unique_lock<std::mutex>& lock);
  bool Try(const Errand& errand);
  std::int64_t NextMs() const;

  const std::shared_ptr<Line> line_;
  const Clock& clock_;
  const Milliseconds call_timeout_;
  const bool threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Errand> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tenure::holder
